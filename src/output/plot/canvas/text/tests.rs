//! Tests of measuring and placing text.

use super::*;

fn fonts() -> Fonts {
    Fonts::load().expect("the embedded fonts are readable")
}

/// Left, right, top and bottom of an outline, in pixels.
fn bounds(path: &[Segment]) -> (f64, f64, f64, f64) {
    let mut points: Vec<Point> = Vec::new();
    for segment in path {
        match *segment {
            Segment::Move(p) | Segment::Line(p) => points.push(p),
            Segment::Quad(a, b) => points.extend([a, b]),
            Segment::Cubic(a, b, c) => points.extend([a, b, c]),
            Segment::Close => {}
        }
    }
    let px = |value: Option<i32>| f64::from(value.expect("an outline")) / 100.0;
    (
        px(points.iter().map(|p| p.x).min()),
        px(points.iter().map(|p| p.x).max()),
        px(points.iter().map(|p| p.y).min()),
        px(points.iter().map(|p| p.y).max()),
    )
}

/// The bounds of an "H", which fills its box, anchored at (50, 50).
fn placed(h_pos: HPos, v_pos: VPos, transform: FontTransform) -> (f64, f64, f64, f64) {
    let run = Run { weight: Weight::Regular, size_px: 20.0 };
    let at = Point { x: 5000, y: 5000 };
    let anchor = Pos::new(h_pos, v_pos);
    bounds(&fonts().outline("H", run, &anchor, &transform, at))
}

#[test]
fn widths_add_up() {
    let fonts = fonts();
    let width = |text: &str| fonts.width(text, Weight::Regular, 20.0);
    // DejaVu Sans sets "H" in 1540 of 2048 units.
    assert_eq!(width("H"), 1540.0 * 20.0 / 2048.0);
    assert_eq!(width("HH"), 2.0 * width("H"));
    assert_eq!(width(""), 0.0);
    assert!(fonts.width("HH", Weight::Bold, 20.0) > width("HH"));
}

#[test]
fn pairs_are_kerned() {
    let fonts = fonts();
    let width = |text: &str| fonts.width(text, Weight::Regular, 20.0);
    assert!(width("To") < width("T") + width("o"));
    assert!(width("AV") < width("A") + width("V"));
}

#[test]
fn anchors_move_the_text() {
    let none = FontTransform::None;
    let (left, _, top, bottom) = placed(HPos::Left, VPos::Top, none.clone());
    assert!(left > 50.0 && left < 53.0);
    assert!(top == 50.0 && bottom > 64.0);
    let (_, right, top, bottom) = placed(HPos::Right, VPos::Bottom, none.clone());
    assert!(right < 50.0 && right > 47.0);
    assert!(bottom == 50.0 && top < 36.0);
    let (left, right, top, bottom) = placed(HPos::Center, VPos::Center, none);
    assert!((left + right - 100.0).abs() < 0.1);
    assert!((top + bottom - 100.0).abs() < 0.1);
}

#[test]
fn a_quarter_turn_reads_upwards() {
    // Turned counter-clockwise, a text that begins at the anchor rises above it.
    let (left, right, top, bottom) = placed(HPos::Left, VPos::Bottom, FontTransform::Rotate270);
    assert!(bottom < 50.0 && top < 39.0);
    assert!(right == 50.0 && left < 36.0);
}

#[test]
fn long_text_is_cut_and_wrapped() {
    let fonts = fonts();
    let text = "a rather long label that has no room";
    let cut = fonts.fit(text, Weight::Bold, 13.0, 100.0);
    assert!(cut.ends_with('…') && text.starts_with(cut.trim_end_matches('…')));
    assert!(fonts.width(&cut, Weight::Bold, 13.0) <= 100.0);
    assert_eq!(fonts.fit("short", Weight::Bold, 13.0, 100.0), "short");
    let lines = fonts.wrap(text, (Weight::Regular, 13.0), 100.0, 2);
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert!(fonts.width(&line, Weight::Regular, 13.0) <= 100.0);
    }
}
