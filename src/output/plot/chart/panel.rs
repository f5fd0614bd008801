//! One panel of a chart, and what is written once for all of them.

use plotters_backend::text_anchor::{HPos, VPos};

use super::super::canvas::Fonts;
use super::super::header::{BORDER, LABEL_PX, SMALL_PX};
use super::super::sheet::{At, Line, Marker, Sheet, Text};
use super::super::{PlotError, palette};
use super::keys::{BAND, FILL, LIMIT_DASH, MARKER_PX, RING_PX};
use super::layout::{Layout, PanelPlace, TICK_GAP, ink};
use super::names::{Names, Room};
use super::{Chart, Mark, Panel, Place, Series};

type Drawn = Result<(), PlotError>;

/// From one form on a line to the next.
const FORM_EVERY_PX: f64 = 110.0;
/// Half of the cap of an interval.
const CAP_PX: f64 = 4.0;

/// A panel with its places.
struct Frame<'a> {
    panel: &'a Panel,
    place: &'a PanelPlace,
    layout: &'a Layout,
    x: &'a dyn Fn(f64) -> f64,
}

impl Frame<'_> {
    fn at(&self, (x, y): Place) -> At {
        let PanelPlace { top, bottom, .. } = self.place;
        ((self.x)(x), bottom - self.panel.y.share(y) * (bottom - top))
    }

    fn through(&self, points: &[Place]) -> Vec<At> {
        points.iter().map(|point| self.at(*point)).collect()
    }
}

/// Draws a panel.
pub fn draw(
    sheet: &mut Sheet,
    panel: &Panel,
    place: &PanelPlace,
    layout: &Layout,
    fonts: &Fonts,
    x: &dyn Fn(f64) -> f64,
) -> Drawn {
    let frame = Frame { panel, place, layout, x };
    for mark in &panel.marks {
        if let Mark::Shade(from, to) = mark {
            let (left, right) = (x(*from), x(*to));
            sheet.rectangle((left, place.top), (right, place.bottom), palette::OUTAGE)?;
        }
    }
    grid(sheet, &frame)?;
    for mark in &panel.marks {
        draw_mark(sheet, &frame, mark)?;
    }
    let ends = ((layout.left, place.bottom), (layout.right, place.bottom));
    sheet.rule(ends.0, ends.1, palette::AXIS)?;
    names(sheet, &frame, fonts)?;
    let label = Text::new(LABEL_PX, ink(panel.label.1)).bold();
    sheet.text(&place.label, (layout.left, place.baseline), label)?;
    let note = Text::new(SMALL_PX, palette::QUIET_TEXT).anchored(HPos::Right, VPos::Bottom);
    sheet.text(&place.note, (layout.right, place.baseline), note)
}

/// Draws the names of the axes and the ticks of the one that all panels share.
pub fn draw_shared(sheet: &mut Sheet, chart: &Chart, layout: &Layout) -> Drawn {
    let (Some(first), Some(last)) = (layout.panels.first(), layout.panels.last()) else {
        return Ok(());
    };
    let (left, right) = layout.data;
    let small = Text::new(SMALL_PX, palette::QUIET_TEXT).anchored(HPos::Center, VPos::Top);
    for tick in &layout.x_ticks {
        let x = left + chart.x.share(tick.value) * (right - left);
        for panel in &layout.panels {
            sheet.rule((x, panel.bottom), (x, panel.bottom + 5.0), palette::AXIS)?;
        }
        sheet.text(&tick.label, (x, last.bottom + 10.0), small)?;
    }
    let name = Text::new(LABEL_PX, palette::TEXT);
    let below = name.anchored(HPos::Center, VPos::Bottom);
    let bottom = f64::from(layout.height_px);
    sheet.text(&chart.x.name, ((layout.left + layout.right) / 2.0, bottom - 20.0), below)?;
    let beside = name.anchored(HPos::Center, VPos::Top).upwards();
    let mut upright = |text: &str, top: f64, bottom: f64| {
        sheet.text(text, (f64::from(BORDER), (top + bottom) / 2.0), beside)
    };
    if let Some(name) = &layout.shared_name {
        upright(name, first.top, last.bottom)?;
    }
    for panel in &layout.panels {
        if let Some(name) = &panel.name {
            upright(name, panel.top, panel.bottom)?;
        }
    }
    Ok(())
}

/// Level grid lines with their numbers.
fn grid(sheet: &mut Sheet, frame: &Frame) -> Drawn {
    let Frame { place, layout, .. } = frame;
    let number = Text::new(SMALL_PX, palette::QUIET_TEXT).anchored(HPos::Right, VPos::Center);
    for tick in &place.ticks {
        let (_, y) = frame.at((0.0, tick.value));
        sheet.rule((layout.left, y), (layout.right, y), palette::GRID)?;
        sheet.text(&tick.label, (layout.left - TICK_GAP, y.floor() + 0.5), number)?;
    }
    Ok(())
}

fn draw_mark(sheet: &mut Sheet, frame: &Frame, mark: &Mark) -> Drawn {
    match mark {
        Mark::Shade(..) | Mark::Name(..) | Mark::Over(..) => Ok(()),
        Mark::Level(value, name) => level(sheet, frame, *value, name),
        Mark::Upright(at, name) => upright(sheet, frame, *at, name),
        Mark::Band(low, high, series) => {
            let back = low.iter().rev();
            let outline: Vec<Place> = high.iter().chain(back).copied().collect();
            sheet.area(&frame.through(&outline), series.hue().mark, BAND)
        }
        Mark::Theory(points) => {
            sheet.line(&frame.through(points), Line::solid(palette::LIMIT, 1.2))
        }
        Mark::Line(points, series) => dashed(sheet, &frame.through(points), *series),
        Mark::Plain(points, series) => {
            sheet.line(&frame.through(points), Line::solid(series.hue().mark, 2.0))
        }
        Mark::Filled(points, series) => {
            filled(sheet, frame, points, (series.hue().mark, FILL), (series.hue().mark, 1.6))
        }
        Mark::Backdrop(points) => {
            filled(sheet, frame, points, (palette::BACKDROP, 1.0), (palette::BACKDROP_EDGE, 1.0))
        }
        Mark::Points(points, series) => points.iter().try_for_each(|point| {
            sheet.marker(series.marker(), frame.at(*point), MARKER_PX, series.hue().mark)
        }),
        Mark::Dots(points) => points.iter().try_for_each(|point| {
            sheet.marker(Marker::Circle, frame.at(*point), 5.0, palette::BACKDROP_EDGE)
        }),
        Mark::Ring(point) => sheet.ring(frame.at(*point), RING_PX, palette::TEXT),
        Mark::Across(from, to, y, series) => {
            let ends = [frame.at((*from, *y)), frame.at((*to, *y))];
            interval(sheet, ends, (0.0, CAP_PX), *series)
        }
        Mark::Up(x, from, to, series) => {
            let ends = [frame.at((*x, *from)), frame.at((*x, *to))];
            interval(sheet, ends, (CAP_PX, 0.0), *series)
        }
    }
}

/// An interval with a cap at each end.
fn interval(sheet: &mut Sheet, ends: [At; 2], (dx, dy): (f64, f64), series: Series) -> Drawn {
    let line = Line::solid(series.hue().mark, 1.5);
    sheet.line(&ends, line)?;
    ends.iter().try_for_each(|(x, y)| sheet.line(&[(x - dx, y - dy), (x + dx, y + dy)], line))
}

/// The area below points down to the axis, and a line through them.
fn filled(
    sheet: &mut Sheet,
    frame: &Frame,
    points: &[Place],
    (fill, opacity): (plotters::style::RGBColor, f64),
    (edge, width): (plotters::style::RGBColor, f64),
) -> Drawn {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(()) };
    let top = frame.through(points);
    let bottom = frame.place.bottom;
    let feet = [(frame.at(*last).0, bottom), (frame.at(*first).0, bottom)];
    let outline: Vec<At> = top.iter().copied().chain(feet).collect();
    sheet.area(&outline, fill, opacity)?;
    sheet.line(&[&[feet[1]], &top[..], &[feet[0]]].concat(), Line::solid(edge, width))
}

/// A line with the dash and, every so often, the form of its series.
fn dashed(sheet: &mut Sheet, points: &[At], series: Series) -> Drawn {
    let colour = series.hue().mark;
    sheet.line(points, Line { dash: series.dash(), ..Line::solid(colour, 2.0) })?;
    // Each series begins elsewhere, so that forms on equal lines do not hide each other.
    let mut next = FORM_EVERY_PX * (0.15 + 0.17 * (series.0 % 5) as f64);
    let mut so_far = 0.0;
    for pair in points.windows(2) {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        // Whole pixels along the line; the square root is exact on every machine.
        let length = (dx * dx + dy * dy).sqrt();
        while length > 0.0 && next <= so_far + length {
            let part = (next - so_far) / length;
            let at = (pair[0].0 + part * dx, pair[0].1 + part * dy);
            sheet.marker(series.marker(), at, MARKER_PX - 1.0, colour)?;
            next += FORM_EVERY_PX;
        }
        so_far += length;
    }
    Ok(())
}

fn limit() -> Line {
    Line { dash: Some(LIMIT_DASH), ..Line::solid(palette::LIMIT, 1.2) }
}

fn level(sheet: &mut Sheet, frame: &Frame, value: f64, name: &str) -> Drawn {
    let (_, y) = frame.at((0.0, value));
    let Layout { left, right, .. } = frame.layout;
    sheet.line(&[(*left, y), (*right, y)], limit())?;
    let look = Text::new(SMALL_PX, palette::LIMIT).anchored(HPos::Left, VPos::Center);
    sheet.text(name, (right + TICK_GAP, y), look)
}

/// The line; its name is placed with the others.
fn upright(sheet: &mut Sheet, frame: &Frame, at: f64, _: &str) -> Drawn {
    let x = (frame.x)(at);
    sheet.line(&[(x, frame.place.top), (x, frame.place.bottom)], limit())
}

/// The room of a straight line, in pieces.
fn along(from: At, to: At) -> impl Iterator<Item = Room> {
    const PIECE_PX: f64 = 4.0;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let pieces = (dx.abs().max(dy.abs()) / PIECE_PX).ceil().max(1.0);
    (0..=pieces as u32).map(move |piece| {
        let part = f64::from(piece) / pieces;
        let (x, y) = (from.0 + part * dx, from.1 + part * dy);
        (x - 2.0, y - 2.0, x + 2.0, y + 2.0)
    })
}

/// Names of points and upright lines.
fn names(sheet: &mut Sheet, frame: &Frame, fonts: &Fonts) -> Drawn {
    let around = |(x, y): At| -> Room { (x - 6.0, y - 6.0, x + 6.0, y + 6.0) };
    let taken = frame.panel.marks.iter().flat_map(|mark| -> Vec<Room> {
        match mark {
            Mark::Points(points, _) => points.iter().map(|p| around(frame.at(*p))).collect(),
            Mark::Name(at, ..) | Mark::Ring(at) => vec![around(frame.at(*at))],
            Mark::Across(from, to, y, _) => {
                let (from, to) = (frame.at((*from, *y)), frame.at((*to, *y)));
                vec![(from.0, from.1 - CAP_PX, to.0, to.1 + CAP_PX)]
            }
            Mark::Up(x, from, to, _) => {
                let (from, to) = (frame.at((*x, *from)), frame.at((*x, *to)));
                vec![(to.0 - CAP_PX, to.1, from.0 + CAP_PX, from.1)]
            }
            Mark::Theory(line) => {
                let line: Vec<At> = line.iter().map(|place| frame.at(*place)).collect();
                line.windows(2).flat_map(|ends| along(ends[0], ends[1])).collect()
            }
            _ => Vec::new(),
        }
    });
    let Layout { left, right, .. } = frame.layout;
    let bounds = (left + 2.0, frame.place.top - 2.0, *right, frame.place.bottom - 2.0);
    let mut names = Names::within(fonts, bounds, taken.collect());
    let look = |colour| Text::new(SMALL_PX, colour).anchored(HPos::Left, VPos::Center);
    for mark in &frame.panel.marks {
        let (name, spot, colour) = match mark {
            Mark::Name(at, name, series) => {
                (name, names.beside(name, frame.at(*at)), series.hue().ink)
            }
            Mark::Over(at, name, series) => {
                (name, names.above(name, frame.at(*at)), series.hue().ink)
            }
            Mark::Upright(at, name) => {
                let at = ((frame.x)(*at) - 4.0, frame.place.top + 9.0);
                (name, names.beside(name, at), palette::LIMIT)
            }
            _ => continue,
        };
        if let Some(spot) = spot {
            sheet.text(name, spot, look(colour))?;
        }
    }
    Ok(())
}
