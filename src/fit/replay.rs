//! Requests of the fitted scenario, drawn as the simulator draws them, beside the log.
//!
//! Nothing in a fitted scenario makes one request wait for another, so no events are needed: arrivals, tokens and service
//! times are the simulator's own, number by number.

use std::path::PathBuf;

use super::Fit;
use super::arrivals::dispersion;
use super::errors::is_answer;
use super::figures::{CLOSE, Figures, sorted};
use crate::error::Result;
use crate::model::Plan;
use crate::rng::Streams;
use crate::scenario::Document;
use crate::units::{Time, seconds};

/// Seed of the runs.
const SEED: u64 = 0x2a;

/// Requests of all runs together, and most runs.
const ENOUGH: usize = 2_000_000;
const MOST_RUNS: usize = 20;

/// A figure of the log and of the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What it is.
    pub figure: String,
    /// Its unit.
    pub unit: &'static str,
    /// In the log.
    pub log: f64,
    /// In the scenario: the mean over runs.
    pub scenario: f64,
}

impl Compared {
    /// How far the scenario is off, as a part of the log's figure.
    pub fn difference(&self) -> f64 {
        match self.log == self.scenario {
            true => 0.0,
            false => (self.scenario - self.log) / self.log,
        }
    }

    /// Whether that counts as none.
    pub fn is_close(&self) -> bool {
        self.difference().abs() <= CLOSE
    }
}

/// How often the scenario is run.
pub fn runs(requests: usize) -> usize {
    (ENOUGH / requests.max(1)).clamp(1, MOST_RUNS)
}

/// Runs the text of a scenario and sets its figures beside those of the log.
pub fn compare(fit: &Fit, text: &str) -> Result<Vec<Compared>> {
    let document = Document::parse("the fitted scenario", text.to_owned(), PathBuf::from("."))?;
    let plan = document.scenario()?.plan(document.folder())?;
    let log = log_figures(fit);
    let mut sums = vec![(0.0, 0_u32); log.len()];
    for replication in 0..runs(fit.log.rows.len()) {
        let streams = Streams::new(SEED, replication as u32);
        let own = figures(&Sample::drawn(&plan, &streams, fit.arrivals.period));
        for (sum, (name, _, _)) in sums.iter_mut().zip(&log) {
            if let Some((_, _, value)) = own.iter().find(|(known, _, _)| known == name) {
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
    }
    let compared = log.into_iter().zip(sums).filter(|(_, (_, n))| *n > 0);
    Ok(compared
        .map(|((figure, unit, log), (sum, n))| Compared {
            figure,
            unit,
            log,
            scenario: sum / f64::from(n),
        })
        .collect())
}

/// A log or a run.
struct Sample {
    /// Starts of attempts.
    at: Vec<Time>,
    /// The time in which they came.
    period: u64,
    /// Attempts less the one where a log begins.
    requests: usize,
    /// Tokens and times of answers, ascending.
    input: Vec<f64>,
    output: Vec<f64>,
    latency_s: Vec<f64>,
}

impl Sample {
    fn drawn(plan: &Plan, streams: &Streams, period: u64) -> Sample {
        let (group, provider) = (&plan.groups[0], &plan.providers[0]);
        let (mut at, mut last): (Vec<Time>, Time) = (Vec::new(), 0);
        while let Some(next) = group.arrivals.next(at.len() as u32, last, streams) {
            last = next;
            at.push(next);
        }
        let numbers = || 0..at.len() as u32;
        let tokens = |request: u32| group.tokens(request, streams);
        // The first attempt of a request that has the provider to itself.
        let time =
            |request: u32| provider.service.sample(streams, request, 1, 1, || tokens(request));
        Sample {
            requests: at.len(),
            period,
            input: sorted(numbers().map(|request| tokens(request).input as f64).collect()),
            output: sorted(numbers().map(|request| tokens(request).output as f64).collect()),
            latency_s: sorted(numbers().map(|request| seconds(time(request))).collect()),
            at,
        }
    }
}

fn log_figures(fit: &Fit) -> Vec<(String, &'static str, f64)> {
    let rows = &fit.log.rows;
    let answers = || rows.iter().filter(|row| is_answer(row));
    let tokens = |column: Vec<u32>| sorted(column.into_iter().map(f64::from).collect());
    let mut all = figures(&Sample {
        at: rows.iter().map(|row| row.start).collect(),
        period: fit.arrivals.period,
        requests: rows.len() - 1,
        input: tokens(answers().filter_map(|row| row.input_tokens).collect()),
        output: tokens(answers().filter_map(|row| row.output_tokens).collect()),
        latency_s: sorted(answers().filter_map(|row| row.latency).map(seconds).collect()),
    });
    // Of a coarse clock the gaps are those of the arrivals that were spread.
    for (name, _, value) in &mut all {
        if name == "gap cv" {
            *value = fit.arrivals.gaps.cv;
        }
    }
    all
}

fn figures(sample: &Sample) -> Vec<(String, &'static str, f64)> {
    let mut all = vec![("rate".to_owned(), "1/s", sample.requests as f64 / seconds(sample.period))];
    let gaps = sorted(sample.at.windows(2).map(|pair| seconds(pair[1] - pair[0])).collect());
    all.extend(Figures::of(&gaps).map(|gaps| ("gap cv".to_owned(), "", gaps.cv)));
    all.extend(
        dispersion(&sample.at)
            .into_iter()
            .map(|(length, index)| (format!("dispersion in {length} s"), "", index)),
    );
    let sizes = [
        ("input tokens", "tokens", &sample.input),
        ("output tokens", "tokens", &sample.output),
        ("latency", "s", &sample.latency_s),
    ];
    for (name, unit, values) in sizes {
        let Some(found) = Figures::of(values) else { continue };
        for (figure, value) in
            [("mean", found.mean), ("p50", found.p50), ("p90", found.p90), ("p99", found.p99)]
        {
            all.push((format!("{name} {figure}"), unit, value));
        }
    }
    all
}
