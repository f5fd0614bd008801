//! `retrylab sweep`: one scenario under many settings.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::Answer;
use super::checks::{self, CheckArgs};
use super::common::{EffortArgs, ScenarioArgs, note, progress_bar};
use crate::error::{Error, Result};
use crate::experiment::{Check, Effort, Place, Seed};
use crate::metrics::nearest;
use crate::output::{Style, Table, number, print, with_halfwidth};
use crate::sweep::{
    Axis, Begin, Design, Estimate, FEWEST, HalfWidth, Header, Journal, Progress, Shard, Sweep,
    SweepFolder, Tables, Until, estimate, run, try_first,
};

/// Run a scenario under many settings: every combination, or a sample of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab sweep storm.toml --vary workload.clients=100,1000,10000 -o results/fleet
  retrylab sweep storm.toml --vary policy=none,full --vary provider.concurrency=5..50:log4 -o grid
  retrylab sweep storm.toml --vary 'workload.clients,provider.concurrency=(10,5),(20,9)' -o pairs
  retrylab sweep storm.toml --vary client.layers.sdk.timeout=1s..60s:log --sample 50 -o lhs
  retrylab sweep storm.toml --vary policy=none,full --metric attempts --until-halfwidth 2% -o known
  retrylab sweep storm.toml --vary workload.clients=100,200 --dry-run

A value is written as for --set. PATH=low..high:lin5 and :log5 are five values between two ends;
:lin and :log without a number are for --sample. `policy` stands for a whole policy, as in compare.
Killed at any moment, a sweep goes on with --resume and gives the same bytes. Parts that --shard
i/n has made, here or on other machines, become one with `retrylab merge`.")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// What to vary: PATH=v1,v2 or PATH=low..high:lin5 or :log5, or A,B=(1,2),(3,4) for keys that
    /// change together; may be repeated.
    #[arg(long, value_name = "PATH=VALUES", required = true)]
    vary: Vec<Axis>,
    /// Draw so many cells (a Latin hypercube) in the place of all combinations.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    sample: Option<u32>,
    /// The layer that policies are put in; the outermost by default.
    #[arg(long, value_name = "NAME")]
    layer: Option<String>,
    /// The group that policies are put in; every group by default.
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    checks: CheckArgs,
    /// Results folder.
    #[arg(short, long, value_name = "DIR", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Go on with what the folder has of this sweep.
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
    /// Begin anew, whatever the folder has of a sweep.
    #[arg(long)]
    fresh: bool,
    /// Write the rows of all runs as runs.csv.gz.
    #[arg(long, conflicts_with = "shard")]
    gzip: bool,
    /// Only part i of n of the runs.
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    #[arg(conflicts_with = "fail_if")]
    shard: Shard,
    /// Say how many cells and runs there are, and about how long they take; run nothing else.
    #[arg(long)]
    dry_run: bool,
    /// Metrics of the table, separated by commas; summary.csv has all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metric: Vec<String>,
    /// Make batches of -r replications (at least 10) of each cell until half of the 95 % interval of
    /// every --metric is at most this part of its true mean, such as 2% (1.96 % of the estimated one).
    #[arg(long, value_name = "PART", requires = "metric", conflicts_with = "shard")]
    until_halfwidth: Option<HalfWidth>,
    /// No more replications of a cell than this, however wide its intervals are.
    #[arg(long, value_name = "N", default_value = "1000", requires = "until_halfwidth")]
    #[arg(value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    max_replications: u32,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn main(args: &Args) -> Result<Answer> {
    let document = args.scenario.document()?;
    let replications = document.scenario()?.measure.replications;
    let effort = args.effort.effort(replications, Seed::default());
    let design = Design::new(args.vary.clone(), args.sample, effort.seed)?;
    let (effort, until) = stopping(args, effort, &design)?;
    let sweep = Sweep {
        until,
        design,
        place: Place { layer: args.layer.clone(), group: args.group.clone() },
        document,
        effort,
    };
    if args.dry_run {
        return plan(args, &sweep);
    }
    let Some(place) = &args.output else {
        return Err(Error::Input("name a results folder with -o".to_owned()));
    };
    let columns = sweep.survey()?;
    check_metrics(&args.metric, &columns)?;
    let header = sweep.header(&args.scenario.name(), args.shard, columns)?;
    let checks = checks(args, &sweep, &header)?;
    let begin = match (args.resume, args.fresh) {
        (true, _) => Begin::Resume,
        (_, true) => Begin::Fresh,
        _ => Begin::New,
    };
    if begin == Begin::Fresh && Journal::is_begun(place) {
        try_first(&sweep, args.shard)?;
    }
    let (folder, mut journal) = SweepFolder::open(place, header, begin)?;
    report_damage(args, &journal);
    let counts = work(args, &sweep, &mut journal)?;
    let threads = effort.thread_count();
    if args.shard != Shard::WHOLE {
        folder.finish_part(&journal, threads)?;
        say(args.json, args.effort.quiet, &counts, place, None)?;
        return Ok(Answer::Yes);
    }
    let mut tables = Tables::new(journal)?;
    folder.finish(&mut tables, threads, args.gzip)?;
    let unmet = unmet(&sweep, &mut tables, &checks)?;
    let table = if args.json { None } else { Some(table(&mut tables, &args.metric)?) };
    let counts = Counts { unmet: unmet.len() as u64, ..counts };
    say(args.json, args.effort.quiet, &counts, place, table)?;
    let open = counts.open.iter().map(|cell| {
        format!("cell {cell}: not known well enough after {} replications", effort.replications)
    });
    for line in unmet.iter().take(10).cloned().chain(open.take(10)) {
        note(false, &line);
    }
    match unmet.is_empty() && counts.open.is_empty() {
        true => Ok(Answer::Yes),
        false => Ok(Answer::No),
    }
}

/// Makes what is missing.
fn work(args: &Args, sweep: &Sweep, journal: &mut Journal) -> Result<Counts> {
    let reused = journal.finished();
    let bar = progress_bar(journal.header().runs_of_shard(), args.effort.quiet);
    bar.set_position(reused);
    bar.reset_eta();
    let planned = |runs| bar.set_length(runs);
    let done = run(sweep, journal, &Progress { planned: &planned, done: &|| bar.inc(1) });
    bar.finish_and_clear();
    Ok(Counts { total: journal.finished(), reused, unmet: 0, open: done? })
}

/// Most replications of all cells that a sweep may be allowed.
const MOST_PLACES: u64 = 1 << 28;

/// The rule by which cells have enough replications; then those of the effort are the most.
fn stopping(args: &Args, effort: Effort, design: &Design) -> Result<(Effort, Option<Until>)> {
    let Some(halfwidth) = args.until_halfwidth else { return Ok((effort, None)) };
    // The document's number was not written with batches in mind.
    let batch = args.effort.replications.unwrap_or(effort.replications.max(10));
    let most = args.max_replications;
    if batch < FEWEST {
        return Err(Error::Input(format!(
            "--until-halfwidth: batches of {batch} replications are too small to be judged by; write -r 10 or more"
        )));
    }
    if batch > most {
        return Err(Error::Input(format!(
            "--max-replications: {most} is less than one batch of {batch}; write more, or a smaller -r"
        )));
    }
    // The journal has a place of four bytes for each.
    if design.cells() * u64::from(most) > MOST_PLACES {
        return Err(Error::Input(format!(
            "--max-replications: {} cells of {most} are too many; write no more than {}",
            design.cells(),
            MOST_PLACES / design.cells()
        )));
    }
    let until = Until { halfwidth, metrics: args.metric.clone(), batch };
    Ok((Effort { replications: most, ..effort }, Some(until)))
}

/// What every cell is held to.
fn checks(args: &Args, sweep: &Sweep, header: &Header) -> Result<Vec<Check>> {
    let metrics: Vec<&str> = header.columns.iter().map(|(name, _)| name.as_str()).collect();
    let checks = Check::all(&sweep.document.scenario()?, &args.checks.fail_if, &metrics)?;
    if checks.iter().any(Check::needs_capacity) {
        // Better said now than after the runs.
        let capacity = sweep.cell(0)?.capacity_per_window();
        checks.iter().try_for_each(|check| check.needs_no_more_than(capacity))?;
    }
    Ok(checks)
}

/// A line for each check that a cell does not meet.
fn unmet(sweep: &Sweep, tables: &mut Tables, checks: &[Check]) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let columns = tables.header().columns.clone();
    // Nothing is read when nothing is asked.
    let cells = if checks.is_empty() { 0 } else { tables.header().cells };
    for number in 0..cells {
        let found = tables.summaries(number)?;
        let capacity = match checks.iter().any(Check::needs_capacity) {
            true => sweep.cell(number)?.capacity_per_window(),
            false => None,
        };
        let mean = |name: &str| {
            let place = columns.iter().position(|(column, _)| column == name)?;
            found[place].summary.as_ref().map(|summary| summary.mean)
        };
        for check in checks {
            let finding = check.judge(capacity, mean)?;
            if !finding.met {
                lines.push(format!("cell {number}: {}", checks::line(&finding)));
            }
        }
    }
    Ok(lines)
}

/// How many runs there are, and how many of them were there already.
pub struct Counts {
    /// All.
    pub total: u64,
    /// Those that were there.
    pub reused: u64,
    /// Checks of cells that are not met.
    pub unmet: u64,
    /// Cells that have had the most replications and are not known well enough.
    pub open: Vec<u64>,
}

/// Metrics that are shown unless others are named.
const SHOWN: [&str; 4] = ["success_ratio", "peak_sliding", "completion_p99_s", "wasted_usd"];

/// Rows that are shown; summary.csv has all.
const ROWS: u64 = 40;

/// A metric that is not there.
fn check_metrics(names: &[String], columns: &[(String, String)]) -> Result<()> {
    let known: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let hint = nearest(name, &known);
            Err(Error::Input(format!("--metric: there is no metric \"{name}\"{hint}")))
        }
    }
}

fn report_damage(args: &Args, journal: &Journal) {
    let damage = journal.damage();
    for record in &damage.records {
        let text = format!("journal: record {record} is damaged; its run is computed again");
        note(args.effort.quiet, &text);
    }
    if damage.torn_bytes > 0 {
        let text = format!(
            "journal: the last record is torn ({} bytes); its run is computed again",
            damage.torn_bytes
        );
        note(args.effort.quiet, &text);
    }
}

/// What would be done.
fn plan(args: &Args, sweep: &Sweep) -> Result<Answer> {
    let cells = sweep.design.cells();
    let most = args.shard.count(sweep.runs());
    let replications = sweep.until.as_ref().map_or(sweep.effort.replications, |until| until.batch);
    let runs = if sweep.until.is_some() { cells * u64::from(replications) } else { most };
    let columns = sweep.survey()?;
    check_metrics(&args.metric, &columns)?;
    let Estimate { cpu, events } = estimate(sweep)?;
    let share = runs as f64 / sweep.runs() as f64;
    let (cpu, threads) = (cpu.as_secs_f64() * share, sweep.effort.thread_count());
    if args.json {
        let document = json!({
            "schema": "retrylab.sweep-plan/1",
            "cells": cells,
            "replications": replications,
            "runs": runs,
            "runs_at_most": most,
            "metrics": columns.len(),
            "events_estimate": (events * share).round(),
            "cpu_s_estimate": cpu,
            "threads": threads,
        });
        print(&format!("{document:#}"))?;
        return Ok(Answer::Yes);
    }
    let at_most = match runs == most {
        true => String::new(),
        false => format!(" or more, {} at most", number(most as f64)),
    };
    print(&format!(
        "{} cells × {replications} replications = {} runs{at_most}, about {} events\nabout {} of CPU time, {} on {threads} threads (from one run of up to five cells)",
        number(cells as f64),
        number(runs as f64),
        number((events * share).round()),
        duration(cpu),
        duration(cpu / threads as f64),
    ))?;
    Ok(Answer::Yes)
}

/// "850 ms", "12 s", "3 min".
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6_000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

/// The cells and some of their metrics, as text.
pub fn table(tables: &mut Tables, metrics: &[String]) -> Result<String> {
    let columns = tables.header().columns.clone();
    let place = |name: &str| columns.iter().position(|(column, _)| column == name);
    let shown: Vec<usize> = match metrics {
        [] => SHOWN.iter().filter_map(|name| place(name)).collect(),
        names => names.iter().filter_map(|name| place(name)).collect(),
    };
    let names = shown.iter().map(|index| columns[*index].0.clone());
    let varied = tables.varied().map(str::to_owned);
    let mut table = Table::new(varied.chain(names).collect::<Vec<_>>(), "r");
    let cells = tables.header().cells;
    for cell in 0..cells.min(ROWS) {
        let found = tables.summaries(cell)?;
        let metric = |index: &usize| {
            let summary = found[*index].summary.as_ref();
            summary.map_or_else(|| "–".to_owned(), |s| with_halfwidth(s.mean, s.ci95))
        };
        table.row(tables.values(cell).into_iter().chain(shown.iter().map(metric)).collect());
    }
    let more = cells.saturating_sub(ROWS);
    let rest =
        if more > 0 { format!("\n… {more} more cells in summary.csv") } else { String::new() };
    Ok(table.show(Style::Text) + &rest)
}

/// What was done.
pub fn say(
    json: bool,
    quiet: bool,
    counts: &Counts,
    place: &Path,
    table: Option<String>,
) -> Result<()> {
    let Counts { total, reused, unmet, open } = counts;
    if json {
        let document = json!({
            "schema": "retrylab.sweep/1",
            "runs_total": total,
            "runs_reused": reused,
            "runs_computed": total - reused,
            "checks_not_met": unmet,
            "cells_not_known": open.len(),
            "folder": place.display().to_string(),
        });
        return print(&format!("{document:#}"));
    }
    if let Some(table) = table {
        print(&table)?;
    }
    let place = place.display();
    note(quiet, &format!("{total} runs, {reused} of them from before; wrote {place}"));
    Ok(())
}
