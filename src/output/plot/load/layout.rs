//! Where everything goes, in whole pixels.
//!
//! All sizes follow from the figure and from measured text, before anything is drawn; the other
//! files of the figure only look positions up here.

use super::super::canvas::{Fonts, Weight};
use super::super::chart::share;
use super::super::header::{BORDER, Header, LABEL_PX, SMALL_PX};
use super::super::palette;
use super::super::ticks::{Step, Tick, duration, number};
use super::columns::{Column, TimeAxis, largest};
use super::count_axis;
use super::legend::Legend;
use super::{CountAxis, LoadFigure};

/// From the axis to the near edge of a tick label.
pub const TICK_GAP: i32 = 8;
/// Between the axis and the first column, so that a spike at the start stands free.
const INSET: i32 = 6;
/// The height of the strip with the label above each panel.
const STRIP: i32 = 24;
const PANEL_GAP: i32 = 14;
/// A capacity this many times above the data would flatten them and stays off the axis.
const CAPACITY_REACH: f64 = 4.0;
/// The same for a logarithmic axis, where it flattens them less, and the smallest capacity that
/// can be off such an axis.
const LOG_CAPACITY_REACH: f64 = 100.0;
const LEAST_FAR_CAPACITY: f64 = 1000.0;

/// The limit line of the figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    pub value: f64,
    /// Written beside the line.
    pub label: String,
    /// Whether the value axis reaches up to it.
    pub on_axis: bool,
}

/// The place of one panel and of what is written above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelBox {
    /// The baseline of the label and of the note.
    pub strip_baseline: i32,
    pub top: i32,
    pub bottom: i32,
    /// The label and the note, cut to the room that they have.
    pub label: String,
    pub note: String,
}

/// All positions of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub width: i32,
    pub height: i32,
    /// The left and the right end of the axes.
    pub left: i32,
    pub right: i32,
    /// The left and the right end of the data.
    pub data: (i32, i32),
    pub header: Header,
    pub legend: Legend,
    pub panels: Vec<PanelBox>,
    /// The time axis in seconds.
    pub time: (f64, f64),
    pub time_ticks: Vec<Tick>,
    /// The value axis.
    pub counts: count_axis::Axis,
    pub value_label: String,
    pub capacity: Option<Capacity>,
    /// The index of every panel's colour.
    pub hues: Vec<usize>,
    /// When the server was down, within the time axis.
    pub outages: Vec<(f64, f64)>,
    /// The width of the curves' lines in pixels.
    pub line_px: f64,
}

impl Layout {
    /// The layout of a figure whose columns are known.
    pub fn of(
        figure: &LoadFigure,
        axis: &TimeAxis,
        curves: &[Vec<Column>],
        fonts: &Fonts,
    ) -> Layout {
        let largest = curves.iter().map(|columns| largest(columns)).fold(0.0, f64::max);
        let capacity = capacity(figure, largest);
        let limit = capacity.as_ref().filter(|limit| limit.on_axis).map(|limit| limit.value);
        let panel_height = panel_height(figure.panels.len());
        let counts = count_axis::Axis::of(figure.axis, largest, limit, panel_height);
        let width = figure.width_px as i32;
        let (left, right) = sides(&counts.ticks, capacity.as_ref(), fonts, width);
        let data = (left + INSET, right - INSET);
        let note = full_note(figure, axis);
        let header = Header::of(&figure.title, &note, fonts, (left, width - BORDER));
        let per_window = format!("attempts per {}", duration(figure.window_s));
        let outages = outages(figure, axis);
        let labels: Vec<&str> = figure.panels.iter().map(|panel| panel.label.as_str()).collect();
        let legend = Legend::of(
            (capacity.as_ref(), !outages.is_empty()),
            &per_window,
            fonts,
            (left, width - BORDER),
            header.bottom + 9,
        );
        let panels = panel_boxes(figure, legend.bottom + 10, panel_height, right - left, fonts);
        let bottom = panels.last().map_or(0, |panel| panel.bottom);
        let data_px = f64::from(data.1 - data.0);
        Layout {
            width,
            height: bottom + 62,
            left,
            right,
            data,
            header,
            legend,
            panels,
            time: (axis.start_s, axis.end_s),
            time_ticks: time_ticks(axis, data, fonts, width),
            hues: palette::assigned(&labels),
            outages,
            counts,
            value_label: match figure.axis {
                CountAxis::Linear => per_window,
                CountAxis::Log => format!("{per_window}, log scale"),
            },
            capacity,
            // A line wider than a column would hide how deep the gaps between spikes are.
            line_px: if axis.column_px(data_px) < 1.5 { 1.0 } else { 1.6 },
        }
    }
}

/// The note of the figure, and what the drawing adds to it.
/// The outages as far as the time axis shows them.
fn outages(figure: &LoadFigure, axis: &TimeAxis) -> Vec<(f64, f64)> {
    let clip = |&(from, to): &(f64, f64)| (from.max(axis.start_s), to.min(axis.end_s));
    figure.outages.iter().map(clip).filter(|(from, to)| from < to).collect()
}

fn full_note(figure: &LoadFigure, axis: &TimeAxis) -> String {
    let note = figure.note.trim_end().trim_end_matches('.');
    if axis.windows_per_column <= 1.0 {
        return figure.note.clone();
    }
    let separator = if note.is_empty() { "" } else { " \u{b7} " };
    format!("{note}{separator}steps: max of {} windows", number(axis.windows_per_column))
}

/// The limit line, beside data up to `largest`.
fn capacity(figure: &LoadFigure, largest: f64) -> Option<Capacity> {
    let value = figure.capacity_per_window?;
    let reach = match figure.axis {
        CountAxis::Linear => CAPACITY_REACH * largest,
        CountAxis::Log => (LOG_CAPACITY_REACH * largest).max(LEAST_FAR_CAPACITY),
    };
    Some(Capacity {
        value,
        label: format!("capacity {}", number(value)),
        on_axis: largest == 0.0 || value <= reach,
    })
}

/// The ends of the axes: beside them must be room for the widest tick label and for the label of
/// the capacity line.
fn sides(
    ticks: &[Tick],
    capacity: Option<&Capacity>,
    fonts: &Fonts,
    figure_width: i32,
) -> (i32, i32) {
    let width = |text: &str| fonts.width(text, Weight::Regular, SMALL_PX).ceil() as i32;
    let widest = ticks.iter().map(|tick| width(&tick.label)).max().unwrap_or(0);
    let axis_label = fonts.cap_height(Weight::Regular, LABEL_PX).ceil() as i32;
    let left = BORDER + axis_label + 14 + widest + TICK_GAP;
    let beside =
        capacity.filter(|limit| limit.on_axis).map_or(0, |limit| width(&limit.label) + TICK_GAP);
    (left, figure_width - BORDER - beside.max(6))
}

/// Few panels may be tall; many share the page.
fn panel_height(panels: usize) -> i32 {
    match panels {
        1 => 300,
        2 => 220,
        3 => 176,
        4 => 150,
        5 => 132,
        6 => 120,
        _ => 108,
    }
}

fn panel_boxes(
    figure: &LoadFigure,
    top: i32,
    height: i32,
    width: i32,
    fonts: &Fonts,
) -> Vec<PanelBox> {
    let boxes = figure.panels.iter().enumerate().map(|(index, panel)| {
        let top = top + index as i32 * (STRIP + height + PANEL_GAP);
        let (bold, regular) = (Weight::Bold, Weight::Regular);
        let label = fonts.width(&panel.label, bold, LABEL_PX);
        let note = fonts.width(&panel.peak_note, regular, SMALL_PX);
        let (label_room, note_room) = share(label, note, f64::from(width - 24));
        PanelBox {
            strip_baseline: top + STRIP - 8,
            top: top + STRIP,
            bottom: top + STRIP + height,
            label: fonts.fit(&panel.label, bold, LABEL_PX, label_room),
            note: fonts.fit(&panel.peak_note, regular, SMALL_PX, note_room),
        }
    });
    boxes.collect()
}

/// Ticks whose labels neither touch each other nor leave the figure.
fn time_ticks(axis: &TimeAxis, data: (i32, i32), fonts: &Fonts, figure_width: i32) -> Vec<Tick> {
    let (left, right) = (f64::from(data.0), f64::from(data.1));
    let span = axis.end_s - axis.start_s;
    let width = |tick: &Tick| fonts.width(&tick.label, Weight::Regular, SMALL_PX);
    let mut distance = 75.0;
    loop {
        let step = Step::at_least(span * distance / (right - left));
        let mut ticks = step.ticks(axis.start_s, axis.end_s);
        let widest = ticks.iter().map(width).fold(0.0, f64::max);
        if widest + 20.0 <= distance || ticks.len() <= 2 {
            ticks.retain(|tick| {
                let middle = left + (tick.value - axis.start_s) / span * (right - left);
                let half = width(tick) / 2.0;
                middle - half >= 2.0 && middle + half <= f64::from(figure_width) - 2.0
            });
            return ticks;
        }
        distance = widest + 20.0;
    }
}
