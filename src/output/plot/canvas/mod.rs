//! The drawing surface: a backend of the plotting library that records a display list.
//!
//! Only this module knows the backend trait, the fonts and the rasteriser. The library's own
//! backends are not used: its bitmaps place glyphs at whole pixels, and its SVG guesses the width
//! of text. Here text is measured and outlined with the embedded fonts.
//!
//! Backend coordinates are integers, so the library sees a canvas of *tenths* of a pixel
//! ([`UNITS_PER_PX`]); glyph outlines need more and use the display list's hundredths.

mod dashed;
mod font;
mod list;
mod pen;
mod raster;
mod silhouette;
mod svg;
mod text;

pub use dashed::DashedLine;
pub use pen::Pen;
pub use silhouette::Silhouette;
pub use text::{Fonts, Weight};

use list::Shape;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TextStyle};

use super::PlotError;

/// How many units of the drawing area make one pixel of the figure.
pub const UNITS_PER_PX: i32 = 10;

/// The drawing area that figures are drawn on, in units of which [`UNITS_PER_PX`] make a pixel.
pub type Area<'a> = DrawingArea<Pen<'a>, Shift>;

/// Pixels to units, to the nearest.
pub fn units(px: f64) -> i32 {
    (px * f64::from(UNITS_PER_PX)).round() as i32
}

/// A line width in pixels as the styles of the plotting library count it, in units.
pub fn line_width(px: f64) -> u32 {
    units(px).unsigned_abs()
}

/// A text style for this canvas.
pub fn text_style(size_px: f64, weight: Weight, colour: RGBColor) -> TextStyle<'static> {
    let slant = match weight {
        Weight::Regular => FontStyle::Normal,
        Weight::Bold => FontStyle::Bold,
    };
    // The family is a formality: the canvas has only one.
    let font = ("sans-serif", size_px * f64::from(UNITS_PER_PX)).into_font();
    let mut style = TextStyle::from(font.style(slant));
    style.color = colour.to_backend_color();
    style
}

/// A white sheet that remembers what was drawn on it.
#[derive(Debug)]
pub struct Canvas {
    width_px: u32,
    height_px: u32,
    shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty sheet of this size.
    pub fn new(width_px: u32, height_px: u32) -> Canvas {
        Canvas { width_px, height_px, shapes: Vec::new() }
    }

    /// The sheet as a drawing area for the plotting library.
    pub fn area<'a>(&'a mut self, fonts: &'a Fonts) -> Area<'a> {
        let size = (self.width_px * UNITS_PER_PX as u32, self.height_px * UNITS_PER_PX as u32);
        Pen::new(&mut self.shapes, fonts, size).into_drawing_area()
    }

    /// The drawing as an SVG document. The title and the description are for readers who do not
    /// see the picture.
    pub fn to_svg(&self, title: &str, description: &str) -> String {
        let size = (self.width_px, self.height_px);
        svg::document(size, &self.shapes, title, description)
    }

    /// The drawing as a PNG file at twice the nominal size.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        raster::png((self.width_px, self.height_px), &self.shapes)
    }

    /// Whether no point of the drawing is outside the sheet, where it would be cut off.
    #[cfg(test)]
    pub fn holds_everything(&self) -> bool {
        let limit = |px: u32| px as i32 * list::UNITS_PER_PX;
        let (right, bottom) = (limit(self.width_px), limit(self.height_px));
        let inside = |p: list::Point| (0..=right).contains(&p.x) && (0..=bottom).contains(&p.y);
        let mut segments = self.shapes.iter().flat_map(|shape| &shape.path);
        segments.all(|segment| match *segment {
            list::Segment::Move(a) | list::Segment::Line(a) => inside(a),
            list::Segment::Quad(a, b) => inside(a) && inside(b),
            list::Segment::Cubic(a, b, c) => inside(a) && inside(b) && inside(c),
            list::Segment::Close => true,
        })
    }
}
