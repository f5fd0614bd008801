//! A heat map: one metric over two keys that a sweep varies, a number in every cell that has room for it.

use plotters_backend::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, Fonts, Weight};
use super::chart::{Axis, Spacing};
use super::cividis;
use super::header::{BORDER, Header, LABEL_PX, SMALL_PX};
use super::sheet::{Sheet, Text};
use super::{Look, Picture, PlotError, palette};

/// The most values on an axis.
pub const MOST: usize = 60;

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// The metric with its unit.
    pub metric: String,
    /// The key across and its values from left to right.
    pub across: (String, Vec<String>),
    /// The key upright and its values from bottom to top.
    pub upright: (String, Vec<String>),
    /// Row by row from the bottom; None where no run has a value.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// The largest value this many times the least asks for logarithmic colours.
const LINEAR_REACH: f64 = 50.0;
/// The colour bar: its width, and from the cells to it.
const BAR_PX: f64 = 16.0;
const BAR_GAP_PX: f64 = 22.0;

/// Everything that is laid out before anything is drawn.
struct Layout {
    height_px: u32,
    header: Header,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    scale: Axis,
    numbers: bool,
}

impl HeatMap {
    /// Draws it.
    pub fn draw(&self, look: Look) -> Result<Picture, PlotError> {
        let canvas = look.theme.apply(self.compose(look)?);
        let [across, upright] = [&self.across.0, &self.upright.0];
        let what = format!("{} over {across} and {upright}.\n{}", self.metric, self.note);
        Picture::of(canvas, &self.title, &what)
    }

    /// Everything but the output formats.
    pub fn compose(&self, look: Look) -> Result<Canvas, PlotError> {
        let most = self.across.1.len().max(self.upright.1.len());
        if self.across.1.is_empty() || self.upright.1.is_empty() {
            return Err(PlotError::NoPanels);
        }
        if most > MOST {
            return Err(PlotError::TooManyPanels { found: most, limit: MOST });
        }
        let fonts = Fonts::load()?;
        let layout = self.layout(look, &fonts);
        let mut canvas = Canvas::new(look.width_px, layout.height_px);
        let mut sheet = Sheet::on(&mut canvas, &fonts);
        layout.header.draw(&mut sheet)?;
        self.draw_cells(&mut sheet, &layout)?;
        self.draw_labels(&mut sheet, &layout, &fonts)?;
        self.draw_bar(&mut sheet, &layout)?;
        Ok(canvas)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().flatten().filter_map(|cell| *cell)
    }

    fn layout(&self, look: Look, fonts: &Fonts) -> Layout {
        let small = |text: &str| fonts.width(text, Weight::Regular, SMALL_PX).ceil();
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| small(&text)).fold(0.0, f64::max)
        };
        let (border, width) = (f64::from(BORDER), f64::from(look.width_px));
        let label = widest(&mut self.upright.1.iter().cloned()).min(width / 4.0);
        let left = border + fonts.cap_height(Weight::Regular, LABEL_PX).ceil() + 14.0 + label + 8.0;
        let scale = self.scale();
        let ticks = scale.ticks(200.0, 24.0);
        let beside = widest(&mut ticks.into_iter().map(|tick| tick.label));
        let right = width - border - beside - 8.0 - BAR_PX - BAR_GAP_PX;
        let ends = (left as i32, look.width_px as i32 - BORDER);
        let name = format!("{} \u{b7} {}", self.metric, self.note);
        let header = Header::of(&self.title, &name, fonts, ends);
        let rows = self.upright.1.len() as f64;
        let row = (360.0 / rows).clamp(18.0, 56.0).floor();
        let top = f64::from(header.bottom) + 14.0;
        let column = (right - left) / self.across.1.len() as f64;
        let number = widest(&mut self.values().map(short));
        Layout {
            height_px: (top + rows * row + 62.0) as u32,
            header,
            left,
            right,
            top,
            bottom: top + rows * row,
            scale,
            numbers: number + 6.0 <= column,
        }
    }

    /// The colours as an axis from the least value to the largest.
    fn scale(&self) -> Axis {
        let least = self.values().fold(f64::INFINITY, f64::min);
        let most = self.values().fold(f64::NEG_INFINITY, f64::max);
        let (least, most) = if least > most { (0.0, 1.0) } else { (least, most) };
        let most = if most > least { most } else { least + 1.0 };
        let axis = Axis::between(&self.metric, least, most);
        let log = least > 0.0 && most > LINEAR_REACH * least;
        Axis { spacing: if log { Spacing::Log } else { Spacing::Linear }, ..axis }
    }

    fn draw_cells(&self, sheet: &mut Sheet, layout: &Layout) -> Result<(), PlotError> {
        let column = (layout.right - layout.left) / self.across.1.len() as f64;
        let row = (layout.bottom - layout.top) / self.upright.1.len() as f64;
        for (up, cells) in self.cells.iter().enumerate() {
            for (over, cell) in cells.iter().enumerate() {
                let left = (layout.left + over as f64 * column).round();
                let right = (layout.left + (over + 1) as f64 * column).round();
                let (top, bottom) =
                    (layout.bottom - (up + 1) as f64 * row, layout.bottom - up as f64 * row);
                let share = cell.map(|value| layout.scale.share(value));
                let colour = share.map_or(palette::GRID, cividis::colour);
                sheet.rectangle((left, top), (right, bottom), colour)?;
                let (text, ink) = match (cell, share) {
                    (Some(value), Some(share)) => (short(*value), cividis::text_on(share)),
                    _ => ("\u{2013}".to_owned(), palette::QUIET_TEXT),
                };
                if layout.numbers {
                    let look = Text::new(SMALL_PX, ink).anchored(HPos::Center, VPos::Center);
                    let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
                    sheet.text(&text, middle, look)?;
                }
            }
        }
        Ok(())
    }

    fn draw_labels(
        &self,
        sheet: &mut Sheet,
        layout: &Layout,
        fonts: &Fonts,
    ) -> Result<(), PlotError> {
        let column = (layout.right - layout.left) / self.across.1.len() as f64;
        let row = (layout.bottom - layout.top) / self.upright.1.len() as f64;
        let small = Text::new(SMALL_PX, palette::QUIET_TEXT);
        let mut free = 0.0;
        for (index, value) in self.across.1.iter().enumerate() {
            let middle = layout.left + (index as f64 + 0.5) * column;
            let text = fonts.fit(value, Weight::Regular, SMALL_PX, column.max(70.0));
            let half = fonts.width(&text, Weight::Regular, SMALL_PX) / 2.0;
            if middle - half >= free {
                let look = small.anchored(HPos::Center, VPos::Top);
                sheet.text(&text, (middle, layout.bottom + 10.0), look)?;
                free = middle + half + 6.0;
            }
        }
        let room = layout.left - f64::from(BORDER) - 20.0;
        for (index, value) in self.upright.1.iter().enumerate() {
            let middle = layout.bottom - (index as f64 + 0.5) * row;
            let text = fonts.fit(value, Weight::Regular, SMALL_PX, room);
            let look = small.anchored(HPos::Right, VPos::Center);
            sheet.text(&text, (layout.left - 8.0, middle), look)?;
        }
        let name = Text::new(LABEL_PX, palette::TEXT);
        let fit = |text: &str, room: f64| fonts.fit(text, Weight::Regular, LABEL_PX, room);
        let below = name.anchored(HPos::Center, VPos::Bottom);
        let at = ((layout.left + layout.right) / 2.0, f64::from(layout.height_px) - 20.0);
        sheet.text(&fit(&self.across.0, layout.right - layout.left + 60.0), at, below)?;
        let beside = name.anchored(HPos::Center, VPos::Top).upwards();
        let at = (f64::from(BORDER), (layout.top + layout.bottom) / 2.0);
        sheet.text(&fit(&self.upright.0, layout.bottom - layout.top + 40.0), at, beside)
    }

    /// The colour bar with its numbers.
    fn draw_bar(&self, sheet: &mut Sheet, layout: &Layout) -> Result<(), PlotError> {
        const SLICES: u32 = 64;
        let left = layout.right + BAR_GAP_PX;
        let height = layout.bottom - layout.top;
        for slice in 0..SLICES {
            let level = |slice: u32| {
                (layout.bottom - height * f64::from(slice) / f64::from(SLICES)).round()
            };
            let colour = cividis::colour((f64::from(slice) + 0.5) / f64::from(SLICES));
            sheet.rectangle((left, level(slice + 1)), (left + BAR_PX, level(slice)), colour)?;
        }
        let look = Text::new(SMALL_PX, palette::QUIET_TEXT).anchored(HPos::Left, VPos::Center);
        for tick in layout.scale.ticks(height, 24.0) {
            let y = layout.bottom - layout.scale.share(tick.value) * height;
            sheet.rule((left + BAR_PX, y), (left + BAR_PX + 4.0, y), palette::AXIS)?;
            sheet.text(&tick.label, (left + BAR_PX + 8.0, y), look)?;
        }
        Ok(())
    }
}

/// A number of few digits.
fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 100.0 || value == value.trunc() => super::ticks::number(value.round()),
        _ if size >= 10.0 => super::ticks::number((value * 10.0).round() / 10.0),
        _ if size >= 0.01 => super::ticks::number(value),
        _ => format!("{value:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Theme;
    use super::*;

    fn map(columns: usize, rows: usize) -> HeatMap {
        let value = |x: usize, y: usize| (x + y > 0).then(|| (x * y) as f64 * 1234.5 + 0.25);
        HeatMap {
            title: "A map".to_owned(),
            note: "mean over 20 replications from seed 0x2a".to_owned(),
            metric: "peak_bin (attempts)".to_owned(),
            across: (
                "workload.clients".to_owned(),
                (0..columns).map(|x| (x * 1000).to_string()).collect(),
            ),
            upright: (
                "a.key.that.is.rather.long".to_owned(),
                (0..rows).map(|y| format!("value {y}")).collect(),
            ),
            cells: (0..rows).map(|y| (0..columns).map(|x| value(x, y)).collect()).collect(),
        }
    }

    #[test]
    fn no_text_overlaps_or_leaves_the_sheet() {
        for width_px in [480, 1000, 1600] {
            for (columns, rows) in [(1, 1), (3, 7), (12, 2), (MOST, MOST)] {
                let look = Look { width_px, theme: Theme::Light };
                let canvas = map(columns, rows).compose(look).unwrap();
                assert!(canvas.holds_everything(), "{width_px} {columns} {rows}");
                assert_eq!(canvas.overlapping_texts(), None, "{width_px} {columns} {rows}");
            }
        }
        assert!(map(MOST + 1, 1).compose(Look::default()).is_err());
    }
}
