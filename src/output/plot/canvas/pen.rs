//! The backend proper: turns the plotting library's calls into entries of the display list.

use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::super::PlotError;
use super::UNITS_PER_PX;
use super::list::{self, Ink, Point, Segment, Shape, Stroke, polyline};
use super::text::{Fonts, Run};

/// Units of the display list per unit of the drawing area.
const FINER: i32 = list::UNITS_PER_PX / UNITS_PER_PX;

/// Draws onto a canvas.
#[derive(Debug)]
pub struct Pen<'a> {
    shapes: &'a mut Vec<Shape>,
    fonts: &'a Fonts,
    size: (u32, u32),
}

type Drawn = Result<(), DrawingErrorKind<PlotError>>;

impl<'a> Pen<'a> {
    pub(super) fn new(shapes: &'a mut Vec<Shape>, fonts: &'a Fonts, size: (u32, u32)) -> Pen<'a> {
        Pen { shapes, fonts, size }
    }

    /// Draws a dashed line, which the backend trait has no call for.
    pub fn dashed<S: BackendStyle>(
        &mut self,
        points: impl Iterator<Item = BackendCoord>,
        style: &S,
        (dash, gap): (i32, i32),
    ) {
        let stroke = Stroke { dash: Some((dash * FINER, gap * FINER)), ..stroke(style) };
        self.push(polyline(points.map(point)), None, Some(stroke), false);
    }

    /// Draws an area and a line along its outline, which is left open between the last point and
    /// the first.
    pub(super) fn silhouette<S: BackendStyle>(
        &mut self,
        points: impl Iterator<Item = BackendCoord>,
        fill: &S,
        edge: &S,
    ) {
        let path = polyline(points.map(point));
        self.push(path, Some(ink(fill.color())), Some(stroke(edge)), false);
    }

    /// Records a shape unless it would be invisible.
    fn push(&mut self, path: Vec<Segment>, fill: Option<Ink>, stroke: Option<Stroke>, crisp: bool) {
        let fill = fill.filter(|ink| ink.percent > 0);
        let stroke = stroke.filter(|stroke| stroke.ink.percent > 0 && stroke.width > 0);
        if path.len() > 1 && (fill.is_some() || stroke.is_some()) {
            self.shapes.push(Shape { path, fill, stroke, crisp, text: None });
        }
    }

    /// Records a closed outline, filled or stroked.
    fn push_closed<S: BackendStyle>(
        &mut self,
        mut path: Vec<Segment>,
        style: &S,
        filled: bool,
        crisp: bool,
    ) {
        path.push(Segment::Close);
        if filled {
            self.push(path, Some(ink(style.color())), None, crisp);
        } else {
            self.push(path, None, Some(stroke(style)), crisp);
        }
    }
}

impl DrawingBackend for Pen<'_> {
    type ErrorType = PlotError;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect((x, y), (x + 1, y + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        let path = polyline(corners.map(point));
        self.push_closed(path, style, fill, true);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let path = polyline(path.into_iter().map(point));
        let crisp = is_rule(&path);
        self.push(path, None, Some(stroke(style)), crisp);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let path = circle(point((x, y)), radius as i32 * FINER);
        self.push_closed(path, style, fill, false);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        let path = polyline(vert.into_iter().map(point));
        self.push_closed(path, style, true, false);
        Ok(())
    }

    fn draw_text<TStyle: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &TStyle,
        pos: BackendCoord,
    ) -> Drawn {
        let run = Run::from_style(style, UNITS_PER_PX);
        let anchor = style.anchor();
        let path = self.fonts.outline(text, run, &anchor, &style.transform(), point(pos));
        if !path.is_empty() {
            let (fill, text) = (Some(ink(style.color())), Some(text.to_owned()));
            self.shapes.push(Shape { path, fill, stroke: None, crisp: false, text });
        }
        Ok(())
    }

    fn estimate_text_size<TStyle: BackendTextStyle>(
        &self,
        text: &str,
        style: &TStyle,
    ) -> Result<(u32, u32), DrawingErrorKind<PlotError>> {
        let run = Run::from_style(style, UNITS_PER_PX);
        let to_units = |px: f64| (px * f64::from(UNITS_PER_PX)).ceil() as u32;
        Ok((
            to_units(self.fonts.width(text, run.weight, run.size_px)),
            to_units(self.fonts.cap_height(run.weight, run.size_px)),
        ))
    }
}

fn point((x, y): BackendCoord) -> Point {
    // Saturating: a point far outside the sheet need not be exact, but must not wrap around.
    Point { x: x.saturating_mul(FINER), y: y.saturating_mul(FINER) }
}

fn ink(colour: BackendColor) -> Ink {
    Ink { rgb: colour.rgb, percent: (colour.alpha * 100.0).round().clamp(0.0, 100.0) as u8 }
}

fn stroke<S: BackendStyle>(style: &S) -> Stroke {
    Stroke { ink: ink(style.color()), width: style.stroke_width() as i32 * FINER, dash: None }
}

/// Whether the path is a single upright or level line.
fn is_rule(path: &[Segment]) -> bool {
    match path {
        [Segment::Move(a), Segment::Line(b)] => a.x == b.x || a.y == b.y,
        _ => false,
    }
}

/// A circle as four cubic curves, the usual approximation (off by 0.03 % of the radius).
fn circle(centre: Point, radius: i32) -> Vec<Segment> {
    const HANDLE: f64 = 0.552_284_749_8;
    let handle = (f64::from(radius) * HANDLE).round() as i32;
    let at = |x: i32, y: i32| Point { x: centre.x + x, y: centre.y + y };
    let mut path = vec![Segment::Move(at(radius, 0))];
    // The quarter from (1, 0) to (0, 1), turned four times.
    let mut turn: fn(i32, i32) -> (i32, i32) = |x, y| (x, y);
    for quarter in 0..4 {
        let turned = |(x, y): (i32, i32)| {
            let (x, y) = turn(x, y);
            at(x, y)
        };
        path.push(Segment::Cubic(
            turned((radius, handle)),
            turned((handle, radius)),
            turned((0, radius)),
        ));
        turn = match quarter {
            0 => |x, y| (-y, x),
            1 => |x, y| (-x, -y),
            _ => |x, y| (y, -x),
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_returns_to_its_start() {
        let path = circle(Point { x: 500, y: 700 }, 100);
        let start = Point { x: 600, y: 700 };
        assert_eq!(path[0], Segment::Move(start));
        assert!(matches!(path[4], Segment::Cubic(_, _, end) if end == start));
        assert!(matches!(path[2], Segment::Cubic(_, _, end) if end == Point { x: 400, y: 700 }));
    }

    #[test]
    fn only_upright_and_level_lines_are_rules() {
        let line = |to| polyline([Point { x: 0, y: 0 }, to]);
        assert!(is_rule(&line(Point { x: 9, y: 0 })));
        assert!(is_rule(&line(Point { x: 0, y: 9 })));
        assert!(!is_rule(&line(Point { x: 9, y: 9 })));
    }

    #[test]
    fn invisible_shapes_are_not_recorded() {
        let fonts = Fonts::load().expect("the embedded fonts are readable");
        let mut shapes = Vec::new();
        let mut pen = Pen::new(&mut shapes, &fonts, (100, 100));
        let clear = BackendColor { alpha: 0.0, rgb: (0, 0, 0) };
        pen.draw_line((0, 0), (9, 9), &clear).expect("no failure");
        pen.draw_path([(5, 5)], &clear.mix(1.0)).expect("no failure");
        assert!(shapes.is_empty());
    }
}
