//! Where everything of a chart goes, in pixels.

use super::super::canvas::{Fonts, Weight};
use super::super::header::{BORDER, Header, LABEL_PX, SMALL_PX};
use super::super::ticks::Tick;
use super::super::{Look, palette};
use super::keys::Strip;
use super::{Chart, Mark, Panel};

/// From an axis to the near edge of a tick label.
pub const TICK_GAP: f64 = 8.0;
/// Ticks upright are at least this far apart, and there are at most so many steps in a panel.
const TICK_DISTANCE: f64 = 24.0;
const TICK_STEPS: f64 = 6.0;
/// Between the axes and the data, so that what begins at an end stands free.
const INSET: f64 = 6.0;
/// The height of the strip with the label above a panel.
const STRIP: f64 = 24.0;
const PANEL_GAP: f64 = 14.0;

/// The place of one panel and of what is written above it.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelPlace {
    pub baseline: f64,
    pub top: f64,
    pub bottom: f64,
    pub label: String,
    pub note: String,
    pub ticks: Vec<Tick>,
    /// The name of its axis, where it is not that of all.
    pub name: Option<String>,
}

/// All positions of a chart.
#[derive(Debug)]
pub struct Layout {
    pub height_px: u32,
    /// The ends of the panels.
    pub left: f64,
    pub right: f64,
    /// The ends of the data.
    pub data: (f64, f64),
    pub header: Header,
    pub keys: Strip,
    pub panels: Vec<PanelPlace>,
    pub x_ticks: Vec<Tick>,
    /// The name that the upright axes of all panels share.
    pub shared_name: Option<String>,
}

impl Layout {
    /// The layout of a chart.
    pub fn of(chart: &Chart, look: Look, fonts: &Fonts) -> Layout {
        let small = |text: &str| fonts.width(text, Weight::Regular, SMALL_PX).ceil();
        let (height, border) = (panel_height(chart.panels.len()), f64::from(BORDER));
        let step = TICK_DISTANCE.max(height / TICK_STEPS);
        let ticks: Vec<Vec<Tick>> =
            chart.panels.iter().map(|panel| panel.y.ticks(height, step)).collect();
        let widest = ticks.iter().flatten().map(|tick| small(&tick.label)).fold(0.0, f64::max);
        let name_height = fonts.cap_height(Weight::Regular, LABEL_PX).ceil();
        let left = border + name_height + 14.0 + widest + TICK_GAP;
        let beside = beside(chart).map(|text| small(text) + TICK_GAP).fold(6.0, f64::max);
        let right = f64::from(look.width_px) - border - beside;
        let ends = (left as i32, look.width_px as i32 - BORDER);
        let header = Header::of(&chart.title, &chart.note, fonts, ends);
        let strip = (left, f64::from(look.width_px) - border);
        let keys = Strip::of(&chart.keys, fonts, strip, f64::from(header.bottom) + 9.0);
        let first = &chart.panels[0].y.name;
        let shared = chart.panels.iter().all(|panel| panel.y.name == *first);
        let mut top = keys.bottom + 10.0;
        let panels: Vec<PanelPlace> = chart
            .panels
            .iter()
            .zip(ticks)
            .map(|(panel, ticks)| {
                let place = place(panel, ticks, (top, height), right - left, fonts, shared);
                top = place.bottom + PANEL_GAP;
                place
            })
            .collect();
        let data = (left + INSET, right - INSET);
        let bottom = panels.last().map_or(top, |panel| panel.bottom);
        Layout {
            height_px: (bottom + 62.0) as u32,
            left,
            right,
            data,
            header,
            keys,
            panels,
            x_ticks: x_ticks(chart, data, f64::from(look.width_px), fonts),
            shared_name: shared.then(|| first.clone()),
        }
    }
}

/// What is written at the right of the panels.
fn beside(chart: &Chart) -> impl Iterator<Item = &str> {
    chart.panels.iter().flat_map(|panel| &panel.marks).filter_map(|mark| match mark {
        Mark::Level(_, name) => Some(name.as_str()),
        _ => None,
    })
}

/// Few panels may be tall; many share the page.
fn panel_height(panels: usize) -> f64 {
    match panels {
        1 => 380.0,
        2 => 220.0,
        3 => 176.0,
        4 => 150.0,
        5 => 132.0,
        6 => 120.0,
        _ => 108.0,
    }
}

fn place(
    panel: &Panel,
    ticks: Vec<Tick>,
    (top, height): (f64, f64),
    width: f64,
    fonts: &Fonts,
    shared: bool,
) -> PanelPlace {
    let (label, note) = (&panel.label.0, &panel.note);
    let strip = if label.is_empty() && note.is_empty() { 4.0 } else { STRIP };
    let wide = |text: &str, weight, px| fonts.width(text, weight, px);
    let rooms = share(
        wide(label, Weight::Bold, LABEL_PX),
        wide(note, Weight::Regular, SMALL_PX),
        width - 24.0,
    );
    PanelPlace {
        baseline: top + strip - 8.0,
        top: top + strip,
        bottom: top + strip + height,
        label: fonts.fit(label, Weight::Bold, LABEL_PX, rooms.0),
        note: fonts.fit(note, Weight::Regular, SMALL_PX, rooms.1),
        ticks,
        name: (!shared).then(|| fonts.fit(&panel.y.name, Weight::Regular, LABEL_PX, height + 20.0)),
    }
}

/// Divides a strip between two texts: each gets what it needs if both fit; otherwise half is
/// guaranteed to each and the rest goes to the one that is longer.
pub fn share(first: f64, second: f64, room: f64) -> (f64, f64) {
    if first + second <= room {
        (first, second)
    } else if first <= room / 2.0 {
        (first, room - first)
    } else if second <= room / 2.0 {
        (room - second, second)
    } else {
        (room / 2.0, room / 2.0)
    }
}

/// Ticks whose labels neither touch each other nor leave the figure.
fn x_ticks(chart: &Chart, (left, right): (f64, f64), width_px: f64, fonts: &Fonts) -> Vec<Tick> {
    let width = |tick: &Tick| fonts.width(&tick.label, Weight::Regular, SMALL_PX);
    let mut distance = 75.0;
    let mut ticks = loop {
        let ticks = chart.x.ticks(right - left, distance);
        let widest = ticks.iter().map(width).fold(0.0, f64::max);
        if widest + 20.0 <= distance || ticks.len() <= 2 || !chart.x.named.is_empty() {
            break ticks;
        }
        distance = widest + 20.0;
    };
    let mut end = 2.0;
    ticks.retain(|tick| {
        let (middle, half) = (left + chart.x.share(tick.value) * (right - left), width(tick) / 2.0);
        let fits = middle - half >= end && middle + half <= width_px - 2.0;
        if fits {
            end = middle + half + 6.0;
        }
        fits
    });
    ticks
}

/// The colour of a panel's label.
pub fn ink(series: Option<usize>) -> plotters::style::RGBColor {
    series.map_or(palette::TEXT, |index| palette::series(index).ink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_is_shared_fairly() {
        assert_eq!(share(10.0, 20.0, 100.0), (10.0, 20.0));
        assert_eq!(share(30.0, 200.0, 100.0), (30.0, 70.0));
        assert_eq!(share(200.0, 30.0, 100.0), (70.0, 30.0));
        assert_eq!(share(200.0, 200.0, 100.0), (50.0, 50.0));
    }
}
