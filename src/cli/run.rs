//! `retrylab run`: one scenario, R replications, a table.

use std::path::PathBuf;

use serde_json::json;

use super::checks::{self, CheckArgs, answer, judge};
use super::common::{EffortArgs, PrintArgs, ScenarioArgs, note, print_with_load};
use super::{Answer, report};
use crate::error::{Error, Result};
use crate::experiment::{Cell, CellRuns, Effort, Finding, Seed, summaries};
use crate::output::{Style, Table, interval, number, print, summary_csv, with_halfwidth};
use crate::scenario::digest;
use crate::stats::summary::Summary;

/// Run one scenario and report peaks, completion, outcomes, tokens and dollars.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab run storm.toml
  retrylab run storm.toml --set workload.clients=5000 --replications 100 --seed 0x2a
  retrylab run storm.toml --json | jq .metrics.peak_bin.mean
  retrylab run storm.toml -o results/storm
  retrylab run storm.toml --fail-if 'success_ratio<0.9' --fail-if 'peak_bin>4*capacity'
  retrylab init | retrylab run -")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    checks: CheckArgs,
    #[command(flatten)]
    print: PrintArgs,
    /// Results folder to write as well.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Check everything and say what would be run.
    #[arg(long)]
    dry_run: bool,
}

pub fn main(args: &Args) -> Result<Answer> {
    let document = args.scenario.document()?;
    let cell = Cell::new("as written", &document)?;
    let effort = args.effort.effort(cell.scenario.measure.replications, Seed::default());
    let title = cell.scenario.title.clone().unwrap_or_else(|| args.scenario.name());
    if args.dry_run {
        effort.check(&cell)?;
        let lines: String = cell.assumptions().iter().map(|line| format!("  - {line}\n")).collect();
        let text = format!(
            "{title}: would run {} replications from seed {} on {} threads: {} clients until {}\nassumptions:\n{lines}",
            effort.replications,
            effort.seed,
            effort.thread_count(),
            number(cell.scenario.clients() as f64),
            cell.scenario.measure.horizon
        );
        print(&text)?;
        return Ok(Answer::Yes);
    }
    let checks = args.checks.of(&cell)?;
    let folder = report::stage(args.output.as_deref(), std::slice::from_ref(&cell))?;
    let cells = report::execute(&args.effort, vec![cell], effort, folder.is_some())?;
    let written = folder
        .map(|f| report::write_folder(f, &args.scenario.name(), &title, &cells, &effort))
        .transpose()?;
    let findings = judge(&checks, &cells[0])?;
    show(args, &title, &cells, &effort, &findings)?;
    if let Some(written) = written {
        note(args.effort.quiet, &written);
    }
    Ok(answer(&findings))
}

fn show(
    args: &Args,
    title: &str,
    cells: &[CellRuns],
    effort: &Effort,
    findings: &[Finding],
) -> Result<()> {
    let cell = &cells[0];
    let scenario = &cell.cell.scenario;
    if args.print.csv {
        return print(&String::from_utf8_lossy(&summary_csv(cells)?));
    }
    if args.print.json {
        let document = json!({
            "schema": "retrylab.run/1",
            "scenario": title,
            "scenario_digest": digest(scenario)?,
            "seed": effort.seed,
            "replications": effort.replications,
            "window_s": scenario.measure.window.seconds(),
            "capacity_per_window": cell.cell.capacity_per_window(),
            "metrics": report::metrics_json(cell),
            "checks": checks::json(findings),
            "assumptions": cell.cell.assumptions(),
        });
        return print(
            &serde_json::to_string_pretty(&document).map_err(|e| Error::Bug(e.to_string()))?,
        );
    }
    let style = if args.print.markdown { Style::Markdown } else { Style::Text };
    let text = text(title, cell, effort, style) + &checks::lines("", findings);
    print_with_load(&text, cells, args.print.markdown || args.effort.quiet)
}

fn text(title: &str, cell: &CellRuns, effort: &Effort, style: Style) -> String {
    let mut table = Table::new(["metric", "mean", "95 % interval", "min … max", "unit"], "lrrrl");
    let quiet = |name: &str, mean: f64| mean == 0.0 && !ALWAYS.contains(&name);
    for one in summaries(cell).into_iter().filter(|one| one.metric.of_group().is_none()) {
        let Some(summary) = one.summary else { continue };
        // Rows of parts that a scenario does not use would all read 0.
        if quiet(&one.metric.name, summary.max) {
            continue;
        }
        let name = match summary.n {
            n if n == cell.runs.len() => one.metric.name.clone(),
            n => format!("{} ({n} of {} runs)", one.metric.name, cell.runs.len()),
        };
        table.row(vec![
            name,
            number(summary.mean),
            interval(summary.ci95),
            interval(Some((summary.min, summary.max))),
            one.metric.unit.to_owned(),
        ]);
    }
    let scenario = &cell.cell.scenario;
    let capacity = cell.cell.capacity_per_window().map_or(String::new(), |capacity| {
        format!("capacity: {} attempts per {}\n", number(capacity), scenario.measure.window)
    });
    let lines: String =
        cell.cell.assumptions().iter().map(|line| format!("  - {line}\n")).collect();
    format!(
        "{title}\n{}{}{capacity}{} replications from seed {}; metrics that are 0 or have no value are left out, docs/reference/metrics.md tells what they mean\nassumptions:\n{lines}",
        table.show(style),
        by_group(cell, style),
        effort.replications,
        effort.seed
    )
}

/// A column for each of several groups.
fn by_group(cell: &CellRuns, style: Style) -> String {
    let groups = &cell.cell.scenario.groups;
    if groups.len() < 2 {
        return String::new();
    }
    let names = groups.iter().filter_map(|group| group.name.clone());
    let header = std::iter::once("mean ± half of the 95 % interval, by group".to_owned());
    let mut table = Table::new(header.chain(names), "lr");
    // The groups' metrics in the order of the catalogue: the same name in each that has it.
    let mut rows: Vec<(String, Vec<Option<Summary>>)> = Vec::new();
    for one in summaries(cell) {
        let Some((group, name)) = one.metric.of_group() else { continue };
        let row = rows.iter().position(|(other, _)| other == name).unwrap_or_else(|| {
            rows.push((name.to_owned(), vec![None; groups.len()]));
            rows.len() - 1
        });
        rows[row].1[group] = one.summary;
    }
    for (name, found) in rows {
        let nothing =
            |s: &Option<Summary>| s.as_ref().is_none_or(|s| s.mean == 0.0 && s.max == 0.0);
        if found.iter().all(nothing) && !ALWAYS.contains(&name.as_str()) {
            continue;
        }
        let show = |s: Option<Summary>| {
            s.map_or_else(|| "–".to_owned(), |s| with_halfwidth(s.mean, s.ci95))
        };
        table.row(std::iter::once(name).chain(found.into_iter().map(show)).collect());
    }
    table.show(style)
}

/// Metrics that are shown even when they are 0.
const ALWAYS: [&str; 10] = [
    "requests",
    "attempts",
    "retries",
    "succeeded",
    "gave_up",
    "success_ratio",
    "peak_bin",
    "peak_sliding",
    "wasted_tokens",
    "wasted_usd",
];
