//! `retrylab validate`: a real fleet at a stub, beside its simulation.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Answer;
use super::common::{ScenarioArgs, note};
use super::plot::{paths, write};
use crate::error::{Error, Result};
use crate::experiment::{Cell, Seed};
use crate::model::GroupPlan;
use crate::output::plot::{Look, validation};
use crate::output::{Style, Table, not_drawn, number, print};
use crate::trace::Names;
use crate::units::Span;
use crate::validate::{self, Agreement, Check, Verdict, WireLog};

/// Compare the log of a stub with the simulation of the same scenario.
///
/// Calls per request, answers and billed tokens have to lie where simulated runs have them (where all have the
/// same, exactly there); waits have to be of the simulated law, by a Kolmogorov–Smirnov test; the
/// share of retries in the busiest window has to be one that simulated runs have. Exits with 1 when they part.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab stub storm.toml -o wire.csv               in one terminal; run your clients, then Ctrl-C
  retrylab validate wire.csv storm.toml -o load      a table, load.svg and load.png
  retrylab validate wire.csv storm.toml --json | jq .agrees")]
pub struct Args {
    /// Log of `retrylab stub -o`.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// When requests come in the simulation: as measured, with their tokens, or as the scenario says. Measured by
    /// default, unless semaphores, paces or hosts make requests wait before they are seen.
    #[arg(long, value_name = "WHICH")]
    arrivals: Option<Arrivals>,
    /// How much later than simulated a retry may come: the time that client and network take.
    #[arg(long, value_name = "TIME", default_value = "50ms")]
    overhead: Span,
    /// Simulated runs.
    #[arg(short = 'r', long, value_name = "N", default_value_t = 400)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    replications: u32,
    /// Master seed, decimal or 0x hex.
    #[arg(long, value_name = "SEED")]
    seed: Option<Seed>,
    /// Name of the pictures, with or without .svg or .png; none is drawn without it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// No notes on standard error.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Arrivals {
    /// As in the log.
    Measured,
    /// As in the scenario.
    Scenario,
}

pub fn main(args: &Args) -> Result<Answer> {
    let document = args.scenario.document()?;
    let mut cell = Cell::new("as written", &document)?;
    let log = validate::read(&args.log, &Names::of(&cell))?;
    let places = args.output.as_deref().map(paths).transpose()?;
    let arrivals = args.arrivals.unwrap_or_else(|| suitable(&cell, &log));
    if arrivals == Arrivals::Measured {
        if !log.tells_tokens {
            return Err(Error::Input(format!(
                "{}: arrivals do not tell the tokens of their requests, as a stub's log does; write --arrivals scenario",
                args.log.display()
            )));
        }
        cell = cell.with_first_attempts(&log.first)?;
    }
    let seed = args.seed.unwrap_or_default();
    let found = validate::compare(&log, &cell, (seed, args.replications), args.overhead)?;
    match args.json {
        true => print(&json_text(args, &log, &found)?)?,
        false => print(&text(args, arrivals, &log, &found))?,
    }
    if let Some(places) = places {
        let title = cell.scenario.title.clone().unwrap_or_else(|| args.scenario.name());
        let note = format!(
            "{} attempts measured · {} replications from seed {seed}",
            log.seen.arrivals.len(),
            args.replications
        );
        let window = cell.scenario.measure.window;
        let figure = validate::figure(&title, note, &log, &found, window);
        let picture = validation::chart(&figure).draw(Look::default()).map_err(not_drawn)?;
        write(&places, &picture, args.quiet)?;
    }
    if !found.holds() {
        note(args.quiet, "measured and simulated part");
    }
    Ok(if found.holds() { Answer::Yes } else { Answer::No })
}

/// What nothing in the client holds back is seen when it comes; only stubs tell all about it.
fn suitable(cell: &Cell, log: &WireLog) -> Arrivals {
    let holds = |group: &GroupPlan| {
        let mut layers = group.layers.iter();
        group.host.is_some() || layers.any(|l| l.semaphore.is_some() || l.pace.is_some())
    };
    match !log.tells_tokens || cell.plan().groups.iter().any(holds) {
        true => Arrivals::Scenario,
        false => Arrivals::Measured,
    }
}

fn text(args: &Args, arrivals: Arrivals, log: &WireLog, found: &Agreement) -> String {
    let arrivals = match arrivals {
        Arrivals::Measured => "requests come as measured",
        Arrivals::Scenario => "requests come as in the scenario",
    };
    let heading = format!(
        "{} attempts in {}, and {} simulated runs in which {arrivals}\n\n",
        log.seen.arrivals.len(),
        args.log.display(),
        args.replications
    );
    let mut table = Table::new(["", "measured", "simulated", "", "what"], "lrrll");
    for check in &found.checks {
        table.row(vec![
            check.name.clone(),
            number(check.measured),
            range(check),
            word(check.verdict).to_owned(),
            check.note.clone(),
        ]);
    }
    heading + &table.show(Style::Text)
}

fn range(check: &Check) -> String {
    match check.low == check.high {
        true => number(check.low),
        false => format!("{} to {}", number(check.low), number(check.high)),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Parts => "PARTS",
    }
}

fn json_text(args: &Args, log: &WireLog, found: &Agreement) -> Result<String> {
    let check = |check: &Check| {
        json!({
            "name": check.name,
            "measured": check.measured,
            "low": check.low,
            "high": check.high,
            "agrees": check.verdict == Verdict::Agrees,
            "note": (!check.note.is_empty()).then_some(&check.note),
        })
    };
    let document = json!({
        "schema": "retrylab.validation/1",
        "agrees": found.holds(),
        "attempts": log.seen.arrivals.len(),
        "replications": args.replications,
        "seed": args.seed.unwrap_or_default(),
        "overhead_s": args.overhead.seconds(),
        "checks": found.checks.iter().map(check).collect::<Vec<Value>>(),
    });
    serde_json::to_string_pretty(&document).map_err(|e| Error::Bug(e.to_string()))
}
