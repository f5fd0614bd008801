//! Retry budgets of real libraries in a fleet, against closed forms.
//!
//! Sources: envoyproxy/envoy issue 30205, envoyproxy/envoy-mobile pull request 811, grpc/grpc-go
//! issue 7539, Brooker 2022 (<https://brooker.co.za/blog/2022/02/28/retries.html>), Google SRE book
//! chapter 21.

mod common;

use common::{assert_agrees, assert_caught, runs};

/// A herd whose attempts all fail after a second of service, all at the same instant.
fn herd(clients: u32, attempts: u32, backoff: &str, budget: &str) -> String {
    format!(
        r#"
        workload = {{ clients = {clients}, burst = {{}} }}
        provider = {{ service = "1s", faults = [{{ error = {{ share = 1.0, status = 503 }} }}] }}
        measure = {{ horizon = "1h", window = "1s" }}
        [[client.layers]]
        name = "client"
        max_attempts = {attempts}
        backoff = {backoff}
        budget = {{ {budget} }}
        "#
    )
}

const WAIT: &str = "{ full_jitter = { base = \"25ms\", cap = \"250ms\" } }";

fn retries(text: &str) -> Vec<f64> {
    runs(text, 4).values("retries")
}

/// What the budget is a share of, and from when on a retry counts, is the difference between 20 %
/// and everything.
#[test]
fn a_share_of_what_is_active_depends_on_what_is_counted() {
    let active = |keys: &str| {
        let budget = format!("active_retries = {{ ratio = 0.2, {keys}, scope = \"fleet\" }}");
        retries(&herd(1_000, 2, WAIT, &budget))
    };
    assert_eq!(active("base = \"calls\", taken_at = \"send\""), [1_000.0; 4]);
    assert_eq!(active("base = \"calls\""), [200.0; 4]);
    assert_eq!(active("whole = false"), [167.0; 4]);
    assert_eq!(active("whole = true"), [166.0; 4]);
    assert_eq!(active("floor = 300"), [300.0; 4]);
}

/// Six requests fail one after the other, and with each the base shrinks: half are retried.
#[test]
fn a_budget_shrinks_while_it_is_needed() {
    for (clients, ratio, floor, expected) in [
        (6, 1.0, 0, 3.0),
        (6, 0.5, 0, 2.0),
        (6, 0.2, 0, 1.0),
        (6, 0.2, 3, 3.0),
        (100, 1.0, 0, 50.0),
    ] {
        let budget = format!(
            "active_retries = {{ ratio = {ratio:?}, floor = {floor}, whole = false, scope = \"fleet\" }}"
        );
        assert_eq!(retries(&herd(clients, 2, WAIT, &budget)), [expected; 4], "{clients} {ratio}");
    }
}

/// From a full bucket of m tokens in a total outage. In parallel, half of the tokens are retries;
/// one after the other, failures of last attempts take tokens too.
#[test]
fn grpc_throttling_promises_half_of_its_tokens() {
    let throttling = |most: u32| {
        format!(
            "retry_throttling = {{ max_tokens = {most}, token_ratio = 0.1, scope = \"fleet\" }}"
        )
    };
    for (most, expected) in [(10, 4.0), (100, 49.0)] {
        let parallel = herd(500, 2, WAIT, &throttling(most));
        assert_eq!(retries(&parallel), [expected; 4], "{most}");
    }
    let sequential = |attempts, most| {
        let herd = herd(1, attempts, "\"no_backoff\"", &throttling(most));
        retries(&herd.replace("burst = {}", "closed_loop = { jobs = 500 }"))
    };
    assert_eq!(sequential(5, 100), [40.0; 4]);
    assert_eq!(sequential(2, 100), [25.0; 4]);
    assert_eq!(sequential(2, 10), [2.0; 4]);
    // Each channel has its own.
    let fleet = herd(100, 5, WAIT, &throttling(10)).replace("\"fleet\"", "\"client\"");
    assert_eq!(retries(&fleet), [400.0; 4]);
}

/// 100 % failures against 500 tokens at 5 and at 14.
#[test]
fn the_aws_quota_lasts_a_hundred_or_35_retries() {
    for (keys, expected) in [
        ("cost = 5, timeout_cost = 10", 100.0),
        ("cost = 14, throttled_cost = 5", 35.0),
        ("cost = 5, server_error_cost = 10", 50.0),
    ] {
        let budget = format!("retry_quota = {{ capacity = 500, {keys}, scope = \"fleet\" }}");
        assert_eq!(retries(&herd(400, 3, WAIT, &budget)), [expected; 4], "{keys}");
    }
}

/// Finagle and tower in a total outage: the reserve of 10 per second is 100 per 10 s.
#[test]
fn a_reserve_is_renewed_every_window() {
    let budget = "recent_ratio = { ratio = 0.2, window = \"10s\", reserve_per_s = 10, deposit = \"success\", scope = \"fleet\" }";
    let text = herd(10, 5, "\"no_backoff\"", budget)
        .replace("burst = {}", "poisson = { rate = \"100/s\" }")
        .replace("service = \"1s\"", "service = \"10ms\"")
        .replace("horizon = \"1h\"", "horizon = \"100s\"");
    // Ten windows; with 100 requests per second each reserve is used up.
    let found = retries(&text);
    assert!(found.iter().all(|&n| (990.0..=1_000.0).contains(&n)), "{found:?}");
}

/// Attempts that fail independently with probability p, in a busy fleet with one bucket.
fn bucket(p: f64, deposit: f64) -> String {
    format!(
        r#"
        workload = {{ clients = 100, poisson = {{ rate = "500/s", duration = "400s" }} }}
        provider = {{ faults = [{{ error = {{ share = {p:?}, status = 503 }} }}] }}
        measure = {{ horizon = "500s", window = "1s" }}
        [[client.layers]]
        name = "client"
        max_attempts = 4
        backoff = {{ full_jitter = {{ base = "10ms", cap = "1s" }} }}
        budget = {{ token_bucket = {{ capacity = 100, refill_per_success = {deposit:?}, scope = "fleet" }} }}
        "#
    )
}

/// Brooker 2022: retries per call are min(p + p² + p³, d(1 − p) / (1 − d(1 − p))). At p = 0.1 both are
/// nearly the same, and a bucket of 100 is not large any more.
#[test]
fn a_token_bucket_caps_retries_at_its_deposits() {
    for p in [0.05, 0.2, 0.5, 0.8] {
        let earned = 0.1 * (1.0 - p) / (1.0 - 0.1 * (1.0 - p));
        let load = 1.0 + f64::min(p + p * p + p * p * p, earned);
        // The bucket is full at first.
        let start = if p > 0.1 { 100.0 / 200_000.0 } else { 0.0 };
        let found = runs(&bucket(p, 0.1), 12).values("amplification");
        assert_agrees(&format!("p = {p}"), &found, load + start);
    }
    let planted = runs(&bucket(0.5, 0.12), 12).values("amplification");
    assert_caught("a deposit of 0.12", &planted, 1.0 + 0.05 / 0.95);
}

/// A stream of calls, each a single attempt, to a provider that takes so many per second.
fn throttled(accepted: &str, horizon: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 10, poisson = {{ rate = "100/s" }} }}
        provider = {{ {accepted} }}
        measure = {{ horizon = "{horizon}", window = "1s" }}
        [[client.layers]]
        name = "client"
        adaptive_throttle = {{ k = 2.0, scope = "fleet" }}
        "#
    )
}

/// A provider that is down gets the harmonic number of the requests. One that accepts an attempt
/// every 1/r seconds at most, from a stream of s per second, accepts r·s / (r + s); with s = K times
/// that, s is r·(K - 1).
#[test]
fn adaptive_throttling_sends_k_attempts_for_each_accepted_one() {
    let down = "faults = [{ outage = { from = \"0s\", status = 503 } }]";
    let sent = runs(&throttled(down, "60s"), 400).values("attempts");
    let harmonic: f64 = (1..=6_000).map(|n| 1.0 / f64::from(n)).sum();
    assert!((common::mean_and_error(&sent).0 - harmonic).abs() < 0.6, "{harmonic}");
    let limit = "limits = { requests = { rate = \"10/s\", burst = 1, retry_after = \"absent\" } }";
    let sent = |k: &str| -> Vec<f64> {
        let at = |horizon| {
            let text = throttled(limit, horizon).replace("k = 2.0", &format!("k = {k}"));
            runs(&text, 16).values("attempts")
        };
        // Long after the start, when all of the window is of this kind.
        at("1200s").iter().zip(at("300s")).map(|(b, a)| (b - a) / 900.0).collect()
    };
    assert_agrees("K = 2", &sent("2.0"), 10.0);
    assert_agrees("K = 3", &sent("3.0"), 20.0);
    assert_caught("K = 2.1", &sent("2.1"), 10.0);
}
