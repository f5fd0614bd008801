//! `retrylab diff`: what has changed between two results, or two scenarios.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Answer;
use super::common::EffortArgs;
use crate::error::{Error, Result};
use crate::experiment::{Cell, CellRuns, Change, MetricChange, Seed, change};
use crate::metrics::{Directions, nearest};
use crate::output::{CellRows, Runs, Style, Table, number, print, with_halfwidth};
use crate::scenario::Document;

/// Compare two results folders, or two scenarios, run by run: better, worse or no difference.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab run storm.toml -o before
  retrylab run storm.toml --set client.layers.sdk.max_attempts=2 -o after
  retrylab diff before after --metric wasted_tokens || echo worse
  retrylab diff storm.toml storm.toml --json

A folder is read, a scenario file is run. Runs are paired by seed, so that both must have the same one.
A metric is better or worse when the interval of its difference leaves out 0; intervals hold together
with 95 % confidence over all metrics (and cells) that are compared, so that fewer --metric are judged more
sharply. Exit code 1 when one of them is worse, or has no value in B any more.")]
pub struct Args {
    /// Results folder or scenario file: as it was.
    #[arg(value_name = "A")]
    first: PathBuf,
    /// Results folder or scenario file: as it is now.
    #[arg(value_name = "B")]
    second: PathBuf,
    /// Metrics to compare, separated by commas; all by default.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metric: Vec<String>,
    #[command(flatten)]
    effort: EffortArgs,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Print the table as Markdown.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Confidence of all intervals together.
const LEVEL: f64 = 0.95;

pub fn main(args: &Args) -> Result<Answer> {
    let first = side(&args.first, args)?;
    let second = side(&args.second, args)?;
    if let (Some(one), Some(other)) = (&first.seed, &second.seed)
        && one != other
    {
        return Err(Error::Input(format!(
            "{} is of seed {one} and {} of seed {other}: runs are paired by seed; run both with the same --seed",
            first.name, second.name
        )));
    }
    let metrics = metrics(&first, &second, &args.metric)?;
    let directions = Directions::of(&first.metrics);
    let pairs = pairs(&first, &second)?;
    // Bonferroni: each interval is wider, so that all of them hold together.
    let tests = (metrics.len() * pairs.len()).max(1);
    let level = 1.0 - (1.0 - LEVEL) / tests as f64;
    let found: Vec<(&str, MetricChange)> = pairs
        .iter()
        .flat_map(|(key, one, other)| {
            let directions = &directions;
            metrics.iter().filter_map(move |(name, here, there)| {
                let (left, right) = ((&one.rows[..], *here), (&other.rows[..], *there));
                Some((*key, change((name, directions.better(name)), left, right, level)?))
            })
        })
        .collect();
    if found.is_empty() {
        return Err(Error::Input(format!(
            "no metric has a value in {} that {} could be compared with: nothing is said about a change",
            first.name, second.name
        )));
    }
    show(args, &first, &second, level, &found)?;
    let worse = found.iter().any(|(_, one)| one.change.is_regression());
    Ok(if worse { Answer::No } else { Answer::Yes })
}

/// The runs of a folder, or of a scenario that is run now.
fn side(path: &Path, args: &Args) -> Result<Runs> {
    if path.is_dir() {
        return Runs::read(path);
    }
    let cell = Cell::new("as written", &Document::read(path)?)?;
    let effort = args.effort.effort(cell.scenario.measure.replications, Seed::default());
    let runs = args.effort.execute(vec![cell], effort)?;
    Ok(runs_of(path, effort.seed, &runs[0]))
}

fn runs_of(path: &Path, seed: Seed, cell: &CellRuns) -> Runs {
    let rows = cell.runs.iter().map(|run| (run.replication, run.values.clone())).collect();
    Runs {
        name: path.display().to_string(),
        seed: Some(seed.to_string()),
        metrics: cell.cell.metrics.iter().map(|metric| metric.name.clone()).collect(),
        cells: vec![CellRows { key: cell.cell.policy.clone(), rows }],
    }
}

/// The metrics that both have, with their places in both.
fn metrics(first: &Runs, second: &Runs, wanted: &[String]) -> Result<Vec<(String, usize, usize)>> {
    let both = |name: &String| {
        let here = first.metrics.iter().position(|metric| metric == name)?;
        let there = second.metrics.iter().position(|metric| metric == name)?;
        Some((name.clone(), here, there))
    };
    if wanted.is_empty() {
        let found: Vec<_> = first.metrics.iter().filter_map(both).collect();
        if found.is_empty() {
            return Err(Error::Input(format!(
                "no metric is in both {} and {}: there is nothing to compare",
                first.name, second.name
            )));
        }
        return Ok(found);
    }
    let known: Vec<&str> =
        first.metrics.iter().filter(|name| both(name).is_some()).map(String::as_str).collect();
    let one = |name: &String| {
        both(name).ok_or_else(|| {
            Error::Input(format!(
                "--metric: both have no metric \"{name}\"{}",
                nearest(name, &known)
            ))
        })
    };
    wanted.iter().map(one).collect()
}

/// The cells that both have, by name; two single ones are a pair whatever they are called.
fn pairs<'a>(
    first: &'a Runs,
    second: &'a Runs,
) -> Result<Vec<(&'a str, &'a CellRows, &'a CellRows)>> {
    if let ([one], [other]) = (&first.cells[..], &second.cells[..]) {
        return Ok(vec![(&one.key, one, other)]);
    }
    let there = second.by_key();
    let find = |one: &'a CellRows| Some((&one.key[..], one, *there.get(&one.key[..])?));
    let found: Vec<_> = first.cells.iter().filter_map(find).collect();
    if found.is_empty() {
        let names = |runs: &Runs| {
            runs.cells.iter().take(5).map(|cell| cell.key.clone()).collect::<Vec<_>>().join(", ")
        };
        return Err(Error::Input(format!(
            "no policy or cell is in both: {} has {}, and {} has {}",
            first.name,
            names(first),
            second.name,
            names(second)
        )));
    }
    Ok(found)
}

/// Cells that only one side has, unless each has a single one.
fn only_in<'a>(one: &'a Runs, other: &Runs) -> Vec<&'a str> {
    let single = one.cells.len() == 1 && other.cells.len() == 1;
    let there = other.by_key();
    let keys = one.cells.iter().map(|cell| cell.key.as_str());
    keys.filter(|key| !single && !there.contains_key(key)).collect()
}

fn show(
    args: &Args,
    first: &Runs,
    second: &Runs,
    level: f64,
    found: &[(&str, MetricChange)],
) -> Result<()> {
    if args.json {
        return print(&format!("{:#}", document(first, second, level, found)));
    }
    let several = found.iter().any(|(cell, _)| *cell != found[0].0);
    let mut header = vec!["metric", "A", "B", "B - A", "change"];
    if several {
        header.insert(0, "cell");
    }
    let mut table = Table::new(header, if several { "llrrrl" } else { "lrrrl" });
    let named = !args.metric.is_empty();
    let told = |change: Change| !matches!(change, Change::Same | Change::NoDifference);
    for (cell, one) in found.iter().filter(|(_, one)| named || told(one.change)) {
        let mut row = vec![
            one.metric.clone(),
            number(one.means.0),
            if one.n > 0 { number(one.means.1) } else { "–".to_owned() },
            if one.n > 0 { with_halfwidth(one.difference, one.interval) } else { "–".to_owned() },
            one.change.word().to_owned(),
        ];
        if several {
            row.insert(0, (*cell).to_owned());
        }
        table.row(row);
    }
    let style = if args.markdown { Style::Markdown } else { Style::Text };
    let lonely: String = [("A", only_in(first, second)), ("B", only_in(second, first))]
        .iter()
        .filter(|(_, cells)| !cells.is_empty())
        .map(|(side, cells)| format!("only in {side}, and not compared: {}\n", cells.join(", ")))
        .collect();
    print(&format!(
        "A: {}, B: {}, paired by seed\n{}{lonely}{} worse, {} better, {} lost, {} other differences, {} without a difference, {} the same in every run; 95 % confidence over all {}",
        first.name,
        second.name,
        table.show(style),
        count(found, Change::Worse),
        count(found, Change::Better),
        count(found, Change::Lost),
        count(found, Change::Differs) + count(found, Change::Unknown),
        count(found, Change::NoDifference),
        count(found, Change::Same),
        found.len()
    ))
}

/// The differences for programs.
fn document(first: &Runs, second: &Runs, level: f64, found: &[(&str, MetricChange)]) -> Value {
    let one = |(cell, one): &(&str, MetricChange)| {
        json!({
            "cell": cell,
            "metric": one.metric,
            "n": one.n,
            "mean_a": one.means.0,
            "mean_b": Some(one.means.1).filter(|mean| mean.is_finite()),
            "difference": Some(one.difference).filter(|mean| mean.is_finite()),
            "interval": one.interval,
            "change": one.change.word(),
        })
    };
    json!({
        "schema": "retrylab.diff/1",
        "a": first.name,
        "b": second.name,
        "seed": first.seed,
        "level_of_each": level,
        "worse": count(found, Change::Worse),
        "better": count(found, Change::Better),
        "lost": count(found, Change::Lost),
        "only_in_a": only_in(first, second),
        "only_in_b": only_in(second, first),
        "changes": found.iter().map(one).collect::<Vec<_>>(),
    })
}

/// How many have this change.
fn count(found: &[(&str, MetricChange)], change: Change) -> usize {
    found.iter().filter(|(_, one)| one.change == change).count()
}
