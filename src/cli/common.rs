//! Options that several commands share.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::{Error, Result};
use crate::experiment::{
    Cell, CellRuns, Effort, NamedPolicy, Place, Progress, Seed, Target, execute,
    execute_with_curves, swap,
};
use crate::output::{Curve, print, sparklines};
use crate::scenario::{Document, MemoryLimit, parse_bytes};

/// How much to run, and with what.
#[derive(Clone, Debug, Args)]
pub struct EffortArgs {
    /// Replications of each policy (each has its own seed); the document says how many by default.
    #[arg(short = 'r', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub replications: Option<u32>,
    /// Master seed, decimal or 0x hex; the same seed gives the same bytes.
    #[arg(long, value_name = "SEED")]
    pub seed: Option<Seed>,
    /// Threads; one per core by default. The result does not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1_024))]
    pub threads: u16,
    /// Refuse runs that would need more memory than this.
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = parse_bytes)]
    pub max_memory: MemoryLimit,
    /// No progress and no notes on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

/// [`execute`] or the like.
type Execute = fn(Vec<Cell>, Effort, Progress<'_>) -> Result<Vec<CellRuns>>;

impl EffortArgs {
    /// The effort, with the document's defaults.
    pub fn effort(&self, replications: u32, seed: Seed) -> Effort {
        Effort {
            seed: self.seed.unwrap_or(seed),
            replications: self.replications.unwrap_or(replications),
            threads: self.threads.into(),
            memory: self.max_memory,
        }
    }

    /// Runs the cells with a progress bar, if anyone watches.
    pub fn execute(&self, cells: Vec<Cell>, effort: Effort) -> Result<Vec<CellRuns>> {
        self.execute_by(execute, cells, effort)
    }

    /// The same with curves, for result files and pictures.
    pub fn execute_with_curves(&self, cells: Vec<Cell>, effort: Effort) -> Result<Vec<CellRuns>> {
        self.execute_by(execute_with_curves, cells, effort)
    }

    fn execute_by(
        &self,
        execute: Execute,
        cells: Vec<Cell>,
        effort: Effort,
    ) -> Result<Vec<CellRuns>> {
        let total = cells.len() as u64 * u64::from(effort.replications);
        let bar = progress_bar(total, self.quiet);
        let runs = execute(cells, effort, &|| bar.inc(1));
        bar.finish_and_clear();
        runs
    }
}

/// A bar on standard error that appears when work takes longer than a moment; silent when
/// standard error is not a terminal.
pub fn progress_bar(total: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
    let template = "{bar:30} {pos}/{len} runs, {eta} left";
    bar.set_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// The scenario that a command works on.
#[derive(Clone, Debug, Args)]
pub struct ScenarioArgs {
    /// Scenario file (TOML); - reads standard input.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Sets a key, such as workload.clients=500 or client.layers.app.deadline=30s; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What was read: standard input can be read only once.
    #[arg(skip)]
    read: OnceLock<Document>,
}

impl ScenarioArgs {
    pub fn new(scenario: PathBuf, set: Vec<String>) -> ScenarioArgs {
        ScenarioArgs { scenario, set, read: OnceLock::new() }
    }

    /// The document with the settings applied.
    pub fn document(&self) -> Result<Document> {
        if let Some(document) = self.read.get() {
            return Ok(document.clone());
        }
        let document = Document::read(&self.scenario)?.with(&self.set)?;
        Ok(self.read.get_or_init(|| document).clone())
    }

    /// What to call the scenario in output.
    pub fn name(&self) -> String {
        let stem = Path::new(&self.scenario).file_stem().unwrap_or_default().to_string_lossy();
        if stem == "-" { "standard input".to_owned() } else { stem.into_owned() }
    }
}

/// The policies that are compared, and where they are put.
#[derive(Clone, Debug, Args)]
pub struct PolicyArgs {
    /// Policies, separated by commas.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "none,sdk,equal,full,decorrelated"
    )]
    pub policies: Vec<String>,
    #[command(flatten)]
    pub put: PutArgs,
}

/// Where policies are put.
#[derive(Clone, Debug, Args)]
pub struct PutArgs {
    /// The layer they are put in, in every group that has it; the outermost by default.
    #[arg(long, value_name = "NAME")]
    pub layer: Option<String>,
    /// The group they are put in; every group by default.
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

impl PutArgs {
    /// True when a layer or a group is named.
    pub fn is_given(&self) -> bool {
        self.layer.is_some() || self.group.is_some()
    }

    /// The place.
    pub fn place(&self) -> Place {
        Place { layer: self.layer.clone(), group: self.group.clone() }
    }
}

impl PolicyArgs {
    /// "policies in layer app (of sdk, app)", "policies in layers batch/app, live/sdk"
    pub fn place(&self, scenario: &ScenarioArgs) -> Result<String> {
        let scenario = scenario.document()?.scenario()?;
        let targets = self.put.place().targets(&scenario)?;
        if let [(None, target)] = targets[..] {
            let layers = &scenario.groups[0].client.layers;
            let all: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
            return Ok(match all.len() {
                1 => format!("policies in layer {}", target.name),
                _ => format!("policies in layer {} (of {})", target.name, all.join(", ")),
            });
        }
        let name = |(group, layer): &Target<'_>| format!("{}/{}", group.unwrap_or(""), layer.name);
        let names: Vec<String> = targets.iter().map(name).collect();
        let word = if names.len() == 1 { "layer" } else { "layers" };
        Ok(format!("policies in {word} {}", names.join(", ")))
    }

    /// The scenario under each policy.
    pub fn cells(&self, scenario: &ScenarioArgs) -> Result<Vec<Cell>> {
        let document = scenario.document()?;
        let mut cells: Vec<Cell> = Vec::new();
        for name in self.policies.iter().map(|name| name.trim()) {
            if cells.iter().any(|cell| cell.policy == name) {
                return Err(Error::Input(format!("--policies: \"{name}\" is there twice")));
            }
            let policy = NamedPolicy::parse(name)?;
            cells.push(Cell::new(name, &swap(&document, &policy, &self.put.place())?)?);
        }
        Ok(cells)
    }
}

/// What is printed.
#[derive(Clone, Copy, Debug, Args)]
pub struct PrintArgs {
    /// Print one JSON document.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub json: bool,
    /// Print summary.csv.
    #[arg(long, conflicts_with = "markdown")]
    pub csv: bool,
    /// Print the table as Markdown.
    #[arg(long)]
    pub markdown: bool,
}

/// Prints a text whose first line is a title. When standard output is a terminal, the load of the cells over
/// time stands below it, unless `plain`.
pub fn print_with_load(text: &str, cells: &[CellRuns], plain: bool) -> Result<()> {
    if plain || !std::io::stdout().is_terminal() {
        return print(text);
    }
    // A terminal that does not tell its width is as wide as they used to be.
    let width = terminal_size::terminal_size().map_or(80, |(width, _)| width.0.into());
    let curves: Vec<Curve> = cells.iter().map(Curve::of).collect();
    let load = sparklines(&curves, cells[0].cell.scenario.measure.curve_window(), width);
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    print(&format!("{title}\n{load}\n{rest}"))
}

/// A note on standard error, unless quiet; failing to print it changes nothing.
pub fn note(quiet: bool, sentence: &str) {
    use std::io::Write;
    if !quiet {
        let _ = writeln!(anstream::stderr(), "{sentence}");
    }
}
