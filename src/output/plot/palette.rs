//! The colours of the figures.
//!
//! The hues are those of Okabe and Ito, which stay apart for colour-blind readers. Their yellow is
//! left out because a thin yellow line vanishes on white. Each hue has a darker *ink* for text:
//! several of the hues are too light to be read as letters.

use plotters::style::RGBColor;

/// A colour for the marks of one series, and a readable one for its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hue {
    /// For lines and fills.
    pub mark: RGBColor,
    /// For text on white: a contrast of at least 4.5 to 1.
    pub ink: RGBColor,
}

const fn hue(mark: (u8, u8, u8), ink: (u8, u8, u8)) -> Hue {
    Hue { mark: RGBColor(mark.0, mark.1, mark.2), ink: RGBColor(ink.0, ink.1, ink.2) }
}

/// The series colours in order of use. The last one is not from Okabe and Ito, who have only
/// seven without the yellow; it is an indigo that is darker than all the others but black.
pub const SERIES: [Hue; 8] = [
    hue((0, 114, 178), (0, 100, 158)),
    hue((213, 94, 0), (176, 74, 0)),
    hue((0, 158, 115), (0, 112, 81)),
    hue((204, 121, 167), (158, 66, 116)),
    hue((230, 159, 0), (140, 95, 0)),
    hue((86, 180, 233), (20, 105, 155)),
    hue((0, 0, 0), (0, 0, 0)),
    hue((51, 34, 136), (51, 34, 136)),
];

/// Titles.
pub const TEXT: RGBColor = RGBColor(26, 26, 26);
/// Notes, tick labels and legends.
pub const QUIET_TEXT: RGBColor = RGBColor(80, 80, 80);
/// Axis lines.
pub const AXIS: RGBColor = RGBColor(90, 90, 90);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(228, 228, 228);
/// The fill of background quantities, for example first attempts.
pub const BACKDROP: RGBColor = RGBColor(206, 206, 206);
/// The outline of background quantities.
pub const BACKDROP_EDGE: RGBColor = RGBColor(140, 140, 140);
/// Limits that the data are judged against.
pub const LIMIT: RGBColor = RGBColor(40, 40, 40);

/// The shade of an outage, light enough for everything that is drawn over it.
pub const OUTAGE: RGBColor = RGBColor(247, 240, 226);

/// Policies with a colour of their own, so that two pictures can be laid side by side.
const KNOWN: [&str; 8] =
    ["none", "sdk", "equal", "full", "decorrelated", "additive", "no-backoff", "no-retry"];

/// Indices of the series of these panels: known policies have theirs, others what is left.
pub fn assigned(labels: &[&str]) -> Vec<usize> {
    let known = |label: &str| KNOWN.iter().position(|name| *name == label);
    let taken: Vec<usize> = labels.iter().filter_map(|label| known(label)).collect();
    let mut left = (0..).filter(|index| !taken.contains(index));
    labels.iter().map(|label| known(label).or_else(|| left.next()).unwrap_or(0)).collect()
}

/// The colour of the series with this index; colours repeat after [`SERIES`] is used up.
pub fn series(index: usize) -> Hue {
    SERIES[index % SERIES.len()]
}

/// The relative luminance of a colour, as the web's accessibility rules define it.
#[cfg(test)]
pub fn luminance(colour: RGBColor) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour.0) + 0.7152 * linear(colour.1) + 0.0722 * linear(colour.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_has_its_colour_in_every_picture() {
        assert_eq!(assigned(&["none", "sdk", "equal"]), [0, 1, 2]);
        assert_eq!(assigned(&["full", "mine", "none", "yours"]), [3, 1, 0, 2]);
    }

    #[test]
    fn every_ink_can_be_read_on_white() {
        for hue in SERIES {
            let contrast = 1.05 / (luminance(hue.ink) + 0.05);
            assert!(contrast >= 4.5, "{hue:?} has a contrast of {contrast:.2}");
        }
    }

    #[test]
    fn colours_repeat_after_the_last() {
        assert_eq!(series(0), series(SERIES.len()));
    }
}
