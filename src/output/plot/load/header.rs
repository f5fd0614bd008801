//! The heading and the note above the panels.

use plotters_backend::text_anchor::{HPos, Pos, VPos};

use super::super::canvas::{Area, UNITS_PER_PX, Weight, text_style};
use super::super::{PlotError, palette};
use super::layout::{Layout, SMALL_PX, TITLE_PX};

/// Draws the heading and the note.
pub fn draw(area: &Area, layout: &Layout) -> Result<(), PlotError> {
    let baseline = Pos::new(HPos::Left, VPos::Bottom);
    let heading = text_style(TITLE_PX, Weight::Bold, palette::TEXT).pos(baseline);
    for (line, y) in &layout.title {
        area.draw_text(line, &heading, (layout.left * UNITS_PER_PX, y * UNITS_PER_PX))?;
    }
    let small = text_style(SMALL_PX, Weight::Regular, palette::QUIET_TEXT).pos(baseline);
    for (line, y) in &layout.note {
        area.draw_text(line, &small, (layout.left * UNITS_PER_PX, y * UNITS_PER_PX))?;
    }
    Ok(())
}
