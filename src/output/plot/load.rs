//! The load figure: attempts per window over time, one panel for each policy.
//!
//! It answers one question: when do the retries of a policy arrive, beside the first attempts
//! that they repeat and the capacity that has to serve both? All panels share both axes, so that
//! heights compare by eye. Windows are counts, so curves are steps; a slanted line would show load
//! at times that had none.

mod check;
mod columns;
mod count_axis;
mod curves;
mod layout;
mod legend;
mod panel;

use super::canvas::{Canvas, Fonts};
use super::sheet::Sheet;
use super::{Picture, PlotError, Theme};
use columns::{Column, TimeAxis};
use layout::Layout;

/// The largest number of panels in one figure.
pub const MAX_PANELS: usize = 10;

/// One window of the load curve, over replications.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadWindow {
    /// When the window starts, in seconds.
    pub start_s: f64,
    /// First attempts in the window, mean over replications.
    pub first_attempts_mean: f64,
    /// Retries in the window, mean over replications.
    pub retries_mean: f64,
    /// The 5th percentile of the retries over replications.
    pub retries_p05: f64,
    /// The 95th percentile of the retries over replications.
    pub retries_p95: f64,
}

/// One policy's curve.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPanel {
    /// The name of the policy.
    pub label: String,
    /// The one number to take away, for example
    /// `peak 158 retries / 100 ms (mean of 200 seeds)`.
    pub peak_note: String,
    /// Windows in ascending order from the first to the last one with load. Gaps are allowed:
    /// missing windows are zero.
    pub windows: Vec<LoadWindow>,
}

/// How counts are spaced on the value axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountAxis {
    /// Equal differences are equally far apart; the axis starts at zero.
    Linear,
    /// Equal ratios are equally far apart, for storms that are many times the capacity. The axis
    /// starts at half an attempt (lower if the capacity is): a count of zero draws nothing,
    /// and smaller means stay on that floor.
    Log,
}

/// Everything that the load figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadFigure {
    /// The heading.
    pub title: String,
    /// A small line below the heading: number of clients, window, seeds.
    pub note: String,
    /// The length of every window in seconds.
    pub window_s: f64,
    /// How many attempts the server can take in one window, if it is limited.
    pub capacity_per_window: Option<f64>,
    /// When the server was down, in seconds; shaded.
    pub outages: Vec<(f64, f64)>,
    /// How the counts are spaced.
    pub axis: CountAxis,
    /// The width of the figure in pixels.
    pub width_px: u32,
    /// One panel for each policy, 1 to [`MAX_PANELS`], from top to bottom.
    pub panels: Vec<LoadPanel>,
}

/// Draws the figure.
///
/// With more windows than pixel columns, each column shows the largest value of its windows, and
/// the note says so: a mean would hide the peaks, which are what the figure is about.
pub fn draw(figure: &LoadFigure, theme: Theme) -> Result<Picture, PlotError> {
    Picture::of(theme.apply(compose(figure)?), &figure.title, &description(figure))
}

/// Everything but the output formats.
fn compose(figure: &LoadFigure) -> Result<Canvas, PlotError> {
    check::figure(figure)?;
    let fonts = Fonts::load()?;
    let axis = TimeAxis::of(figure);
    let curves: Vec<Vec<Column>> =
        figure.panels.iter().map(|panel| axis.columns(&panel.windows)).collect();
    let layout = Layout::of(figure, &axis, &curves, &fonts);
    let mut canvas = Canvas::new(layout.width.unsigned_abs(), layout.height.unsigned_abs());
    layout.header.draw(&mut Sheet::on(&mut canvas, &fonts))?;
    {
        let area = canvas.area(&fonts);
        layout.legend.draw(&area, &layout.hues)?;
        for (index, columns) in curves.iter().enumerate() {
            panel::draw(&area, index, columns, &layout)?;
        }
        panel::draw_shared_labels(&area, &layout)?;
    }
    Ok(canvas)
}

/// The figure in words, for readers who do not see it.
fn description(figure: &LoadFigure) -> String {
    let window = super::ticks::duration(figure.window_s);
    let scale = match figure.axis {
        CountAxis::Linear => "",
        CountAxis::Log => ", on a log scale,",
    };
    let mut text = format!("Attempts per {window}{scale} over time in seconds. {}", figure.note);
    for panel in &figure.panels {
        text.push_str(&format!("\n{}: {}", panel.label, panel.peak_note));
    }
    text
}

#[cfg(test)]
mod tests;
