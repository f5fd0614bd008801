//! Figures as SVG text and PNG bytes.
//!
//! A figure is plain data (for example [`load::LoadFigure`]) that is drawn once onto a
//! [`canvas::Canvas`]. The canvas keeps a small display list of filled and stroked paths, text
//! included, and writes that list both as SVG and as PNG, so the two always show the same thing
//! and neither depends on the fonts of the machine.
//!
//! The SVG bytes are a pure function of the figure: every coordinate becomes an integer before it
//! is printed, and only `+ - * /`, `floor`, `round` and the portable
//! logarithm of [`crate::math`] happen on the way there. The PNG is meant
//! for eyes; its bytes may differ between processors.

pub mod amplification;
pub mod canvas;
pub mod chart;
mod cividis;
pub mod completion;
mod header;
pub mod heat_map;
pub mod hysteresis;
pub mod load;
pub mod palette;
pub mod pareto;
pub mod recovery;
pub mod sheet;
mod steps;
mod theme;
mod ticks;
pub mod trade_off;
pub mod validation;
pub mod waits;
pub mod waves;

pub use load::{CountAxis, LoadFigure, LoadPanel, LoadWindow, MAX_PANELS};
pub use theme::{Look, Theme};
pub use ticks::duration;

/// So many series have colours of their own.
pub const MAX_SERIES: usize = palette::SERIES.len();

use canvas::Canvas;
use plotters::drawing::DrawingAreaErrorKind;
use plotters_backend::DrawingErrorKind;

/// A finished figure in both formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// A complete SVG document; all text is outlined, so that it needs no font.
    pub svg: String,
    /// The same drawing as a PNG file at twice the nominal size.
    pub png: Vec<u8>,
}

impl Picture {
    /// The drawing in both formats; title and description are for readers who do not see it.
    pub fn of(canvas: Canvas, title: &str, description: &str) -> Result<Picture, PlotError> {
        Ok(Picture { svg: canvas.to_svg(title, description), png: canvas.to_png()? })
    }
}

/// Why a figure could not be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlotError {
    /// The figure has nothing to show.
    #[error("The figure has no panels; give it at least one.")]
    NoPanels,
    /// More panels than fit on a page.
    #[error("The figure has {found} panels, but at most {limit} fit; leave some out.")]
    TooManyPanels {
        /// The number of panels given.
        found: usize,
        /// The largest number of panels that is drawn.
        limit: usize,
    },
    /// A number that has no place on an axis.
    #[error("The figure cannot show the {what} {value}; a finite number {range} is needed there.")]
    BadNumber {
        /// What the number stands for, in words.
        what: String,
        /// The number itself.
        value: f64,
        /// The range that is accepted, in words.
        range: &'static str,
    },
    /// A panel whose windows do not ascend in time.
    #[error("The windows of the panel \"{panel}\" are not in ascending order of their start.")]
    WindowOrder {
        /// The label of the panel.
        panel: String,
    },
    /// A percentile band that is upside down.
    #[error(
        "The panel \"{panel}\" has a 5th percentile above its 95th in the window at {start_s} s."
    )]
    Percentiles {
        /// The label of the panel.
        panel: String,
        /// The start of the window.
        start_s: f64,
    },
    /// One of the embedded fonts could not be read.
    #[error("An embedded font could not be read: {0}.")]
    Font(String),
    /// The plotting library refused a drawing step.
    #[error("The figure could not be laid out: {0}.")]
    Layout(String),
    /// The bitmap could not be made.
    #[error("The PNG could not be made: {0}.")]
    Raster(String),
}

impl From<DrawingAreaErrorKind<PlotError>> for PlotError {
    fn from(error: DrawingAreaErrorKind<PlotError>) -> Self {
        match error {
            DrawingAreaErrorKind::BackendError(DrawingErrorKind::DrawingError(inner)) => inner,
            other => PlotError::Layout(other.to_string()),
        }
    }
}
