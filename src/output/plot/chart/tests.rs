//! Tests of whole charts.

use super::super::Theme;
use super::*;

fn hostile(panels: usize, text: &str) -> Chart {
    let curve = |scale: f64| -> Vec<Place> {
        (0..50).map(|i| (f64::from(i), scale * f64::from(i * i % 17))).collect()
    };
    let panel = |index: usize| {
        let mut marks = vec![Mark::Shade(5.0, 20.0), Mark::Level(12.0, format!("capacity {text}"))];
        for series in 0..8 {
            let look = Series(series);
            let y = 4.0 + series as f64;
            marks.push(Mark::Band(curve(0.5), curve(1.0), look));
            marks.push(Mark::Line(curve(1.0), look));
            marks.push(Mark::Points(vec![(y, y), (y + 0.2, y)], look));
            marks.push(Mark::Across(y - 2.0, y + 2.0, y, look));
            marks.push(Mark::Up(y, y - 3.0, y + 3.0, look));
            marks.push(Mark::Name((y, y), format!("{text} {series}"), look));
            marks.push(Mark::Over((y, y), format!("{series}"), look));
        }
        marks.push(Mark::Upright(30.0, "trigger over".to_owned()));
        Panel {
            label: (format!("{text} {index}"), Some(index)),
            note: text.repeat(3),
            y: Axis::from_zero("attempts", [16.0]),
            marks,
        }
    };
    Chart {
        title: text.repeat(9),
        note: text.repeat(30),
        description: String::new(),
        x: Axis::between("time (s)", 0.0, 49.0),
        panels: (0..panels).map(panel).collect(),
        keys: (0..8).map(|i| Key::new(Sign::Line(Series(i)), format!("{text} {i}"))).collect(),
    }
}

/// Nothing is cut off, and no text is drawn over another, whatever the width and however long the texts.
#[test]
fn no_text_overlaps_or_leaves_the_sheet() {
    for width_px in [480, 600, 1000, 1600] {
        for text in ["full", "a name of several words ", "preset:openai-python-3.57 "] {
            for panels in [1, 3, MAX_PANELS] {
                let look = Look { width_px, theme: Theme::Light };
                let canvas = hostile(panels, text).compose(look).unwrap();
                assert!(canvas.holds_everything(), "{width_px} {text} {panels}");
                assert_eq!(canvas.overlapping_texts(), None, "{width_px} {text} {panels}");
            }
        }
    }
}

#[test]
fn a_chart_without_panels_is_refused() {
    let chart = Chart { panels: Vec::new(), ..hostile(1, "x") };
    assert!(matches!(chart.compose(Look::default()), Err(PlotError::NoPanels)));
}
