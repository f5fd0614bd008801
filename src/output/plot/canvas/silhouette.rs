//! A filled area with a line along its outline as one drawing element.
//!
//! The library would draw the two as two elements and so write every point twice; with hundreds
//! of windows in a curve that is a large part of the file.

use plotters::element::{Drawable, PointCollection};
use plotters::style::ShapeStyle;
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::super::PlotError;
use super::Pen;

/// An area under a curve and the curve itself. The line is not closed: it ends at the last point.
#[derive(Debug, Clone)]
pub struct Silhouette<C> {
    points: Vec<C>,
    fill: ShapeStyle,
    edge: ShapeStyle,
}

impl<C> Silhouette<C> {
    /// The area that the points enclose and a line through them.
    pub fn new(points: Vec<C>, fill: ShapeStyle, edge: ShapeStyle) -> Silhouette<C> {
        Silhouette { points, fill, edge }
    }
}

impl<'a, C: 'a> PointCollection<'a, C> for &'a Silhouette<C> {
    type Point = &'a C;
    type IntoIter = &'a [C];

    fn point_iter(self) -> &'a [C] {
        &self.points
    }
}

impl<C> Drawable<Pen<'_>> for Silhouette<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        points: I,
        pen: &mut Pen<'_>,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<PlotError>> {
        pen.silhouette(points, &self.fill, &self.edge);
        Ok(())
    }
}
