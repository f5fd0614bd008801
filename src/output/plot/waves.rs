//! Retry waves: attempts over time by their number, a panel for each policy.
//!
//! It answers whether the second, third and fourth attempts come as waves or have been spread, and
//! how far one wave runs into the next.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign, Spacing};
use super::steps::Steps;

/// The waves of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Waves {
    /// The policy.
    pub label: String,
    /// For each attempt number from 1 on, the windows that have such attempts: start in seconds, and mean
    /// number over replications.
    pub by_number: Vec<Vec<Place>>,
}

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct WavesFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// Length of a window in seconds.
    pub window_s: f64,
    /// Attempts that the provider can serve in a window.
    pub capacity: Option<f64>,
    /// Outages in seconds.
    pub outages_s: Vec<(f64, f64)>,
    /// Policies from top to bottom.
    pub policies: Vec<Waves>,
    /// Width of the figure in pixels, which tells how many windows make a step.
    pub width_px: u32,
}

/// A largest count this many times the smallest peak of a wave asks for a logarithmic axis.
const LINEAR_REACH: f64 = 20.0;

/// The colours of the waves; attempt 1 is the backdrop.
fn series(number: usize) -> Series {
    Series([0, 1, 0, 2, 3, 4][number.min(5)])
}

/// The chart.
pub fn chart(figure: &WavesFigure) -> Chart {
    let all = || figure.policies.iter().flat_map(|policy| &policy.by_number);
    let ends = all().flatten().map(|(start, _)| start + figure.window_s);
    let end = ends.fold(figure.window_s, f64::max);
    let steps = Steps::of(figure.window_s, end, figure.width_px);
    let per = super::ticks::duration(figure.window_s);
    let y = upright(figure, &format!("attempts per {per}"));
    let panel = |policy: &Waves| Panel {
        label: (policy.label.clone(), None),
        note: String::new(),
        y: y.clone(),
        marks: marks(figure, policy, &steps, &y),
    };
    let most = figure.policies.iter().map(|policy| policy.by_number.len()).max().unwrap_or(0);
    let mut note = figure.note.clone();
    if let Some(more) = steps.note() {
        note = format!("{note} \u{b7} {more}");
    }
    Chart {
        title: figure.title.clone(),
        note,
        description: format!("Attempts per {per} over time in seconds, by attempt number."),
        x: Axis::between("time (s)", 0.0, steps.end_s()),
        panels: figure.policies.iter().map(panel).collect(),
        keys: keys(figure, most),
    }
}

fn keys(figure: &WavesFigure, most: usize) -> Vec<Key> {
    let mut keys = vec![Key::new(Sign::Backdrop, "attempt 1")];
    for number in 2..=most {
        let more = if number == crate::metrics::WAVES { " and later" } else { "" };
        keys.push(Key::new(Sign::Filled(series(number)), format!("attempt {number}{more}")));
    }
    if figure.capacity.is_some() {
        keys.push(Key::new(Sign::Limit, "capacity"));
    }
    if !figure.outages_s.is_empty() {
        keys.push(Key::new(Sign::Shade, "outage"));
    }
    keys
}

fn upright(figure: &WavesFigure, name: &str) -> Axis {
    let waves = || figure.policies.iter().flat_map(|policy| &policy.by_number);
    let peak = |wave: &Vec<Place>| wave.iter().map(|(_, mean)| *mean).fold(0.0, f64::max);
    let peaks = || waves().map(peak).filter(|peak| *peak > 0.0);
    let most = peaks().fold(0.0, f64::max);
    let least = peaks().fold(most, f64::min);
    let capacity = figure.capacity.filter(|capacity| *capacity <= 4.0 * most);
    if most > LINEAR_REACH * least {
        let low = capacity.unwrap_or(1.0).min(1.0) * 0.5;
        let name = format!("{name}, log scale");
        let top = most.max(10.0) * 3.0;
        return Axis { spacing: Spacing::Log, ..Axis::between(&name, low, top) };
    }
    // Room for the numbers above the peaks.
    Axis::from_zero(name, [most * 1.15].into_iter().chain(capacity))
}

fn marks(figure: &WavesFigure, policy: &Waves, steps: &Steps, y: &Axis) -> Vec<Mark> {
    let shade = |(from, to): &(f64, f64)| Mark::Shade(*from, *to);
    let mut marks: Vec<Mark> = figure.outages_s.iter().map(shade).collect();
    for (index, wave) in policy.by_number.iter().enumerate() {
        // What is below a logarithmic axis would lie on it as if it were something.
        let seen: Vec<Place> = wave.iter().filter(|(_, mean)| *mean > y.low).copied().collect();
        for piece in steps.pieces(&seen) {
            marks.push(match index {
                0 => Mark::Backdrop(piece),
                _ => Mark::Filled(piece, series(index + 1)),
            });
        }
    }
    for (index, wave) in policy.by_number.iter().enumerate().skip(1) {
        let peak = wave.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let Some((start, mean)) = peak.filter(|(_, mean)| *mean > y.low) else { continue };
        let more = if index + 1 == crate::metrics::WAVES { "+" } else { "" };
        let at = (start + figure.window_s / 2.0, mean);
        marks.push(Mark::Over(at, format!("{}{more}", index + 1), series(index + 1)));
    }
    let on_axis = figure.capacity.filter(|capacity| (y.low..=y.high).contains(capacity));
    marks.extend(on_axis.map(|at| Mark::Level(at, super::ticks::number(at))));
    marks
}
