//! The display list: what a figure consists of once all layout is done.
//!
//! Coordinates are integers, hundredths of a pixel. This is what makes the SVG reproducible: the
//! rounding happens here, once, and not in a number formatter.

/// How many units of the display list make one pixel.
pub const UNITS_PER_PX: i32 = 100;

/// A position in hundredths of a pixel from the top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    Move(Point),
    Line(Point),
    Quad(Point, Point),
    Cubic(Point, Point, Point),
    Close,
}

/// A colour whose opacity is in whole percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink {
    pub rgb: (u8, u8, u8),
    pub percent: u8,
}

/// A line along a path. Lengths are in hundredths of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stroke {
    pub ink: Ink,
    pub width: i32,
    /// The lengths of a dash and of a gap.
    pub dash: Option<(i32, i32)>,
}

/// One entry of the display list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub path: Vec<Segment>,
    pub fill: Option<Ink>,
    /// Drawn over the fill.
    pub stroke: Option<Stroke>,
    /// Draw without anti-aliasing: for upright rules, which are to lie on whole pixels.
    pub crisp: bool,
    /// What it says, if it is a text.
    pub text: Option<String>,
}

/// A path through the points, without points that add nothing: a step curve over many windows
/// has long level stretches, and every point costs bytes in the file.
pub fn polyline(points: impl IntoIterator<Item = Point>) -> Vec<Segment> {
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        while let [.., before, last] = kept[..] {
            if !is_on_the_way(before, last, point) {
                break;
            }
            kept.pop();
        }
        if kept.last() != Some(&point) {
            kept.push(point);
        }
    }
    let mut path: Vec<Segment> = kept.into_iter().map(Segment::Line).collect();
    if let Some(Segment::Line(start)) = path.first().copied() {
        path[0] = Segment::Move(start);
    }
    path
}

/// Whether an upright or level line from `before` to `after` passes through `last` without
/// turning back there. A spike that turns back is not "on the way" and keeps its tip.
fn is_on_the_way(before: Point, last: Point, after: Point) -> bool {
    let between = |a: i32, b: i32, c: i32| (a <= b && b <= c) || (a >= b && b >= c);
    (before.x == last.x && last.x == after.x && between(before.y, last.y, after.y))
        || (before.y == last.y && last.y == after.y && between(before.x, last.x, after.x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Point {
        Point { x, y }
    }

    #[test]
    fn level_stretches_collapse() {
        let path = polyline([at(0, 0), at(1, 0), at(2, 0), at(2, 5)]);
        let expected = [Segment::Move(at(0, 0)), Segment::Line(at(2, 0)), Segment::Line(at(2, 5))];
        assert_eq!(path, expected);
    }

    #[test]
    fn a_spike_keeps_its_tip() {
        let path = polyline([at(0, 0), at(0, 9), at(0, 0)]);
        assert_eq!(path.len(), 3);
    }
}
