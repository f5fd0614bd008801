//! A measured fleet beside its simulation: load over time, and the law of waits.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign};

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// Length of a window in seconds, as text.
    pub window: String,
    /// Starts of windows in seconds.
    pub at_s: Vec<f64>,
    /// Attempts per window, measured.
    pub measured: Vec<f64>,
    /// The same simulated: 5, 50 and 95 % points over seeds.
    pub simulated: Vec<[f64; 3]>,
    /// Length of a window in seconds.
    pub window_s: f64,
}

const SIMULATED: Series = Series(0);
const MEASURED: Series = Series(1);

/// The chart.
pub fn chart(figure: &ValidationFigure) -> Chart {
    let end = figure.at_s.last().map_or(1.0, |last| last + figure.window_s);
    let point = |of: usize| figure.simulated.iter().map(move |points| points[of]);
    let low = steps(figure, point(0));
    let high = steps(figure, point(2));
    let measured = steps(figure, figure.measured.iter().copied());
    let tops = figure.measured.iter().copied().chain(point(2));
    let marks = vec![
        Mark::Band(low, high, SIMULATED),
        Mark::Plain(steps(figure, point(1)), SIMULATED),
        Mark::Plain(measured, MEASURED),
    ];
    Chart {
        title: figure.title.clone(),
        note: figure.note.clone(),
        description: format!(
            "Attempts per {} over time in seconds, measured and simulated.",
            figure.window
        ),
        x: Axis::between("time (s)", 0.0, end),
        panels: vec![Panel {
            label: (String::new(), None),
            note: String::new(),
            y: Axis::from_zero(&format!("attempts per {}", figure.window), tops),
            marks,
        }],
        keys: vec![
            Key::new(Sign::Plain(MEASURED), "measured"),
            Key::new(Sign::Plain(SIMULATED), "simulated, median"),
            Key::new(Sign::Band(vec![SIMULATED]), "5\u{2013}95 % of seeds"),
        ],
    }
}

/// Counts per window as steps.
fn steps(figure: &ValidationFigure, values: impl Iterator<Item = f64>) -> Vec<Place> {
    let step = |(at, value): (&f64, f64)| [(*at, value), (at + figure.window_s, value)];
    figure.at_s.iter().zip(values).flat_map(step).collect()
}
