//! `retrylab metastable`: does a scenario come back from its trigger, and from which loads?

use std::path::PathBuf;

use serde_json::{Value, json};

use super::common::{EffortArgs, ScenarioArgs, note};
use super::{Answer, report};
use crate::error::{Error, Result};
use crate::experiment::{Cell, Effort, Loads, Seed, Stability, loads};
use crate::metrics::INDICATOR;
use crate::output::{Style, Table, interval, number, print, windows_csv, with_halfwidth};
use crate::stats::summary::Summary;
use crate::units::Span;

/// Tell whether a scenario comes back from its trigger, how soon, and from which loads.
///
/// Every run is made with the trigger and without it. Then the largest load is searched from which half of the
/// runs come back, and the load goes slowly up and down without the trigger.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab metastable queue.toml
  retrylab metastable queue.toml --replications 100 --json
  retrylab metastable queue.toml --ramp 6h
  retrylab metastable queue.toml -o results/queue

The scenario names its trigger in [trigger], and the windows that count in measure.health. Hidden and advertised
capacity and the ramp need a workload of one rate (poisson, spike) and a provider with a concurrency.")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// Length of each way of the slow ramp; the horizon by default. A faster one collapses later and recovers later.
    #[arg(long, value_name = "SPAN")]
    ramp: Option<Span>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Results folder to write as well: that of `run`, and the slow ramp in ramp.csv.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub fn main(args: &Args) -> Result<Answer> {
    let document = args.scenario.document()?;
    let cell = Cell::new("as written", &document)?;
    if cell.scenario.trigger.is_none() {
        return Err(Error::Input(format!(
            "{}: the scenario names no trigger; write [trigger] with to = \"30s\" and without = [\"provider.faults=[]\"]",
            args.scenario.name()
        )));
    }
    let effort = args.effort.effort(cell.scenario.measure.replications, Seed::default());
    let folder = report::stage(args.output.as_deref(), std::slice::from_ref(&cell))?;
    let curves = folder.is_some();
    let execute = |cells, effort| report::execute(&args.effort, cells, effort, curves);
    let assumptions = cell.assumptions();
    let runs = execute(vec![cell], effort)?;
    let stability = Stability::of(&runs[0]);
    let loads = loads(&document, args.ramp, effort, &execute)?;
    let title = runs[0].cell.scenario.title.clone().unwrap_or_else(|| args.scenario.name());
    if let Some(folder) = folder {
        let ramp = loads.as_ref().map(|loads| std::slice::from_ref(&loads.ramp_runs));
        let ramp = ramp.map(windows_csv).transpose()?;
        let more: Vec<(&str, &[u8])> = ramp.iter().map(|ramp| ("ramp.csv", &ramp[..])).collect();
        let written = report::write_folder_with(
            folder,
            &args.scenario.name(),
            &title,
            &runs,
            &effort,
            &more,
        )?;
        note(args.effort.quiet, &written);
    }
    if args.json {
        print(&format!("{:#}", to_json(args, effort, &stability, loads.as_ref(), &assumptions)))?;
    } else {
        print(&text(&title, effort, &stability, loads.as_ref(), &assumptions))?;
    }
    Ok(Answer::Yes)
}

/// The shares, with what they are called.
fn shares(stability: &Stability) -> [(&'static str, &'static str, Option<&Summary>); 4] {
    [
        ("stuck", "collapsed at the end", stability.stuck.as_ref()),
        ("recovered", "recovered", stability.recovered.as_ref()),
        ("metastable", "metastable", stability.metastable.as_ref()),
        (
            "stuck_without_trigger",
            "collapsed without the trigger",
            stability.stuck_without.as_ref(),
        ),
    ]
}

fn to_json(
    args: &Args,
    effort: Effort,
    stability: &Stability,
    loads: Option<&Loads>,
    assumptions: &[String],
) -> Value {
    let of_loads = |loads: &Loads| {
        json!({
            "advertised_per_s": loads.advertised,
            "hidden_per_s": loads.hidden,
            "hidden_is_at_least": loads.at_least,
            "hidden_known_to_per_s": loads.step,
            "ramp_s": loads.ramp.seconds(),
            "collapse": report::summary_json("1/s", loads.collapse.as_ref()),
            "recovery": report::summary_json("1/s", loads.recovery.as_ref()),
            "hysteresis": report::summary_json(INDICATOR, loads.hysteresis.as_ref()),
        })
    };
    let mut document = json!({
        "schema": "retrylab.metastable/1",
        "scenario": args.scenario.name(),
        "seed": effort.seed,
        "replications": effort.replications,
        "recovery_s": report::summary_json("s", stability.recovery_s.as_ref()),
        "censored": stability.censored,
        "loads": loads.map(of_loads),
        "assumptions": assumptions,
    });
    for (key, _, share) in shares(stability) {
        document[key] = report::summary_json(INDICATOR, share);
    }
    document
}

/// Hidden capacity, as far as it is known.
fn hidden(loads: &Loads) -> String {
    let most = "the largest load from which half of the runs come back";
    match (loads.hidden, loads.at_least) {
        (None, _) => "hidden not known: there is no demand at the end of the runs".to_owned(),
        (Some(hidden), true) => {
            format!(
                "hidden at least {}/s: half of the runs come back from every load tried",
                number(hidden)
            )
        }
        (Some(hidden), false) => {
            format!("hidden {}/s, {most} (to {}/s)", number(hidden), number(loads.step))
        }
    }
}

fn text(
    title: &str,
    effort: Effort,
    stability: &Stability,
    loads: Option<&Loads>,
    assumptions: &[String],
) -> String {
    let mut table = Table::new(["of the runs", "share", "95 % interval (Wilson)"], "lrr");
    for (_, name, share) in shares(stability) {
        let Some(share) = share else { continue };
        let bounds = interval(share.ci95);
        table.row(vec![name.to_owned(), number(share.mean), bounds]);
    }
    let mean = |summary: &Summary| with_halfwidth(summary.mean, summary.ci95);
    let recovery = stability.recovery_s.as_ref().map_or_else(
        || format!("recovery: none of {} runs had recovered at the horizon\n", stability.runs),
        |time| {
            format!(
                "recovery: {} s after the trigger over {} runs; {} had not recovered at the horizon and have no time\n",
                mean(time),
                time.n,
                stability.censored
            )
        },
    );
    let loads = loads.map_or_else(
        || {
            "loads: not known, the demand is not one rate or nothing bounds the provider\n"
                .to_owned()
        },
        |loads| {
            let at = |load: &Option<Summary>| load.as_ref().map_or("–".to_owned(), mean);
            format!(
                "capacity: advertised {}/s; {}\n\
                 slow ramp, {} each way: collapses at {}/s, recovers at {}/s\n",
                number(loads.advertised),
                hidden(loads),
                loads.ramp,
                at(&loads.collapse),
                at(&loads.recovery)
            )
        },
    );
    let lines: String = assumptions.iter().map(|line| format!("  - {line}\n")).collect();
    format!(
        "{title}\n{}{recovery}{loads}{} replications from seed {}\nassumptions:\n{lines}",
        table.show(Style::Text),
        effort.replications,
        effort.seed
    )
}
