//! A dashed straight line as a drawing element.
//!
//! The library's own dashed element cuts the line into many short paths. This one leaves the
//! dashes to the stroke, where both output formats know them, and costs one entry in the file.

use plotters::element::{Drawable, PointCollection};
use plotters::style::ShapeStyle;
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::super::PlotError;
use super::Pen;

/// A dashed line between two points.
#[derive(Debug, Clone)]
pub struct DashedLine<C> {
    ends: [C; 2],
    style: ShapeStyle,
    dash: (i32, i32),
}

impl<C> DashedLine<C> {
    /// A line between two points with the lengths of a dash and of a gap, both in units of the
    /// drawing area.
    pub fn new(ends: [C; 2], style: ShapeStyle, dash: (i32, i32)) -> DashedLine<C> {
        DashedLine { ends, style, dash }
    }
}

impl<'a, C: 'a> PointCollection<'a, C> for &'a DashedLine<C> {
    type Point = &'a C;
    type IntoIter = &'a [C];

    fn point_iter(self) -> &'a [C] {
        &self.ends
    }
}

impl<C> Drawable<Pen<'_>> for DashedLine<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        points: I,
        pen: &mut Pen<'_>,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<PlotError>> {
        pen.dashed(points, &self.style, self.dash);
        Ok(())
    }
}
