//! Cividis: from dark blue over grey to yellow, ordered alike for readers with and without colour blindness.
//!
//! J. R. Nuñez, C. R. Anderton, R. S. Renslow, "Optimizing colormaps with consideration for color vision
//! deficiency", PLoS ONE 13 (2018), <https://doi.org/10.1371/journal.pone.0199239>; ten of its colours, straight
//! lines between them.

use plotters::style::RGBColor;

const COLOURS: [(u8, u8, u8); 10] = [
    (0, 34, 78),
    (18, 53, 112),
    (59, 73, 108),
    (87, 93, 109),
    (112, 113, 115),
    (138, 134, 120),
    (165, 156, 116),
    (195, 179, 105),
    (225, 204, 85),
    (254, 232, 56),
];

/// The colour of a share from 0 to 1.
pub fn colour(share: f64) -> RGBColor {
    let place = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let index = (place as usize).min(COLOURS.len() - 2);
    let part = place - index as f64;
    let (from, to) = (COLOURS[index], COLOURS[index + 1]);
    let mix = |from: u8, to: u8| {
        (f64::from(from) + part * (f64::from(to) - f64::from(from))).round() as u8
    };
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The colour of text on it: nearly black on light, nearly white on dark.
pub fn text_on(share: f64) -> RGBColor {
    // Pure black is a series of the palette, and would change with the theme.
    if share > 0.47 { RGBColor(1, 1, 1) } else { RGBColor(255, 255, 255) }
}

#[cfg(test)]
mod tests {
    use super::super::palette::luminance;
    use super::*;

    #[test]
    fn it_ascends_and_text_on_it_can_be_read() {
        let mut before = -1.0;
        for step in 0..=100 {
            let share = f64::from(step) / 100.0;
            let light = luminance(colour(share));
            assert!(light >= before - 1e-3, "{share}");
            before = light;
            let text = luminance(text_on(share));
            let (low, high) = (light.min(text), light.max(text));
            assert!((high + 0.05) / (low + 0.05) >= 4.5, "{share}");
        }
    }
}
