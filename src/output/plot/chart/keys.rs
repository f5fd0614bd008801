//! What the marks mean: a strip of its own above the panels, because a box inside one hides data.

use super::super::canvas::{Fonts, Weight};
use super::super::header::SMALL_PX;
use super::super::sheet::{Line, Sheet, Text};
use super::super::{PlotError, palette};
use super::Series;
use plotters_backend::text_anchor::{HPos, VPos};

/// A sign and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The sign.
    pub sign: Sign,
    /// The meaning.
    pub text: String,
}

/// What a key shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    /// A line with the dash and form of its series.
    Line(Series),
    /// An unbroken line.
    Plain(Series),
    /// A point of the form of its series, with or without an interval.
    Point(Series, bool),
    /// A filled area under a line.
    Filled(Series),
    /// A band.
    Band(Vec<Series>),
    /// The background quantity.
    Backdrop,
    /// A closed form.
    Theory,
    /// A limit.
    Limit,
    /// A stretch that is set apart.
    Shade,
    /// Small faint dots.
    Dot,
    /// The point to look at.
    Ring,
}

impl Key {
    /// A key.
    pub fn new(sign: Sign, text: impl Into<String>) -> Key {
        Key { sign, text: text.into() }
    }
}

/// The size of a sign.
const SIGN_PX: (f64, f64) = (32.0, 12.0);
/// From a sign to its text, and from a text to the next sign.
const GAP_PX: f64 = 7.0;
const ITEM_GAP_PX: f64 = 24.0;
/// From one row to the next.
const ROW_PX: f64 = 20.0;

/// Opacity of what lies under a line, and of bands.
pub const FILL: f64 = 0.12;
/// See [`FILL`].
pub const BAND: f64 = 0.22;
/// Size of forms in pixels.
pub const MARKER_PX: f64 = 8.0;
/// Radius of a ring in pixels.
pub const RING_PX: f64 = 9.0;
/// Dash and gap of limits.
pub const LIMIT_DASH: (f64, f64) = (6.0, 4.0);

/// All keys with the left end and the middle of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    items: Vec<(Key, f64, f64)>,
    /// Its lower edge.
    pub bottom: f64,
}

impl Strip {
    /// The keys between `left` and `right`, from `top` downwards, in as many rows as they need.
    pub fn of(keys: &[Key], fonts: &Fonts, (left, right): (f64, f64), top: f64) -> Strip {
        if keys.is_empty() {
            return Strip { items: Vec::new(), bottom: top };
        }
        let (mut x, mut y) = (left, top + ROW_PX / 2.0);
        let mut items: Vec<(Key, f64, f64)> = Vec::new();
        for key in keys {
            let room = right - left - SIGN_PX.0 - GAP_PX;
            let text = fonts.fit(&key.text, Weight::Regular, SMALL_PX, room);
            let width = SIGN_PX.0 + GAP_PX + fonts.width(&text, Weight::Regular, SMALL_PX);
            if !items.is_empty() && x + width > right {
                (x, y) = (left, y + ROW_PX);
            }
            items.push((Key::new(key.sign.clone(), text), x, y));
            x += width + ITEM_GAP_PX;
        }
        Strip { items, bottom: y + ROW_PX / 2.0 }
    }

    /// Draws them.
    pub fn draw(&self, sheet: &mut Sheet) -> Result<(), PlotError> {
        let look = Text::new(SMALL_PX, palette::TEXT).anchored(HPos::Left, VPos::Center);
        for (key, x, y) in &self.items {
            draw_sign(sheet, &key.sign, (*x, *y))?;
            sheet.text(&key.text, (x + SIGN_PX.0 + GAP_PX, *y), look)?;
        }
        Ok(())
    }
}

fn draw_sign(sheet: &mut Sheet, sign: &Sign, (x, y): (f64, f64)) -> Result<(), PlotError> {
    let (width, height) = SIGN_PX;
    let middle = (x + width / 2.0, y);
    let level = |y: f64| [(x, y), (x + width, y)];
    let (top, bottom) = (y - height / 2.0, y + height / 2.0);
    match sign {
        Sign::Line(series) => {
            let line = Line { dash: series.dash(), ..Line::solid(series.hue().mark, 2.0) };
            sheet.line(&level(y), line)?;
            sheet.marker(series.marker(), middle, MARKER_PX, series.hue().mark)
        }
        Sign::Plain(series) => sheet.line(&level(y), Line::solid(series.hue().mark, 2.0)),
        Sign::Point(series, interval) => {
            let colour = series.hue().mark;
            if *interval {
                sheet.line(&level(y), Line::solid(colour, 1.5))?;
            }
            sheet.marker(series.marker(), middle, MARKER_PX, colour)
        }
        Sign::Filled(series) => {
            let colour = series.hue().mark;
            let corners = [level(top), level(bottom)].concat();
            sheet.area(&[corners[0], corners[1], corners[3], corners[2]], colour, FILL)?;
            sheet.line(&level(top), Line::solid(colour, 1.6))
        }
        Sign::Band(all) => {
            let slice = width / all.len().max(1) as f64;
            all.iter().enumerate().try_for_each(|(index, series)| {
                let (left, right) = (x + slice * index as f64, x + slice * (index + 1) as f64);
                let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
                sheet.area(&corners, series.hue().mark, BAND)
            })
        }
        Sign::Backdrop => {
            sheet.rectangle((x, top), (x + width, bottom), palette::BACKDROP)?;
            sheet.line(&level(top), Line::solid(palette::BACKDROP_EDGE, 1.0))
        }
        Sign::Theory => sheet.line(&level(y), Line::solid(palette::LIMIT, 1.2)),
        Sign::Limit => {
            let line = Line { dash: Some(LIMIT_DASH), ..Line::solid(palette::LIMIT, 1.2) };
            sheet.line(&level(y), line)
        }
        Sign::Shade => sheet.rectangle((x, top), (x + width, bottom), palette::OUTAGE),
        Sign::Dot => sheet.marker(super::Marker::Circle, middle, 5.0, palette::BACKDROP_EDGE),
        Sign::Ring => sheet.ring(middle, RING_PX, palette::TEXT),
    }
}
