//! Latency shifts what happens by exactly so much, and what is lost is never heard of.

mod common;

use common::{REPLICATIONS, assert_agrees, assert_caught, runs, watch};
use retrylab::experiment::CellRuns;
use retrylab::model::{Observer, Side};
use retrylab::theory::retry::{amplification, failed_share};
use retrylab::units::Time;

/// Instants and numbers of all attempts at the provider.
#[derive(Default)]
struct Arrivals(Vec<(Time, u32)>);

impl Observer for Arrivals {
    fn attempt(&mut self, now: Time, _: Side, number: u32) {
        self.0.push((now, number));
    }
}

fn arrivals(text: &str) -> Vec<(Time, u32)> {
    watch(text, 1, Arrivals::default).remove(0).0.0
}

const MS: u64 = 1_000_000;

/// A client that is refused until 10 s, 30 ms away from the provider.
const REFUSED: &str = r#"
    workload = { clients = 1, burst = { at = "1s" } }

    [provider]
    service = "100ms"
    [[provider.faults]]
    outage = { from = "0s", to = "4s", status = 503 }

    [client]
    network = { latency = "30ms" }
    [[client.layers]]
    name = "client"
    max_attempts = 9
    backoff = { none = { base = "1s", multiplier = 1.0, cap = "1s" } }
"#;

#[test]
fn every_attempt_arrives_one_latency_after_it_is_sent() {
    // The refusal of one takes 30 ms back, and the next is sent 1 s later.
    let expected: Vec<(Time, u32)> =
        (0..4).map(|k| (1_030 * MS + u64::from(k) * 1_060 * MS, k + 1)).collect();
    assert_eq!(arrivals(REFUSED), expected);
    let found = runs(REFUSED, 1);
    // The last one is answered 100 ms and one latency after its arrival at 4.21 s.
    assert_eq!(found.values("last_resolved_s"), [4.34]);
    assert_eq!(found.values("completion_mean_s"), [3.34]);
    assert_eq!(found.values("peak_in_flight"), [1.0]);
}

/// A herd at a provider with two places and a short queue, its layers, and what else there is.
fn herd(network: &str, layer: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = 20, burst = {{ at = "1s", spread = "2s" }} }}
        request = {{ output_tokens = {{ uniform = {{ low = 0, high = 60 }} }} }}
        measure = {{ window = "50ms" }}
        [provider]
        concurrency = 2
        queue = {{ fifo = {{ limit = 4 }} }}
        service = {{ tokens = {{ first = "50ms", rate = "100/s" }} }}
        [client]
        {network}
        [[client.layers]]
        name = "client"
        {layer}
        "#
    );
    runs(&text, 10)
}

#[test]
fn a_herd_that_is_away_by_a_latency_does_the_same_one_latency_later() {
    let (near, far) = (herd("", ""), herd("network = { latency = \"150ms\" }", ""));
    for metric in [
        "attempts",
        "succeeded",
        "gave_up",
        "queue_wait_mean_s",
        "peak_attempts_bin",
        "peak_in_flight",
    ] {
        assert_eq!(near.values(metric), far.values(metric), "{metric}");
    }
    for (metric, later) in
        [("completion_mean_s", 0.3), ("gave_up_after_mean_s", 0.3), ("last_resolved_s", 0.3)]
    {
        for (near, far) in near.values(metric).iter().zip(far.values(metric)) {
            assert!((far - near - later).abs() < 1e-9, "{metric}: {near} and {far}");
        }
    }
    // Three windows of 50 ms later.
    for (near, far) in near.runs.iter().zip(&far.runs) {
        assert_eq!(far.first_attempts[..3], [0; 3]);
        assert_eq!(far.first_attempts[3..], near.first_attempts);
    }
}

#[test]
fn a_network_that_does_nothing_is_none() {
    let layer = "max_attempts = 3\ntimeout = \"300ms\"\nbackoff = { full_jitter = { base = \"1s\", cap = \"2s\" } }";
    let none = herd("", layer);
    for network in ["network = {}", "network = { latency = \"0s\", loss = 0.0 }"] {
        assert_eq!(none.runs, herd(network, layer).runs, "{network}");
    }
    let lossy = herd("network = { loss = 0.2 }", layer);
    assert_ne!(none.values("last_resolved_s"), lossy.values("last_resolved_s"));
}

/// One request that takes 40 ms of latencies and 10 ms of service, and its limit of time.
fn at_the_limit(timeout: &str, rule: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = 1, burst = {{}} }}
        request = {{ output_tokens = 7 }}
        provider = {{ service = "10ms" }}
        [client]
        network = {{ latency = "20ms" }}
        [[client.layers]]
        name = "client"
        max_attempts = 2
        timeout = "{timeout}"
        reply_at_timeout = "{rule}"
        "#
    );
    runs(&text, 1)
}

#[test]
fn a_limit_of_time_counts_both_latencies() {
    let one = |runs: &CellRuns, metric: &str| runs.values(metric)[0];
    for (timeout, rule, succeeded) in [
        ("51ms", "late", 1.0),
        ("50ms", "in_time", 1.0),
        ("50ms", "late", 0.0),
        ("49ms", "in_time", 0.0),
    ] {
        let found = at_the_limit(timeout, rule);
        assert_eq!(one(&found, "succeeded"), succeeded, "{timeout} {rule}");
        // The provider does its work in any case, and is paid for it.
        let attempts = 2.0 - succeeded;
        assert_eq!(one(&found, "billed_tokens"), 7.0 * attempts);
        assert_eq!(one(&found, "useful_tokens"), 7.0 * succeeded);
        assert_eq!(one(&found, "late_answers"), attempts - succeeded);
    }
}

/// Attempts of an unlimited provider; each way is lost with this probability.
fn lossy(loss: f64, attempts: u32) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ poisson = {{ rate = "50/s", duration = "200s" }} }}
        request = {{ output_tokens = 1 }}
        provider = {{ service = "100ms" }}
        [client]
        network = {{ latency = {{ exponential = {{ mean = "20ms" }} }}, loss = {loss} }}
        [[client.layers]]
        name = "client"
        max_attempts = {attempts}
        timeout = "5s"
        "#
    );
    runs(&text, REPLICATIONS)
}

#[test]
fn what_is_lost_ends_in_a_timeout() {
    let (loss, attempts) = (0.2, 2);
    let unheard = |p: f64| 1.0 - (1.0 - p) * (1.0 - p);
    let (good, bad) = (lossy(loss, attempts), lossy(1.05 * loss, attempts));
    let cost = amplification(unheard(loss), attempts);
    assert_agrees("attempts per request", &good.values("amplification"), cost);
    assert_caught("attempts per request", &bad.values("amplification"), cost);
    let failed: Vec<f64> = good.values("success_ratio").iter().map(|s| 1.0 - s).collect();
    assert_agrees("failed", &failed, failed_share(unheard(loss), attempts));
    assert_eq!(good.values("gave_up"), good.values("gave_up_attempts"));
    let per_attempt = |metric: &str| -> Vec<f64> {
        let pairs = good.values(metric).into_iter().zip(good.values("attempts"));
        pairs.map(|(part, all)| part / all).collect()
    };
    assert_agrees("lost attempts", &per_attempt("lost_attempts"), loss);
    assert_agrees("lost answers", &per_attempt("lost_answers"), loss * (1.0 - loss));
    // All that arrives is worked on and billed; answers that are lost are waste.
    let tokens = good.values("billed_tokens").into_iter().zip(good.values("lost_attempts"));
    let all = tokens.map(|(billed, lost)| billed + lost).collect::<Vec<_>>();
    assert_eq!(all, good.values("attempts"));
    let waste = good.values("wasted_tokens").into_iter().zip(good.values("late_answers"));
    let lost = waste.map(|(wasted, late)| wasted - late).collect::<Vec<_>>();
    assert_eq!(lost, good.values("lost_answers"));
}

#[test]
fn attempts_that_arrive_after_later_ones_keep_their_numbers() {
    let text = r#"
        workload = { clients = 200, burst = {} }
        provider = { service = "10ms" }
        [client]
        network = { latency = { uniform = { low = "4s", high = "20s" } } }
        [[client.layers]]
        name = "client"
        max_attempts = 4
        timeout = "500ms"
    "#;
    let arrivals = arrivals(text);
    let count = |k| arrivals.iter().filter(|(_, number)| *number == k).count();
    assert_eq!([1, 2, 3, 4, 5].map(count), [200, 200, 200, 200, 0]);
    assert!(!arrivals.iter().map(|(_, number)| number).is_sorted(), "none is overtaken");
}

/// A client that goes away before its attempt arrives.
#[test]
fn a_provider_that_removes_work_does_not_start_what_nobody_waits_for() {
    let done = |cancelled: &str| {
        let text = format!(
            r#"
            workload = {{ clients = 5, burst = {{}} }}
            request = {{ output_tokens = 1 }}
            provider = {{ service = "10ms", cancelled_work = "{cancelled}" }}
            client = {{ network = {{ latency = "2s" }}, layers = [{{ name = "client", timeout = "1s" }}] }}
            "#
        );
        let found = runs(&text, 1);
        (found.values("billed_tokens")[0], found.values("peak_attempts_bin")[0])
    };
    assert_eq!(done("computed"), (5.0, 5.0));
    assert_eq!(done("removed"), (0.0, 5.0));
}

/// The head of a stream sets out when service starts; limits on silence start anew with it.
#[test]
fn heads_of_streams_take_a_latency_too() {
    let completion = |latency: &str| {
        let text = format!(
            r#"
            workload = {{ clients = 1, burst = {{}} }}
            request = {{ output_tokens = 100, stream = true }}
            provider = {{ service = {{ tokens = {{ first = "500ms", rate = "100/s" }} }} }}
            client = {{ network = {{ latency = "{latency}" }}, layers = [{{ name = "client", timeout = "1s", timeout_of = "silence" }}] }}
            "#
        );
        runs(&text, 1).values("completion_mean_s")
    };
    // 1.5 s of service and both latencies.
    assert_eq!(completion("400ms"), [2.3]);
    assert_eq!(completion("501ms"), [0.0; 0]);
}

#[test]
fn an_attempt_that_the_network_loses_is_never_accepted() {
    let text = r#"
        workload = { clients = 2000, burst = {} }
        provider = { service = "20s" }
        [client]
        network = { latency = "1s", loss = 0.2 }
        [[client.layers]]
        name = "client"
        max_attempts = 2
        connect_timeout = "3s"
        timeout = "60s"
    "#;
    // What is lost on the way there is known after 3 s, what is lost on the way back after 60 s.
    let retries: Vec<Time> =
        arrivals(text).into_iter().filter(|(_, number)| *number == 2).map(|(at, _)| at).collect();
    for (at, share) in [(4_000 * MS, 0.2 * 0.8_f64), (61_000 * MS, 0.8 * 0.2 * 0.8)] {
        let count = retries.iter().filter(|arrival| **arrival == at).count() as f64;
        let error = (2_000.0 * share * (1.0 - share)).sqrt();
        assert!((count - 2_000.0 * share).abs() < 4.0 * error, "{count} at {at}");
    }
    assert!(retries.iter().all(|at| [4_000 * MS, 61_000 * MS].contains(at)));
}
