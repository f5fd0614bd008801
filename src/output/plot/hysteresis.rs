//! The loop of a load that goes slowly up and comes back: where goodput collapses, and where it recovers.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign};

/// Demand, and the 5, 50 and 95 % points of goodput over replications, all per second.
pub type Step = (f64, [f64; 3]);

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct HysteresisFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// The windows on the way up, in order.
    pub up: Vec<Step>,
    /// Those on the way down.
    pub down: Vec<Step>,
}

const UP: Series = Series(0);
const DOWN: Series = Series(1);

/// The chart.
pub fn chart(figure: &HysteresisFigure) -> Chart {
    let point = |steps: &[Step], index: usize| -> Vec<Place> {
        steps.iter().map(|(demand, points)| (*demand, points[index])).collect()
    };
    let all = || figure.up.iter().chain(&figure.down);
    let most = all().map(|(demand, _)| *demand).fold(0.0, f64::max);
    let ways = [(&figure.up, UP), (&figure.down, DOWN)];
    let bands = ways.map(|(way, s)| Mark::Band(point(way, 0), point(way, 2), s));
    let lines = ways.map(|(way, s)| Mark::Line(point(way, 1), s));
    let equal = Mark::Theory(vec![(0.0, 0.0), (most, most)]);
    let x = Axis::from_zero("demand (new requests per s)", [most]);
    let tops = all().flat_map(|(_, points)| *points);
    Chart {
        title: figure.title.clone(),
        note: figure.note.clone(),
        description: "Answers per second against new requests per second while the load rises, and while it falls.".to_owned(),
        x,
        panels: vec![Panel {
            label: (String::new(), None),
            note: String::new(),
            y: Axis::from_zero("goodput (answers per s)", tops.chain([most])),
            marks: bands.into_iter().chain([equal]).chain(lines).collect(),
        }],
        keys: vec![
            Key::new(Sign::Line(UP), "load rises, median"),
            Key::new(Sign::Line(DOWN), "load falls, median"),
            Key::new(Sign::Band(vec![UP, DOWN]), "5\u{2013}95 % of seeds"),
            Key::new(Sign::Theory, "every request answered"),
        ],
    }
}
