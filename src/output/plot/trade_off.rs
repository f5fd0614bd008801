//! A trade-off: two metrics of each policy with their intervals. Whoever is nearer to the good corner in both is better.

use super::chart::{Axis, Chart, Key, Mark, Panel, Series, Sign};
use super::palette;

/// A mean and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The mean.
    pub mean: f64,
    /// The interval, where there are replications enough.
    pub ci95: Option<(f64, f64)>,
}

impl Known {
    /// The mean and the ends of its interval.
    pub fn values(self) -> impl Iterator<Item = f64> {
        let (low, high) = self.ci95.unwrap_or((self.mean, self.mean));
        [self.mean, low, high].into_iter()
    }
}

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOffFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// Names of both metrics with their units: across, and upright.
    pub axes: [String; 2],
    /// The policies with both.
    pub policies: Vec<(String, Known, Known)>,
}

/// The chart.
pub fn chart(figure: &TradeOffFigure) -> Chart {
    let labels: Vec<&str> = figure.policies.iter().map(|(label, ..)| label.as_str()).collect();
    let series: Vec<Series> = palette::assigned(&labels).into_iter().map(Series).collect();
    let mut marks = Vec::new();
    for ((_, x, y), series) in figure.policies.iter().zip(&series) {
        marks.extend(intervals(*x, *y, *series));
        marks.push(Mark::Points(vec![(x.mean, y.mean)], *series));
    }
    for ((label, x, y), series) in figure.policies.iter().zip(&series) {
        marks.push(Mark::Name((x.mean, y.mean), label.clone(), *series));
    }
    let [across, upright] = &figure.axes;
    let xs = figure.policies.iter().flat_map(|(_, x, _)| x.values());
    let ys = figure.policies.iter().flat_map(|(_, _, y)| y.values());
    let keys = labels.iter().zip(&series);
    Chart {
        title: figure.title.clone(),
        note: format!("{} \u{b7} means with 95 % intervals", figure.note),
        description: format!("{upright} against {across}, by policy."),
        x: Axis::around(across, xs),
        panels: vec![Panel {
            label: (String::new(), None),
            note: String::new(),
            y: Axis::around(upright, ys),
            marks,
        }],
        keys: keys.map(|(label, s)| Key::new(Sign::Point(*s, true), *label)).collect(),
    }
}

/// The intervals of a point, where they have an extent.
pub fn intervals(x: Known, y: Known, series: Series) -> Vec<Mark> {
    let wide = |known: Known| known.ci95.filter(|(low, high)| low < high);
    let across = wide(x).map(|(low, high)| Mark::Across(low, high, y.mean, series));
    let up = wide(y).map(|(low, high)| Mark::Up(x.mean, low, high, series));
    across.into_iter().chain(up).collect()
}
