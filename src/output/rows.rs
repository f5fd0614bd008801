//! Result files: runs.csv and summary.csv.
//!
//! Pure CSV with units in column names; floats in the shortest form that reads back the same;
//! a missing value is an empty field.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::experiment::{CellRuns, summaries};

/// The bytes of a table.
pub(super) fn csv_text(
    write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>,
) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let bug = |e: &dyn std::fmt::Display| Error::Bug(format!("a CSV row does not print: {e}"));
    write(&mut writer).map_err(|e| bug(&e))?;
    writer.into_inner().map_err(|e| bug(&e))
}

/// A row per policy and replication; a column per metric.
pub fn runs_csv(cells: &[CellRuns]) -> Result<Vec<u8>> {
    let names = metric_names(cells);
    csv_text(|csv| {
        let fixed = ["policy", "replication", "fingerprint"].map(str::to_owned);
        csv.write_record(fixed.iter().chain(&names))?;
        for cell in cells {
            let index: Vec<Option<usize>> = names
                .iter()
                .map(|name| cell.cell.metrics.iter().position(|m| m.name == *name))
                .collect();
            for run in &cell.runs {
                let mut row = vec![
                    cell.cell.policy.clone(),
                    run.replication.to_string(),
                    format!("{:#018x}", run.fingerprint),
                ];
                let value = |i: &Option<usize>| i.and_then(|i| run.values[i]);
                row.extend(index.iter().map(|i| value(i).map_or(String::new(), |v| v.to_string())));
                csv.write_record(&row)?;
            }
        }
        Ok(())
    })
}

/// Names of the metrics of all cells, in order of appearance.
fn metric_names(cells: &[CellRuns]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for metric in cells.iter().flat_map(|cell| &cell.cell.metrics) {
        if !names.contains(&metric.name) {
            names.push(metric.name.clone());
        }
    }
    names
}

#[derive(Serialize)]
struct SummaryRow<'a> {
    policy: &'a str,
    metric: &'a str,
    unit: &'a str,
    n: usize,
    mean: Option<f64>,
    sd: Option<f64>,
    ci95_low: Option<f64>,
    ci95_high: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
}

/// A row per policy and metric.
pub fn summary_csv(cells: &[CellRuns]) -> Result<Vec<u8>> {
    csv_text(|csv| {
        for cell in cells {
            for one in summaries(cell) {
                let s = one.summary.as_ref();
                let ci = s.and_then(|s| s.ci95);
                csv.serialize(SummaryRow {
                    policy: &cell.cell.policy,
                    metric: &one.metric.name,
                    unit: one.metric.unit,
                    n: s.map_or(0, |s| s.n),
                    mean: s.map(|s| s.mean),
                    sd: s.and_then(|s| s.sd),
                    ci95_low: ci.map(|c| c.0),
                    ci95_high: ci.map(|c| c.1),
                    min: s.map(|s| s.min),
                    max: s.map(|s| s.max),
                })?;
            }
        }
        Ok(())
    })
}
