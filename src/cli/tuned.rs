//! What `tune` has found, as text, JSON and files.

use serde_json::{Map, Value, json};

use super::report::summary_json;
use crate::error::{Error, Result};
use crate::experiment::Seed;
use crate::output::{Folder, Style, Table, interval, manifest, number, with_halfwidth};
use crate::stats::summary::{Summary, summarise};
use crate::tune::{Checked, Contender, Contest, Goal, Margin, Out, Race, choose, front};

/// The result of a race, checked.
pub struct Tuned {
    /// Name of the scenario.
    pub name: String,
    /// What was raced.
    pub contest: Contest,
    /// The race.
    pub race: Race,
    /// Settings on the front.
    pub front: Vec<u64>,
    /// The setting recommended; None when none meets the constraints.
    pub chosen: Option<u64>,
    /// The front, and the scenario as written, on fresh seeds.
    pub checked: Vec<Checked>,
    /// Seed of those.
    pub check_seed: Seed,
    /// The recommended setting against the current one; empty when that is recommended.
    pub margins: Vec<Option<Margin>>,
    /// The same settings under changes.
    pub under: Vec<Under>,
}

/// Settings under a change of the scenario.
pub struct Under {
    /// What has changed.
    pub name: String,
    /// The settings.
    pub checked: Vec<Checked>,
    /// The one that would be recommended there.
    pub chosen: Option<u64>,
}

impl Under {
    /// What is found of settings under a change.
    pub fn new(
        name: String,
        checked: Vec<Checked>,
        contenders: Vec<Contender>,
        goal: &Goal,
        within: f64,
    ) -> Under {
        let race = Race { contenders, runs: 0 };
        let chosen = choose(&race, goal, &front(&race, goal), within);
        Under { name, checked, chosen }
    }
}

impl Tuned {
    fn columns(&self) -> Vec<String> {
        self.contest.sweep.design.columns().into_iter().map(|varied| varied.column).collect()
    }

    /// The values of a setting, as they stand in columns.
    fn values(&self, setting: u64) -> Option<Vec<String>> {
        let texts = self.contest.values(setting)?;
        let varied = self.contest.sweep.design.columns();
        Some(varied.iter().zip(&texts).map(|(varied, text)| varied.show(text)).collect())
    }

    /// "workload.clients=5, policy=full": what --set takes.
    fn label(&self, setting: u64) -> String {
        let Some(values) = self.contest.values(setting) else {
            return "current setting".to_owned();
        };
        let pairs = self.contest.sweep.design.paths().zip(values);
        pairs.map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>().join(", ")
    }

    fn goal(&self) -> &Goal {
        &self.contest.goal
    }

    /// Names of objectives and constraints.
    fn wanted(&self) -> impl Iterator<Item = String> {
        let objectives = self.goal().objectives.iter().map(|o| o.metric.clone());
        objectives.chain(self.goal().constraints.iter().map(|c| c.text().to_owned()))
    }
}

/// For people.
pub fn text(tuned: &Tuned) -> String {
    let goal = tuned.goal();
    let objective = |o: &crate::tune::Objective| {
        format!("{} {}", if o.maximise { "most" } else { "least" }, o.metric)
    };
    let objectives: Vec<String> = goal.objectives.iter().map(objective).collect();
    let constraints: Vec<&str> = goal.constraints.iter().map(|c| c.text()).collect();
    let must = if constraints.is_empty() {
        String::new()
    } else {
        format!(", where {}", constraints.join(" and "))
    };
    let settings = tuned.contest.settings();
    let effort = &tuned.contest.sweep.effort;
    let left = tuned.race.contenders.iter().filter(|c| c.out.is_none()).count();
    let all = settings * u64::from(effort.replications);
    format!(
        "{}: {}{must}\nrace: {} settings, {left} left after {} runs (of {} without leaving), seed {}\n{}\n{}",
        tuned.name,
        objectives.join(", then "),
        number(settings as f64),
        number(tuned.race.runs as f64),
        number(all as f64),
        effort.seed,
        front_table(tuned),
        recommendation(tuned),
    )
}

/// The front and the current setting, on fresh seeds.
fn front_table(tuned: &Tuned) -> String {
    let header = [String::new()].into_iter().chain(tuned.columns()).chain(tuned.wanted());
    let mut table = Table::new(header, "lr");
    let width = tuned.columns().len();
    for checked in &tuned.checked {
        let mark = match (tuned.chosen == Some(checked.setting), checked.setting) {
            (true, 0) => "* current",
            (true, _) => "*",
            (false, 0) => "current",
            (false, _) => "",
        };
        let values = tuned.values(checked.setting).unwrap_or(vec!["–".to_owned(); width]);
        let row = [mark.to_owned()].into_iter().chain(values).chain(found(checked, tuned.goal()));
        table.row(row.collect());
    }
    format!(
        "{}* recommended, of the settings that no other beats in everything; {} replications from seed {}, which the race has not seen; room of constraints on the mean",
        table.show(Style::Text),
        tuned.contest.sweep.effort.replications,
        tuned.check_seed
    )
}

/// Means of objectives, and the room of constraints.
fn found(checked: &Checked, goal: &Goal) -> Vec<String> {
    let mean = |s: &Option<Summary>| {
        s.as_ref().map_or_else(|| "–".to_owned(), |s| with_halfwidth(s.mean, s.ci95))
    };
    let room = |(constraint, room): (&crate::tune::Constraint, &Option<Summary>)| match room {
        None => "no value".to_owned(),
        Some(s) => {
            let word = if constraint.holds(s.mean) { "met" } else { "not met" };
            format!("{word}, {}", with_halfwidth(s.mean, s.ci95))
        }
    };
    let rooms = goal.constraints.iter().zip(&checked.rooms).map(room);
    checked.objectives.iter().map(mean).chain(rooms).collect()
}

/// What to take, what it is worth, and what it outlasts.
fn recommendation(tuned: &Tuned) -> String {
    let Some(chosen) = tuned.chosen else {
        return format!("no setting meets the constraints{}", nearest_miss(tuned));
    };
    let kept = if chosen == 0 { " (keep it)" } else { "" };
    let mut lines = vec![format!("recommended: {}{kept}", tuned.label(chosen))];
    let pairs = tuned.goal().objectives.iter().zip(&tuned.margins);
    lines.extend(pairs.map(|(objective, margin)| {
        let none = || "no margin: the current setting has no value in some runs".to_owned();
        let text = margin.as_ref().map_or_else(none, margin_text);
        format!("  {}: {text}", objective.metric)
    }));
    let feasible = |checked: &&Checked| Some(checked.setting) == tuned.chosen;
    if tuned.checked.iter().find(feasible).is_some_and(|c| !c.is_feasible(tuned.goal())) {
        lines.push("  on fresh seeds it does not meet the constraints: they leave it no room; tighten them".to_owned());
    }
    for under in &tuned.under {
        lines.push(format!("what if, {}: {}", under.name, outlasts(tuned, under, chosen)));
    }
    lines.join("\n")
}

/// "-0.62 against the current setting (-0.65 … -0.59), -75 % (-77 … -73 %)"
fn margin_text(margin: &Margin) -> String {
    let ratio = margin.ratio.map_or_else(String::new, |ratio| {
        let percent = |ratio: f64| signed(100.0 * (ratio - 1.0));
        let (low, high) = ratio.ci95;
        format!(", {} % ({} … {} %)", percent(ratio.value), percent(low), percent(high))
    });
    format!(
        "{} against the current setting ({}){ratio}",
        signed(margin.difference),
        interval(margin.interval)
    )
}

fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(value))
}

/// Whether the recommended setting is still the one to take.
fn outlasts(tuned: &Tuned, under: &Under, chosen: u64) -> String {
    let of = |setting: u64| under.checked.iter().find(|checked| checked.setting == setting);
    let shown = |setting: u64| {
        let names = tuned.wanted();
        let values = of(setting).map(|checked| found(checked, tuned.goal())).unwrap_or_default();
        names
            .zip(values)
            .map(|(name, value)| format!("{name} {value}"))
            .collect::<Vec<_>>()
            .join("; ")
    };
    match under.chosen {
        Some(best) if best == chosen => format!("still the best of these: {}", shown(chosen)),
        Some(best) => format!(
            "{} would be ({}); the recommended one has {}",
            tuned.label(best),
            shown(best),
            shown(chosen)
        ),
        None => format!("no setting of the front meets the constraints: {}", shown(chosen)),
    }
}

/// The setting that was closest to meeting its constraints: that misses them by the least on the mean.
fn nearest_miss(tuned: &Tuned) -> String {
    let goal = tuned.goal();
    let objectives = goal.objectives.len();
    let miss = |contender: &Contender, k: usize| {
        let room = summarise(&contender.column(objectives + k)?)?.mean;
        Some(if goal.constraints[k].holds(room) { 0.0 } else { room })
    };
    let worst = |contender: &Contender| {
        (0..goal.constraints.len())
            .map(|k| miss(contender, k))
            .try_fold(0.0, |least: f64, room| Some(least.min(room?)))
    };
    let found = tuned.race.contenders.iter().filter_map(|c| Some((worst(c)?, c)));
    let Some((_, best)) = found.max_by(|(a, _), (b, _)| a.total_cmp(b)) else {
        return "; an objective or a constraint has no value in some runs".to_owned();
    };
    let missed = (0..goal.constraints.len()).filter_map(|k| {
        let room = summarise(&best.column(objectives + k)?)?.mean;
        let missed = !goal.constraints[k].holds(room);
        missed.then(|| format!("{} by {}", goal.constraints[k].text(), number(-room)))
    });
    let missed: Vec<String> = missed.collect();
    format!("; the nearest, {}, misses {}", tuned.label(best.setting), missed.join(" and "))
}

/// For programs.
pub fn json(tuned: &Tuned) -> Value {
    let effort = &tuned.contest.sweep.effort;
    let objective =
        |o: &crate::tune::Objective| json!({ "metric": o.metric, "maximise": o.maximise });
    let margin = |margin: &Option<Margin>| {
        margin.map(|m| {
            json!({
                "difference": m.difference,
                "interval": m.interval,
                "ratio": m.ratio.map(|ratio| ratio.value),
                "ratio_ci95": m.ratio.map(|ratio| ratio.ci95),
            })
        })
    };
    let all = |checked: &[Checked]| -> Vec<Value> {
        checked.iter().map(|checked| setting_json(tuned, checked)).collect()
    };
    let under = |under: &Under| json!({ "what_if": under.name, "recommended": under.chosen, "settings": all(&under.checked) });
    json!({
        "schema": "retrylab.tune/1",
        "scenario": tuned.name,
        "objectives": tuned.goal().objectives.iter().map(objective).collect::<Vec<_>>(),
        "constraints": tuned.goal().constraints.iter().map(|c| c.text()).collect::<Vec<_>>(),
        "seed": effort.seed,
        "check_seed": tuned.check_seed,
        "replications": effort.replications,
        "settings": tuned.contest.settings(),
        "runs": tuned.race.runs,
        "front": tuned.front,
        "recommended": tuned.chosen,
        "margins": tuned.margins.iter().map(margin).collect::<Vec<_>>(),
        "checked": all(&tuned.checked),
        "what_if": tuned.under.iter().map(under).collect::<Vec<_>>(),
    })
}

fn setting_json(tuned: &Tuned, checked: &Checked) -> Value {
    let values = tuned.contest.values(checked.setting).unwrap_or_default();
    let paths =
        tuned.contest.sweep.design.paths().cloned().zip(values.into_iter().map(Value::from));
    let named = |names: Vec<String>, units: &[&str], summaries: &[Option<Summary>]| {
        let unit = |i: usize| units.get(i).copied().unwrap_or("");
        let entries = names.into_iter().zip(summaries).enumerate();
        Value::Object(entries.map(|(i, (n, s))| (n, summary_json(unit(i), s.as_ref()))).collect())
    };
    let goal = tuned.goal();
    let objectives = goal.objectives.iter().map(|o| o.metric.clone()).collect();
    let constraints = goal.constraints.iter().map(|c| c.text().to_owned()).collect();
    json!({
        "setting": checked.setting,
        "values": Value::Object(paths.collect::<Map<_, _>>()),
        "objectives": named(objectives, &checked.units, &checked.objectives),
        "room": named(constraints, &[], &checked.rooms),
        "feasible": checked.is_feasible(goal),
    })
}

/// Writes settings.csv, a row per setting of the race, tune.json and the manifest.
pub fn write(folder: Folder, tuned: &Tuned, document: &str) -> Result<String> {
    let place = folder.place().display().to_string();
    let settings = settings_csv(tuned)?;
    let files: [(&str, &[u8]); 2] =
        [("settings.csv", &settings), ("tune.json", document.as_bytes())];
    let effort = &tuned.contest.sweep.effort;
    let vary: Vec<&str> =
        tuned.contest.sweep.design.axes.iter().map(|axis| axis.text.as_str()).collect();
    let manifest = manifest(&tuned.name, effort, &files, json!({ "vary": vary }));
    for (file, bytes) in &files {
        folder.write(file, bytes)?;
    }
    folder.write("manifest.json", manifest.as_bytes())?;
    folder.swap_in()?;
    Ok(format!("wrote {place}"))
}

fn settings_csv(tuned: &Tuned) -> Result<Vec<u8>> {
    let bug = |e: &dyn std::fmt::Display| Error::Bug(format!("a CSV row does not print: {e}"));
    let mut csv = csv::Writer::from_writer(Vec::new());
    let width = tuned.columns().len();
    let header = ["setting".to_owned()].into_iter().chain(tuned.columns());
    let found = ["replications", "left_because"].map(str::to_owned);
    csv.write_record(header.chain(found).chain(tuned.wanted())).map_err(|e| bug(&e))?;
    for contender in &tuned.race.contenders {
        let values = tuned.values(contender.setting).unwrap_or(vec![String::new(); width]);
        let why = match contender.out {
            None => String::new(),
            Some(Out::Unmet(k)) => format!("not {}", tuned.goal().constraints[k].text()),
            Some(Out::Beaten(by)) => format!("beaten by {by}"),
            Some(Out::NoValue) => "no value".to_owned(),
        };
        let count = tuned.wanted().count();
        let sign = |i: usize| tuned.goal().objectives.get(i).is_some_and(|o| o.maximise);
        let mean = |i: usize| {
            let mean = summarise(&contender.column(i)?)?.mean;
            Some(if sign(i) { -mean } else { mean })
        };
        let means = (0..count).map(|i| mean(i).map_or(String::new(), |mean| mean.to_string()));
        let row = [contender.setting.to_string()].into_iter().chain(values);
        let row = row.chain([contender.runs.len().to_string(), why]).chain(means);
        csv.write_record(row).map_err(|e| bug(&e))?;
    }
    csv.into_inner().map_err(|e| bug(&e))
}
