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

/// The paper unless another one is asked for.
const WHITE: RGBColor = RGBColor(255, 255, 255);

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

/// A sheet that remembers what was drawn on it.
#[derive(Debug)]
pub struct Canvas {
    width_px: u32,
    height_px: u32,
    paper: RGBColor,
    shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty white sheet of this size.
    pub fn new(width_px: u32, height_px: u32) -> Canvas {
        Canvas { width_px, height_px, paper: WHITE, shapes: Vec::new() }
    }

    /// The same drawing on another paper, in other colours.
    pub fn recoloured(mut self, paper: RGBColor, change: impl Fn(RGBColor) -> RGBColor) -> Canvas {
        let change = |ink: &mut list::Ink| {
            let (red, green, blue) = ink.rgb;
            let RGBColor(red, green, blue) = change(RGBColor(red, green, blue));
            ink.rgb = (red, green, blue);
        };
        for shape in &mut self.shapes {
            shape.fill.iter_mut().for_each(change);
            shape.stroke.iter_mut().for_each(|stroke| change(&mut stroke.ink));
        }
        self.paper = paper;
        self
    }

    /// A pen for this sheet.
    pub fn pen<'a>(&'a mut self, fonts: &'a Fonts) -> Pen<'a> {
        let size = (self.width_px * UNITS_PER_PX as u32, self.height_px * UNITS_PER_PX as u32);
        Pen::new(&mut self.shapes, fonts, size)
    }

    /// The sheet as a drawing area for the plotting library.
    pub fn area<'a>(&'a mut self, fonts: &'a Fonts) -> Area<'a> {
        self.pen(fonts).into_drawing_area()
    }

    /// The drawing as an SVG document. The title and the description are for readers who do not
    /// see the picture.
    pub fn to_svg(&self, title: &str, description: &str) -> String {
        let size = (self.width_px, self.height_px);
        svg::document((size, self.paper), &self.shapes, title, description)
    }

    /// The drawing as a PNG file at twice the nominal size.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        raster::png((self.width_px, self.height_px), self.paper, &self.shapes)
    }

    /// Two texts of which one is drawn over the other, if there are any.
    #[cfg(test)]
    pub fn overlapping_texts(&self) -> Option<(String, String)> {
        let boxes: Vec<_> = self.shapes.iter().filter_map(text_box).collect();
        let overlap = |(a, b): (&TextBox, &TextBox)| {
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
        };
        boxes.iter().enumerate().find_map(|(index, one)| {
            let other = boxes[..index].iter().find(|other| overlap((one, other)))?;
            Some((other.text.clone(), one.text.clone()))
        })
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

/// A text with the box that it fills.
#[cfg(test)]
struct TextBox {
    text: String,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

#[cfg(test)]
fn text_box(shape: &Shape) -> Option<TextBox> {
    let text = shape.text.clone()?;
    let ends = shape.path.iter().filter_map(|segment| match *segment {
        list::Segment::Move(a) | list::Segment::Line(a) => Some(a),
        list::Segment::Quad(_, a) | list::Segment::Cubic(_, _, a) => Some(a),
        list::Segment::Close => None,
    });
    let ends: Vec<list::Point> = ends.collect();
    let (xs, ys) = (ends.iter().map(|p| p.x), ends.iter().map(|p| p.y));
    Some(TextBox {
        text,
        left: xs.clone().min()?,
        right: xs.max()?,
        top: ys.clone().min()?,
        bottom: ys.max()?,
    })
}
