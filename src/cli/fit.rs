//! `retrylab fit`: a scenario from a request log.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Answer;
use super::common::note;
use crate::error::{Error, Result};
use crate::fit::{Compared, Figures, Fit, Log, Size, Unit, in_words, runs};
use crate::output::{Style, Table, number, print};
use crate::workload::log::formats;

/// Write a scenario that reproduces a request log, and show how well it does.
///
/// Arrivals, tokens, service times and errors are fitted to the log's starts, latencies, statuses and tokens,
/// as far as it has them. Requests of the scenario are drawn as the simulator draws them and set beside the log.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab fit requests.csv -o like.toml        the scenario in a file, the fit on the terminal
  retrylab fit requests.csv > like.toml         the same, with the fit on standard error
  retrylab fit requests.csv --steps 1 --json    one rate for the whole log; figures for programs
  retrylab fit --formats                        the formats of logs that are read

docs/how-to/fit.md tells what is fitted and how it is chosen.")]
pub struct Args {
    /// The log: a table with a header line (CSV), or one JSON object per line.
    #[arg(value_name = "LOG", required_unless_present = "formats")]
    log: Option<PathBuf>,
    /// The scenario file to write; it must not exist. Standard output by default.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The log's format; by default the one that its columns tell.
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Read at most so many rows, from the top.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    rows: Option<u32>,
    /// The rate may change at most into so many pieces; 1: one rate for the whole log.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    steps: u32,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// No notes on standard error.
    #[arg(short, long)]
    quiet: bool,
    /// List the formats of logs that are read, with where their columns are from.
    #[arg(long, conflicts_with_all = ["log", "output", "format", "rows", "json"])]
    formats: bool,
}

pub fn main(args: &Args) -> Result<Answer> {
    let (false, Some(path)) = (args.formats, &args.log) else {
        print(&list())?;
        return Ok(Answer::Yes);
    };
    if let Some(output) = args.output.as_ref().filter(|output| output.exists()) {
        return Err(taken(output));
    }
    let log = Log::read(path, args.format.as_deref(), args.rows.map(|n| n as usize))?;
    let fit = Fit::of(log, args.steps as usize)?;
    let scenario = fit.scenario();
    let compared = fit.compare(&scenario)?;
    if let Some(output) = &args.output {
        write(output, &scenario)?;
    }
    match (args.json, &args.output) {
        (true, _) => {
            let document = document(&fit, &compared, &scenario);
            print(
                &serde_json::to_string_pretty(&document).map_err(|e| Error::Bug(e.to_string()))?,
            )?;
        }
        (false, Some(output)) => {
            print(&format!(
                "{}\nThe scenario is in {}.\n",
                text(&fit, &compared),
                output.display()
            ))?;
        }
        (false, None) => {
            print(&scenario)?;
            note(args.quiet, text(&fit, &compared).trim_end());
        }
    }
    Ok(Answer::Yes)
}

fn taken(path: &Path) -> Error {
    Error::Input(format!("{}: the file exists; choose another name", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut file = match std::fs::File::options().write(true).create_new(true).open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Err(taken(path)),
        other => other.map_err(Error::output(path))?,
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written.map_err(Error::output(path))
}

fn list() -> String {
    let mut table = Table::new(["format", "known by", "what"], "l");
    for format in formats() {
        table.row(vec![format.name.clone(), format.tells.join(", "), format.what.clone()]);
    }
    let sources = formats().iter().map(|f| format!("  {}: {} ({})\n", f.name, f.source, f.date));
    format!("{}\nSources:\n{}", table.show(Style::Text), sources.collect::<String>())
}

fn text(fit: &Fit, compared: &[Compared]) -> String {
    let seconds = crate::units::seconds(fit.arrivals.period);
    let mut text = format!(
        "{}: {} requests in {} s, format {}\n\n{}\n",
        fit.log.path.file_name().unwrap_or_default().to_string_lossy(),
        number(fit.log.rows.len() as f64),
        number(seconds),
        fit.log.format.name,
        laws(fit).show(Style::Text)
    );
    let mut table = Table::new(["figure", "log", "scenario", "difference", ""], "lrrrl");
    for row in compared {
        let unit = if row.unit.is_empty() { String::new() } else { format!(" ({})", row.unit) };
        table.row(vec![
            format!("{}{unit}", row.figure),
            number(row.log),
            number(row.scenario),
            format!("{:+.1} %", 100.0 * row.difference()),
            if row.is_close() { String::new() } else { "above 5 %".to_owned() },
        ]);
    }
    let runs = runs(fit.log.rows.len());
    let word = if runs == 1 { "run" } else { "runs" };
    text += &format!(
        "{}scenario: the mean of {runs} {word}\n\nNot in the scenario:\n",
        table.show(Style::Text)
    );
    text += &fit.not_fitted().iter().map(|line| format!("  - {line}\n")).collect::<String>();
    text
}

/// What was tried, and what was taken.
fn laws(fit: &Fit) -> Table {
    let header = ["part", "law", "distance", "BIC", "taken"];
    let mut table = Table::new(header, "llrrl");
    let yes = |taken: bool| if taken { "yes".to_owned() } else { String::new() };
    let best = fit.arrivals.candidates.first().map_or(0.0, |best| best.bic);
    for (i, candidate) in fit.arrivals.candidates.iter().enumerate().take(4) {
        let distance = if i == 0 { number(fit.arrivals.distance) } else { String::new() };
        let bic = format!("+{}", number((candidate.bic - best).round()));
        table.row(vec!["arrivals".to_owned(), in_words(candidate), distance, bic, yes(i == 0)]);
    }
    let line = fit.service.as_ref().and_then(|service| service.by_tokens);
    let taken_line = fit.service.as_ref().is_some_and(|service| service.taken_line().is_some());
    let service = fit.service.as_ref().map(|service| &service.law);
    let sizes = [
        ("input tokens", fit.input.as_ref(), true),
        ("output tokens", fit.output.as_ref(), true),
        ("service", service, !taken_line),
    ];
    for (part, size, take) in sizes {
        let Some(size) = size else { continue };
        for (i, tried) in size.tried.iter().enumerate() {
            let last = i + 1 == size.tried.len();
            let law = tried.law.name().to_owned();
            table.row(vec![
                part.to_owned(),
                law,
                number(tried.distance),
                String::new(),
                yes(last && take),
            ]);
        }
    }
    if let Some(line) = line {
        let law = format!("by tokens, R² {}", number(line.r_squared));
        table.row(vec![
            "service".to_owned(),
            law,
            number(line.distance),
            String::new(),
            yes(taken_line),
        ]);
    }
    table
}

fn document(fit: &Fit, compared: &[Compared], scenario: &str) -> Value {
    let candidates: Vec<Value> = (fit.arrivals.candidates.iter())
        .map(|c| {
            json!({
                "stream": in_words(c),
                "rates": c.pieces.len(),
                "gap_cv": c.gaps.map_or(1.0, crate::workload::Gaps::cv),
                "bic": c.bic,
            })
        })
        .collect();
    let errors: Vec<Value> = (fit.errors.by_status.iter())
        .map(|e| json!({ "status": e.status, "count": e.count, "share": e.share, "at_once": e.at_once }))
        .collect();
    let compared: Vec<Value> = compared
        .iter()
        .map(|c| {
            json!({
                "figure": c.figure, "unit": c.unit, "log": c.log, "scenario": c.scenario,
                "difference": Some(c.difference()).filter(|difference| difference.is_finite()),
            })
        })
        .collect();
    let line = fit.service.as_ref().and_then(|service| service.by_tokens);
    json!({
        "schema": "retrylab.fit/1",
        "log": fit.log.path,
        "format": fit.log.format.name,
        "requests": fit.log.rows.len(),
        "period_s": crate::units::seconds(fit.arrivals.period),
        "arrivals": {
            "gaps_s": figures(&fit.arrivals.gaps),
            "dispersion": fit.arrivals.dispersion,
            "distance": fit.arrivals.distance,
            "clock_s": fit.arrivals.coarse.map(crate::units::seconds),
            "candidates": candidates,
        },
        "input_tokens": fit.input.as_ref().map(|size| self::size(size, Unit::Tokens)),
        "output_tokens": fit.output.as_ref().map(|size| self::size(size, Unit::Tokens)),
        "token_correlation": fit.correlation,
        "latency_s": fit.service.as_ref().map(|service| self::size(&service.law, Unit::Seconds)),
        "service_by_tokens": line.map(|line| json!({
            "first_s": line.first_s,
            "per_input_token_s": line.per_input_s,
            "per_output_token_s": line.per_output_s,
            "r_squared": line.r_squared,
            "distance": line.distance,
            "taken": line.r_squared >= crate::fit::EXPLAINED,
        })),
        "errors": errors,
        "unanswered": fit.errors.unanswered,
        "runs": runs(fit.log.rows.len()),
        "compared": compared,
        "not_fitted": fit.not_fitted(),
        "scenario": scenario,
    })
}

fn figures(figures: &Figures) -> Value {
    let Figures { n, mean, cv, p50, p90, p99 } = figures;
    json!({ "n": n, "mean": mean, "cv": cv, "p50": p50, "p90": p90, "p99": p99 })
}

fn size(size: &Size, unit: Unit) -> Value {
    let tried: Vec<Value> = (size.tried.iter())
        .map(|tried| {
            json!({ "law": tried.law.name(), "written": tried.law.toml(unit), "distance": tried.distance, "fits": tried.fits })
        })
        .collect();
    json!({ "figures": figures(&size.figures), "tried": tried })
}
