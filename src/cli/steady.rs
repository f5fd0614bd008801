//! `retrylab steady`: the mean of a long run, without its beginning, and how sure it is.

use std::str::FromStr;

use serde_json::{Value, json};

use super::Answer;
use super::common::{EffortArgs, ScenarioArgs};
use super::report::summary_json;
use crate::error::{Error, Result};
use crate::experiment::{Cell, Effort, Follow, Seed, Steady, WarmUp, steady};
use crate::output::{Style, Table, interval, number, print, with_halfwidth};
use crate::stats::summary::{Summary, summarise};
use crate::units::Span;

/// Find the long-run mean of a stream of requests: warm-up cut off, interval by batch means.
///
/// Each replication is one long run, until measure.horizon. Exit code 1 says that a run is too short: its warm-up
/// has no end (MSER-5 of the mean of all runs), fewer than 60 values are left, or its 30 batches resemble their neighbours.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab steady storm.toml --set 'workload={poisson={rate=\"40/s\"}}' --set measure.horizon=20min
  retrylab steady storm.toml --set 'workload={poisson={rate=\"40/s\"}}' --follow answers -r 4 --json")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// What is followed: completion (seconds, per answered request), or attempts or answers per
    /// measure.window.
    #[arg(long, value_name = "WHAT", default_value = "completion")]
    follow: What,
    /// What to cut off: mser5, or a time such as 60s.
    #[arg(long, value_name = "SPAN", default_value = "mser5")]
    warm_up: Cut,
    #[command(flatten)]
    effort: EffortArgs,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum What {
    Completion,
    Attempts,
    Answers,
}

#[derive(Clone, Copy, Debug)]
struct Cut(WarmUp);

impl FromStr for Cut {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Cut, String> {
        if text == "mser5" {
            return Ok(Cut(WarmUp::Mser5));
        }
        let span: Span = text.parse().map_err(|e| format!("{e}; or write mser5"))?;
        Ok(Cut(WarmUp::Fixed(span)))
    }
}

impl What {
    fn name_and_unit(self) -> (&'static str, &'static str) {
        match self {
            What::Completion => ("completion_s", "s"),
            What::Attempts => ("attempts", "attempts per window"),
            What::Answers => ("answers", "answers per window"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            What::Completion => "completion",
            What::Attempts => "attempts",
            What::Answers => "answers",
        }
    }

    fn follow(self) -> Follow {
        match self {
            What::Completion => Follow::Completion,
            What::Attempts => Follow::Attempts,
            What::Answers => Follow::Answers,
        }
    }
}

pub fn main(args: &Args) -> Result<Answer> {
    let document = args.scenario.document()?;
    let cell = Cell::new(&args.scenario.name(), &document)?;
    let effort = args.effort.effort(cell.scenario.measure.replications, Seed::default());
    let runs = steady(&cell, effort, args.follow.follow(), args.warm_up.0)?;
    // Each run once, so that a long one weighs no more than another.
    let means: Vec<f64> = runs.iter().filter_map(|run| Some(run.batches?.summary.mean)).collect();
    let all = summarise(&means);
    if args.json {
        let text = serde_json::to_string_pretty(&json(args, &effort, &runs, all.as_ref()));
        print(&text.map_err(|e| Error::Bug(e.to_string()))?)?;
    } else {
        print(&text(args, &cell, &effort, &runs, all.as_ref()))?;
    }
    match runs.iter().all(Steady::is_sound) {
        true => Ok(Answer::Yes),
        false => Ok(Answer::No),
    }
}

/// What is wrong with a run; nothing when it is sound.
fn complaint(run: &Steady) -> &'static str {
    match (run.cut, run.batches) {
        (_, None) => "too short: fewer than 60 values",
        (None, _) => "too short: its warm-up has no end",
        (_, Some(batches)) if !batches.independent => "too short: batches resemble each other",
        _ => "",
    }
}

fn text(
    args: &Args,
    cell: &Cell,
    effort: &Effort,
    runs: &[Steady],
    all: Option<&Summary>,
) -> String {
    let (name, unit) = args.follow.name_and_unit();
    let title = cell.scenario.title.clone().unwrap_or_else(|| args.scenario.name());
    let header = ["run", "values", "cut", "from", name, "95 % interval", "lag-1", ""];
    let mut table = Table::new(header, "rrrrrrrl");
    for (number_of, run) in runs.iter().enumerate() {
        let summary = run.batches.map(|batches| batches.summary);
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        table.row(vec![
            number_of.to_string(),
            number(run.values as f64),
            or_dash(run.cut.map(|cut| number(cut as f64))),
            or_dash(run.from_s.map(|from| format!("{} s", number(from)))),
            or_dash(summary.map(|s| number(s.mean))),
            interval(summary.and_then(|s| s.ci95)),
            or_dash(run.batches.map(|b| format!("{:.2}", b.lag1))),
            complaint(run).to_owned(),
        ]);
    }
    let mean = all.map_or_else(String::new, |s| {
        let n = if s.n == runs.len() { String::new() } else { format!("{} of ", s.n) };
        let mean = with_halfwidth(s.mean, s.ci95);
        format!("mean of {n}{} runs: {mean} {unit}\n", runs.len())
    });
    format!(
        "{title}\n{}{mean}{} runs from seed {}; interval of each from 30 batches; measure.window = {}",
        table.show(Style::Text),
        effort.replications,
        effort.seed,
        cell.scenario.measure.window,
    )
}

fn json(args: &Args, effort: &Effort, runs: &[Steady], all: Option<&Summary>) -> Value {
    let (_, unit) = args.follow.name_and_unit();
    let run = |run: &Steady| {
        let batches = run.batches.as_ref();
        json!({
            "values": run.values,
            "cut": run.cut,
            "from_s": run.from_s,
            "mean": batches.map(|b| b.summary.mean),
            "ci95": batches.and_then(|b| b.summary.ci95),
            "batch_size": batches.map(|b| b.size),
            "lag1": batches.map(|b| b.lag1),
            "sound": run.is_sound(),
        })
    };
    json!({
        "schema": "retrylab.steady/1",
        "follow": args.follow.name(),
        "unit": unit,
        "seed": effort.seed,
        "replications": effort.replications,
        "runs": runs.iter().map(run).collect::<Vec<_>>(),
        "mean_of_runs": summary_json(unit, all),
    })
}
