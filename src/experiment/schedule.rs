//! When one client's retries come, and which outages they outlast: exact, beside a simulation.

use std::path::PathBuf;

use super::{Cell, Effort, Seed, execute};
use crate::client::{Backoff, Layer};
use crate::error::{Error, Result};
use crate::model::Observer;
use crate::scenario::{Document, MemoryLimit};
use crate::theory::{decorrelated, uniform_sum};
use crate::units::{Span, Time};

/// Simulated clients. Their shares are known to half a percent.
const CLIENTS: u32 = 10_000;

/// Shortest, mean and longest; the mean is None where no closed form is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Shortest, in seconds.
    pub min_s: f64,
    /// Mean, in seconds.
    pub mean_s: Option<f64>,
    /// Longest, in seconds.
    pub max_s: f64,
}

/// One retry of a call whose every attempt fails at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// The wait before it.
    pub wait: Spread,
    /// When it comes, from the first attempt on.
    pub at: Spread,
    /// When it comes on average in the simulation.
    pub simulated_at_s: Option<f64>,
}

/// An outage that starts with the first attempt and refuses every attempt at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survival {
    /// Its length.
    pub outage: Span,
    /// Probability that a call outlasts it; None where no closed form is known.
    pub probability: Option<f64>,
    /// The share of simulated calls that do.
    pub simulated: Option<f64>,
}

/// The schedule of a layer.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The layer.
    pub layer: Layer,
    /// The status that every attempt meets.
    pub status: u16,
    /// Its retries.
    pub retries: Vec<Retry>,
}

impl Schedule {
    /// The schedule of `layer`, TOML keys of a layer without its name, while the provider answers
    /// `status` without any hint; at most 64 retries.
    pub fn of(layer: &str, status: u16) -> Result<Schedule> {
        let cell = cell(layer, status, None)?;
        let layer = cell.scenario.groups[0].client.layers[0].clone();
        let count = cell.scenario.measure.per_retry as usize;
        let waits = closed_waits(&layer.backoff, count);
        let runs = run(cell)?;
        let mut at = Spread { min_s: 0.0, mean_s: Some(0.0), max_s: 0.0 };
        let retry = |k: usize| {
            let simulated_at_s = runs.values(&format!("retry_{}_mean_s", k + 1)).first().copied();
            let (low, high) = layer.backoff.bounds(k as u32);
            let wait = Spread {
                min_s: low as f64 / 1e9,
                mean_s: waits.as_ref().map(|means| means[k]),
                max_s: high as f64 / 1e9,
            };
            at = Spread {
                min_s: at.min_s + wait.min_s,
                mean_s: at.mean_s.zip(wait.mean_s).map(|(at, wait)| at + wait),
                max_s: at.max_s + wait.max_s,
            };
            simulated_at_s.map(|_| Retry { wait, at, simulated_at_s })
        };
        let retries = (0..count).map_while(retry).collect();
        Ok(Schedule { layer, status, retries })
    }

    /// The waits before each retry of the simulated calls, in nanoseconds, while the provider answers `status`.
    pub fn waits(layer: &str, status: u16) -> Result<Vec<Vec<u64>>> {
        let mut waits = Waits::default();
        cell(layer, status, None)?.watch(Seed(42), 0, &mut waits)?;
        Ok(waits.0)
    }

    /// Whether a call outlasts an outage of this length.
    pub fn survival(&self, layer: &str, outage: Span) -> Result<Survival> {
        let runs = run(cell(layer, self.status, Some(outage))?)?;
        let simulated = runs.values("success_ratio").first().copied();
        Ok(Survival { outage, probability: self.probability(outage), simulated })
    }

    /// The longest outage that calls outlast with this probability; None without a closed form.
    pub fn outlasted(&self, probability: f64) -> Option<Span> {
        let last = self.retries.last()?.at;
        let (mut low, mut high) = ((last.min_s * 1e9) as u64, (last.max_s * 1e9).ceil() as u64);
        self.probability(Span::from_nanos(low))?;
        // 64 halvings are more than enough for nanoseconds.
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if self.probability(Span::from_nanos(middle))? >= probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(Span::from_nanos(low))
    }

    /// An attempt at the very end of an outage succeeds, so the last one must not come earlier.
    fn probability(&self, outage: Span) -> Option<f64> {
        if outage == Span::ZERO {
            return Some(1.0);
        }
        // Bounds are known of every backoff: nothing comes later than the longest waits.
        if self.retries.last().is_some_and(|last| outage.seconds() > last.at.max_s + 1e-9) {
            return Some(0.0);
        }
        let waits = uniform_waits(&self.layer.backoff, self.retries.len())?;
        let just_before = outage.nanos().saturating_sub(1) as f64 / 1e9;
        let later = 1.0 - uniform_sum::cdf(&waits, just_before);
        (!later.is_nan()).then_some(later.clamp(0.0, 1.0))
    }
}

/// Waits by retry.
#[derive(Default)]
struct Waits(Vec<Vec<u64>>);

impl Observer for Waits {
    fn sleeps(&mut self, _now: Time, _group: usize, retry: u32, wait: u64) {
        let index = retry as usize - 1;
        if self.0.len() <= index {
            self.0.resize(index + 1, Vec::new());
        }
        self.0[index].push(wait);
    }
}

/// A herd of one layer that meets an outage; without a length it never ends.
fn cell(layer: &str, status: u16, outage: Option<Span>) -> Result<Cell> {
    let to = outage.map_or(String::new(), |to| format!(", to = \"{to}\""));
    let text = format!(
        "workload = {{ clients = {CLIENTS}, burst = {{}} }}\n\
         provider = {{ faults = [{{ outage = {{ from = \"0s\"{to}, status = {status} }} }}] }}\n\
         measure = {{ window = \"1h\", horizon = \"3000d\", per_retry = 64 }}\n\
         [[client.layers]]\nname = \"client\"\n{layer}\n"
    );
    let mut document = Document::parse("the schedule", text, PathBuf::from("."))?;
    let retries =
        document.scenario()?.groups[0].client.layers[0].max_attempts.saturating_sub(1).min(64);
    document = document.with(&[
        format!("client.layers.client.max_attempts={}", retries + 1),
        format!("measure.per_retry={retries}"),
    ])?;
    Cell::new("schedule", &document)
}

fn run(cell: Cell) -> Result<super::CellRuns> {
    let effort =
        Effort { seed: Seed(42), replications: 1, threads: 1, memory: MemoryLimit::default() };
    let runs = execute(vec![cell], effort, &|| {})?;
    runs.into_iter().next().ok_or_else(|| Error::Bug("a cell has no runs".to_owned()))
}

/// Mean waits by closed form.
fn closed_waits(backoff: &Backoff, count: usize) -> Option<Vec<f64>> {
    if let Backoff::DecorrelatedJitter(d) = backoff {
        return Some(decorrelated::mean_waits(d.base.seconds(), d.cap.seconds(), count));
    }
    let waits = uniform_waits(backoff, count)?;
    Some(waits.iter().map(|wait| uniform_sum::mean(std::slice::from_ref(wait))).collect())
}

/// The waits of a backoff that draws each one uniformly between its bounds.
fn uniform_waits(backoff: &Backoff, count: usize) -> Option<Vec<uniform_sum::Wait>> {
    match backoff {
        Backoff::NoBackoff
        | Backoff::NoJitter(_)
        | Backoff::FullJitter(_)
        | Backoff::EqualJitter(_)
        | Backoff::SdkJitter(_)
        | Backoff::AdditiveJitter(_) => {}
        Backoff::DecorrelatedJitter(_) | Backoff::Formula(_) | Backoff::Table(_) => return None,
    }
    let wait = |n: usize| {
        let (low, high) = backoff.bounds(n as u32);
        let (least_s, spread_s) = (low as f64 / 1e9, (high - low) as f64 / 1e9);
        uniform_sum::Wait { least_s, spread_s }
    };
    Some((0..count).map(wait).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Option<f64>, b: f64, tolerance: f64) {
        assert!(a.is_some_and(|a| (a - b).abs() <= tolerance), "{a:?} is not {b}");
    }

    #[test]
    fn the_sdk_schedule_is_the_recorded_one() {
        let schedule = Schedule::of("preset = \"openai-python-3.57\"", 429).unwrap();
        assert_eq!(schedule.retries.len(), 2);
        let second = schedule.retries[1];
        near(Some(second.at.min_s), 1.125, 1e-9);
        near(second.at.mean_s, 1.3125, 1e-9);
        near(Some(second.at.max_s), 1.5, 1e-9);
        near(second.simulated_at_s, 1.3125, 0.01);
    }

    #[test]
    fn nine_attempts_of_the_sdk_schedule_cannot_cover_a_minute() {
        // 0.5 + 1 + 2 + 4 + 4 x 8 = 39.5 s at most.
        let layer = "preset = \"openai-python-3.57\"\nmax_attempts = 9";
        let schedule = Schedule::of(layer, 429).unwrap();
        near(schedule.retries.last().map(|r| r.at.max_s), 39.5, 1e-9);
        let minute = schedule.survival(layer, Span::from_seconds(60)).unwrap();
        assert_eq!((minute.probability, minute.simulated), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn survival_agrees_with_the_simulation_and_with_its_inverse() {
        let layer =
            "max_attempts = 5\nbackoff = { full_jitter = { base = \"1s\", cap = \"30s\" } }";
        let schedule = Schedule::of(layer, 503).unwrap();
        for length in ["2s", "5s", "7.5s", "10s"] {
            let survival = schedule.survival(layer, length.parse().unwrap()).unwrap();
            // Four standard errors of 10,000 clients.
            near(survival.simulated, survival.probability.unwrap(), 0.02);
        }
        // The sum of four uniform waits is symmetric around 7.5 s.
        near(schedule.outlasted(0.5).map(|span| span.seconds()), 7.5, 1e-6);
    }

    #[test]
    fn what_is_longer_than_all_waits_is_outlasted_by_none_whatever_the_backoff() {
        let layer =
            "max_attempts = 3\nbackoff = { decorrelated_jitter = { base = \"1s\", cap = \"5s\" } }";
        let schedule = Schedule::of(layer, 503).unwrap();
        let survival = |length: &str| schedule.survival(layer, length.parse().unwrap()).unwrap();
        assert_eq!(
            (survival("10001ms").probability, survival("10001ms").simulated),
            (Some(0.0), Some(0.0))
        );
        assert_eq!(survival("5s").probability, None, "no closed form within the bounds");
        assert_eq!(schedule.outlasted(0.5), None);
    }

    #[test]
    fn a_status_that_is_not_retried_has_no_retries() {
        let schedule = Schedule::of("preset = \"openai-python-3.57\"", 400).unwrap();
        assert!(schedule.retries.is_empty());
        assert_eq!(schedule.outlasted(0.5), None);
    }
}
