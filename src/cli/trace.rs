//! `retrylab trace`: one run, event by event.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Answer;
use super::common::{PutArgs, ScenarioArgs, note};
use crate::error::{Error, Result};
use crate::experiment::{Cell, NamedPolicy, Seed, swap};
use crate::output::print;
use crate::trace::{self, Chrome, Csv, Event, JsonLines, Keep, Names, Sink, Tracer};

/// Write the event log of one run: CSV, JSON Lines or a Chrome trace; or tell the story of a request.
///
/// A Chrome trace (.json) opens in https://ui.perfetto.dev: a track per client with its attempts, waits and
/// permits, and the load, the queue and the attempts in flight as counters.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab trace storm.toml --clients 3                one row per event, as CSV
  retrylab trace storm.toml -o storm.json              for Perfetto; .csv and .jsonl are logs
  retrylab trace storm.toml --policy none --clients 20 -o none.json
  retrylab trace storm.toml --explain 17               what became of request 17, in sentences
  retrylab trace storm.toml --check                    the same run twice: are all events the same?")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// A policy to put in, as `compare` does; the scenario as written by default.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    #[command(flatten)]
    put: PutArgs,
    /// Which replication, from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    replication: u32,
    /// Master seed, decimal or 0x hex.
    #[arg(long, value_name = "SEED")]
    seed: Option<Seed>,
    /// Keep the events of clients 1 to N, of each group; the counters are of all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    clients: Option<u32>,
    /// The format; by the ending of the file, and CSV on standard output.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// File to write, .csv, .jsonl or .json; standard output by default.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Tell the story of one request: 17, or GROUP/17.
    #[arg(long, value_name = "REQUEST", conflicts_with_all = ["clients", "format", "output", "check"])]
    explain: Option<String>,
    /// Make the run twice, in two ways, and name the first event that differs.
    #[arg(long, conflicts_with_all = ["format", "output"])]
    check: bool,
    /// Print the story, or what the check found, as one JSON document.
    #[arg(long, conflicts_with_all = ["format", "output"])]
    json: bool,
    /// No notes on standard error.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A row per event.
    Csv,
    /// A JSON object per event.
    Jsonl,
    /// Spans and counters for Perfetto.
    Chrome,
}

pub fn main(args: &Args) -> Result<Answer> {
    if args.json && args.explain.is_none() && !args.check {
        let text = "--json goes with --explain or --check; write --format jsonl for a log";
        return Err(Error::Input(text.to_owned()));
    }
    if args.policy.is_none() && args.put.is_given() {
        let text =
            "--layer and --group say where --policy is put, which is missing; write --policy full";
        return Err(Error::Input(text.to_owned()));
    }
    let document = args.scenario.document()?;
    let cell = match &args.policy {
        None => Cell::new("as written", &document)?,
        Some(name) => {
            Cell::new(name, &swap(&document, &NamedPolicy::parse(name)?, &args.put.place())?)?
        }
    };
    let names = Names::of(&cell);
    match &args.explain {
        Some(request) => explain(args, &cell, &names, request),
        None if args.check => check(args, &cell, &names),
        None => log(args, &cell, &names),
    }
}

impl Args {
    fn seed(&self) -> Seed {
        self.seed.unwrap_or_default()
    }

    fn keep(&self) -> Keep {
        self.clients.map_or(Keep::All, Keep::Clients)
    }

    fn format(&self) -> Result<Format> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(path) = &self.output else { return Ok(Format::Csv) };
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Format::Csv),
            Some("jsonl") => Ok(Format::Jsonl),
            Some("json") => Ok(Format::Chrome),
            _ => Err(Error::Input(format!(
                "-o {}: no format has this ending; write .csv, .jsonl or .json (a Chrome trace), or --format",
                path.display()
            ))),
        }
    }
}

/// Runs once and passes the events to a sink; how many they were.
fn pass<S: Sink>(args: &Args, cell: &Cell, sink: S, path: &Path) -> Result<u64> {
    let mut tracer = Tracer::new(cell, args.keep(), sink);
    let report = cell.watch(args.seed(), args.replication, &mut tracer)?;
    let events = tracer.events();
    tracer.finish(report.end).map_err(Error::output(path))?;
    Ok(events)
}

fn log(args: &Args, cell: &Cell, names: &Names) -> Result<Answer> {
    let format = args.format()?;
    let Some(path) = &args.output else {
        let path = Path::new("standard output");
        write(args, cell, names, format, std::io::stdout().lock(), path)?;
        return Ok(Answer::Yes);
    };
    // Under another name until it is whole.
    let mut part = path.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let file = File::create(&part).map_err(Error::output(path))?;
    let written = write(args, cell, names, format, file, path).and_then(|events| {
        std::fs::rename(&part, path).map_err(Error::output(path))?;
        Ok(events)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    note(args.quiet, &format!("wrote {}: {} events", path.display(), written?));
    Ok(Answer::Yes)
}

fn write(
    args: &Args,
    cell: &Cell,
    names: &Names,
    format: Format,
    out: impl Write,
    path: &Path,
) -> Result<u64> {
    let out = BufWriter::with_capacity(1 << 16, out);
    let failed = || Error::output(path);
    match format {
        Format::Csv => pass(args, cell, Csv::new(names, out).map_err(failed())?, path),
        Format::Jsonl => pass(args, cell, JsonLines::new(names, out), path),
        Format::Chrome => {
            let window = cell.scenario.measure.window;
            pass(args, cell, Chrome::new(names, window, out).map_err(failed())?, path)
        }
    }
}

/// Keeps the events of a story.
#[derive(Default)]
struct Events(Vec<Event>);

impl Sink for Events {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.0.push(*event);
        Ok(())
    }
}

fn explain(args: &Args, cell: &Cell, names: &Names, request: &str) -> Result<Answer> {
    let (group, number) = request_number(names, request)?;
    let mut tracer = Tracer::new(cell, Keep::Request { group, number }, Events::default());
    let report = cell.watch(args.seed(), args.replication, &mut tracer)?;
    let (last, count) = tracer.numbers()[group];
    let events = tracer.finish(report.end).map_err(Error::output(Path::new("memory")))?.0;
    if events.is_empty() {
        let there = match (count, names.group(group)) {
            (0, _) => "it makes none".to_owned(),
            (1, _) => format!("it makes one, request {}", names.numbered(group, last)),
            (n, None) => format!("it makes {n}, with numbers from 1 to {last}"),
            (n, Some(name)) => format!("group {name} makes {n}, with numbers from 1 to {last}"),
        };
        let text = format!("--explain {request}: this run makes no such request; {there}");
        return Err(Error::Input(text));
    }
    let story = trace::tell(cell, names, &events, report.end);
    if args.json {
        let sentences = story.sentences.iter();
        let document = json!({
            "schema": "retrylab.story/1",
            "request": number,
            "group": names.group(group),
            "client": events[0].client,
            "seed": args.seed(),
            "replication": args.replication,
            "sentences": sentences.map(|s| json!({ "time_ns": s.time, "text": s.text })).collect::<Vec<_>>(),
            "sum": story.sum,
            "events": events.iter().map(|event| trace::object(event, names)).collect::<Vec<_>>(),
        });
        print(&pretty(&document)?)?;
    } else {
        print(&story.text())?;
    }
    Ok(Answer::Yes)
}

fn pretty(document: &serde_json::Value) -> Result<String> {
    serde_json::to_string_pretty(document).map_err(|e| Error::Bug(e.to_string()))
}

/// The group and the number in "17" or "batch/17".
fn request_number(names: &Names, text: &str) -> Result<(usize, u32)> {
    let wrong = |what: &str| Error::Input(format!("--explain {text}: {what}"));
    let groups = names.groups();
    let (group, number) = match (text.rsplit_once('/'), &groups[..]) {
        (Some((group, number)), _) => (Some(group), number),
        // There is no other.
        (None, [only]) => (Some(*only), text),
        (None, _) => (None, text),
    };
    let number = number.parse::<u32>().ok().filter(|number| *number > 0);
    let number = number.ok_or_else(|| match groups.first() {
        None => wrong("write the number of a request, from 1"),
        Some(name) => wrong(&format!("write a group and a number from 1, such as {name}/1")),
    })?;
    let found = names.find_group(group).ok_or_else(|| match (group, groups.first()) {
        (None, Some(name)) => {
            wrong(&format!("say of which group, such as {name}/{number}: {}", groups.join(", ")))
        }
        (Some(_), None) => wrong(&format!("this scenario has no groups; write {number}")),
        _ => wrong(&format!("the groups are {}", groups.join(", "))),
    })?;
    Ok((found, number))
}

fn check(args: &Args, cell: &Cell, names: &Names) -> Result<Answer> {
    let found = trace::twice(cell, args.seed(), args.replication, args.keep())?;
    let show = |event: &Option<Event>| {
        event.map_or("the end of the run".to_owned(), |event| event.show(names))
    };
    if args.json {
        let object = |event: &Option<Event>| event.map(|event| trace::object(&event, names));
        let difference = found.difference.as_ref().map(|(one, other)| {
            json!({ "event": found.same + 1, "one": object(one), "other": object(other) })
        });
        let document = json!({
            "schema": "retrylab.trace_check/1",
            "same": found.same,
            "difference": difference,
        });
        print(&pretty(&document)?)?;
    } else if let Some((one, other)) = &found.difference {
        print(&format!(
            "event {} differs, after {} that are the same\n  one run:   {}\n  the other: {}\n",
            found.same + 1,
            found.same,
            show(one),
            show(other)
        ))?;
    } else {
        print(&format!("{} events, all the same in both runs", found.same))?;
    }
    Ok(if found.difference.is_none() { Answer::Yes } else { Answer::No })
}
