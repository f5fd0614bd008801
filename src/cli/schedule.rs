//! `retrylab schedule`: when a preset's retries come, and which outages they outlast.

use serde_json::{Value, json};

use super::Answer;
use crate::client::{Backoff, POLICIES};
use crate::error::{Error, Result};
use crate::experiment::{Schedule, Spread, Survival};
use crate::output::{Style, Table, number, print};
use crate::presets::{self, Kind, Preset};
use crate::units::Span;

/// Show when the retries of a preset or policy come, and which outages they outlast.
///
/// The client's first attempt meets the start of an outage that refuses every attempt at once. Exact values
/// where a closed form is known, beside a simulation of 10,000 clients.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab schedule openai-python-3.57
  retrylab schedule anthropic-python-1.5.0 --attempts 9 --outage 60s
  retrylab schedule full --attempts 5 --status 503 --json")]
pub struct Args {
    /// A preset (see `retrylab presets`), or a policy: none, sdk, equal, full, …
    #[arg(value_name = "PRESET")]
    name: String,
    /// Attempts, the first one included, instead of the preset's; 1 to 65.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65))]
    attempts: Option<u32>,
    /// Also the probability to outlast an outage of this length, such as 60s; may be repeated.
    #[arg(long, value_name = "SPAN")]
    outage: Vec<Span>,
    /// The status that every attempt meets, 400 to 599.
    #[arg(long, value_name = "STATUS", default_value_t = 429, value_parser = clap::value_parser!(u16).range(400..=599))]
    status: u16,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn main(args: &Args) -> Result<Answer> {
    let preset = presets::find(Kind::Layer, &args.name);
    let keys = keys(&args.name, args.attempts)?;
    let schedule = Schedule::of(&keys, args.status)?;
    let outages = args.outage.iter().map(|outage| schedule.survival(&keys, *outage));
    let outages = outages.collect::<Result<Vec<Survival>>>()?;
    if args.json {
        let document = document(args, preset.as_ref(), &schedule, &outages);
        print(&serde_json::to_string_pretty(&document).map_err(|e| Error::Bug(e.to_string()))?)?;
    } else {
        print(&text(args, preset.as_ref(), &schedule, &outages))?;
    }
    Ok(Answer::Yes)
}

/// The keys of the layer of a preset or a policy.
pub fn keys(name: &str, attempts: Option<u32>) -> Result<String> {
    let attempts = attempts.map(|n| format!("max_attempts = {n}\n")).unwrap_or_default();
    if presets::find(Kind::Layer, name).is_some() {
        return Ok(format!("preset = \"{name}\"\n{attempts}"));
    }
    let backoff = Backoff::named(name, None).ok_or_else(|| unknown(name))?;
    let backoff = toml::Value::try_from(backoff)
        .map_err(|e| Error::Bug(format!("a backoff does not print: {e}")))?;
    let attempts = if attempts.is_empty() { "max_attempts = 5\n" } else { &attempts };
    Ok(format!("backoff = {backoff}\n{attempts}"))
}

fn unknown(name: &str) -> Error {
    let mut known = Kind::Layer.names();
    known.extend(POLICIES.iter().map(|(name, _)| *name).filter(|name| *name != "no-retry"));
    let suggestion = crate::scenario::suggest(name, &known);
    Error::Input(format!("no preset or policy is called \"{name}\"{suggestion}"))
}

fn text(args: &Args, preset: Option<&Preset>, schedule: &Schedule, outages: &[Survival]) -> String {
    let layer = &schedule.layer;
    let mut text = match preset {
        Some(preset) => format!("{}: {}\n", preset.name, preset.about.what),
        None => format!("{}\n", args.name),
    };
    text += &format!("{} attempts; {}\n", layer.max_attempts, layer.retry_on.in_words());
    text += &format!("Retry-After {}\n\n", layer.retry_after.in_words());
    if schedule.retries.is_empty() {
        return text + &format!("A {} is not retried.\n", schedule.status);
    }
    text += &rows(schedule).show(Style::Text);
    text += "\nAn outage from the first attempt on, refused at once and without Retry-After:\n";
    let last = schedule.retries.last().map_or(0.0, |retry| retry.at.min_s);
    text += &format!("  always outlasted up to {} s", number(last));
    if let Some(half) = schedule.outlasted(0.5) {
        text += &format!(", by half of the calls up to {} s", number(half.seconds()));
    }
    let longest = schedule.retries.last().map_or(0.0, |retry| retry.at.max_s);
    text += &format!(", never beyond {} s\n", number(longest));
    for survival in outages {
        let exact = survival.probability.map_or("no closed form".to_owned(), number);
        let simulated = survival.simulated.map_or("–".to_owned(), number);
        let outage = survival.outage;
        text += &format!("  {outage}: outlasted with probability {exact}, simulated {simulated}\n");
    }
    text
}

fn rows(schedule: &Schedule) -> Table {
    let header =
        ["retry", "wait", "mean", "at most", "comes at", "mean", "at most", "simulated mean"];
    let mut table = Table::new(header, "r");
    for (k, retry) in schedule.retries.iter().enumerate() {
        let spread = |s: Spread| {
            let mean = s.mean_s.map_or("–".to_owned(), number);
            [format!("{} s", number(s.min_s)), mean, number(s.max_s)]
        };
        let mut row = vec![(k + 1).to_string()];
        row.extend(spread(retry.wait));
        row.extend(spread(retry.at));
        row.push(retry.simulated_at_s.map_or("–".to_owned(), number));
        table.row(row);
    }
    table
}

fn document(
    args: &Args,
    preset: Option<&Preset>,
    schedule: &Schedule,
    outages: &[Survival],
) -> Value {
    let spread = |s: Spread| json!({ "min_s": s.min_s, "mean_s": s.mean_s, "max_s": s.max_s });
    let retries: Vec<Value> = schedule
        .retries
        .iter()
        .enumerate()
        .map(|(k, r)| {
            json!({ "retry": k + 1, "wait": spread(r.wait), "at": spread(r.at), "simulated_at_s": r.simulated_at_s })
        })
        .collect();
    let outages: Vec<Value> = outages
        .iter()
        .map(|s| json!({ "outage_s": s.outage.seconds(), "probability": s.probability, "simulated": s.simulated }))
        .collect();
    json!({
        "schema": "retrylab.schedule/1",
        "name": preset.map_or(args.name.as_str(), |preset| preset.name),
        "source": preset.map(|preset| &preset.about.source),
        "date": preset.map(|preset| &preset.about.date),
        "status": schedule.status,
        "max_attempts": schedule.layer.max_attempts,
        "retry_on": schedule.layer.retry_on.in_words(),
        "retry_after": schedule.layer.retry_after.in_words(),
        "retries": retries,
        "outlasted_by_half_s": schedule.outlasted(0.5).map(Span::seconds),
        "outages": outages,
    })
}
