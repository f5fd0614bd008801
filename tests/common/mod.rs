//! Runs scenarios from TOML text and judges their results by closed forms.

#![allow(dead_code)] // every test file uses a part of it

pub mod chrome;

use std::path::PathBuf;

use rayon::prelude::*;
use retrylab::experiment::{Cell, CellRuns, Effort, Seed, execute};
use retrylab::metrics::{Facts, Metric, Recorder};
use retrylab::model::{self, Observer, Report};
use retrylab::rng::Streams;
use retrylab::scenario::{Document, MemoryLimit};
use retrylab::server::Billing;
use retrylab::stats::summary::summarise;

/// Seed of all runs. Fixed, so a test that passes once passes always.
pub const SEED: u64 = 0x5eed_2024;

/// Replications, unless a test needs more.
pub const REPLICATIONS: u32 = 64;

/// Agreement and power are judged by this many standard errors.
const SIGMAS: f64 = 4.0;

/// A planted bug counts as found only when it is this many standard errors away.
const PLANTED_SIGMAS: f64 = 8.0;

/// The interval of a test may be at most this part of the theory's value.
const POWER: f64 = 0.02;

/// A cell from the text of a scenario.
pub fn cell(text: &str) -> Cell {
    named_cell("policy", text)
}

/// A cell with a name of its own.
pub fn named_cell(policy: &str, text: &str) -> Cell {
    let document = Document::parse("test", text.to_owned(), PathBuf::from("."));
    let built = document.and_then(|document| Cell::new(policy, &document));
    built.unwrap_or_else(|error| panic!("{error}\nin the scenario\n{text}"))
}

/// Runs cells, all under the same seed.
pub fn run_cells(cells: Vec<Cell>, replications: u32, threads: usize) -> Vec<CellRuns> {
    let memory = MemoryLimit::default();
    let effort = Effort { seed: Seed(SEED), replications, threads, memory };
    execute(cells, effort, &|| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs one scenario.
pub fn runs(text: &str, replications: u32) -> CellRuns {
    run_cells(vec![cell(text)], replications, 0).remove(0)
}

/// Runs one scenario under an observer per replication.
pub fn watch<O: Observer + Send>(
    text: &str,
    replications: u32,
    observer: impl Fn() -> O + Sync,
) -> Vec<(O, Report)> {
    let scenario = cell(text).scenario;
    let plan = scenario.plan(&PathBuf::from(".")).unwrap_or_else(|error| panic!("{error}"));
    let one = |replication| {
        let mut observer = observer();
        let report = model::watch(&plan, Streams::new(SEED, replication), &mut observer);
        (observer, report.unwrap_or_else(|error| panic!("{error}\n{text}")))
    };
    (0..replications).into_par_iter().map(one).collect()
}

/// Runs one scenario under a recorder and an observer of one's own.
pub fn runs_and_watch<O: Observer + Send>(
    text: &str,
    replications: u32,
    observer: impl Fn() -> O + Sync,
) -> (Metrics, Vec<O>) {
    let Cell { scenario, metrics, .. } = cell(text);
    let both = || (Recorder::new(scenario.watch()), observer());
    let billing: Vec<Billing> = scenario.providers().map(|p| p.billing.clone()).collect();
    let (facts, seen) = watch(text, replications, both)
        .into_iter()
        .map(|((recorder, seen), report)| (Facts::new(recorder, report, billing.clone()), seen))
        .unzip();
    (Metrics { metrics, facts }, seen)
}

/// Metrics of several runs.
pub struct Metrics {
    metrics: Vec<Metric>,
    facts: Vec<Facts>,
}

impl Metrics {
    /// The values of one metric over replications.
    pub fn values(&self, name: &str) -> Vec<f64> {
        let metric = self.metrics.iter().find(|m| m.name == name).expect("a metric");
        self.facts.iter().filter_map(|facts| metric.value(facts)).collect()
    }
}

/// Mean and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let summary = summarise(values).expect("finite values");
    let sd = summary.sd.expect("more than one value");
    (summary.mean, sd / (summary.n as f64).sqrt())
}

/// Mean within 4 standard errors of `theory`, and those at most 2 % of it.
///
/// Without any spread the mean must be the theory's but for the rounding of the mean itself.
pub fn judge(values: &[f64], theory: f64) -> Result<(), String> {
    let (mean, error) = mean_and_error(values);
    let tolerance = SIGMAS * error + 1e-12 * theory.abs();
    let n = values.len();
    if tolerance > POWER * theory.abs() {
        return Err(format!("no power: {mean} ± {error} (n = {n}) against {theory}"));
    }
    if (mean - theory).abs() > tolerance {
        return Err(format!("{mean} ± {error} (n = {n}) is not {theory}"));
    }
    Ok(())
}

/// The values agree with the theory.
#[track_caller]
pub fn assert_agrees(what: &str, values: &[f64], theory: f64) {
    if let Err(found) = judge(values, theory) {
        panic!("{what}: {found}");
    }
}

/// The criterion refuses these values, and not for want of power: they lie far off.
#[track_caller]
pub fn assert_caught(what: &str, values: &[f64], theory: f64) {
    let (mean, error) = mean_and_error(values);
    assert!(judge(values, theory).is_err(), "{what}: the planted bug passes");
    assert!(
        (mean - theory).abs() >= PLANTED_SIGMAS * error,
        "{what}: the planted bug is only just seen: {mean} ± {error} against {theory}"
    );
}

/// Pearson's statistic.
pub fn chi_square(observed: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(observed.len(), expected.len());
    observed.iter().zip(expected).map(|(o, e)| (o - e) * (o - e) / e).sum()
}

/// Probability that chi-square with `degrees` of freedom exceeds `statistic`.
pub fn chi_square_tail(statistic: f64, degrees: f64) -> f64 {
    use statrs::distribution::{ChiSquared, ContinuousCDF};
    ChiSquared::new(degrees).expect("degrees above 0").sf(statistic)
}

/// Kolmogorov's distance between a sample and a distribution function.
pub fn kolmogorov_smirnov(sample: &mut [f64], cdf: impl Fn(f64) -> f64) -> f64 {
    sample.sort_unstable_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = |(i, x): (usize, &f64)| {
        let f = cdf(*x);
        (f - i as f64 / n).max((i + 1) as f64 / n - f)
    };
    sample.iter().enumerate().map(distance).fold(0.0, f64::max)
}

/// Nanoseconds as seconds.
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
