//! Circuit breakers in a fleet, against closed forms of incidents with them.
//!
//! Sources: safe-global/safe-client-gateway pull request 3442 (half-open without a limit),
//! jaseci-labs/jac issue 7909 (one failure per call), failsafe-lib/failsafe issue 70 (all open at
//! the same time).

mod common;

use common::{assert_agrees, assert_caught, kolmogorov_smirnov, runs, seconds, watch};
use retrylab::answer::Outcome;
use retrylab::model::{Observer, Side};
use retrylab::units::Time;

/// A stream of 10 calls per second to a provider that hangs, behind one breaker; a failure is
/// known after 30 s.
fn hanging(half_open: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 100, poisson = {{ rate = "10/s" }} }}
        provider = {{ service = "10h" }}
        measure = {{ horizon = "145s", window = "1s" }}
        [[client.layers]]
        name = "gateway"
        timeout = "30s"
        breaker = {{ consecutive = {{ failures = 5 }}, open = "60s", half_open = {half_open}, scope = "fleet" }}
        "#
    )
}

/// How long calls take that come while the breaker has its first half-open time: it opens after about 30 s
/// and is half-open after about 91 s.
#[derive(Default)]
struct HalfOpenCalls {
    sent: u32,
    durations: Vec<f64>,
}

impl Observer for HalfOpenCalls {
    fn attempt(&mut self, now: Time, _: Side, _: u32) {
        self.sent += u32::from(seconds(now) > 60.0);
    }

    fn resolved(&mut self, now: Time, _: usize, created: Time, _: Outcome) {
        if (94.0..114.0).contains(&seconds(created)) {
            self.durations.push(seconds(now - created));
        }
    }
}

fn half_open(rule: &str, replications: u32) -> (Vec<f64>, Vec<f64>) {
    let seen = watch(&hanging(rule), replications, HalfOpenCalls::default);
    let sent = seen.iter().map(|(calls, _)| f64::from(calls.sent)).collect();
    let p95 = seen.into_iter().map(|(mut calls, _)| {
        calls.durations.sort_by(f64::total_cmp);
        calls.durations[calls.durations.len() * 95 / 100]
    });
    (sent, p95.collect())
}

/// While a failure is not known, everything goes through: those that come until the fifth and in
/// the 30 s after it, 5 + 30 · 10. With at most three probes it is three.
#[test]
fn a_half_open_breaker_without_a_limit_lets_a_timeout_full_of_calls_through() {
    let unlimited = "{ probes = \"unlimited\", trials = 5, failures = 5 }";
    let (sent, p95) = half_open(unlimited, 256);
    assert_agrees("sent while half-open", &sent, 305.0);
    assert_caught("one probe less counts", &sent, 290.0);
    assert!(p95.iter().all(|&p95| p95 == 30.0), "{p95:?}");
    for (rule, probes) in [("{ probes = 3, trials = 3, failures = 3 }", 3.0), ("{}", 1.0)] {
        let (sent, p95) = half_open(rule, 32);
        assert!(sent.iter().all(|&n| n == probes), "{rule}: {sent:?}");
        assert!(p95.iter().all(|&p95| p95 == 0.0), "{rule}: {p95:?}");
    }
}

/// Clients that call again and again, each with its own breaker, against a provider that is down.
fn calling(counts: &str, jitter: f64, horizon: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 1000, burst = {{}} }}
        provider = {{ faults = [{{ outage = {{ from = "0s", status = 503 }} }}] }}
        measure = {{ horizon = "{horizon}", window = "100ms" }}
        [[client.layers]]
        name = "sdk"
        max_attempts = 3
        breaker = {{ consecutive = {{ failures = 5 }}, open = "30s", open_jitter = {jitter:?}, counts = "{counts}", scope = "client" }}
        [[client.layers]]
        name = "job"
        max_attempts = 1000000
        backoff = {{ table = {{ waits = ["10ms"] }} }}
        retry_on = {{ refusals = true }}
        "#
    )
}

#[test]
fn a_breaker_around_the_retries_sees_a_third_of_the_failures() {
    for (counts, sent) in [("attempts", 5.0), ("calls", 15.0)] {
        let runs = runs(&calling(counts, 0.0, "1s"), 2);
        assert_eq!(runs.values("amplification"), [sent; 2], "{counts}");
        assert_eq!(runs.values("breaker_openings"), [1_000.0; 2]);
        // Open until the horizon: from the fifth failure, or from the end of the fifth call, on.
        let opened = if counts == "attempts" { 0.99 } else { 0.96 };
        let open = runs.values("breaker_open_s");
        assert!(open.iter().all(|s| (s - 1_000.0 * opened).abs() < 1e-6), "{counts}: {open:?}");
    }
}

/// Instants of attempts after the first opening.
#[derive(Default)]
struct Probes(Vec<f64>);

impl Observer for Probes {
    fn attempt(&mut self, now: Time, _: Side, _: u32) {
        if seconds(now) > 1.0 {
            self.0.push(seconds(now));
        }
    }
}

/// All breakers open at 0.01 s. Without jitter all clients probe in one instant; 25 % of 30 s spread
/// the probes over 7.5 s, and polling every 10 ms adds up to that.
#[test]
fn jitter_on_the_open_time_spreads_the_probes() {
    let probes = |jitter| -> Vec<Vec<f64>> {
        let seen = watch(&calling("attempts", jitter, "39s"), 4, Probes::default);
        seen.into_iter().map(|(probes, _)| probes.0).collect()
    };
    for times in probes(0.0) {
        assert_eq!(times.len(), 1_000);
        assert!(
            times.iter().all(|&t| t == times[0] && (30.01..30.03).contains(&t)),
            "{}",
            times[0]
        );
    }
    let mut times = probes(0.25).concat();
    assert_eq!(times.len(), 4_000);
    let distance = kolmogorov_smirnov(&mut times, |t| ((t - 30.015) / 7.5).clamp(0.0, 1.0));
    // 0.1 % critical value of Kolmogorov and Smirnov, and the grid of 10 ms.
    assert!(distance < 1.95 / 4_000_f64.sqrt() + 0.002, "{distance}");
}
