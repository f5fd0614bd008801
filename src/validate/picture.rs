//! The picture of a comparison.

use super::{Agreement, WireLog};
use crate::output::plot::duration;
use crate::output::plot::validation::ValidationFigure;
use crate::units::Span;

/// Most windows that are drawn.
const MOST_WINDOWS: u64 = 400;

/// Measured and simulated load over time, in windows of this length or a multiple of it.
pub fn figure(
    title: &str,
    note: String,
    log: &WireLog,
    found: &Agreement,
    window: Span,
) -> ValidationFigure {
    let all = std::iter::once(&log.seen).chain(&found.simulated);
    let last = all.filter_map(|seen| seen.arrivals.last()).map(|(at, _)| *at).max();
    let last = last.unwrap_or(0);
    let window = window.nanos().max(1);
    // Rare late retries would press all others into a corner.
    let times = (last / window / MOST_WINDOWS + 1).max(1);
    let width = window * times;
    let windows = (last / width + 1) as usize;
    let counts = |arrivals: &[(u64, bool)]| {
        let mut counts = vec![0_u32; windows];
        arrivals.iter().for_each(|(at, _)| counts[(at / width) as usize] += 1);
        counts
    };
    let simulated: Vec<Vec<u32>> =
        found.simulated.iter().map(|seen| counts(&seen.arrivals)).collect();
    let points = |index: usize| {
        let mut values: Vec<u32> = simulated.iter().map(|counts| counts[index]).collect();
        values.sort_unstable();
        let at = |share: f64| {
            let place = (share * values.len().saturating_sub(1) as f64).round() as usize;
            values.get(place).copied().map_or(0.0, f64::from)
        };
        [at(0.05), at(0.5), at(0.95)]
    };
    let window_s = width as f64 / 1e9;
    ValidationFigure {
        title: title.to_owned(),
        note,
        window: duration(window_s),
        at_s: (0..windows).map(|index| index as f64 * window_s).collect(),
        measured: counts(&log.seen.arrivals).into_iter().map(f64::from).collect(),
        simulated: (0..windows).map(points).collect(),
        window_s,
    }
}
