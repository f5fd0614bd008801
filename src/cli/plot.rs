//! `retrylab plot`: load per window over time, as SVG and PNG.

use std::path::{Path, PathBuf};

use super::common::{EffortArgs, PolicyArgs, ScenarioArgs, note};
use super::{Answer, figure};
use crate::error::{Error, Result};
use crate::experiment::Seed;
use crate::output::plot::{CountAxis, Picture};

/// Draw the load over time of several policies (SVG and PNG).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab plot storm.toml                                  load.svg and load.png
  retrylab plot storm.toml --policies none,full -o storm    storm.svg and storm.png
  retrylab plot storm.toml --set workload.clients=5000")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    policies: PolicyArgs,
    /// Spacing of the counts; auto is log when a window holds more than 20 times the capacity.
    #[arg(long, value_name = "AXIS", default_value = "auto")]
    axis: Axis,
    #[command(flatten)]
    effort: EffortArgs,
    /// Name of the pictures, with or without .svg or .png.
    #[arg(short, long, value_name = "FILE", default_value = "load")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Axis {
    Auto,
    Linear,
    Log,
}

impl Axis {
    /// The axis that was asked for, if one was.
    fn asked_for(self) -> Option<CountAxis> {
        match self {
            Axis::Auto => None,
            Axis::Linear => Some(CountAxis::Linear),
            Axis::Log => Some(CountAxis::Log),
        }
    }
}

pub fn main(args: &Args) -> Result<Answer> {
    let cells = args.policies.cells(&args.scenario)?;
    let effort = args.effort.effort(cells[0].scenario.measure.replications, Seed::default());
    let title = cells[0].scenario.title.clone().unwrap_or_else(|| args.scenario.name());
    figure::check(&cells)?;
    let paths = paths(&args.output)?;
    let cells = args.effort.execute_with_curves(cells, effort)?;
    let seed = effort.seed.to_string();
    let load = figure::Load::of_cells(&title, &cells, &seed);
    let picture = figure::on_axis(args.axis.asked_for(), &load)?;
    write(&paths, &picture, args.effort.quiet)?;
    Ok(Answer::Yes)
}

/// A picture's path, and the temporary name beside it.
type Place = (PathBuf, PathBuf);

/// Where the SVG and the PNG go; found out to be writable before anything runs.
fn paths(output: &Path) -> Result<[Place; 2]> {
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
fn write(places: &[Place; 2], picture: &Picture, quiet: bool) -> Result<()> {
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
