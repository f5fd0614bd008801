//! When requests are answered: the share of all requests that were answered within a time.
//!
//! Requests that are given up stay missing, so a curve ends at the share that succeeded.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign};
use super::palette;

/// One policy's distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The policy.
    pub label: String,
    /// Shares of the requests, ascending, each with the 5, 50 and 95 % points over replications of the time in
    /// seconds within which so many were answered.
    pub rows: Vec<(f64, [Option<f64>; 3])>,
}

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// The policies.
    pub policies: Vec<Completion>,
}

/// A time this many times the median asks for a logarithmic axis.
const LINEAR_REACH: f64 = 30.0;

/// The chart.
pub fn chart(figure: &CompletionFigure) -> Chart {
    let labels: Vec<&str> = figure.policies.iter().map(|policy| policy.label.as_str()).collect();
    let series: Vec<Series> = palette::assigned(&labels).into_iter().map(Series).collect();
    let x = time_axis(figure);
    let most = figure.policies.iter().flat_map(|policy| &policy.rows);
    let most = most.filter(|(_, [.., last])| last.is_some()).map(|(share, _)| *share);
    let top = if most.fold(0.0, f64::max) > 0.5 { 100.0 } else { 50.0 };
    let mut marks = Vec::new();
    for (policy, series) in figure.policies.iter().zip(&series) {
        let (low, high) = (curve(policy, 0, &x), curve(policy, 2, &x));
        if !low.is_empty() && !high.is_empty() {
            marks.push(Mark::Band(low, high, *series));
        }
    }
    for (policy, series) in figure.policies.iter().zip(&series) {
        let middle = curve(policy, 1, &x);
        if middle.len() > 1 {
            marks.push(Mark::Line(middle, *series));
        }
    }
    let mut keys: Vec<Key> =
        labels.iter().zip(&series).map(|(label, s)| Key::new(Sign::Line(*s), *label)).collect();
    keys.push(Key::new(Sign::Band(series), "5\u{2013}95 % of seeds"));
    Chart {
        title: figure.title.clone(),
        note: figure.note.clone(),
        description: "Share of all requests answered within a time in seconds, median over seeds."
            .to_owned(),
        x,
        panels: vec![Panel {
            label: (String::new(), None),
            note: String::new(),
            y: Axis::between("requests answered (%)", 0.0, top),
            marks,
        }],
        keys,
    }
}

fn time_axis(figure: &CompletionFigure) -> Axis {
    let rows = || figure.policies.iter().flat_map(|policy| &policy.rows);
    let times = || rows().flat_map(|(_, points)| points.iter().flatten().copied());
    let medians = rows().filter_map(|(_, points)| points[1]);
    let mut medians: Vec<f64> = medians.filter(|time| *time > 0.0).collect();
    medians.sort_unstable_by(f64::total_cmp);
    let most = times().fold(0.0, f64::max);
    match medians.get(medians.len() / 2) {
        Some(middle) if most > LINEAR_REACH * middle => {
            Axis::log("time from creation to answer (s), log scale", times())
        }
        _ => Axis::from_zero("time from creation to answer (s)", times()),
    }
}

/// The curve of one of the points. It goes on level to the end of the axis.
fn curve(policy: &Completion, point: usize, x: &Axis) -> Vec<Place> {
    let times =
        policy.rows.iter().map_while(|(share, points)| Some((points[point]?, share * 100.0)));
    let mut curve: Vec<Place> = times.collect();
    if let (Some(&(start, _)), Some(&(_, end))) = (curve.first(), curve.last()) {
        curve.insert(0, (start, 0.0));
        curve.push((x.high, end));
    }
    curve
}
