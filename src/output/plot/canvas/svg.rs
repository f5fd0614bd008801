//! The display list as an SVG document.

use std::fmt::Write;

use plotters::style::RGBColor;

use super::list::{Ink, Point, Segment, Shape, UNITS_PER_PX};

/// A complete document. Paths use relative commands, which are about half as long as absolute
/// ones and, between integers, just as exact.
pub fn document(
    ((width, height), RGBColor(red, green, blue)): ((u32, u32), RGBColor),
    shapes: &[Shape],
    title: &str,
    description: &str,
) -> String {
    let mut svg = String::new();
    // Writing into a string cannot fail, so the results are dropped here and below.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" stroke-linejoin=\"round\">"
    );
    let _ = writeln!(svg, "<title>{}</title>", escaped(title));
    let _ = writeln!(svg, "<desc>{}</desc>", escaped(description));
    let _ = writeln!(
        svg,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#{red:02x}{green:02x}{blue:02x}\"/>"
    );
    for shape in shapes {
        write_shape(&mut svg, shape);
    }
    svg.push_str("</svg>\n");
    svg
}

fn write_shape(svg: &mut String, shape: &Shape) {
    svg.push_str("<path");
    match shape.fill {
        Some(ink) => write_ink(svg, "fill", ink),
        None => svg.push_str(" fill=\"none\""),
    }
    if let Some(stroke) = shape.stroke {
        write_ink(svg, "stroke", stroke.ink);
        let _ = write!(svg, " stroke-width=\"{}\"", decimal(stroke.width));
        if let Some((dash, gap)) = stroke.dash {
            let (dash, gap) = (decimal(dash), decimal(gap));
            let _ = write!(svg, " stroke-dasharray=\"{dash} {gap}\"");
        }
    }
    if shape.crisp {
        svg.push_str(" shape-rendering=\"crispEdges\"");
    }
    svg.push_str(" d=\"");
    write_path(svg, &shape.path);
    svg.push_str("\"/>\n");
}

fn write_ink(svg: &mut String, property: &str, ink: Ink) {
    let (red, green, blue) = ink.rgb;
    let _ = write!(svg, " {property}=\"#{red:02x}{green:02x}{blue:02x}\"");
    if ink.percent < 100 {
        let opacity = decimal(i32::from(ink.percent));
        let _ = write!(svg, " {property}-opacity=\"{opacity}\"");
    }
}

fn write_path(svg: &mut String, path: &[Segment]) {
    let mut from = Point { x: 0, y: 0 };
    for segment in path {
        match *segment {
            Segment::Move(to) => {
                write_command(svg, 'M', Point { x: 0, y: 0 }, &[to]);
                from = to;
            }
            Segment::Line(to) if to.y == from.y => {
                let _ = write!(svg, "h{}", decimal(to.x - from.x));
                from = to;
            }
            Segment::Line(to) if to.x == from.x => {
                let _ = write!(svg, "v{}", decimal(to.y - from.y));
                from = to;
            }
            Segment::Line(to) => {
                write_command(svg, 'l', from, &[to]);
                from = to;
            }
            Segment::Quad(control, to) => {
                write_command(svg, 'q', from, &[control, to]);
                from = to;
            }
            Segment::Cubic(first, second, to) => {
                write_command(svg, 'c', from, &[first, second, to]);
                from = to;
            }
            // The next subpath begins with an absolute move, so `from` need not go back.
            Segment::Close => svg.push('z'),
        }
    }
}

/// A command with points relative to `from`. A minus sign separates numbers as well as a space.
fn write_command(svg: &mut String, command: char, from: Point, points: &[Point]) {
    svg.push(command);
    let numbers = points.iter().flat_map(|p| [p.x - from.x, p.y - from.y]);
    for (index, number) in numbers.enumerate() {
        if index > 0 && number >= 0 {
            svg.push(' ');
        }
        svg.push_str(&decimal(number));
    }
}

/// Hundredths as a decimal number in as few characters as possible.
fn decimal(hundredths: i32) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let scale = UNITS_PER_PX.unsigned_abs();
    let (whole, rest) = (hundredths.unsigned_abs() / scale, hundredths.unsigned_abs() % scale);
    match (whole, rest) {
        (_, 0) if whole == 0 => "0".to_owned(),
        (_, 0) => format!("{sign}{whole}"),
        (0, _) if rest % 10 == 0 => format!("{sign}.{}", rest / 10),
        (0, _) => format!("{sign}.{rest:02}"),
        _ if rest % 10 == 0 => format!("{sign}{whole}.{}", rest / 10),
        _ => format!("{sign}{whole}.{rest:02}"),
    }
}

/// Text for the inside of an element. Control characters are not allowed in XML at all.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\n' => safe.push('\n'),
            '\u{fffe}' | '\u{ffff}' => safe.push(' '),
            other if other.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_short_and_exact() {
        let cases =
            [(0, "0"), (5, ".05"), (-50, "-.5"), (100, "1"), (-1234, "-12.34"), (1230, "12.3")];
        for (hundredths, text) in cases {
            assert_eq!(decimal(hundredths), text);
        }
    }

    #[test]
    fn markup_in_labels_is_escaped() {
        let svg = document(((1, 1), RGBColor(255, 255, 255)), &[], "a < b & c", "x\u{0}y");
        assert!(svg.contains("<title>a &lt; b &amp; c</title>"));
        assert!(svg.contains("<desc>x y</desc>"));
    }
}
