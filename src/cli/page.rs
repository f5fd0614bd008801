//! `retrylab report`: results folders as one HTML page.

use std::path::{Path, PathBuf};

use super::Answer;
use super::common::note;
use super::compare::SHOWN;
use super::plot::{Kind, Sources, picture};
use crate::error::{Error, Result};
use crate::metrics::Directions;
use crate::output::plot::{Look, Theme};
use crate::output::report::{Chapter, Figure, Shown, document};
use crate::output::{Results, Runs};

/// Write results as one HTML page: recommendation, system, tables, charts, assumptions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab report results/storm                      report.html
  retrylab report results/storm -o storm.html
  retrylab report results/before results/after -o both.html

The page needs no network and no script to be read; docs/how-to/report.md says what stands in it.")]
pub struct Args {
    /// Results folders of run, compare or reproduce; each becomes a chapter.
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// Name of the page.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// No notes on standard error.
    #[arg(short, long)]
    quiet: bool,
}

/// Widths of the pictures: a screen or a sheet of paper, and a phone.
const WIDTHS: [u32; 2] = [900, 480];

/// The pictures; the first one is shown with the interactive chart.
const PICTURES: [(Kind, &str); 5] = [
    (Kind::Load, "Attempts that arrive at the provider, each policy by itself"),
    (Kind::TradeOff, "The peak against the waste"),
    (Kind::Completion, "When requests are answered"),
    (Kind::Waves, "Attempts by their number"),
    (Kind::Recovery, "Goodput, queue and attempts in flight"),
];

pub fn main(args: &Args) -> Result<Answer> {
    if args.output.is_dir() || args.output.file_name().is_none() {
        return Err(Error::Input(format!(
            "-o {}: name a file, such as report.html",
            args.output.display()
        )));
    }
    let folders: Vec<Results> =
        args.results.iter().map(|folder| Results::open(folder)).collect::<Result<_>>()?;
    let chapters: Vec<Chapter<'_>> = args
        .results
        .iter()
        .zip(&folders)
        .map(|(path, folder)| chapter(path, folder))
        .collect::<Result<_>>()?;
    let failed = |e| Error::output(&args.output)(e);
    let mut part = args.output.clone().into_os_string();
    part.push(".part");
    std::fs::write(&part, document(&chapters)).map_err(failed)?;
    std::fs::rename(&part, &args.output).map_err(Error::output(&args.output))?;
    note(args.quiet, &format!("wrote {}", args.output.display()));
    Ok(Answer::Yes)
}

/// Reads a folder and draws its pictures.
fn chapter<'a>(path: &Path, folder: &'a Results) -> Result<Chapter<'a>> {
    let (what, command) = ("a report", "retrylab compare SCENARIO -o DIR");
    let windows = folder.table("windows.csv", what, command)?;
    if folder.has("ramp.csv") {
        return Err(Error::Input(format!(
            "{}: the folder holds {}, and a report is made of what run, compare or reproduce write; draw it with `retrylab plot`",
            path.display(),
            folder.holds()
        )));
    }
    let runs = Runs::read(path)?;
    let summary = folder.table("summary.csv", what, command)?;
    let means = Results::means(&summary, &["policy".to_owned()])?;
    let directions = Directions::of(&runs.metrics);
    let valued = |name: &&&str| means.iter().any(|m| m.metric == **name && m.mean.is_some());
    let shown = SHOWN.iter().filter(valued).map(|name| Shown {
        name: (*name).to_owned(),
        better: directions.better(name),
        meaning: directions.meaning(name),
    });
    let (mut figures, mut not_drawn) = (Vec::new(), Vec::new());
    for (kind, caption) in PICTURES {
        let sources = Sources::open(kind, &[path.to_owned()])?;
        let draw = |width_px| picture(Look { width_px, theme: Theme::Light }, &sources);
        // Where nothing was answered or paid for there is nothing to draw.
        match (draw(WIDTHS[0]), draw(WIDTHS[1])) {
            (Ok(wide), Ok(narrow)) => {
                figures.push(Figure { caption, wide: wide.svg, narrow: narrow.svg })
            }
            (Err(error), _) | (_, Err(error)) if kind == Kind::Load => return Err(error),
            (Err(error), _) | (_, Err(error)) => not_drawn.push((caption, error.to_string())),
        }
    }
    Ok(Chapter {
        name: folder.name(),
        title: folder.title(),
        setting: &folder.setting,
        manifest: folder.manifest(),
        shown: shown.collect(),
        runs,
        means,
        curves: Results::curves(&windows)?,
        figures,
        not_drawn,
    })
}
