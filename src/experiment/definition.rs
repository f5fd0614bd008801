//! Experiment files: one folder each under `experiments/`, embedded in the binary.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Table;

use super::claim::{Claim, Judged, judge};
use super::{Cell, CellRuns, Seed, summary_of};
use crate::error::{Error, Result};
use crate::metrics::nearest;
use crate::scenario::{Document, MAX_REPLICATIONS, Step, alike, locate, suggest, typed};

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// `experiment.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// One line for tables and plots.
    title: String,
    /// The question it answers.
    question: String,
    /// Where the published figures are from.
    source: String,
    /// Replications, unless the command line says otherwise.
    replications: u32,
    /// Master seed, unless the command line says otherwise.
    #[serde(default)]
    seed: Seed,
    /// The policies that are compared.
    policy: Vec<PolicySettings>,
    /// What should come out.
    #[serde(default)]
    claim: Vec<Claim>,
}

/// A policy of an experiment: what it sets in the scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySettings {
    /// Its name.
    pub name: String,
    /// Values by path, as `--set` takes them.
    #[serde(default)]
    pub set: Table,
}

/// An experiment: a scenario, policies and claims.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of its folder.
    pub name: String,
    /// One line for tables and plots.
    pub title: String,
    /// The question it answers.
    pub question: String,
    /// Where the published figures are from.
    pub source: String,
    /// Replications by default.
    pub replications: u32,
    /// Seed by default.
    pub seed: Seed,
    policies: Vec<PolicySettings>,
    claims: Vec<Claim>,
    scenario: Document,
    /// The file and its text, for errors.
    file: (String, String),
}

/// Names of the embedded experiments, sorted, and the rooms they stand in.
pub fn names() -> Vec<(&'static str, &'static str)> {
    let parts = |path: &'static str| {
        let mut parts = path.split('/');
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
    };
    FILES
        .iter()
        .filter(|(path, _)| path.ends_with("/experiment.toml"))
        .map(|(path, _)| parts(path))
        .map(|(room, name)| (name, room))
        .collect()
}

impl Experiment {
    /// Finds an embedded experiment by name, or reads the folder `name` when it is a path.
    pub fn find(name: &str) -> Result<Experiment> {
        if name.contains(['/', '\\']) || name == "." || name == ".." {
            return Experiment::read(Path::new(name));
        }
        let file = |file: &str| {
            let ending = format!("/{name}/{file}");
            FILES.iter().find(|(path, _)| path.ends_with(&ending))
        };
        match (file("experiment.toml"), file("scenario.toml")) {
            (Some((path, text)), Some((scenario_path, scenario))) => {
                let document = Document::parse(
                    &format!("experiments/{scenario_path}"),
                    (*scenario).to_owned(),
                    PathBuf::new(),
                )?;
                Experiment::parse(name, &format!("experiments/{path}"), text, document)
            }
            _ => {
                let known: Vec<&str> = names().into_iter().map(|(name, _)| name).collect();
                let near = match alike(name, &known) {
                    near if near.is_empty() => ";".to_owned(),
                    near => near,
                };
                let all = "`retrylab reproduce --list` lists all";
                Err(Error::Input(format!("no experiment is called \"{name}\"{near} {all}")))
            }
        }
    }

    /// Reads an experiment from its folder.
    fn read(folder: &Path) -> Result<Experiment> {
        let path = folder.join("experiment.toml");
        let text = std::fs::read_to_string(&path)
            .map_err(|e| Error::Input(format!("{}: {e}", path.display())))?;
        let document = Document::read(&folder.join("scenario.toml"))?;
        // "." has a name too.
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = whole.file_name().unwrap_or_default().to_string_lossy();
        Experiment::parse(&name, &path.display().to_string(), &text, document)
    }

    /// An experiment from the texts of its two files.
    pub fn parse(name: &str, path: &str, text: &str, scenario: Document) -> Result<Experiment> {
        let file: File = typed(path, text)?;
        let experiment = Experiment {
            name: name.to_owned(),
            title: file.title,
            question: file.question,
            source: file.source,
            replications: file.replications,
            seed: file.seed,
            policies: file.policy,
            claims: file.claim,
            scenario,
            file: (path.to_owned(), text.to_owned()),
        };
        experiment.check()?;
        Ok(experiment)
    }

    /// An error at item `index` of a list, with its line.
    fn bad<T>(&self, list: &str, index: Option<usize>, key: &str, sentence: &str) -> Result<T> {
        let mut steps = vec![Step::key(list)];
        steps.extend(index.map(Step::Index));
        steps.extend((!key.is_empty()).then(|| Step::key(key)));
        Err(locate(&self.file.0, &self.file.1, &steps, sentence))
    }

    fn check(&self) -> Result<()> {
        if !(1..=MAX_REPLICATIONS).contains(&self.replications) {
            let text =
                format!("{} is out of range; write 1 to {MAX_REPLICATIONS}", self.replications);
            return self.bad("replications", None, "", &text);
        }
        if self.claims.is_empty() {
            let text =
                "no claim is listed, so nothing could be reproduced; write at least one [[claim]]";
            return self.bad("claim", None, "", text);
        }
        if self.policies.is_empty() {
            return self.bad(
                "policy",
                None,
                "",
                "no policy is listed; write at least one [[policy]]",
            );
        }
        for (index, policy) in self.policies.iter().enumerate() {
            if self.policies[..index].iter().any(|other| other.name == policy.name) {
                let text =
                    format!("two policies are called \"{}\"; give each its own name", policy.name);
                return self.bad("policy", Some(index), "name", &text);
            }
        }
        let policies: Vec<&str> = self.policies.iter().map(|p| p.name.as_str()).collect();
        for (index, claim) in self.claims.iter().enumerate() {
            let bad = |key: &str, text: String| self.bad("claim", Some(index), key, &text);
            let divisor = claim.divisor().map(|(policy, _)| ("over", policy));
            for (key, policy) in [("policy", claim.policy.as_str())].into_iter().chain(divisor) {
                if !policies.contains(&policy) {
                    let near = suggest(policy, &policies);
                    return bad(key, format!("no policy is called \"{policy}\"{near}"));
                }
            }
            if !claim.says_something() {
                let text = "write published, reference, at_least or at_most";
                return bad("", format!("claim {}: {text}", claim.id));
            }
            if self.claims[..index].iter().any(|other| other.id == claim.id) {
                return bad("id", format!("two claims are called {}", claim.id));
            }
        }
        Ok(())
    }

    /// The cells: the scenario under each policy.
    pub fn cells(&self) -> Result<Vec<Cell>> {
        let cells: Vec<Cell> = self.policies.iter().map(|p| self.cell(p)).collect::<Result<_>>()?;
        for (index, claim) in self.claims.iter().enumerate() {
            let metric = ("metric", claim.policy.as_str(), claim.metric.as_str());
            let divisor = claim.divisor().map(|(policy, metric)| ("over", policy, metric));
            for (key, policy, metric) in [metric].into_iter().chain(divisor) {
                let cell = cells.iter().find(|cell| cell.policy == policy);
                if let Some(cell) = cell
                    && !cell.metrics.iter().any(|m| m.name == metric)
                {
                    let known: Vec<&str> = cell.metrics.iter().map(|m| m.name.as_str()).collect();
                    let near = nearest(metric, &known);
                    let text = format!("no metric is called \"{metric}\"{near}");
                    return self.bad("claim", Some(index), key, &text);
                }
            }
        }
        Ok(cells)
    }

    fn cell(&self, policy: &PolicySettings) -> Result<Cell> {
        let by = format!("{}: policy {}", self.file.0, policy.name);
        let mut document = self.scenario.clone();
        for (path, value) in &policy.set {
            document = document.with_value(&by, path, value.clone())?;
        }
        Cell::new(&policy.name, &document)
    }

    /// The verdicts on all claims.
    pub fn judge(&self, runs: &[CellRuns]) -> Vec<Judged> {
        let cell = |policy: &str| runs.iter().find(|cell| cell.cell.policy == policy);
        let judged = |claim: &Claim| {
            let runs = cell(&claim.policy)?;
            let metric = runs.cell.metrics.iter().find(|m| m.name == claim.metric)?;
            let (values, unit) = match claim.divisor() {
                None => (runs.values(&claim.metric), metric.unit),
                Some((policy, divisor)) => {
                    (ratios(runs.column(&claim.metric), cell(policy)?.column(divisor)), "ratio")
                }
            };
            let found = summary_of(unit, &values);
            let verdict = judge(claim, unit, found.as_ref());
            Some(Judged { claim: claim.clone(), unit, found, verdict })
        };
        self.claims.iter().filter_map(judged).collect()
    }
}

/// The ratios of two columns, run by run, where both have a value and the divisor is not 0.
fn ratios(
    values: impl Iterator<Item = Option<f64>>,
    divisors: impl Iterator<Item = Option<f64>>,
) -> Vec<f64> {
    let ratio = |(value, divisor): (Option<f64>, Option<f64>)| {
        Some(value? / divisor.filter(|divisor| *divisor != 0.0)?)
    };
    values.zip(divisors).filter_map(ratio).collect()
}
