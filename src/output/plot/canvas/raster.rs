//! The display list as a bitmap.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use plotters::style::RGBColor;

use super::super::PlotError;
use super::list::{Ink, Point, Segment, Shape, UNITS_PER_PX};

/// Device pixels for each pixel of the figure: sharp on dense screens and in print.
const SCALE: u32 = 2;

/// A PNG file of the shapes on paper of that colour.
pub fn png(
    (width, height): (u32, u32),
    paper: RGBColor,
    shapes: &[Shape],
) -> Result<Vec<u8>, PlotError> {
    let mut pixmap = Pixmap::new(width * SCALE, height * SCALE).ok_or_else(|| {
        PlotError::Raster(format!("{width} by {height} pixels is not a possible size"))
    })?;
    pixmap.fill(Color::from_rgba8(paper.0, paper.1, paper.2, 255));
    for shape in shapes {
        draw(&mut pixmap, shape);
    }
    encode(&pixmap).map_err(|error| PlotError::Raster(error.to_string()))
}

/// The file: without transparency, for paper has none, and without filters, which cost more time than the runs
/// that the picture shows and make flat colours no smaller.
fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_deflate_compression(png::DeflateCompression::Level(3));
    encoder.set_filter(png::Filter::NoFilter);
    let opaque =
        pixmap.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&opaque.collect::<Vec<u8>>())?;
    writer.finish()?;
    Ok(file)
}

fn draw(pixmap: &mut Pixmap, shape: &Shape) {
    // An outline without extent (for example a run of spaces) has no path and nothing to show.
    let Some(path) = skia_path(&shape.path) else {
        return;
    };
    let transform = Transform::from_scale(SCALE as f32, SCALE as f32);
    if let Some(ink) = shape.fill {
        let paint = skia_paint(ink, shape.crisp);
        pixmap.fill_path(&path, &paint, FillRule::Winding, transform, None);
    }
    if let Some(stroke) = shape.stroke {
        let paint = skia_paint(stroke.ink, shape.crisp);
        let dash = stroke.dash.map(|(on, off)| vec![px(on), px(off)]);
        let stroke = Stroke {
            width: px(stroke.width),
            line_join: LineJoin::Round,
            dash: dash.and_then(|dash| StrokeDash::new(dash, 0.0)),
            ..Stroke::default()
        };
        pixmap.stroke_path(&path, &paint, &stroke, transform, None);
    }
}

fn skia_path(segments: &[Segment]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let xy = |point: Point| (px(point.x), px(point.y));
    for segment in segments {
        match *segment {
            Segment::Move(to) => {
                let (x, y) = xy(to);
                builder.move_to(x, y);
            }
            Segment::Line(to) => {
                let (x, y) = xy(to);
                builder.line_to(x, y);
            }
            Segment::Quad(control, to) => {
                let ((x1, y1), (x, y)) = (xy(control), xy(to));
                builder.quad_to(x1, y1, x, y);
            }
            Segment::Cubic(first, second, to) => {
                let ((x1, y1), (x2, y2), (x, y)) = (xy(first), xy(second), xy(to));
                builder.cubic_to(x1, y1, x2, y2, x, y);
            }
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}

fn skia_paint(ink: Ink, crisp: bool) -> Paint<'static> {
    let (red, green, blue) = ink.rgb;
    let alpha = (u32::from(ink.percent) * 255 + 50) / 100;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, alpha as u8);
    paint.anti_alias = !crisp;
    paint
}

/// Hundredths of a pixel to pixels.
fn px(hundredths: i32) -> f32 {
    hundredths as f32 / UNITS_PER_PX as f32
}
