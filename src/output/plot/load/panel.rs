//! One panel: grid, curves, limit and label; and the labels that all panels share.

use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::DrawingArea;
use plotters::element::{PathElement, Polygon, Rectangle};
use plotters::style::{Color, RGBColor, TextStyle};
use plotters_backend::FontTransform;
use plotters_backend::text_anchor::{HPos, Pos, VPos};

use super::super::canvas::{
    Area, DashedLine, Pen, Silhouette, UNITS_PER_PX, Weight, line_width, text_style, units,
};
use super::super::header::{LABEL_PX, SMALL_PX};
use super::super::{PlotError, palette};
use super::columns::Column;
use super::curves::{self, Place};
use super::layout::{Layout, PanelBox, TICK_GAP};

/// The opacity of the area under the mean.
pub const FILL: f64 = 0.12;
/// The opacity of the percentile band.
pub const BAND: f64 = 0.28;
/// Dash and gap of the limit line, in units of the drawing area.
pub const DASH: (i32, i32) = (60, 40);

/// The length of the marks between grid lines in pixels.
const MARK: i32 = 4;

/// From the edge of a pixel to its middle, in units of the drawing area.
const HALF_PX: i32 = UNITS_PER_PX / 2;

/// The drawing area with a panel's axes: seconds, and levels of the axis of counts.
type Chart<'a> = DrawingArea<Pen<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws the panel of one policy.
pub fn draw(
    area: &Area,
    index: usize,
    columns: &[Column],
    layout: &Layout,
) -> Result<(), PlotError> {
    let place = &layout.panels[index];
    let hue = palette::series(layout.hues[index]);
    let chart = chart(area, place, layout);
    shade(area, &chart, place, layout)?;
    grid(area, &chart, place, layout)?;
    first_attempts(&chart, columns, layout)?;
    retries(&chart, columns, hue.mark, layout)?;
    rule(area, (layout.left, place.bottom), (layout.right, place.bottom), palette::AXIS)?;
    limit(area, &chart, layout)?;
    strip(area, place, hue.ink, layout)
}

/// Draws what is written once for all panels: the time axis and the names of both axes.
pub fn draw_shared_labels(area: &Area, layout: &Layout) -> Result<(), PlotError> {
    let (Some(first), Some(last)) = (layout.panels.first(), layout.panels.last()) else {
        return Ok(());
    };
    let chart = chart(area, last, layout);
    let small = small_text(HPos::Center, VPos::Top);
    for tick in &layout.time_ticks {
        let (x, _) = chart.map_coordinate(&(tick.value, 0.0));
        area.draw_text(&tick.label, &small, (x, (last.bottom + 10) * UNITS_PER_PX))?;
    }
    let name = text_style(LABEL_PX, Weight::Regular, palette::TEXT);
    let below = name.pos(Pos::new(HPos::Center, VPos::Bottom));
    let middle = (layout.left + layout.right) / 2;
    area.draw_text(
        "time (s)",
        &below,
        (middle * UNITS_PER_PX, (layout.height - 20) * UNITS_PER_PX),
    )?;
    let beside = name.transform(FontTransform::Rotate270).pos(Pos::new(HPos::Center, VPos::Top));
    let middle = (first.top + last.bottom) / 2;
    area.draw_text(&layout.value_label, &beside, (20 * UNITS_PER_PX, middle * UNITS_PER_PX))?;
    Ok(())
}

fn chart<'a>(area: &Area<'a>, place: &PanelBox, layout: &Layout) -> Chart<'a> {
    let across = units(f64::from(layout.data.0))..units(f64::from(layout.data.1));
    // Rows count downwards, so the range of the values is upside down.
    let upwards = units(f64::from(place.bottom))..units(f64::from(place.top));
    area.apply_coord_spec(Cartesian2d::new(
        layout.time.0..layout.time.1,
        layout.counts.levels(),
        (across, upwards),
    ))
}

fn small_text(horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    text_style(SMALL_PX, Weight::Regular, palette::QUIET_TEXT).pos(Pos::new(horizontal, vertical))
}

/// A one-pixel line between two corners of whole pixels. It runs through the middle of a row or
/// column of pixels, where it is sharp.
fn rule(area: &Area, from: (i32, i32), to: (i32, i32), colour: RGBColor) -> Result<(), PlotError> {
    let centred = |(x, y): (i32, i32)| {
        if from.1 == to.1 {
            (x * UNITS_PER_PX, y * UNITS_PER_PX + HALF_PX)
        } else {
            (x * UNITS_PER_PX + HALF_PX, y * UNITS_PER_PX)
        }
    };
    let line = PathElement::new([centred(from), centred(to)], colour.stroke_width(line_width(1.0)));
    Ok(area.draw(&line)?)
}

/// The outages, behind everything else.
fn shade(area: &Area, chart: &Chart, place: &PanelBox, layout: &Layout) -> Result<(), PlotError> {
    let (top, bottom) = (units(f64::from(place.top)), units(f64::from(place.bottom)));
    for (from, to) in &layout.outages {
        let (left, _) = chart.map_coordinate(&(*from, 0.0));
        let (right, _) = chart.map_coordinate(&(*to, 0.0));
        let style = palette::OUTAGE.filled();
        area.draw(&Rectangle::new([(left, top), (right, bottom)], style))?;
    }
    Ok(())
}

/// Level grid lines with their numbers, and marks between them and where the time ticks are.
fn grid(area: &Area, chart: &Chart, place: &PanelBox, layout: &Layout) -> Result<(), PlotError> {
    let number = small_text(HPos::Right, VPos::Center);
    let row = |count: f64| {
        let (_, y) = chart.map_coordinate(&(layout.time.0, layout.counts.level(count)));
        y.div_euclid(UNITS_PER_PX)
    };
    if !layout.counts.marks.is_empty() {
        rule(area, (layout.left, place.top), (layout.left, place.bottom), palette::BACKDROP_EDGE)?;
    }
    for &mark in &layout.counts.marks {
        let row = row(mark);
        rule(area, (layout.left - MARK, row), (layout.left, row), palette::BACKDROP_EDGE)?;
    }
    for tick in &layout.counts.ticks {
        let row = row(tick.value);
        rule(area, (layout.left, row), (layout.right, row), palette::GRID)?;
        let at = ((layout.left - TICK_GAP) * UNITS_PER_PX, row * UNITS_PER_PX + HALF_PX);
        area.draw_text(&tick.label, &number, at)?;
    }
    for tick in &layout.time_ticks {
        let (x, _) = chart.map_coordinate(&(tick.value, 0.0));
        let column = x.div_euclid(UNITS_PER_PX);
        let ends = ((column, place.bottom), (column, place.bottom + 5));
        rule(area, ends.0, ends.1, palette::AXIS)?;
    }
    Ok(())
}

/// An outline as the chart takes it: with levels in place of counts.
fn levels(outline: Vec<Place>, layout: &Layout) -> Vec<Place> {
    outline.into_iter().map(|(time, count)| (time, layout.counts.level(count))).collect()
}

fn first_attempts(chart: &Chart, columns: &[Column], layout: &Layout) -> Result<(), PlotError> {
    // The edge keeps a spike visible where a column is narrower than a pixel.
    let edge = palette::BACKDROP_EDGE.stroke_width(line_width(1.0));
    for piece in curves::pieces(columns, |column| column.first) {
        let fill = palette::BACKDROP.filled();
        chart.draw(&Silhouette::new(levels(piece, layout), fill, edge))?;
    }
    Ok(())
}

fn retries(
    chart: &Chart,
    columns: &[Column],
    colour: RGBColor,
    layout: &Layout,
) -> Result<(), PlotError> {
    let band = curves::between(columns, |column| column.low, |column| column.high);
    chart.draw(&Polygon::new(levels(band, layout), colour.mix(BAND)))?;
    let fill = colour.mix(FILL).filled();
    let line = colour.stroke_width(line_width(layout.line_px));
    for piece in curves::pieces(columns, |column| column.mean) {
        chart.draw(&Silhouette::new(levels(piece, layout), fill, line))?;
    }
    Ok(())
}

/// The dashed capacity line with its name beside the panel, where no data can be.
fn limit(area: &Area, chart: &Chart, layout: &Layout) -> Result<(), PlotError> {
    let Some(capacity) = layout.capacity.as_ref().filter(|limit| limit.on_axis) else {
        return Ok(());
    };
    let (_, y) = chart.map_coordinate(&(layout.time.0, layout.counts.level(capacity.value)));
    let ends = [(layout.left * UNITS_PER_PX, y), (layout.right * UNITS_PER_PX, y)];
    area.draw(&DashedLine::new(ends, palette::LIMIT.stroke_width(line_width(1.2)), DASH))?;
    let style = text_style(SMALL_PX, Weight::Regular, palette::LIMIT)
        .pos(Pos::new(HPos::Left, VPos::Center));
    let at = ((layout.right + TICK_GAP) * UNITS_PER_PX, y);
    area.draw_text(&capacity.label, &style, at)?;
    Ok(())
}

/// The label and the note of a panel, above it.
fn strip(area: &Area, place: &PanelBox, ink: RGBColor, layout: &Layout) -> Result<(), PlotError> {
    let y = place.strip_baseline * UNITS_PER_PX;
    let label = text_style(LABEL_PX, Weight::Bold, ink).pos(Pos::new(HPos::Left, VPos::Bottom));
    area.draw_text(&place.label, &label, (layout.left * UNITS_PER_PX, y))?;
    let note = small_text(HPos::Right, VPos::Bottom);
    area.draw_text(&place.note, &note, (layout.right * UNITS_PER_PX, y))?;
    Ok(())
}
