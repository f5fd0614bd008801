//! Tests of whole figures.

use super::*;

fn window(start_s: f64, first: f64, retries: f64) -> LoadWindow {
    LoadWindow {
        start_s,
        first_attempts_mean: first,
        retries_mean: retries,
        retries_p05: retries * 0.8,
        retries_p95: retries * 1.2,
    }
}

fn figure(panels: Vec<Vec<LoadWindow>>) -> LoadFigure {
    let panel = |windows| LoadPanel {
        label: "policy".to_owned(),
        peak_note: "peak 9 retries / 100 ms".to_owned(),
        windows,
    };
    LoadFigure {
        title: "Load after an outage".to_owned(),
        note: "1,000 clients, 100 ms windows, 200 seeds.".to_owned(),
        window_s: 0.1,
        capacity_per_window: None,
        outages: Vec::new(),
        axis: CountAxis::Linear,
        width_px: 1000,
        panels: panels.into_iter().map(panel).collect(),
    }
}

/// Noisy windows: each differs from its neighbours, so that nothing collapses.
fn noise(count: usize) -> Vec<LoadWindow> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f64 / 1e4
    };
    (0..count).map(|index| window(index as f64 * 0.1, next(), next())).collect()
}

/// The SVG alone: making bitmaps takes long in builds without optimisation.
fn svg(figure: &LoadFigure) -> String {
    let canvas = compose(figure).expect("a drawing");
    assert!(canvas.holds_everything(), "something is cut off");
    assert_eq!(canvas.overlapping_texts(), None);
    canvas.to_svg(&figure.title, &description(figure))
}

/// Width and height from the header of a PNG file.
fn png_size(png: &[u8]) -> (u32, u32) {
    let picture = tiny_skia::Pixmap::decode_png(png).expect("the PNG decodes");
    (picture.width(), picture.height())
}

fn svg_height(svg: &str) -> u32 {
    let (_, rest) = svg.split_once("height=\"").expect("a height");
    let (height, _) = rest.split_once('"').expect("a closing quote");
    height.parse().expect("a number")
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    for axis in [CountAxis::Linear, CountAxis::Log] {
        let figure = LoadFigure { axis, ..figure(vec![noise(300)]) };
        let (first, second) = (draw(&figure, Theme::Light), draw(&figure, Theme::Light));
        assert!(first.is_ok());
        assert_eq!(first, second);
    }
}

/// The bytes must not depend on the build either; a digest that is written down here and checked
/// in debug and release builds shows that.
#[test]
fn the_bytes_are_those_of_every_build() {
    let cases =
        [(CountAxis::Linear, 0xe15f_1cd8_33c1_37ff_u64), (CountAxis::Log, 0xb927_3721_8650_448a)];
    for (axis, noted) in cases {
        let svg = svg(&LoadFigure { axis, ..figure(vec![noise(300), noise(20)]) });
        let digest = svg.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        assert_eq!(
            digest, noted,
            "the SVG ({axis:?}) has changed; look at it, then note {digest:#018x}"
        );
    }
}

#[test]
fn the_png_is_twice_the_size_of_the_svg() {
    let picture = draw(&figure(vec![noise(50); 2]), Theme::Dark).expect("a picture");
    let height = svg_height(&picture.svg);
    assert_eq!(png_size(&picture.png), (2000, 2 * height));
}

#[test]
fn an_hour_stays_small() {
    for axis in [CountAxis::Linear, CountAxis::Log] {
        let one = svg(&LoadFigure { axis, ..figure(vec![noise(36_000)]) });
        assert!(one.len() < 150_000, "{} bytes", one.len());
        assert!(one.contains("<title>Load after an outage</title>"));
        let all = svg(&LoadFigure { axis, ..figure(vec![noise(36_000); MAX_PANELS]) });
        assert!(all.len() < MAX_PANELS * 50_000, "{} bytes", all.len());
    }
}

/// On a logarithmic axis there is no place for zero, and a bar there would seem to be a load.
#[test]
fn windows_without_load_draw_nothing() {
    let log = |windows| svg(&LoadFigure { axis: CountAxis::Log, ..figure(vec![windows]) });
    let (first, last) = (window(0.0, 1000.0, 0.0), window(1.0, 0.0, 5.0));
    let gap: Vec<_> = (1..10).map(|index| window(f64::from(index) * 0.1, 0.0, 0.0)).collect();
    let filled = [vec![first.clone()], gap, vec![last.clone()]].concat();
    assert_eq!(log(filled), log(vec![first.clone(), last.clone()]));
    // The key of the legend has a line in the colour of the panel; a load adds another.
    let lines = |svg: String| svg.matches("stroke=\"#0072b2\"").count();
    assert_eq!(lines(log(vec![first.clone(), window(1.0, 0.0, 0.0)])), 1);
    assert_eq!(lines(log(vec![first, last])), 2);
}

#[test]
fn means_below_the_floor_are_drawn_on_it() {
    let log = |mean: f64, p05: f64| {
        let faint = LoadWindow { retries_mean: mean, retries_p05: p05, ..window(0.1, 0.0, 1.0) };
        let windows = vec![window(0.0, 1000.0, 0.0), faint];
        svg(&LoadFigure { axis: CountAxis::Log, ..figure(vec![windows]) })
    };
    assert_eq!(log(0.005, 0.0), log(0.5, 0.5));
    assert_ne!(log(0.005, 0.0), log(0.6, 0.0));
}

#[test]
fn the_scale_is_named() {
    let log = LoadFigure { axis: CountAxis::Log, ..figure(vec![noise(20)]) };
    assert!(svg(&log).contains("Attempts per 100 ms, on a log scale, over time"));
}

/// What the drawing adds to the note of a figure leaves it on one line.
#[test]
fn a_long_note_has_one_line() {
    let mut figure = figure(vec![noise(2000)]);
    figure.capacity_per_window = Some(5.47);
    figure.note = "1,000 clients \u{b7} 200 replications from seed 0xffffffffffffffff \u{b7} last \
                   1 % of attempts not shown"
        .to_owned();
    let axis = TimeAxis::of(&figure);
    let curves = vec![axis.columns(&figure.panels[0].windows)];
    let layout = Layout::of(&figure, &axis, &curves, &Fonts::load().expect("fonts"));
    let lines: Vec<&str> = layout.header.note().collect();
    let [line] = lines[..] else { panic!("{lines:?}") };
    assert!(line.ends_with("not shown \u{b7} steps: max of 3 windows"), "{line}");
}

#[test]
fn odd_but_valid_figures_are_drawn() {
    let zeros = (0..9).map(|index| window(f64::from(index), 0.0, 0.0));
    let cases = [
        vec![vec![window(0.0, 1000.0, 0.0)]],
        vec![vec![window(7.3, 0.0, 0.0)]],
        vec![zeros.collect()],
        vec![vec![], vec![]],
        vec![vec![window(0.0, 1e7, 0.0), window(5.0, 0.0, 9e6)], vec![]],
        vec![vec![window(0.0, 1e15, 1e-9), window(1e9, 0.0, 1e-320)]],
        vec![vec![window(-5.0, 3.0, 1.0), window(1e9, 3.0, 1.0)]],
    ];
    for panels in cases {
        let mut figure = figure(panels);
        for axis in [CountAxis::Linear, CountAxis::Log] {
            figure.axis = axis;
            for capacity in [None, Some(70.0), Some(1e15), Some(0.01)] {
                figure.capacity_per_window = capacity;
                assert!(!svg(&figure).contains("NaN"));
            }
        }
    }
}

#[test]
fn long_and_strange_texts_are_drawn() {
    let mut figure = figure(vec![noise(20)]);
    figure.title = "word ".repeat(400);
    figure.note = "x".repeat(3000);
    figure.panels[0].label = "a\tb\n\u{1f600}<&>".repeat(200);
    figure.panels[0].peak_note = String::new();
    assert!(svg(&figure).contains("&lt;&amp;&gt;"));
}

#[test]
fn the_number_of_panels_is_limited() {
    assert_eq!(draw(&figure(vec![]), Theme::Light), Err(PlotError::NoPanels));
    let error = draw(&figure(vec![vec![]; MAX_PANELS + 1]), Theme::Light).expect_err("too many");
    assert_eq!(error, PlotError::TooManyPanels { found: MAX_PANELS + 1, limit: MAX_PANELS });
}

#[test]
fn numbers_without_a_place_are_refused() {
    let spoil: [fn(&mut LoadFigure); 8] = [
        |figure| figure.panels[0].windows[1].start_s = f64::NAN,
        |figure| figure.panels[0].windows[1].retries_mean = f64::INFINITY,
        |figure| figure.panels[0].windows[1].retries_p95 = f64::NAN,
        |figure| figure.panels[0].windows[1].retries_p05 = -1.0,
        |figure| figure.panels[0].windows[1].first_attempts_mean = 1e16,
        |figure| figure.window_s = 0.0,
        |figure| figure.window_s = f64::NAN,
        |figure| figure.capacity_per_window = Some(f64::INFINITY),
    ];
    for spoil in spoil {
        let mut figure = figure(vec![noise(3)]);
        spoil(&mut figure);
        let error = draw(&figure, Theme::Light).expect_err("a bad number");
        assert!(matches!(error, PlotError::BadNumber { .. }), "{error}");
    }
}

#[test]
fn windows_must_ascend_and_bands_be_upright() {
    let mut figure = figure(vec![noise(3)]);
    figure.panels[0].windows.swap(0, 1);
    let error = draw(&figure, Theme::Light).expect_err("disorder");
    assert!(matches!(error, PlotError::WindowOrder { .. }), "{error}");
    figure.panels[0].windows.swap(0, 1);
    figure.panels[0].windows[0].retries_p05 = 1e9;
    let error = draw(&figure, Theme::Light).expect_err("an upside-down band");
    assert!(matches!(error, PlotError::Percentiles { .. }), "{error}");
}
