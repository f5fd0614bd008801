//! The comparison: what has to agree, and within what.

use super::{Seen, WireLog};
use crate::error::{Error, Result};
use crate::experiment::{Cell, Seed};
use crate::trace::{Keep, Tracer};
use crate::units::Span;
use std::path::Path;

/// What came of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Prediction and reality agree.
    Agrees,
    /// They part.
    Parts,
}

/// One thing that has to agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What.
    pub name: String,
    /// What was measured.
    pub measured: f64,
    /// The least and the most that simulated runs have, or what is required.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// What the numbers are, where they are no counts.
    pub note: String,
    /// Whether they agree.
    pub verdict: Verdict,
}

/// The measured load beside simulated runs.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The checks.
    pub checks: Vec<Check>,
    /// The simulated runs.
    pub simulated: Vec<Seen>,
}

impl Agreement {
    /// True when nothing parts.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.verdict == Verdict::Agrees)
    }
}

/// Waits that come sooner than simulated by no more than this agree: the clocks of two processes.
const EARLY_NS: u64 = 1_500_000;

/// Below this probability waits are not of one law.
const LEAST_P: f64 = 0.001;

/// Simulates a cell so often and compares; `slack` is how much later than simulated a retry may come, for the
/// time that client and network take.
pub fn compare(
    log: &WireLog,
    cell: &Cell,
    (seed, replications): (Seed, u32),
    slack: Span,
) -> Result<Agreement> {
    let run = |replication| {
        let mut tracer = Tracer::new(cell, Keep::All, Seen::default());
        let report = cell.watch(seed, replication, &mut tracer)?;
        tracer.finish(report.end).map_err(Error::output(Path::new("memory")))
    };
    let simulated = (0..replications).map(run).collect::<Result<Vec<Seen>>>()?;
    let window = cell.scenario.measure.window;
    let mut checks = calls(&log.seen, &simulated);
    checks.extend(waits(&log.seen, &simulated, slack));
    checks.extend(busiest(&log.seen, &simulated, window));
    checks.extend(bills(&log.seen, &simulated));
    Ok(Agreement { checks, simulated })
}

/// A check that the measured value lies where simulated ones do.
fn within(name: String, measured: f64, simulated: impl Iterator<Item = f64>) -> Check {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in simulated {
        (low, high) = (low.min(value), high.max(value));
    }
    let verdict = if (low..=high).contains(&measured) { Verdict::Agrees } else { Verdict::Parts };
    Check { name, measured, low, high, note: String::new(), verdict }
}

fn calls(measured: &Seen, simulated: &[Seen]) -> Vec<Check> {
    let counts: Vec<Vec<u64>> = simulated.iter().map(Seen::by_calls).collect();
    let own = measured.by_calls();
    let most = counts.iter().map(Vec::len).max().unwrap_or(0).max(own.len());
    let at = |counts: &[u64], k: usize| counts.get(k).copied().unwrap_or(0) as f64;
    let name = |k: usize| match k {
        0 => "requests of 1 call".to_owned(),
        k => format!("requests of {} calls", k + 1),
    };
    let check = |k| within(name(k), at(&own, k), counts.iter().map(|counts| at(counts, k)));
    let all = (0..most).map(check);
    let mut checks: Vec<Check> = all.filter(|c| c.measured > 0.0 || c.high > 0.0).collect();
    let answered = simulated.iter().map(|seen| seen.answered as f64);
    checks.push(within("requests answered".to_owned(), measured.answered as f64, answered));
    checks
}

fn waits(measured: &Seen, simulated: &[Seen], slack: Span) -> Vec<Check> {
    let check = |(index, waits): (usize, &Vec<u64>)| {
        let mut all: Vec<u64> =
            simulated.iter().filter_map(|seen| seen.waits.get(index)).flatten().copied().collect();
        let mut own = waits.clone();
        own.sort_unstable();
        all.sort_unstable();
        let (distance, p) = distance(&own, &all, slack.nanos());
        let verdict = if p >= LEAST_P { Verdict::Agrees } else { Verdict::Parts };
        Check {
            name: format!("waits before retry {}", index + 1),
            measured: distance,
            low: 0.0,
            high: critical(own.len(), all.len()),
            note: format!("Kolmogorov–Smirnov distance, p = {p:.2}"),
            verdict,
        }
    };
    measured.waits.iter().enumerate().filter(|(_, waits)| !waits.is_empty()).map(check).collect()
}

/// The Kolmogorov–Smirnov distance of two sorted samples, where measured values may come up to `slack`
/// later, or a clock's tick earlier, than simulated ones; and the probability of no smaller one, by the
/// asymptotic law (Smirnov 1948).
fn distance(measured: &[u64], simulated: &[u64], slack: u64) -> (f64, f64) {
    let (n, m) = (measured.len() as f64, simulated.len() as f64);
    if simulated.is_empty() {
        return (1.0, 0.0);
    }
    let below = |sorted: &[u64], at: u64| sorted.partition_point(|value| *value <= at) as f64;
    let mut most = 0.0_f64;
    for at in measured.iter().copied() {
        let soon = below(measured, at) / n - below(simulated, at.saturating_add(EARLY_NS)) / m;
        most = most.max(soon);
    }
    for at in simulated.iter().copied() {
        let late = below(simulated, at) / m - below(measured, at.saturating_add(slack)) / n;
        most = most.max(late);
    }
    let size = n * m / (n + m);
    (most, smirnov(most * size.sqrt()))
}

/// P(K > x) of Kolmogorov's law.
fn smirnov(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * crate::math::exp(-2.0 * f64::from(k * k) * x * x)
    };
    (1..=20).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// The distance that has the least probability that agrees.
fn critical(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    if m == 0.0 {
        return 0.0;
    }
    let size = n * m / (n + m);
    ((-0.5 * crate::math::ln(LEAST_P / 2.0)) / size).sqrt().min(1.0)
}

fn busiest(measured: &Seen, simulated: &[Seen], window: Span) -> Option<Check> {
    let own = measured.busiest(window.nanos())?;
    let all = simulated.iter().map(|seen| seen.busiest(window.nanos()).unwrap_or(0.0));
    let check = within(format!("retries in the busiest {window}"), own, all);
    Some(Check { note: "share of all retries".to_owned(), ..check })
}

fn bills(measured: &Seen, simulated: &[Seen]) -> Vec<Check> {
    let check = |name: &str, of: fn(&Seen) -> u64| {
        within(name.to_owned(), of(measured) as f64, simulated.iter().map(|seen| of(seen) as f64))
    };
    vec![
        check("input tokens billed", |seen| seen.billed.input),
        check("output tokens billed", |seen| seen.billed.output),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_one_law_agree_and_others_part() {
        let law = |shift: u64, n: u64| -> Vec<u64> {
            (0..n).map(|i| 400_000_000 + shift + i * 100_000_000 / n).collect()
        };
        let ms = 1_000_000;
        let p = |shift, slack| distance(&law(shift, 50), &law(0, 10_000), slack).1;
        assert!(p(0, 0) > 0.9);
        assert!(p(20 * ms, 30 * ms) > 0.9, "later by no more than the slack");
        assert!(p(60 * ms, 10 * ms) < LEAST_P);
        let early = distance(&law(0, 50), &law(60 * ms, 10_000), 100 * ms).1;
        assert!(early < LEAST_P, "never earlier");
        // Kolmogorov's table: 1.36 is the 5 % point.
        assert!((smirnov(1.358_1) - 0.05).abs() < 1e-4);
    }

    #[test]
    fn a_wait_that_the_simulation_never_has_parts() {
        assert_eq!(distance(&[1, 2], &[], 10), (1.0, 0.0));
    }
}
