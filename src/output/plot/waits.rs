//! The law of a backoff's waits: a histogram for each retry, and the atoms at which waits pile up, such as a cap.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign};

/// The waits before one retry.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryWaits {
    /// Which retry, from 1.
    pub retry: u32,
    /// Waits in nanoseconds.
    pub waits: Vec<u64>,
}

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitsFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// By retry.
    pub retries: Vec<RetryWaits>,
}

/// Bins of a histogram, from the shortest to the longest wait that is no atom.
const BINS: usize = 24;
/// A wait that this share of all calls has to the nanosecond is an atom.
const ATOM: f64 = 0.005;

const BINNED: Series = Series(0);
const AT_ONCE: Series = Series(1);

/// One histogram: its bins in percent, and its atoms in percent at their places.
struct Histogram {
    start_s: f64,
    bin_s: f64,
    bins: Vec<f64>,
    atoms: Vec<Place>,
}

impl Histogram {
    fn of(waits: &[u64]) -> Histogram {
        let mut sorted = waits.to_vec();
        sorted.sort_unstable();
        let percent = |count: usize| 100.0 * count as f64 / waits.len().max(1) as f64;
        let is_atom = |alike: &[u64]| alike.len() as f64 >= ATOM * waits.len() as f64;
        let runs = || sorted.chunk_by(|a, b| a == b);
        let atoms = runs().filter(|alike| is_atom(alike));
        let atoms = atoms.map(|alike| (alike[0] as f64 / 1e9, percent(alike.len()))).collect();
        let spread: Vec<u64> = runs().filter(|alike| !is_atom(alike)).flatten().copied().collect();
        let (start, end) = (spread.first().copied(), spread.last().copied());
        let (start, end) = (start.unwrap_or(0), end.unwrap_or(0));
        let width = ((end - start) / BINS as u64 + 1).max(1);
        let mut bins = vec![0.0; if spread.is_empty() { 0 } else { BINS }];
        for wait in spread {
            bins[((wait - start) / width) as usize] += percent(1);
        }
        let (start_s, bin_s) = (start as f64 / 1e9, width as f64 / 1e9);
        Histogram { start_s, bin_s, bins, atoms }
    }
}

/// The chart.
pub fn chart(figure: &WaitsFigure) -> Chart {
    let longest = figure.retries.iter().flat_map(|retry| &retry.waits).max().copied();
    let end = (longest.unwrap_or(0) as f64 / 1e9).max(1e-3) * 1.03;
    let histograms: Vec<Histogram> =
        figure.retries.iter().map(|retry| Histogram::of(&retry.waits)).collect();
    let atoms = histograms.iter().any(|histogram| !histogram.atoms.is_empty());
    let binned = histograms.iter().any(|histogram| !histogram.bins.is_empty());
    let panels = figure.retries.iter().zip(&histograms);
    let mut keys = Vec::new();
    if binned {
        let text = format!("in {BINS} bins from the shortest to the longest");
        keys.push(Key::new(Sign::Filled(BINNED), text));
    }
    if atoms {
        let text = "the same wait to the nanosecond";
        keys.push(Key::new(Sign::Point(AT_ONCE, false), text));
    }
    Chart {
        title: figure.title.clone(),
        note: figure.note.clone(),
        description: "Distribution of the wait before each retry in seconds.".to_owned(),
        x: Axis::between("wait (s)", 0.0, end),
        panels: panels.map(|(retry, histogram)| panel(retry, histogram)).collect(),
        keys,
    }
}

fn panel(retry: &RetryWaits, histogram: &Histogram) -> Panel {
    let mut marks = Vec::new();
    let bin = |(index, share): (usize, &f64)| {
        let left = histogram.start_s + index as f64 * histogram.bin_s;
        [(left, *share), (left + histogram.bin_s, *share)]
    };
    let bins: Vec<Place> = histogram.bins.iter().enumerate().flat_map(bin).collect();
    if !bins.is_empty() {
        marks.push(Mark::Filled(bins, BINNED));
    }
    for (at, share) in &histogram.atoms {
        marks.push(Mark::Plain(vec![(*at, 0.0), (*at, *share)], AT_ONCE));
        marks.push(Mark::Points(vec![(*at, *share)], AT_ONCE));
    }
    for (at, share) in &histogram.atoms {
        let (share_text, at_text) = (super::ticks::number(*share), super::ticks::number(*at));
        let text = format!("{share_text} % at {at_text} s");
        marks.push(Mark::Name((*at, *share), text, AT_ONCE));
    }
    let tops = histogram.bins.iter().copied().chain(histogram.atoms.iter().map(|atom| atom.1));
    let mean = retry.waits.iter().map(|wait| *wait as f64 / 1e9).sum::<f64>();
    let mean = mean / retry.waits.len().max(1) as f64;
    Panel {
        label: (format!("before retry {}", retry.retry), None),
        note: format!("mean {} s", super::ticks::number(mean)),
        y: Axis::from_zero("share of calls (%)", tops.map(|top| top * 1.1)),
        marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_many_share_are_atoms() {
        let spread = (0..960).map(|i| 1_000_000_000 + i * 1_000_000);
        let waits: Vec<u64> = spread.chain([8_000_000_000; 40]).collect();
        let histogram = Histogram::of(&waits);
        assert_eq!(histogram.atoms, [(8.0, 4.0)]);
        let total: f64 = histogram.bins.iter().sum();
        assert!((total - 96.0).abs() < 1e-9 && histogram.bins.len() == BINS);
        let all_alike = Histogram::of(&[5; 9]);
        assert_eq!((all_alike.atoms, all_alike.bins.len()), (vec![(5e-9, 100.0)], 0));
    }
}
