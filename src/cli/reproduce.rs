//! `retrylab reproduce`: re-runs published experiments and says what came out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::common::{EffortArgs, note};
use super::{Answer, plot, report};
use crate::error::{Error, Result};
use crate::experiment::{Basis, Claim, Effort, Experiment, Judged, Verdict, names, overall};
use crate::output::{Folder, Style, Table, interval, number, print};
use crate::scenario::suggest;

/// Re-run published experiments: published value, ours with its interval, verdict.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab reproduce thousand-clients
  retrylab reproduce thousand-clients --json -o /tmp/out
  retrylab reproduce --all --json
  retrylab reproduce --room incidents --brief
  retrylab reproduce ./experiments/published/my-experiment

Writes runs.csv, summary.csv, windows.csv, waves.csv, completions.csv, load.svg, load.png and
manifest.json into results/NAME, or into the folder that -o names.
Exit code 0 when every claim is reproduced, 1 when one is not.")]
pub struct Args {
    /// Names of experiments, or paths of their folders (with a /).
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "list", "room"])]
    names: Vec<String>,
    /// Every experiment with claims.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Every experiment of one room; with --list, only that room.
    #[arg(long, value_name = "ROOM", conflicts_with_all = ["names", "all"])]
    room: Option<String>,
    /// List the experiments.
    #[arg(long)]
    list: bool,
    /// One row per experiment: how many of its claims are reproduced.
    #[arg(long, conflicts_with = "json")]
    brief: bool,
    #[command(flatten)]
    effort: EffortArgs,
    /// Print one JSON document.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
    /// Results folder; results/NAME by default. With several experiments, the folder above them.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// An experiment that has been run and judged.
struct Outcome {
    experiment: Experiment,
    effort: Effort,
    judged: Vec<Judged>,
}

pub fn main(args: &Args) -> Result<Answer> {
    let listed = listed(args)?;
    if args.list {
        return list(&listed);
    }
    let wanted = if several(args) {
        listed.iter().map(|(name, _)| (*name).to_owned()).collect()
    } else {
        args.names.clone()
    };
    // Everything is read and checked before anything runs.
    let experiments: Vec<Experiment> =
        wanted.iter().map(|name| Experiment::find(name)).collect::<Result<_>>()?;
    let outcomes: Vec<Outcome> = experiments
        .into_iter()
        .map(|experiment| reproduce(args, experiment))
        .collect::<Result<_>>()?;
    show(args, &outcomes)?;
    let all_hold = outcomes.iter().all(|o| overall(&o.judged) == Verdict::Reproduced);
    Ok(if all_hold { Answer::Yes } else { Answer::No })
}

/// Embedded experiments with their rooms: those of the room that is asked for, or all.
fn listed(args: &Args) -> Result<Vec<(&'static str, &'static str)>> {
    let all = names();
    let Some(wanted) = &args.room else { return Ok(all) };
    let mut rooms: Vec<&str> = all.iter().map(|(_, room)| *room).collect();
    rooms.dedup();
    if !rooms.contains(&wanted.as_str()) {
        let near = suggest(wanted, &rooms);
        return Err(Error::Input(format!("--room: no room is called \"{wanted}\"{near}")));
    }
    Ok(all.into_iter().filter(|(_, room)| room == wanted).collect())
}

/// True when experiments are not named one by one.
fn several(args: &Args) -> bool {
    args.all || args.room.is_some()
}

fn list(listed: &[(&str, &str)]) -> Result<Answer> {
    let mut table = Table::new(["experiment", "room", "question"], "l");
    for (name, room) in listed {
        let experiment = Experiment::find(name)?;
        table.row(vec![(*name).to_owned(), (*room).to_owned(), experiment.question]);
    }
    print(&table.show(Style::Text))?;
    Ok(Answer::Yes)
}

fn reproduce(args: &Args, experiment: Experiment) -> Result<Outcome> {
    let effort = args.effort.effort(experiment.replications, experiment.seed);
    let cells = experiment.cells()?;
    plot::check(&cells)?;
    let folder = Folder::stage(&place(args, &experiment.name))?;
    let runs = args.effort.execute_with_curves(cells, effort)?;
    let judged = experiment.judge(&runs);
    let written =
        report::write_folder(folder, &experiment.name, &experiment.title, &runs, &effort)?;
    note(args.effort.quiet, &written);
    Ok(Outcome { experiment, effort, judged })
}

fn place(args: &Args, name: &str) -> PathBuf {
    match &args.output {
        Some(folder) if several(args) || args.names.len() > 1 => folder.join(name),
        Some(folder) => folder.clone(),
        None => Path::new("results").join(name),
    }
}

fn show(args: &Args, outcomes: &[Outcome]) -> Result<()> {
    if args.json {
        let documents: Vec<Value> = outcomes.iter().map(document).collect();
        let whole = match (several(args) || documents.len() != 1, documents.first()) {
            (false, Some(one)) => one.clone(),
            _ => json!({ "schema": "retrylab.reproduce-all/1", "experiments": documents }),
        };
        let text = serde_json::to_string_pretty(&whole).map_err(|e| Error::Bug(e.to_string()))?;
        return print(&text);
    }
    let style = if args.markdown { Style::Markdown } else { Style::Text };
    if args.brief {
        return print(&brief(outcomes, style));
    }
    let texts: Vec<String> = outcomes.iter().map(|outcome| text(outcome, style)).collect();
    print(&texts.join("\n"))
}

fn document(outcome: &Outcome) -> Value {
    let claim = |judged: &Judged| {
        let found = report::summary_json(judged.unit, judged.found.as_ref());
        let mut claim = json!({
            "id": judged.claim.id,
            "policy": judged.claim.policy,
            "metric": judged.claim.metric,
            "over": judged.claim.divisor().map(|(policy, metric)| json!({ "policy": policy, "metric": metric })),
            "published": judged.claim.published,
            "reference": judged.claim.reference,
            "at_least": judged.claim.at_least,
            "at_most": judged.claim.at_most,
            "basis": judged.claim.basis,
            "source": judged.claim.source,
        });
        if let (Value::Object(claim), Value::Object(found)) = (&mut claim, found) {
            claim.extend(found);
            claim.insert("verdict".to_owned(), json!(judged.verdict));
        }
        claim
    };
    json!({
        "schema": "retrylab.reproduce/1",
        "experiment": outcome.experiment.name,
        "seed": outcome.effort.seed,
        "replications": outcome.effort.replications,
        "claims": outcome.judged.iter().map(claim).collect::<Vec<_>>(),
        "verdict": overall(&outcome.judged),
    })
}

/// The reference of a claim, or its bounds.
fn should_be(claim: &Claim) -> String {
    let parts = [("", claim.reference), ("≥ ", claim.at_least), ("≤ ", claim.at_most)];
    let part = |(sign, value): (&str, Option<f64>)| Some(format!("{sign}{}", number(value?)));
    let parts: Vec<String> = parts.into_iter().filter_map(part).collect();
    if parts.is_empty() { "–".to_owned() } else { parts.join(", ") }
}

/// A row per experiment.
fn brief(outcomes: &[Outcome], style: Style) -> String {
    let rooms = names();
    let mut table = Table::new(["experiment", "reproduced", "question"], "lrl");
    for outcome in outcomes {
        let name = &outcome.experiment.name;
        let room = rooms.iter().find(|(known, _)| known == name).map(|(_, room)| *room);
        let holds = outcome.judged.iter().filter(|j| j.verdict == Verdict::Reproduced).count();
        table.row(vec![
            match (style, room) {
                (Style::Markdown, Some(room)) => format!("[{name}](experiments/{room}/{name})"),
                _ => name.clone(),
            },
            format!("{holds} of {}", outcome.judged.len()),
            outcome.experiment.question.clone(),
        ]);
    }
    table.show(style)
}

fn text(outcome: &Outcome, style: Style) -> String {
    let mut table = Table::new(
        [
            "claim",
            "basis",
            "verdict",
            "published",
            "reference",
            "ours: mean",
            "95 % interval",
            "min … max",
            "unit",
        ],
        "lllrrrrrl",
    );
    for judged in &outcome.judged {
        let optional = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number);
        let found = judged.found.as_ref();
        let basis = match judged.claim.basis {
            Basis::Published => "published",
            Basis::ClosedForm => "closed form",
            Basis::MonteCarlo => "Monte Carlo",
        };
        table.row(vec![
            judged.claim.id.clone(),
            basis.to_owned(),
            judged.verdict.words().to_owned(),
            optional(judged.claim.published),
            should_be(&judged.claim),
            optional(found.map(|f| f.mean)),
            interval(found.and_then(|f| f.ci95)),
            interval(found.map(|f| (f.min, f.max))),
            judged.unit.to_owned(),
        ]);
    }
    let Effort { replications, seed, .. } = outcome.effort;
    let heading = format!("{} – {}", outcome.experiment.name, outcome.experiment.title);
    let verdict = overall(&outcome.judged).words();
    let foot = format!("{replications} replications from seed {seed}: {verdict}\n");
    match style {
        Style::Text => format!("{heading}\n{}{foot}", table.show(style)),
        Style::Markdown => format!("**{heading}**\n\n{}\n{foot}", table.show(style)),
    }
}
