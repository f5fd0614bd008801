//! Drawing on a canvas in pixels.
//!
//! Charts that have axes of their own need none of the plotting library's coordinates: they know
//! where everything goes, and a sheet takes it there.

use plotters::style::{Color, RGBAColor, RGBColor, ShapeStyle};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{DrawingBackend, DrawingErrorKind, FontTransform};

use super::PlotError;
use super::canvas::{Canvas, Fonts, Pen, Weight, line_width, text_style, units};

/// A position in pixels from the top left corner.
pub type At = (f64, f64);

/// A canvas that is being drawn on.
#[derive(Debug)]
pub struct Sheet<'a> {
    pen: Pen<'a>,
}

/// A line's look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its colour.
    pub colour: RGBColor,
    /// Its width in pixels.
    pub width_px: f64,
    /// Lengths of a dash and of a gap in pixels.
    pub dash: Option<(f64, f64)>,
}

impl Line {
    /// An unbroken line.
    pub fn solid(colour: RGBColor, width_px: f64) -> Line {
        Line { colour, width_px, dash: None }
    }
}

/// The form of a point: what tells series apart besides their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "forms are what they are called")]
pub enum Marker {
    Circle,
    Square,
    Diamond,
    Triangle,
    Tip,
    Cross,
    Plus,
    Bar,
}

/// The forms in order of use, as many as there are series colours.
pub const MARKERS: [Marker; 8] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Tip,
    Marker::Cross,
    Marker::Plus,
    Marker::Bar,
];

type Drawn = Result<(), PlotError>;

fn failed(error: DrawingErrorKind<PlotError>) -> PlotError {
    match error {
        DrawingErrorKind::DrawingError(inner) => inner,
        other => PlotError::Layout(other.to_string()),
    }
}

fn place((x, y): At) -> (i32, i32) {
    (units(x), units(y))
}

fn fill(colour: RGBColor, opacity: f64) -> ShapeStyle {
    RGBAColor(colour.0, colour.1, colour.2, opacity).filled()
}

impl<'a> Sheet<'a> {
    /// A sheet on a canvas.
    pub fn on(canvas: &'a mut Canvas, fonts: &'a Fonts) -> Sheet<'a> {
        Sheet { pen: canvas.pen(fonts) }
    }

    /// A line through points.
    pub fn line(&mut self, points: &[At], line: Line) -> Drawn {
        let style = line.colour.stroke_width(line_width(line.width_px));
        let points = points.iter().copied().map(place);
        match line.dash {
            Some((dash, gap)) => self.pen.dashed(points, &style, (units(dash), units(gap))),
            None => self.pen.draw_path(points, &style).map_err(failed)?,
        }
        Ok(())
    }

    /// A level or upright hairline through the middle of pixels, where it is sharp.
    pub fn rule(&mut self, from: At, to: At, colour: RGBColor) -> Drawn {
        let centred = |(x, y): At| {
            if from.1 == to.1 { (x.round(), y.floor() + 0.5) } else { (x.floor() + 0.5, y.round()) }
        };
        self.line(&[centred(from), centred(to)], Line::solid(colour, 1.0))
    }

    /// The area that points enclose; opacity from 0 to 1.
    pub fn area(&mut self, points: &[At], colour: RGBColor, opacity: f64) -> Drawn {
        let points = points.iter().copied().map(place);
        self.pen.fill_polygon(points, &fill(colour, opacity)).map_err(failed)
    }

    /// An upright rectangle, sharp at its edges.
    pub fn rectangle(&mut self, corner: At, opposite: At, colour: RGBColor) -> Drawn {
        let (corner, opposite) = (place(corner), place(opposite));
        self.pen.draw_rect(corner, opposite, &fill(colour, 1.0), true).map_err(failed)
    }

    /// A point; one that is hollow shows the paper within.
    pub fn marker(&mut self, marker: Marker, (x, y): At, px: f64, colour: RGBColor) -> Drawn {
        let r = px / 2.0;
        let outline = |corners: &[(f64, f64)]| -> Vec<At> {
            corners.iter().map(|(a, b)| (x + a * r, y + b * r)).collect()
        };
        match marker {
            Marker::Circle => {
                let radius = units(r).unsigned_abs();
                let style = fill(colour, 1.0);
                self.pen.draw_circle(place((x, y)), radius, &style, true).map_err(failed)
            }
            Marker::Square => self.area(
                &outline(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
                colour,
                1.0,
            ),
            Marker::Diamond => self.area(
                &outline(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
                colour,
                1.0,
            ),
            Marker::Triangle => {
                self.area(&outline(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]), colour, 1.0)
            }
            Marker::Tip => {
                self.area(&outline(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]), colour, 1.0)
            }
            Marker::Cross | Marker::Plus | Marker::Bar => {
                let strokes: [[(f64, f64); 2]; 2] = match marker {
                    Marker::Cross => [[(-0.9, -0.9), (0.9, 0.9)], [(-0.9, 0.9), (0.9, -0.9)]],
                    Marker::Plus => [[(-1.2, 0.0), (1.2, 0.0)], [(0.0, -1.2), (0.0, 1.2)]],
                    _ => [[(-1.2, -0.4), (1.2, -0.4)], [(-1.2, 0.4), (1.2, 0.4)]],
                };
                let line = Line::solid(colour, (px / 4.0).max(1.5));
                strokes.iter().try_for_each(|stroke| self.line(&outline(stroke), line))
            }
        }
    }

    /// A ring.
    pub fn ring(&mut self, at: At, radius_px: f64, colour: RGBColor) -> Drawn {
        let (radius, style) =
            (units(radius_px).unsigned_abs(), colour.stroke_width(line_width(1.6)));
        self.pen.draw_circle(place(at), radius, &style, false).map_err(failed)
    }

    /// A text whose anchor is at a point.
    pub fn text(&mut self, text: &str, at: At, look: Text) -> Drawn {
        let style = text_style(look.px, look.weight, look.colour).pos(Pos::new(look.h, look.v));
        let style = if look.upwards { style.transform(FontTransform::Rotate270) } else { style };
        self.pen.draw_text(text, &style, place(at)).map_err(failed)
    }
}

/// A text's look.
#[derive(Clone, Copy)]
pub struct Text {
    /// Size in pixels.
    pub px: f64,
    /// Weight.
    pub weight: Weight,
    /// Colour.
    pub colour: RGBColor,
    /// What the anchor is, across and upright.
    pub h: HPos,
    /// See `h`.
    pub v: VPos,
    /// Whether it runs upwards.
    pub upwards: bool,
}

impl Text {
    /// A text of this size that begins at its anchor and stands on it.
    pub fn new(px: f64, colour: RGBColor) -> Text {
        let (h, v) = (HPos::Left, VPos::Bottom);
        Text { px, weight: Weight::Regular, colour, h, v, upwards: false }
    }

    /// The same in bold.
    pub fn bold(self) -> Text {
        Text { weight: Weight::Bold, ..self }
    }

    /// The same with another anchor.
    pub fn anchored(self, h: HPos, v: VPos) -> Text {
        Text { h, v, ..self }
    }

    /// The same running upwards.
    pub fn upwards(self) -> Text {
        Text { upwards: true, ..self }
    }
}
