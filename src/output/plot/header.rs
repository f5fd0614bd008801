//! The heading and the note above a figure.

use super::canvas::{Fonts, Weight};
use super::sheet::{Sheet, Text};
use super::{PlotError, palette};

/// Text sizes of all figures.
pub const TITLE_PX: f64 = 17.0;
/// Names of axes and panels.
pub const LABEL_PX: f64 = 13.0;
/// Everything else.
pub const SMALL_PX: f64 = 12.0;

/// The blank border of all figures.
pub const BORDER: i32 = 20;

const TITLE_LINE: i32 = 23;
const NOTE_LINE: i32 = 17;

/// The lines of heading and note with their baselines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    title: Vec<(String, i32)>,
    note: Vec<(String, i32)>,
    left: i32,
    /// The lower edge of the note.
    pub bottom: i32,
}

impl Header {
    /// The heading on at most two lines and the note on at most three, between `left` and `right`.
    pub fn of(title: &str, note: &str, fonts: &Fonts, (left, right): (i32, i32)) -> Header {
        let width = f64::from(right - left);
        let title = fonts.wrap(title, (Weight::Bold, TITLE_PX), width, 2);
        let note = fonts.wrap(note, (Weight::Regular, SMALL_PX), width, 3);
        let (title, below) = stacked(title, BORDER, TITLE_LINE);
        let (note, bottom) = stacked(note, below + 2, NOTE_LINE);
        Header { title, note, left, bottom }
    }

    /// The lines of the note.
    #[cfg(test)]
    pub fn note(&self) -> impl Iterator<Item = &str> {
        self.note.iter().map(|(line, _)| line.as_str())
    }

    /// Draws them.
    pub fn draw(&self, sheet: &mut Sheet) -> Result<(), PlotError> {
        let heading = Text::new(TITLE_PX, palette::TEXT).bold();
        let small = Text::new(SMALL_PX, palette::QUIET_TEXT);
        let title = self.title.iter().map(|line| (line, heading));
        for ((line, y), look) in title.chain(self.note.iter().map(|line| (line, small))) {
            sheet.text(line, (f64::from(self.left), f64::from(*y)), look)?;
        }
        Ok(())
    }
}

/// Gives each line a baseline, from `top` downwards; also the bottom of the last line.
fn stacked(lines: Vec<String>, top: i32, line: i32) -> (Vec<(String, i32)>, i32) {
    let bottom = top + line * lines.len() as i32;
    let baselines = (1..).map(|number| top + line * number - line / 4);
    (lines.into_iter().zip(baselines).collect(), bottom)
}
