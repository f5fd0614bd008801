//! A chart: panels one above the other over one axis, with a heading, a note and a strip of keys.
//!
//! It is plain data. What a picture is about decides its own file beside this folder, which fills in panels and
//! keys; how text, axes and marks are laid out and drawn is decided here once for all of them.

mod axis;
mod keys;
mod layout;
mod names;
mod panel;

pub use axis::{Axis, Spacing};
pub use keys::{Key, Sign};
pub(super) use layout::share;

use super::canvas::{Canvas, Fonts};
use super::sheet::{Marker, Sheet};
use super::{Look, Picture, PlotError, palette};
use layout::Layout;

/// A position in the units of the axes.
pub type Place = (f64, f64);

/// The largest number of panels.
pub const MAX_PANELS: usize = 10;

/// Everything that a chart shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// A small line below it: number of runs, seeds, what was left out.
    pub note: String,
    /// The picture in words, for readers who do not see it.
    pub description: String,
    /// The axis that all panels share.
    pub x: Axis,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// What the marks mean.
    pub keys: Vec<Key>,
}

/// One panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What is written above it at the left, and in the colour of which series.
    pub label: (String, Option<usize>),
    /// What is written above it at the right.
    pub note: String,
    /// Its upright axis. Panels whose axes have one name have that name once.
    pub y: Axis,
    /// From back to front.
    pub marks: Vec<Mark>,
}

/// The look of a series: a number for its colour, and whether its form and dash follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series(pub usize);

/// Something that is drawn in a panel.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A stretch of the axis that is set apart, such as an outage.
    Shade(f64, f64),
    /// A dashed level line with its name beside the panel.
    Level(f64, String),
    /// A dashed upright line with its name at its top.
    Upright(f64, String),
    /// The area between two lines.
    Band(Vec<Place>, Vec<Place>, Series),
    /// A thin line without dashes or forms, in the quiet colour: a closed form.
    Theory(Vec<Place>),
    /// A line with the dash of its series, and with its form every so often.
    Line(Vec<Place>, Series),
    /// An unbroken line.
    Plain(Vec<Place>, Series),
    /// The area below a line down to the axis, and the line.
    Filled(Vec<Place>, Series),
    /// The same in the background colour.
    Backdrop(Vec<Place>),
    /// Points of the form of their series.
    Points(Vec<Place>, Series),
    /// Small faint dots, of what does not matter much.
    Dots(Vec<Place>),
    /// A ring around a point: the one to look at.
    Ring(Place),
    /// An interval across, from one place to another on a level.
    Across(f64, f64, f64, Series),
    /// An interval upright, at one place from one value to another.
    Up(f64, f64, f64, Series),
    /// The name of a point, beside it where there is room.
    Name(Place, String, Series),
    /// The name of a peak, above it where there is room.
    Over(Place, String, Series),
}

impl Series {
    /// Its colours.
    pub fn hue(self) -> palette::Hue {
        palette::series(self.0)
    }

    /// Its form.
    pub fn marker(self) -> Marker {
        super::sheet::MARKERS[self.0 % super::sheet::MARKERS.len()]
    }

    /// Lengths of dash and gap of its lines.
    pub fn dash(self) -> Option<(f64, f64)> {
        match self.0 % 8 {
            0 => None,
            1 => Some((9.0, 4.0)),
            2 => Some((3.0, 3.0)),
            3 => Some((14.0, 4.0)),
            4 => Some((6.0, 2.5)),
            5 => Some((1.8, 3.6)),
            6 => Some((18.0, 6.0)),
            _ => Some((4.0, 6.0)),
        }
    }
}

impl Chart {
    /// Draws it.
    pub fn draw(&self, look: Look) -> Result<Picture, PlotError> {
        let canvas = look.theme.apply(self.compose(look)?);
        Picture::of(canvas, &self.title, &format!("{}\n{}", self.description, self.note))
    }

    /// Everything but the output formats.
    pub fn compose(&self, look: Look) -> Result<Canvas, PlotError> {
        match self.panels.len() {
            0 => return Err(PlotError::NoPanels),
            1..=MAX_PANELS => {}
            found => return Err(PlotError::TooManyPanels { found, limit: MAX_PANELS }),
        }
        let fonts = Fonts::load()?;
        let layout = Layout::of(self, look, &fonts);
        let mut canvas = Canvas::new(look.width_px, layout.height_px);
        self.draw_on(&mut Sheet::on(&mut canvas, &fonts), &layout, &fonts)?;
        Ok(canvas)
    }

    fn draw_on(&self, sheet: &mut Sheet, layout: &Layout, fonts: &Fonts) -> Result<(), PlotError> {
        layout.header.draw(sheet)?;
        layout.keys.draw(sheet)?;
        let (left, right) = layout.data;
        let x = |value: f64| left + self.x.share(value) * (right - left);
        for (panel, place) in self.panels.iter().zip(&layout.panels) {
            panel::draw(sheet, panel, place, layout, fonts, &x)?;
        }
        panel::draw_shared(sheet, self, layout)
    }
}

#[cfg(test)]
mod tests;
