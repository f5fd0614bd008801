//! `retrylab plot`: pictures of results, as SVG and PNG.

mod amplification;
mod completion;
mod grid;
mod heat_map;
mod hysteresis;
mod kind;
mod load;
mod pareto;
mod recovery;
mod sources;
mod trade_off;
mod waits;
mod waves;

pub use kind::Kind;
pub use load::{check, of_cells};
pub use sources::Sources;

use std::path::{Path, PathBuf};

use super::Answer;
use super::common::{EffortArgs, PolicyArgs, ScenarioArgs, note};
use crate::error::{Error, Result};
use crate::experiment::Seed;
use crate::output::plot::{CountAxis, Look, Picture, Theme};

/// Draw results (SVG and PNG).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab plot load storm.toml                  run under five policies; load.svg and load.png
  retrylab plot load storm.toml --policies none,full -o storm
  retrylab plot waves results/thousand-clients --theme dark --width 1600
  retrylab plot completion results/storm -o done.svg
  retrylab plot trade-off results/storm --metric wasted_tokens --metric peak_sliding
  retrylab plot waits openai-python-3.57

docs/how-to/plots.md shows every kind, and which command makes the folder that it is drawn from.")]
pub struct Args {
    /// What to draw.
    #[arg(value_name = "KIND")]
    kind: Kind,
    /// Results folders; for load also a scenario file, which is run first, for waits a preset, policy or scenario.
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// Name of the pictures, with or without .svg or .png; that of the kind by default.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Width in pixels; the PNG has twice as many.
    #[arg(long, value_name = "PX", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u32).range(480..=4000))]
    width: u32,
    /// Colours for white or for dark paper.
    #[arg(long, value_name = "THEME", default_value = "light")]
    theme: Theme,
    /// Of load: spacing of the counts; auto is log when a window holds more than 20 times the capacity.
    #[arg(long, value_name = "AXIS", default_value = "auto")]
    axis: Spacing,
    /// What trade-off (two: across, then upright), heat-map, amplification and pareto (two) draw; may be repeated.
    #[arg(long, value_name = "METRIC")]
    metric: Vec<String>,
    /// Of a scenario file: sets a key, such as workload.clients=500; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    policies: PolicyArgs,
    #[command(flatten)]
    effort: EffortArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Spacing {
    Auto,
    Linear,
    Log,
}

impl Spacing {
    /// The axis that was asked for, if one was.
    fn asked_for(self) -> Option<CountAxis> {
        match self {
            Spacing::Auto => None,
            Spacing::Linear => Some(CountAxis::Linear),
            Spacing::Log => Some(CountAxis::Log),
        }
    }
}

impl Args {
    fn look(&self) -> Look {
        Look { width_px: self.width, theme: self.theme }
    }
}

pub fn main(args: &Args) -> Result<Answer> {
    let name = PathBuf::from(args.kind.name());
    let paths = paths(args.output.as_ref().unwrap_or(&name))?;
    let picture = match (args.kind, &args.results[..]) {
        (Kind::Load, [scenario]) if !scenario.is_dir() => run_and_draw(args, scenario)?,
        (Kind::Waits, [what]) => {
            waits::draw(args.look(), what, args.policies.put.layer.as_deref())?
        }
        _ => drawn(args)?,
    };
    write(&paths, &picture, args.effort.quiet)?;
    Ok(Answer::Yes)
}

/// The picture of results folders.
fn drawn(args: &Args) -> Result<Picture> {
    if let Some(set) = args.set.first() {
        return Err(Error::Input(format!(
            "--set {set}: {} is drawn from results that are there; set it where they are made",
            args.kind.name()
        )));
    }
    if let Some(metric) = args.metric.first().filter(|_| !args.kind.takes_metrics()) {
        return Err(Error::Input(format!(
            "--metric {metric}: {} always draws the same; trade-off, heat-map, amplification and pareto take a metric",
            args.kind.name()
        )));
    }
    let sources = Sources::open(args.kind, &args.results)?;
    let look = args.look();
    match args.kind {
        Kind::Load => load::of_results(args.axis.asked_for(), look, &sources),
        Kind::Waves => waves::of_results(look, &sources),
        Kind::Completion => completion::of_results(look, &sources),
        Kind::TradeOff => trade_off::of_results(look, &args.metric, &sources),
        Kind::HeatMap => heat_map::of_results(look, &args.metric, &sources),
        Kind::Hysteresis => hysteresis::of_results(look, &sources),
        Kind::Recovery => recovery::of_results(look, &sources),
        Kind::Amplification => amplification::of_results(look, &args.metric, &sources),
        Kind::Pareto => pareto::of_results(look, &args.metric, &sources),
        Kind::Waits => Err(Error::Input("waits draws one preset, policy or scenario".to_owned())),
    }
}

/// The picture of policies that a kind draws of its sources, without options.
pub fn picture(look: Look, sources: &Sources) -> Result<Picture> {
    let kind = sources.kind();
    match kind {
        Kind::Load => load::of_results(None, look, sources),
        Kind::Waves => waves::of_results(look, sources),
        Kind::Completion => completion::of_results(look, sources),
        Kind::TradeOff => trade_off::of_results(look, &[], sources),
        Kind::Recovery => recovery::of_results(look, sources),
        other => Err(Error::Bug(format!("{} is not drawn of policies", other.name()))),
    }
}

/// The load of a scenario that is run for it.
fn run_and_draw(args: &Args, scenario: &Path) -> Result<Picture> {
    let scenario = ScenarioArgs::new(scenario.to_owned(), args.set.clone());
    let cells = args.policies.cells(&scenario)?;
    let effort = args.effort.effort(cells[0].scenario.measure.replications, Seed::default());
    let title = cells[0].scenario.title.clone().unwrap_or_else(|| scenario.name());
    load::check(&cells)?;
    let cells = args.effort.execute_with_curves(cells, effort)?;
    let load = load::Load::of_cells(&title, &cells, &effort.seed.to_string());
    load::on_axis(args.axis.asked_for(), args.look(), &load)
}

/// A picture's path, and the temporary name beside it.
pub type Place = (PathBuf, PathBuf);

/// Where the SVG and the PNG go; found out to be writable before anything runs.
pub fn paths(output: &Path) -> Result<[Place; 2]> {
    let known = output.extension().is_some_and(|e| e == "svg" || e == "png");
    let stem = if known { output.with_extension("") } else { output.to_owned() };
    if stem.file_name().is_none() || output.is_dir() {
        return Err(Error::Input(format!(
            "-o {}: name a file, such as load.svg",
            output.display()
        )));
    }
    let named = |ending: &str| {
        let mut name = stem.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let places = [".svg", ".png"].map(|ending| (named(ending), named(&format!("{ending}.part"))));
    for (path, part) in &places {
        std::fs::File::create(part)
            .and_then(|_| std::fs::remove_file(part))
            .map_err(Error::output(path))?;
    }
    Ok(places)
}

/// Writes both pictures, each under its temporary name first.
pub fn write(places: &[Place; 2], picture: &Picture, quiet: bool) -> Result<()> {
    for ((path, part), bytes) in places.iter().zip([picture.svg.as_bytes(), &picture.png[..]]) {
        let result = std::fs::write(part, bytes).and_then(|()| std::fs::rename(part, path));
        if result.is_err() {
            let _ = std::fs::remove_file(part);
        }
        result.map_err(Error::output(path))?;
        note(quiet, &format!("wrote {}", path.display()));
    }
    Ok(())
}
