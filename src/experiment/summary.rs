//! From rows to summaries per metric.

use super::CellRuns;
use crate::metrics::{INDICATOR, Metric};
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
