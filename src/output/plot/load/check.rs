//! What a load figure must satisfy before it is drawn.

use std::ops::RangeInclusive;

use super::super::PlotError;
use super::{LoadFigure, LoadPanel, LoadWindow, MAX_PANELS};

/// Far above any count of attempts, and still exact in a double.
const LARGEST_COUNT: f64 = 1e15;
/// Thirty years in seconds; together with [`SHORTEST_S`] this keeps neighbouring windows apart in
/// a double.
const LATEST_S: f64 = 1e9;
/// The shortest window in seconds.
const SHORTEST_S: f64 = 1e-6;
/// A capacity below this would be written as zero.
const LEAST_CAPACITY: f64 = 0.01;

/// Refuses figures that have no sensible picture.
pub fn figure(figure: &LoadFigure) -> Result<(), PlotError> {
    if figure.panels.is_empty() {
        return Err(PlotError::NoPanels);
    }
    if figure.panels.len() > MAX_PANELS {
        return Err(PlotError::TooManyPanels { found: figure.panels.len(), limit: MAX_PANELS });
    }
    within("window length", figure.window_s, SHORTEST_S..=LATEST_S, "of seconds from 1e-6 to 1e9")?;
    if let Some(capacity) = figure.capacity_per_window {
        let range = LEAST_CAPACITY..=LARGEST_COUNT;
        within("capacity", capacity, range, "from 0.01 to 1e15")?;
    }
    figure.panels.iter().try_for_each(panel)
}

fn panel(panel: &LoadPanel) -> Result<(), PlotError> {
    let mut previous = f64::NEG_INFINITY;
    for window in &panel.windows {
        numbers(window)?;
        if window.start_s <= previous {
            return Err(PlotError::WindowOrder { panel: panel.label.clone() });
        }
        if window.retries_p05 > window.retries_p95 {
            return Err(PlotError::Percentiles {
                panel: panel.label.clone(),
                start_s: window.start_s,
            });
        }
        previous = window.start_s;
    }
    Ok(())
}

fn numbers(window: &LoadWindow) -> Result<(), PlotError> {
    let counts = [
        ("mean of first attempts", window.first_attempts_mean),
        ("mean of retries", window.retries_mean),
        ("5th percentile of retries", window.retries_p05),
        ("95th percentile of retries", window.retries_p95),
    ];
    within(
        "start of a window",
        window.start_s,
        -LATEST_S..=LATEST_S,
        "of seconds from -1e9 to 1e9",
    )?;
    counts
        .into_iter()
        .try_for_each(|(what, count)| within(what, count, 0.0..=LARGEST_COUNT, "from 0 to 1e15"))
}

fn within(
    what: &str,
    value: f64,
    accepted: RangeInclusive<f64>,
    range: &'static str,
) -> Result<(), PlotError> {
    // A NaN is in no range and is refused here too.
    if accepted.contains(&value) {
        return Ok(());
    }
    Err(PlotError::BadNumber { what: what.to_owned(), value, range })
}
