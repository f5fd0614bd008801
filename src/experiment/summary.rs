//! From rows to summaries: per metric, and per window of the load curve.

use super::CellRuns;
use crate::metrics::{INDICATOR, Metric};
use crate::stats::quantile::nearest_rank;
use crate::stats::summary::{Summary, summarise, summarise_share};

/// One metric of one cell over replications.
#[derive(Clone, Debug)]
pub struct MetricSummary<'a> {
    /// The metric.
    pub metric: &'a Metric,
    /// None when no replication has a value.
    pub summary: Option<Summary>,
}

/// The summary of a metric with this unit: an indicator is a share, all else is a mean.
pub fn summary_of(unit: &str, values: &[f64]) -> Option<Summary> {
    if unit == INDICATOR { summarise_share(values) } else { summarise(values) }
}

/// All metrics of a cell over its replications.
pub fn summaries(cell: &CellRuns) -> Vec<MetricSummary<'_>> {
    let column = |index: usize| -> Vec<f64> {
        cell.runs.iter().filter_map(|run| run.values[index]).collect()
    };
    let metrics = cell.cell.metrics.iter().enumerate();
    metrics
        .map(|(index, metric)| {
            let summary = summary_of(metric.unit, &column(index));
            MetricSummary { metric, summary }
        })
        .collect()
}

/// One window of a load curve over replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRow {
    /// Start of the window in seconds.
    pub start_s: f64,
    /// Mean number of first attempts.
    pub first_attempts_mean: f64,
    /// Mean number of retries.
    pub retries_mean: f64,
    /// 5 % point of retries over replications (nearest rank).
    pub retries_p05: f64,
    /// Median.
    pub retries_p50: f64,
    /// 95 % point.
    pub retries_p95: f64,
}

/// The load curve of a cell, from t = 0 to its last window with an attempt.
pub fn windows(cell: &CellRuns) -> Vec<WindowRow> {
    let length = |run: &super::Run| run.first_attempts.len().max(run.retries.len());
    let count = cell.runs.iter().map(length).max().unwrap_or(0);
    let window = cell.cell.scenario.measure.curve_window().nanos();
    let at = |counts: &[u32], i: usize| counts.get(i).copied().unwrap_or(0);
    let mut retries: Vec<u32> = Vec::with_capacity(cell.runs.len());
    (0..count)
        .map(|i| {
            retries.clear();
            retries.extend(cell.runs.iter().map(|run| at(&run.retries, i)));
            retries.sort_unstable();
            let mean = |total: u64| total as f64 / cell.runs.len() as f64;
            let point = |q| nearest_rank(&retries, q).unwrap_or(0).into();
            WindowRow {
                start_s: crate::units::seconds(i as u64 * window),
                first_attempts_mean: mean(
                    cell.runs.iter().map(|run| u64::from(at(&run.first_attempts, i))).sum(),
                ),
                retries_mean: mean(retries.iter().map(|&n| u64::from(n)).sum()),
                retries_p05: point(0.05),
                retries_p50: point(0.50),
                retries_p95: point(0.95),
            }
        })
        .collect()
}
