//! Text as outlines, set with the embedded fonts.
//!
//! The fonts are the DejaVu Sans subset in `fonts/`, beside its licence.
//!
//! The box of a text, which anchors refer to, is as wide as its advance and reaches from the
//! baseline to the height of the capitals; descenders hang below it. With this box a centred
//! number stands exactly level with its tick.

use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendTextStyle, FontStyle, FontTransform};
use ttf_parser::OutlineBuilder;

use super::super::PlotError;
use super::font::Font;
use super::list::{Point, Segment, UNITS_PER_PX};

static REGULAR: &[u8] = include_bytes!("../fonts/DejaVuSans.sub.ttf");
static BOLD: &[u8] = include_bytes!("../fonts/DejaVuSans-Bold.sub.ttf");

/// What marks the place where a text was cut.
const ELLIPSIS: &str = "…";

/// The two weights that are embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// For most text.
    Regular,
    /// For titles and labels.
    Bold,
}

/// The weight and the size of a piece of text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub weight: Weight,
    pub size_px: f64,
}

impl Run {
    /// The run that a text style of the plotting library asks for, when its sizes count
    /// `units_per_px` units to a pixel. Slanted styles are set upright: there is no such font.
    pub fn from_style<S: BackendTextStyle>(style: &S, units_per_px: i32) -> Run {
        Run {
            weight: match style.style() {
                FontStyle::Bold => Weight::Bold,
                _ => Weight::Regular,
            },
            size_px: style.size() / f64::from(units_per_px),
        }
    }
}

/// The embedded fonts, ready to measure and to outline text.
#[derive(Debug)]
pub struct Fonts {
    regular: Font,
    bold: Font,
}

impl Fonts {
    /// Reads the embedded fonts.
    pub fn load() -> Result<Fonts, PlotError> {
        Ok(Fonts { regular: Font::parse(REGULAR)?, bold: Font::parse(BOLD)? })
    }

    /// The width of a text in pixels.
    pub fn width(&self, text: &str, weight: Weight, size_px: f64) -> f64 {
        let font = self.font(weight);
        font.lay_out(text).advance * size_px / font.units_per_em
    }

    /// The height of the capitals in pixels.
    pub fn cap_height(&self, weight: Weight, size_px: f64) -> f64 {
        let font = self.font(weight);
        font.cap_height * size_px / font.units_per_em
    }

    /// The text itself if it is at most `width_px` wide, or as much of its beginning as fits
    /// before an ellipsis.
    pub fn fit(&self, text: &str, weight: Weight, size_px: f64, width_px: f64) -> String {
        if self.width(text, weight, size_px) <= width_px {
            return text.to_owned();
        }
        let font = self.font(weight);
        let room = (width_px - self.width(ELLIPSIS, weight, size_px)) * font.units_per_em / size_px;
        let glyphs = font.lay_out(text).glyphs;
        let kept = glyphs.partition_point(|glyph| glyph.end <= room);
        let head: String = text.chars().take(kept).collect();
        format!("{}{ELLIPSIS}", head.trim_end())
    }

    /// The text broken at spaces into lines of at most `width_px`; what does not fit on `limit`
    /// lines is cut off with an ellipsis.
    pub fn wrap(&self, text: &str, run: (Weight, f64), width_px: f64, limit: usize) -> Vec<String> {
        let (weight, size_px) = run;
        let width = |text: &str| self.width(text, weight, size_px);
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            // On the last line everything is kept: `fit` decides below what is shown.
            let is_last = lines.len() == limit;
            match lines.last_mut() {
                Some(line) if is_last || width(&format!("{line} {word}")) <= width_px => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines.iter().map(|line| self.fit(line, weight, size_px, width_px)).collect()
    }

    /// The outline of a text whose anchor is at a point.
    pub(super) fn outline(
        &self,
        text: &str,
        run: Run,
        anchor: &Pos,
        transform: &FontTransform,
        at: Point,
    ) -> Vec<Segment> {
        let font = self.font(run.weight);
        let line = font.lay_out(text);
        let left = match anchor.h_pos {
            HPos::Left => 0.0,
            HPos::Center => -line.advance / 2.0,
            HPos::Right => -line.advance,
        };
        // Font coordinates point up, with the baseline at zero.
        let baseline = match anchor.v_pos {
            VPos::Top => -font.cap_height,
            VPos::Center => -font.cap_height / 2.0,
            VPos::Bottom => 0.0,
        };
        let mut tracer = Tracer {
            path: Vec::new(),
            origin: (0.0, baseline),
            scale: run.size_px * f64::from(UNITS_PER_PX) / font.units_per_em,
            transform,
            at,
        };
        for glyph in &line.glyphs {
            tracer.origin.0 = left + glyph.start;
            font.face.outline_glyph(glyph.id, &mut tracer);
        }
        tracer.path
    }

    fn font(&self, weight: Weight) -> &Font {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }
}

/// Receives the outline of a glyph and writes it, placed and turned, into a path.
struct Tracer<'a> {
    path: Vec<Segment>,
    origin: (f64, f64),
    scale: f64,
    transform: &'a FontTransform,
    at: Point,
}

impl Tracer<'_> {
    fn place(&self, x: f32, y: f32) -> Point {
        let right = (self.origin.0 + f64::from(x)) * self.scale;
        let down = -(self.origin.1 + f64::from(y)) * self.scale;
        let (x, y) = self.transform.transform(right.round() as i32, down.round() as i32);
        Point { x: self.at.x + x, y: self.at.y + y }
    }
}

impl OutlineBuilder for Tracer<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.push(Segment::Move(self.place(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.push(Segment::Line(self.place(x, y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let segment = Segment::Quad(self.place(x1, y1), self.place(x, y));
        self.path.push(segment);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let segment = Segment::Cubic(self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.push(segment);
    }

    fn close(&mut self) {
        self.path.push(Segment::Close);
    }
}

#[cfg(test)]
mod tests;
