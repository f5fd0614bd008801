//! `retrylab tune`: which settings are best, by how much, and how sure that is.

use std::path::PathBuf;

use super::Answer;
use super::common::{EffortArgs, ScenarioArgs, note, progress_bar};
use super::tuned::{self, Tuned, Under};
use crate::error::{Error, Result};
use crate::experiment::{Effort, Place, Seed};
use crate::output::{Folder, print};
use crate::scenario::Document;
use crate::sweep::{Axis, Design, Sweep};
use crate::tune::{Checked, Contest, Goal, WhatIf, check, choose, front, margins, race};
use crate::units::part;

/// Find the best settings: a race on common random numbers, checked on seeds it has not seen.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab tune storm.toml --vary policy=none,full --minimise wasted_tokens -r 20
  retrylab tune storm.toml --vary policy=none,full --minimise attempts --subject-to 'peak_bin < 50'
  retrylab tune storm.toml --vary workload.clients=10,20 --minimise attempts --what-if none --json

All settings run the same replications. After 10, 20, 40 … of them those that surely miss a
constraint, or are surely beaten in one objective and beaten or equalled in the others, leave; the
others go on, up to -r. What is left
and not beaten in everything is the front. The setting recommended is the best of it by the first
objective; those that cannot be told apart from it, or are --within a part of it, are told apart by
the next. Means, margins and what-ifs are from fresh seeds. Exit code 1: no setting
meets the constraints.")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// What to vary, as for sweep; `policy` stands for a whole policy. May be repeated.
    #[arg(long, value_name = "PATH=VALUES", required = true)]
    vary: Vec<Axis>,
    /// A metric to make small; may be repeated, the most important one first.
    #[arg(long, value_name = "METRIC")]
    minimise: Vec<String>,
    /// A metric to make large; comes after those to make small.
    #[arg(long, value_name = "METRIC")]
    maximise: Vec<String>,
    /// What must hold of the means of metrics, such as 'success_ratio >= 0.999'; may be repeated.
    #[arg(long, value_name = "CONDITION")]
    subject_to: Vec<String>,
    /// Settings within this part of the best count as good as it, such as 2%.
    #[arg(long, value_name = "PART", default_value = "0%", value_parser = within)]
    within: f64,
    /// A change that the front is tried under, KEY=VALUE;…, or none; by default a fleet twice as large
    /// and faults twice as long, as far as the scenario has them. May be repeated.
    #[arg(long, value_name = "SETTINGS")]
    what_if: Vec<String>,
    /// Draw so many settings (a Latin hypercube) in the place of all combinations.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    sample: Option<u32>,
    /// The layer that policies are put in; the outermost by default.
    #[arg(long, value_name = "NAME")]
    layer: Option<String>,
    /// The group that policies are put in; every group by default.
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Seed of the check; by default the one after that of the race.
    #[arg(long, value_name = "SEED")]
    check_seed: Option<Seed>,
    #[command(flatten)]
    effort: EffortArgs,
    /// Results folder to write as well: settings.csv, tune.json.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Most settings in a race.
const MOST: u64 = 10_000;

/// Replications of a setting, unless told: enough for an interval of differences.
const REPLICATIONS: u32 = 100;

/// "2%" or "0.02", from 0 to below 1.
fn within(text: &str) -> std::result::Result<f64, String> {
    let share = part(text).filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| format!("\"{text}\" is no part of a mean; write 2% or 0.02, below 1"))
}

pub fn main(args: &Args) -> Result<Answer> {
    let contest = contest(args)?;
    let check_seed = args.check_seed.unwrap_or(Seed(contest.sweep.effort.seed.0.wrapping_add(1)));
    if check_seed == contest.sweep.effort.seed {
        return Err(Error::Input(format!(
            "--check-seed: {check_seed} is the seed of the race; what it has found needs another one"
        )));
    }
    contest.survey()?;
    let what_ifs = what_ifs(args, &contest)?;
    let folder = args.output.as_deref().map(Folder::stage).transpose()?;
    let tuned = tuned(args, contest, check_seed, &what_ifs)?;
    let document = tuned::json(&tuned);
    let text = serde_json::to_string_pretty(&document).map_err(|e| Error::Bug(e.to_string()))?;
    let written = folder.map(|folder| tuned::write(folder, &tuned, &text)).transpose()?;
    if args.json {
        print(&text)?;
    } else {
        print(&tuned::text(&tuned))?;
    }
    if let Some(written) = written {
        note(args.effort.quiet, &written);
    }
    match tuned.recommended().is_some_and(|best| best.is_feasible(&tuned.contest.goal)) {
        true => Ok(Answer::Yes),
        false => Ok(Answer::No),
    }
}

fn contest(args: &Args) -> Result<Contest> {
    let goal = Goal::new(&args.minimise, &args.maximise, &args.subject_to)?;
    let document = args.scenario.document()?;
    let written = document.scenario()?.measure.replications;
    let effort = args.effort.effort(written, Seed::default());
    let replications = args.effort.replications.unwrap_or(written.max(REPLICATIONS));
    let design = Design::new(args.vary.clone(), args.sample, effort.seed)?;
    if design.cells() > MOST {
        return Err(Error::Input(format!(
            "{} settings are too many for a race; write fewer values, or --sample {MOST} and less",
            design.cells()
        )));
    }
    let place = Place { layer: args.layer.clone(), group: args.group.clone() };
    let effort = Effort { replications, ..effort };
    Ok(Contest { sweep: Sweep { document, design, place, effort, until: None }, goal })
}

/// The changes that the front is tried under.
fn what_ifs(args: &Args, contest: &Contest) -> Result<Vec<WhatIf>> {
    let document = &contest.sweep.document;
    let varied: Vec<&str> = contest.sweep.design.paths().map(String::as_str).collect();
    let what_ifs = match &args.what_if[..] {
        [] => WhatIf::of(&document.scenario()?)?,
        [none] if none == "none" => Vec::new(),
        texts => texts.iter().map(|text| WhatIf::parse(text, &varied)).collect::<Result<_>>()?,
    };
    // Better said now than after the race.
    what_ifs.iter().try_for_each(|what| what.apply(document).map(|_| ()))?;
    Ok(what_ifs)
}

fn tuned(args: &Args, contest: Contest, check_seed: Seed, what_ifs: &[WhatIf]) -> Result<Tuned> {
    let bar = progress_bar(
        contest.settings() * u64::from(contest.sweep.effort.replications),
        args.effort.quiet,
    );
    let done = || bar.inc(1);
    let race = race(&contest, &done)?;
    let front = front(&race, &contest.goal);
    let chosen = choose(&race, &contest.goal, &front, args.within);
    // The current setting stands beside the front, whether it is on it or not.
    let mut settings = front.clone();
    if !settings.contains(&0) {
        settings.insert(0, 0);
    }
    let as_it_is = |document: &Document| Ok(document.clone());
    let (checked, _) = check(&contest, &settings, check_seed, &as_it_is, &done)?;
    let find = |setting: u64| checked.iter().find(|checked| checked.setting == setting);
    let margins = match (chosen.filter(|chosen| *chosen != 0).and_then(find), find(0)) {
        (Some(chosen), Some(current)) => margins(chosen, current),
        _ => Vec::new(),
    };
    // First of equals, it stays the recommended one.
    settings.sort_by_key(|setting| (Some(*setting) != chosen, *setting));
    let under = |what: &WhatIf| {
        let change = |document: &Document| what.apply(document);
        let (checked, contenders) = check(&contest, &settings, check_seed, &change, &done)?;
        Ok(Under::new(what.name.clone(), checked, contenders, &contest.goal, args.within))
    };
    let under = what_ifs.iter().map(under).collect::<Result<Vec<Under>>>();
    bar.finish_and_clear();
    let name = args.scenario.name();
    Ok(Tuned { name, race, front, chosen, checked, margins, under: under?, check_seed, contest })
}

impl Tuned {
    /// The setting recommended, on fresh seeds.
    pub fn recommended(&self) -> Option<&Checked> {
        self.checked.iter().find(|checked| Some(checked.setting) == self.chosen)
    }
}
