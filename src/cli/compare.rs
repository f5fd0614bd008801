//! `retrylab compare`: the same requests, service times and failures under several policies.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::checks::{self, CheckArgs, answer, judge};
use super::common::{EffortArgs, PolicyArgs, PrintArgs, ScenarioArgs, note, print_with_load};
use super::{Answer, report};
use crate::error::{Error, Result};
use crate::experiment::{CellRuns, Check, Effort, Finding, Seed, summaries};
use crate::output::{Style, Table, number, print, summary_csv, with_halfwidth};
use crate::stats::paired::{Paired, compare};

/// Compare policies on the same requests, service times and failures (common random numbers).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab compare storm.toml --policies none,sdk,equal,full,decorrelated
  retrylab compare storm.toml --policies full,preset:openai-python-3.57 --layer sdk
  retrylab compare storm.toml --policies none,full -o results/storm

Policies: none (exponential without jitter), sdk, equal, full, decorrelated, additive,
no-backoff, no-retry, as-written, preset:NAME. A jitter keeps the base and cap of its layer;
sdk is always the SDKs' own 0.5 s doubling to 8 s; preset:NAME replaces the whole layer.
Differences are paired by seed against the first policy.")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    policies: PolicyArgs,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    checks: CheckArgs,
    #[command(flatten)]
    print: PrintArgs,
    /// Results folder to write as well.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The metrics of the table; JSON and CSV have all.
pub const SHOWN: [&str; 12] = [
    "succeeded",
    "gave_up",
    "attempts",
    "amplification",
    "peak_bin",
    "peak_sliding",
    "completion_mean_s",
    "completion_p99_s",
    "last_resolved_s",
    "peak_in_flight",
    "wasted_tokens",
    "wasted_usd",
];

/// Those of each group, when there are several.
const SHOWN_BY_GROUP: [&str; 5] =
    ["success_ratio", "amplification", "peak_sliding", "completion_p99_s", "wasted_tokens"];

/// The names of the metrics of the table, as far as some policy has a value.
fn shown(cells: &[CellRuns]) -> Vec<String> {
    let of_group = |metric: &crate::metrics::Metric| {
        metric.of_group().is_some_and(|(_, name)| SHOWN_BY_GROUP.contains(&name))
    };
    let groups = cells[0].cell.metrics.iter().filter(|metric| of_group(metric));
    let all = SHOWN.iter().map(|name| (*name).to_owned());
    let names = all.chain(groups.map(|metric| metric.name.clone()));
    names.filter(|name| cells.iter().any(|cell| !cell.values(name).is_empty())).collect()
}

pub fn main(args: &Args) -> Result<Answer> {
    let cells = args.policies.cells(&args.scenario)?;
    let measure = &cells[0].scenario.measure;
    let effort = args.effort.effort(measure.replications, Seed::default());
    let title = cells[0].scenario.title.clone().unwrap_or_else(|| args.scenario.name());
    let place = args.policies.place(&args.scenario)?;
    let checks: Vec<Vec<Check>> =
        cells.iter().map(|cell| args.checks.of(cell)).collect::<Result<_>>()?;
    let folder = report::stage(args.output.as_deref(), &cells)?;
    let cells = report::execute(&args.effort, cells, effort, folder.is_some())?;
    let written = folder
        .map(|f| report::write_folder(f, &args.scenario.name(), &title, &cells, &effort))
        .transpose()?;
    let findings: Vec<Vec<Finding>> = checks
        .iter()
        .zip(&cells)
        .map(|(checks, cell)| judge(checks, cell))
        .collect::<Result<_>>()?;
    show(args, &format!("{title}: {place}"), &cells, &effort, &findings)?;
    if let Some(written) = written {
        note(args.effort.quiet, &written);
    }
    Ok(answer(&findings.concat()))
}

/// Paired difference of one metric against the first policy, over seeds where both have a value.
fn difference(metric: &str, cell: &CellRuns, baseline: &CellRuns) -> Option<Paired> {
    let place = |c: &CellRuns| c.cell.metrics.iter().position(|m| m.name == metric);
    let (here, there) = (place(cell)?, place(baseline)?);
    let pairs = cell.runs.iter().zip(&baseline.runs);
    let both = pairs.filter_map(|(a, b)| Some((a.values[here]?, b.values[there]?)));
    let (left, right): (Vec<f64>, Vec<f64>) = both.unzip();
    compare(&left, &right).ok()
}

fn show(
    args: &Args,
    title: &str,
    cells: &[CellRuns],
    effort: &Effort,
    findings: &[Vec<Finding>],
) -> Result<()> {
    if args.print.csv {
        return print(&String::from_utf8_lossy(&summary_csv(cells)?));
    }
    if args.print.json {
        let text = serde_json::to_string_pretty(&document(title, cells, effort, findings));
        return print(&text.map_err(|e| Error::Bug(e.to_string()))?);
    }
    let style = if args.print.markdown { Style::Markdown } else { Style::Text };
    let lines: String = (cells.iter().zip(findings))
        .map(|(cell, findings)| checks::lines(&format!("{}: ", cell.cell.policy), findings))
        .collect();
    let text = text(title, cells, effort, style) + &lines;
    print_with_load(&text, cells, args.print.markdown || args.effort.quiet)
}

fn document(title: &str, cells: &[CellRuns], effort: &Effort, findings: &[Vec<Finding>]) -> Value {
    let baseline = &cells[0];
    let differences = |cell: &CellRuns| {
        let entry = |m: &crate::metrics::Metric| {
            let paired = difference(&m.name, cell, baseline)?;
            let mut value = report::summary_json(m.unit, Some(&paired.difference));
            if let Value::Object(value) = &mut value {
                value.insert("variance_reduction".to_owned(), json!(paired.variance_reduction));
            }
            Some((m.name.clone(), value))
        };
        Value::Object(cell.cell.metrics.iter().filter_map(entry).collect::<Map<_, _>>())
    };
    let policy = |(cell, findings): (&CellRuns, &Vec<Finding>)| {
        json!({
            "policy": cell.cell.policy,
            "metrics": report::metrics_json(cell),
            "difference": differences(cell),
            "checks": checks::json(findings),
            "assumptions": cell.cell.assumptions(),
        })
    };
    json!({
        "schema": "retrylab.compare/1",
        "scenario": title,
        "seed": effort.seed,
        "replications": effort.replications,
        "baseline": baseline.cell.policy,
        "capacity_per_window": baseline.cell.capacity_per_window(),
        "policies": cells.iter().zip(findings).map(policy).collect::<Vec<_>>(),
    })
}

/// A sentence when the policies cannot be told apart by their peak.
fn same_peak_everywhere(cells: &[CellRuns]) -> Option<String> {
    let peaks: Vec<Vec<f64>> = cells.iter().map(|cell| cell.values("peak_bin")).collect();
    let same = peaks.len() > 1 && peaks.iter().all(|peak| *peak == peaks[0]);
    same.then(|| {
        "peak_bin is the same under every policy: the layer they are in does not make it; try another --layer, or raise its max_attempts".to_owned()
    })
}

fn text(title: &str, cells: &[CellRuns], effort: &Effort, style: Style) -> String {
    let baseline = &cells[0];
    let header = |first: &str| {
        let policies = cells.iter().map(|c| c.cell.policy.clone());
        std::iter::once(first.to_owned()).chain(policies).collect::<Vec<_>>()
    };
    let mut means = Table::new(header("mean ± half of the 95 % interval"), "lr");
    let mut paired = Table::new(
        header(&format!("difference from {}, paired by seed", baseline.cell.policy)),
        "lr",
    );
    for name in &shown(cells) {
        let mean = |cell: &CellRuns| {
            let found = summaries(cell)
                .into_iter()
                .find(|s| s.metric.name == *name)
                .and_then(|s| s.summary);
            found.map_or_else(|| "–".to_owned(), |s| with_halfwidth(s.mean, s.ci95))
        };
        means.row(std::iter::once(name.clone()).chain(cells.iter().map(mean)).collect());
        let delta = |cell: &CellRuns| {
            let found = difference(name, cell, baseline);
            found.map_or_else(
                || "–".to_owned(),
                |p| with_halfwidth(p.difference.mean, p.difference.ci95),
            )
        };
        paired.row(std::iter::once(name.clone()).chain(cells.iter().map(delta)).collect());
    }
    let scenario = &baseline.cell.scenario;
    let capacity = baseline.cell.capacity_per_window().map_or(String::new(), |capacity| {
        format!("capacity: {} attempts per {}\n", number(capacity), scenario.measure.window)
    });
    let mut lines: Vec<String> = Vec::new();
    for line in cells.iter().flat_map(|cell| cell.cell.assumptions()) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(same_peak_everywhere(cells));
    let lines: String = lines.iter().map(|line| format!("  - {line}\n")).collect();
    format!(
        "{title}\n{}{}{capacity}{} replications from seed {}, the same requests, tokens and service times for every policy\nassumptions:\n{lines}",
        means.show(style),
        paired.show(style),
        effort.replications,
        effort.seed
    )
}
