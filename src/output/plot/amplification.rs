//! Attempts per request against the probability that an attempt fails, with the closed form drawn over.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign};
use super::trade_off::Known;
use crate::theory::retry::amplification;

/// The cells of a sweep that differ in their failure rate only.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// What else is varied there.
    pub label: String,
    /// Most attempts of a request, over all layers; None where that is not one number.
    pub max_attempts: Option<u32>,
    /// Failure rate, and what was measured.
    pub cells: Vec<(f64, Known)>,
}

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct AmplificationFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// The metric with its unit, and whether it is the one that the closed form is of.
    pub metric: (String, bool),
    /// The rates, by what else is varied.
    pub series: Vec<Rates>,
}

/// Points of the closed form.
const POINTS: u32 = 100;

/// The chart.
pub fn chart(figure: &AmplificationFigure) -> Chart {
    let rates = || figure.series.iter().flat_map(|series| &series.cells);
    let top = rates().map(|(rate, _)| *rate).fold(0.0, f64::max);
    let x_top = if top > 0.5 { 1.0 } else { top * 1.05 };
    let mut marks = Vec::new();
    let mut tops: Vec<f64> = rates().flat_map(|(_, known)| known.values()).collect();
    for series in figure.series.iter().filter(|_| figure.metric.1) {
        let Some(most) = series.max_attempts else { continue };
        let last = series.cells.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
        let curve = (0..=POINTS).map(|step| last * f64::from(step) / f64::from(POINTS));
        let curve: Vec<Place> = curve.map(|p| (p, amplification(p, most))).collect();
        tops.extend(curve.iter().map(|(_, value)| *value));
        marks.push(Mark::Theory(curve));
    }
    for (index, series) in figure.series.iter().enumerate() {
        let look = Series(index);
        let intervals = series.cells.iter().filter_map(|(rate, known)| {
            let (low, high) = known.ci95.filter(|(low, high)| low < high)?;
            Some(Mark::Up(*rate, low, high, look))
        });
        marks.extend(intervals);
        let points = series.cells.iter().map(|(rate, known)| (*rate, known.mean)).collect();
        marks.push(Mark::Points(points, look));
    }
    let (metric, _) = &figure.metric;
    let y = Axis::from_zero(metric, tops);
    Chart {
        title: figure.title.clone(),
        note: figure.note.clone(),
        description: format!("{metric} against the probability that an attempt fails."),
        x: Axis::between("probability that an attempt fails", 0.0, x_top.max(1e-9)),
        panels: vec![Panel { label: (String::new(), None), note: String::new(), y, marks }],
        keys: keys(figure),
    }
}

fn keys(figure: &AmplificationFigure) -> Vec<Key> {
    let series = figure.series.iter().enumerate();
    let mut keys: Vec<Key> = series
        .map(|(index, series)| Key::new(Sign::Point(Series(index), true), &series.label))
        .collect();
    if figure.metric.1 && figure.series.iter().any(|series| series.max_attempts.is_some()) {
        let text = "(1 \u{2212} p^m) / (1 \u{2212} p), m attempts at most";
        keys.push(Key::new(Sign::Theory, text));
    }
    keys
}
