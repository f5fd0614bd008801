//! Light and dark.
//!
//! Figures are drawn in the colours of [`super::palette`], which are made for white paper. The dark theme gives every
//! one of them its counterpart; other colours, such as those of a heat map, stay.

use plotters::style::RGBColor;

use super::canvas::Canvas;
use super::palette::{
    AXIS, BACKDROP, BACKDROP_EDGE, GRID, LIMIT, OUTAGE, QUIET_TEXT, SERIES, TEXT,
};

/// What a figure is drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Theme {
    /// On white.
    #[default]
    Light,
    /// On nearly black.
    Dark,
}

/// How a figure looks, whatever it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Width in pixels; the PNG has twice as many.
    pub width_px: u32,
    /// Colours.
    pub theme: Theme,
}

impl Default for Look {
    fn default() -> Look {
        Look { width_px: 1000, theme: Theme::Light }
    }
}

/// The paper of the dark theme.
const DARK: RGBColor = RGBColor(24, 26, 30);

/// The roles of colours on light paper, and the same on dark paper.
const ROLES: [(RGBColor, RGBColor); 8] = [
    (TEXT, RGBColor(232, 232, 232)),
    (QUIET_TEXT, RGBColor(178, 178, 178)),
    (AXIS, RGBColor(160, 160, 160)),
    (GRID, RGBColor(54, 57, 62)),
    (BACKDROP, RGBColor(76, 79, 84)),
    (BACKDROP_EDGE, RGBColor(128, 131, 136)),
    (LIMIT, RGBColor(220, 220, 220)),
    (OUTAGE, RGBColor(54, 47, 32)),
];

/// Mark and ink of the series on dark paper, in their order.
const DARK_SERIES: [(RGBColor, RGBColor); 8] = [
    (RGBColor(44, 140, 214), RGBColor(104, 178, 236)),
    (RGBColor(230, 112, 28), RGBColor(250, 146, 80)),
    (RGBColor(0, 178, 130), RGBColor(60, 205, 160)),
    (RGBColor(214, 137, 180), RGBColor(230, 164, 203)),
    (RGBColor(235, 170, 20), RGBColor(245, 188, 66)),
    (RGBColor(126, 203, 246), RGBColor(146, 212, 248)),
    (RGBColor(240, 240, 240), RGBColor(241, 241, 241)),
    (RGBColor(150, 136, 236), RGBColor(172, 160, 244)),
];

impl Theme {
    /// A canvas that was drawn in the colours of the palette, in this theme.
    pub fn apply(self, canvas: Canvas) -> Canvas {
        match self {
            Theme::Light => canvas,
            Theme::Dark => canvas.recoloured(DARK, dark),
        }
    }
}

fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

impl Theme {
    /// The marks of the series as style variables `--series-0` and so on, for readers of light and of dark pages.
    pub fn series_variables() -> String {
        let all = |colours: [RGBColor; 8]| -> String {
            let each = colours.iter().enumerate();
            each.map(|(index, colour)| format!("--series-{index}:{};", hex(*colour))).collect()
        };
        let (light, dark) = (SERIES.map(|hue| hue.mark), DARK_SERIES.map(|(mark, _)| mark));
        format!(
            ":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n",
            all(light),
            all(dark)
        )
    }

    /// Style rules that show an SVG of the light theme in the colours of the dark one, for readers who asked for dark:
    /// `selector` finds the SVG. Its only `rect` is the paper.
    pub fn dark_rules(selector: &str) -> String {
        let mut rules = format!("{selector}>rect{{fill:{}}}\n", hex(DARK));
        let hues = SERIES.iter().flat_map(|hue| [hue.mark, hue.ink]);
        let mut known = Vec::new();
        for light in ROLES.into_iter().map(|(light, _)| light).chain(hues) {
            if known.contains(&light) {
                continue;
            }
            known.push(light);
            let (from, to) = (hex(light), hex(dark(light)));
            for property in ["fill", "stroke"] {
                rules += &format!("{selector} [{property}=\"{from}\"]{{{property}:{to}}}\n");
            }
        }
        format!("@media screen and (prefers-color-scheme:dark){{\n{rules}}}\n")
    }
}

fn dark(colour: RGBColor) -> RGBColor {
    let series = SERIES.iter().zip(DARK_SERIES);
    let marks = series.clone().map(|(hue, (mark, _))| (hue.mark, mark));
    let inks = series.map(|(hue, (_, ink))| (hue.ink, ink));
    let mut pairs = ROLES.into_iter().chain(marks).chain(inks);
    pairs.find(|(light, _)| *light == colour).map_or(colour, |(_, dark)| dark)
}

#[cfg(test)]
mod tests {
    use super::super::palette::luminance;
    use super::*;

    #[test]
    fn every_ink_can_be_read_on_dark_paper() {
        let contrast = |colour| (luminance(colour) + 0.05) / (luminance(DARK) + 0.05);
        for colour in SERIES.map(|hue| hue.ink).into_iter().chain([TEXT, QUIET_TEXT, LIMIT]) {
            assert!(contrast(dark(colour)) >= 4.5, "{colour:?}");
        }
        for hue in SERIES {
            assert!(contrast(dark(hue.mark)) >= 3.0, "{hue:?}");
        }
    }

    #[test]
    fn no_two_roles_are_one_colour() {
        let marks = SERIES.map(|hue| hue.mark);
        let all: Vec<RGBColor> = ROLES.map(|(light, _)| light).into_iter().chain(marks).collect();
        for (index, colour) in all.iter().enumerate() {
            assert!(!all[..index].contains(colour), "{colour:?}");
        }
    }
}
