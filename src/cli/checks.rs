//! `--fail-if` and `[expect]`: results that a CI job refuses, by exit code 1.

use clap::Args;
use serde_json::{Value, json};

use super::Answer;
use crate::error::Result;
use crate::experiment::{Cell, CellRuns, Check, Finding, summaries};
use crate::output::number;

/// What is refused.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Exit with 1 when this holds of the means of metrics, such as 'peak_bin > 1.5 * capacity';
    /// may be repeated. `capacity` is what the provider can serve per window.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
}

impl CheckArgs {
    /// All checks of a cell: those of its scenario, and these.
    pub fn of(&self, cell: &Cell) -> Result<Vec<Check>> {
        let metrics: Vec<&str> = cell.metrics.iter().map(|metric| metric.name.as_str()).collect();
        let checks = Check::all(&cell.scenario, &self.fail_if, &metrics)?;
        // Better said now than after the runs.
        let capacity = cell.capacity_per_window();
        checks.iter().try_for_each(|check| check.needs_no_more_than(capacity))?;
        Ok(checks)
    }
}

/// What checks find in the runs of a cell.
pub fn judge(checks: &[Check], cell: &CellRuns) -> Result<Vec<Finding>> {
    let found = summaries(cell);
    let mean = |name: &str| {
        let one = found.iter().find(|one| one.metric.name == name)?;
        one.summary.as_ref().map(|summary| summary.mean)
    };
    let capacity = cell.cell.capacity_per_window();
    checks.iter().map(|check| check.judge(capacity, mean)).collect()
}

/// No when one of them is not met.
pub fn answer(findings: &[Finding]) -> Answer {
    match findings.iter().all(|finding| finding.met) {
        true => Answer::Yes,
        false => Answer::No,
    }
}

/// A line for each, after `before`; nothing where there are none.
pub fn lines(before: &str, findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{before}{}\n", line(finding))).collect()
}

/// "check: peak_bin <= 20: not met (30)".
pub fn line(finding: &Finding) -> String {
    let verdict = if finding.met { "met" } else { "not met" };
    let found = match finding.sides {
        Some((left, right)) => format!("{} against {}", number(left), number(right)),
        None => "it has no value".to_owned(),
    };
    format!("check: {}: {verdict} ({found})", finding.check)
}

/// The same for programs.
pub fn json(findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        json!({
            "check": finding.check,
            "left": finding.sides.map(|sides| sides.0),
            "right": finding.sides.map(|sides| sides.1),
            "met": finding.met,
        })
    };
    Value::Array(findings.iter().map(one).collect())
}
