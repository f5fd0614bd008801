//! From curves of runs to curves over replications: by window, by attempt number, and of completion.

use super::{CellRuns, Run};
use crate::metrics::{CurveWindow, WAVES, shares};
use crate::stats::quantile::{nearest_rank, rank};
use crate::units::seconds;

/// A count over replications: its mean, and its 5, 50 and 95 % points (nearest rank).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Mean.
    pub mean: f64,
    /// 5 % point.
    pub p05: f64,
    /// Median.
    pub p50: f64,
    /// 95 % point.
    pub p95: f64,
}

impl Counts {
    fn of(counts: impl Iterator<Item = u32>) -> Counts {
        let mut counts: Vec<u32> = counts.collect();
        counts.sort_unstable();
        let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
        let point = |q| nearest_rank(&counts, q).unwrap_or(0).into();
        let mean = total as f64 / counts.len().max(1) as f64;
        Counts { mean, p05: point(0.05), p50: point(0.50), p95: point(0.95) }
    }
}

/// One window over replications.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowRow {
    /// Start of the window in seconds.
    pub start_s: f64,
    /// Mean number of first attempts.
    pub first_attempts_mean: f64,
    /// Retries.
    pub retries: Counts,
    /// All attempts.
    pub attempts: Counts,
    /// Mean number of requests created.
    pub requests_mean: f64,
    /// Requests answered.
    pub answers: Counts,
    /// Attempts in queues at the end of the window.
    pub queue: Counts,
    /// Attempts at the providers at the end of the window, in queues and in service.
    pub in_flight: Counts,
}

/// The curves of a cell whose runs have some, from t = 0 to its last window with an attempt or an answer.
pub fn windows(cell: &CellRuns) -> Vec<WindowRow> {
    let window = cell.cell.scenario.measure.curve_window().nanos();
    let row = |index: usize| {
        let spread = |count: fn(&CurveWindow) -> u32| {
            Counts::of(cell.runs.iter().map(|run| count(&run.curves.window(index))))
        };
        WindowRow {
            start_s: seconds(index as u64 * window),
            first_attempts_mean: spread(|w| w.waves[0]).mean,
            retries: spread(|w| w.waves[1..].iter().sum()),
            attempts: spread(|w| w.waves.iter().sum()),
            requests_mean: spread(|w| w.requests).mean,
            answers: spread(|w| w.answers),
            queue: spread(|w| w.queue),
            in_flight: spread(|w| w.in_flight),
        }
    };
    let busy = |w: &CurveWindow| w.answers > 0 || w.waves.iter().any(|&n| n > 0);
    let length = |run: &Run| run.curves.windows.iter().rposition(busy).map_or(0, |last| last + 1);
    (0..cell.runs.iter().map(length).max().unwrap_or(0)).map(row).collect()
}

/// One attempt number in one window over replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaveRow {
    /// The attempt's number; [`WAVES`] is that and all above.
    pub number: usize,
    /// Start of the window in seconds.
    pub start_s: f64,
    /// Attempts of this number.
    pub attempts: Counts,
}

/// The waves of attempts of a cell whose runs have curves: by number, then by window; only windows
/// with such an attempt.
pub fn waves(cell: &CellRuns) -> Vec<WaveRow> {
    let window = cell.cell.scenario.measure.curve_window().nanos();
    let length = |run: &Run| run.curves.windows.len();
    let count = cell.runs.iter().map(length).max().unwrap_or(0);
    let row = |(number, index): (usize, usize)| {
        let attempts = cell.runs.iter().map(|run| run.curves.window(index).waves[number - 1]);
        let start_s = seconds(index as u64 * window);
        WaveRow { number, start_s, attempts: Counts::of(attempts) }
    };
    let places = (1..=WAVES).flat_map(|number| (0..count).map(move |index| (number, index)));
    places.map(row).filter(|row| row.attempts.mean > 0.0).collect()
}

/// When a share of the requests was answered, over replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompletionRow {
    /// The share of all requests.
    pub share: f64,
    /// Replications in which so many were answered.
    pub n: usize,
    /// 5, 50 and 95 % points over all replications (nearest rank) of the time from creation to answer within which
    /// they were, in seconds; None where in that replication they never were.
    pub points_s: [Option<f64>; 3],
}

/// The distribution of completion times of a cell whose runs have curves.
pub fn completions(cell: &CellRuns) -> Vec<CompletionRow> {
    let row = |(index, share): (usize, f64)| {
        let time = |run: &Run| run.completion_s.get(index).copied().flatten();
        let mut times: Vec<f64> = cell.runs.iter().filter_map(time).collect();
        times.sort_unstable_by(f64::total_cmp);
        // Those that are missing are longer than all others.
        let point = |q| rank(q, cell.runs.len()).and_then(|rank| times.get(rank - 1).copied());
        CompletionRow { share, n: times.len(), points_s: [0.05, 0.50, 0.95].map(point) }
    };
    shares().enumerate().map(row).collect()
}
