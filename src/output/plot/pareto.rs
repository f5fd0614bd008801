//! The front that `tune` has found: settings that no other beats in both objectives.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign};
use super::trade_off::{Known, intervals};

/// A setting on the front, on fresh seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct OnFront {
    /// What is set.
    pub label: String,
    /// Both objectives.
    pub x: Known,
    /// See `x`.
    pub y: Known,
    /// Whether it meets the constraints there.
    pub feasible: bool,
    /// Whether it is the scenario as written.
    pub current: bool,
    /// Whether it is the one recommended.
    pub recommended: bool,
}

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// Names of both objectives with their direction: across, and upright.
    pub axes: [String; 2],
    /// All settings, by their means in the race.
    pub settings: Vec<Place>,
    /// Those that were checked.
    pub front: Vec<OnFront>,
}

const FRONT: Series = Series(0);
const CURRENT: Series = Series(1);
const MISSED: Series = Series(4);

/// The look of a setting.
fn series(setting: &OnFront) -> Series {
    match setting {
        OnFront { current: true, .. } => CURRENT,
        OnFront { feasible: false, .. } => MISSED,
        _ => FRONT,
    }
}

/// The chart.
pub fn chart(figure: &ParetoFigure) -> Chart {
    let at = |setting: &OnFront| (setting.x.mean, setting.y.mean);
    let on_front = figure.front.iter().filter(|setting| series(setting) == FRONT);
    let mut line: Vec<Place> = on_front.map(at).collect();
    line.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let [across, upright] = &figure.axes;
    let x = Axis::around(across, figure.front.iter().flat_map(|s| s.x.values()));
    let y = Axis::around(upright, figure.front.iter().flat_map(|s| s.y.values()));
    // Settings that are far from the front would press it into a corner.
    let (near, far): (Vec<Place>, Vec<Place>) = figure
        .settings
        .iter()
        .partition(|(a, b)| (x.low..=x.high).contains(a) && (y.low..=y.high).contains(b));
    let mut note = figure.note.clone();
    if !far.is_empty() {
        note += &format!(" \u{b7} {} settings lie beyond the axes", far.len());
    }
    let mut marks = vec![Mark::Dots(near)];
    if line.len() > 1 {
        marks.push(Mark::Theory(line));
    }
    for setting in &figure.front {
        marks.extend(intervals(setting.x, setting.y, series(setting)));
        marks.push(Mark::Points(vec![at(setting)], series(setting)));
    }
    let best = figure.front.iter().filter(|setting| setting.recommended);
    marks.extend(best.map(|setting| Mark::Ring(at(setting))));
    for setting in &figure.front {
        marks.push(Mark::Name(at(setting), setting.label.clone(), series(setting)));
    }
    Chart {
        title: figure.title.clone(),
        note,
        description: format!("{upright} against {across}, of the settings on the front."),
        x,
        panels: vec![Panel { label: (String::new(), None), note: String::new(), y, marks }],
        keys: keys(figure),
    }
}

fn keys(figure: &ParetoFigure) -> Vec<Key> {
    let has = |wanted: Series| figure.front.iter().any(|setting| series(setting) == wanted);
    let mut keys = Vec::new();
    for (wanted, text) in [
        (FRONT, "front, on fresh seeds, with 95 % intervals"),
        (MISSED, "misses a constraint on fresh seeds"),
        (CURRENT, "current setting"),
    ] {
        if has(wanted) {
            keys.push(Key::new(Sign::Point(wanted, true), text));
        }
    }
    if figure.front.iter().any(|setting| setting.recommended) {
        keys.push(Key::new(Sign::Ring, "recommended"));
    }
    keys.push(Key::new(Sign::Dot, "other settings, mean in the race"));
    keys
}
