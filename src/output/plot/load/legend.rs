//! The legend: a strip of its own above the panels, because a box inside a panel would hide data.
//!
//! The keys for retries show the colours of the panels side by side: a key in one colour would
//! seem to speak of one policy only.

use plotters::element::{PathElement, Rectangle};
use plotters::style::{Color, RGBColor};
use plotters_backend::text_anchor::{HPos, Pos, VPos};

use super::super::canvas::{Area, DashedLine, Fonts, Weight, line_width, text_style, units};
use super::super::header::SMALL_PX;
use super::super::ticks::number;
use super::super::{PlotError, palette};
use super::layout::Capacity;
use super::panel::{BAND, DASH, FILL};

/// The size of a key.
const KEY_PX: (f64, f64) = (30.0, 12.0);
/// From a key to its text, and from a text to the next key.
const KEY_GAP_PX: f64 = 7.0;
const ITEM_GAP_PX: f64 = 26.0;
/// From one row to the next.
const ROW_PX: i32 = 20;
/// So many colours fit into one key.
const KEY_COLOURS: usize = 5;

/// What a key shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    FirstAttempts,
    Mean,
    Band,
    Capacity,
    Outage,
}

/// A key and its explanation.
#[derive(Debug, Clone, PartialEq)]
struct Item {
    key: Key,
    text: String,
    /// The left end of the key.
    x: f64,
    /// The middle of the row.
    y: i32,
}

/// All keys with their places.
#[derive(Debug, Clone, PartialEq)]
pub struct Legend {
    items: Vec<Item>,
    /// The lower edge of the last row.
    pub bottom: i32,
}

impl Legend {
    /// The legend between `left` and `right`, from `top` downwards, in as many rows as it needs.
    pub fn of(
        (capacity, outage): (Option<&Capacity>, bool),
        per_window: &str,
        fonts: &Fonts,
        (left, right): (i32, i32),
        top: i32,
    ) -> Legend {
        let (mut x, mut y) = (f64::from(left), top + ROW_PX / 2);
        let mut items: Vec<Item> = Vec::new();
        for (key, text) in explanations(capacity, outage, per_window) {
            let width = KEY_PX.0 + KEY_GAP_PX + fonts.width(&text, Weight::Regular, SMALL_PX);
            if !items.is_empty() && x + width > f64::from(right) {
                (x, y) = (f64::from(left), y + ROW_PX);
            }
            items.push(Item { key, text, x, y });
            x += width + ITEM_GAP_PX;
        }
        Legend { items, bottom: y + ROW_PX / 2 }
    }

    /// Draws the legend of a figure whose panels have these colours.
    pub fn draw(&self, area: &Area, hues: &[usize]) -> Result<(), PlotError> {
        let style = text_style(SMALL_PX, Weight::Regular, palette::TEXT)
            .pos(Pos::new(HPos::Left, VPos::Center));
        let colours: Vec<RGBColor> =
            hues.iter().take(KEY_COLOURS).map(|index| palette::series(*index).mark).collect();
        for item in &self.items {
            let y = f64::from(item.y);
            draw_key(area, item.key, (item.x, y), &colours)?;
            let at = (units(item.x + KEY_PX.0 + KEY_GAP_PX), units(y));
            area.draw_text(&item.text, &style, at)?;
        }
        Ok(())
    }
}

fn explanations(capacity: Option<&Capacity>, outage: bool, per_window: &str) -> Vec<(Key, String)> {
    let mut items = vec![
        (Key::FirstAttempts, "first attempts, mean".to_owned()),
        (Key::Mean, "retries, mean".to_owned()),
        (Key::Band, "retries, 5\u{2013}95 % of seeds".to_owned()),
    ];
    if let Some(capacity) = capacity {
        let beyond = if capacity.on_axis { "" } else { " (above the axis)" };
        let text = format!("capacity, {} {per_window}{beyond}", number(capacity.value));
        items.push((Key::Capacity, text));
    }
    if outage {
        items.push((Key::Outage, "outage".to_owned()));
    }
    items
}

/// Draws one key with its left end and its middle at a point.
fn draw_key(
    area: &Area,
    key: Key,
    (x, y): (f64, f64),
    colours: &[RGBColor],
) -> Result<(), PlotError> {
    let (width, height) = KEY_PX;
    let level = |y: f64| [(units(x), units(y)), (units(x + width), units(y))];
    match key {
        Key::FirstAttempts => {
            let corners = [level(y - height / 2.0)[0], level(y + height / 2.0)[1]];
            area.draw(&Rectangle::new(corners, palette::BACKDROP.filled()))?;
            let edge = palette::BACKDROP_EDGE.stroke_width(line_width(1.0));
            area.draw(&PathElement::new(level(y - height / 2.0), edge))?;
        }
        Key::Outage => {
            let corners = [level(y - height / 2.0)[0], level(y + height / 2.0)[1]];
            area.draw(&Rectangle::new(corners, palette::OUTAGE.filled()))?;
        }
        Key::Capacity => {
            let line = palette::LIMIT.stroke_width(line_width(1.2));
            area.draw(&DashedLine::new(level(y), line, DASH))?;
        }
        Key::Mean | Key::Band => {
            let slice = width / colours.len() as f64;
            for (index, colour) in colours.iter().enumerate() {
                let left = x + slice * index as f64;
                draw_slice(area, key, ((left, left + slice), y), *colour)?;
            }
        }
    }
    Ok(())
}

/// The part of a key that is in the colour of one panel.
fn draw_slice(
    area: &Area,
    key: Key,
    ((left, right), y): ((f64, f64), f64),
    colour: RGBColor,
) -> Result<(), PlotError> {
    let (left, right) = (units(left), units(right));
    let (top, bottom) = (units(y - KEY_PX.1 / 2.0), units(y + KEY_PX.1 / 2.0));
    let opacity = if key == Key::Band { BAND } else { FILL };
    let fill = colour.mix(opacity).filled();
    area.draw(&Rectangle::new([(left, top), (right, bottom)], fill))?;
    if key == Key::Mean {
        let line = colour.stroke_width(line_width(1.6));
        area.draw(&PathElement::new([(left, top), (right, top)], line))?;
    }
    Ok(())
}
