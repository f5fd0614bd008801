//! Scenarios that must give the same run, or one that follows from the other exactly.

mod common;

use common::{cell, named_cell, run_cells, runs};
use retrylab::experiment::{CellRuns, Run};
use retrylab::stats::paired;

/// A busy fleet with a bit of everything, and `{…}` to fill in.
struct Fleet {
    queue: &'static str,
    layer: &'static str,
    measure: &'static str,
}

impl Default for Fleet {
    fn default() -> Fleet {
        Fleet { queue: "queue = { fifo = { limit = 9 } }", layer: RETRY, measure: "" }
    }
}

const RETRY: &str = "max_attempts = 4\nbackoff = { full_jitter = { base = \"1s\", cap = \"8s\" } }";

impl Fleet {
    fn text(&self) -> String {
        let Fleet { queue, layer, measure } = self;
        format!(
            r#"
            [workload]
            clients = 20
            poisson = {{ rate = "12/s", duration = "60s" }}

            [provider]
            concurrency = 5
            service = {{ exponential = {{ mean = "400ms" }} }}
            {queue}

            [[provider.faults]]
            outage = {{ from = "10s", to = "15s", status = 503 }}

            [[client.layers]]
            name = "client"
            {layer}

            [measure]
            window = "1s"
            horizon = "10min"
            {measure}
            "#
        )
    }

    fn runs(&self) -> CellRuns {
        runs(&self.text(), 10)
    }
}

#[track_caller]
fn assert_same(left: &CellRuns, right: &CellRuns) {
    for (a, b) in left.runs.iter().zip(&right.runs) {
        assert_eq!(a, b);
    }
}

#[track_caller]
fn assert_same_values(left: &CellRuns, right: &CellRuns) {
    for (a, b) in left.runs.iter().zip(&right.runs) {
        for (metric, (x, y)) in left.cell.metrics.iter().zip(a.values.iter().zip(&b.values)) {
            assert_eq!(x, y, "{}", metric.name);
        }
        assert_eq!((&a.first_attempts, &a.retries), (&b.first_attempts, &b.retries));
    }
}

fn fingerprints(runs: &CellRuns) -> Vec<u64> {
    runs.runs.iter().map(|run| run.fingerprint).collect()
}

#[test]
fn a_budget_that_never_runs_out_is_none() {
    let none = Fleet::default().runs();
    for budget in [
        "budget = { token_bucket = { capacity = 1e9, refill_per_success = 0.0, scope = \"fleet\" } }",
        "budget = { token_bucket = { capacity = 0.0, refill_per_success = 0.0, cost = 0.0, scope = \"client\" } }",
        "budget = { ratio = { of_requests = 1.0, burst = 1e9, scope = \"group\" } }",
    ] {
        let layer = format!("{RETRY}\n{budget}").leak();
        assert_same(&none, &Fleet { layer, ..Fleet::default() }.runs());
    }
    let tight = "max_attempts = 4\nbackoff = { full_jitter = { base = \"1s\", cap = \"8s\" } }\nbudget = { ratio = { of_requests = 0.1, scope = \"fleet\" } }";
    let tight = Fleet { layer: tight, ..Fleet::default() }.runs();
    assert_ne!(fingerprints(&none), fingerprints(&tight), "a tight budget changes nothing");
}

#[test]
fn a_breaker_that_never_opens_is_none() {
    let plain = Fleet::default().runs();
    for rule in [
        "consecutive = { failures = 1000000 }",
        "ratio = { failures = 1.0, min_calls = 100000, last = 100000 }",
        "ratio = { failures = 1.0, min_calls = 1000000, window = \"1d\" }",
    ] {
        for counts in ["attempts", "calls"] {
            let breaker = |rule: &str| {
                let layer = format!(
                    "{RETRY}\nbreaker = {{ {rule}, open = \"5s\", counts = \"{counts}\", scope = \"fleet\" }}"
                );
                Fleet { layer: layer.leak(), ..Fleet::default() }.runs()
            };
            assert_eq!(fingerprints(&breaker(rule)), fingerprints(&plain), "{rule}");
            let one = breaker("consecutive = { failures = 1 }");
            assert_ne!(fingerprints(&one), fingerprints(&plain), "a breaker does nothing");
        }
    }
}

#[test]
fn a_huge_queue_is_an_unbounded_one() {
    let queue = |queue| Fleet { queue, ..Fleet::default() }.runs();
    let unbounded = queue("queue = { fifo = {} }");
    assert_same(&unbounded, &queue("queue = { fifo = { limit = 4000000000 } }"));
    assert_ne!(fingerprints(&unbounded), fingerprints(&queue("queue = { fifo = { limit = 9 } }")));
    assert_same(&queue(""), &queue("queue = { fifo = { limit = 0 } }"));
}

#[test]
fn a_single_attempt_has_no_backoff() {
    let single = |layer| Fleet { layer, ..Fleet::default() }.runs();
    let plain = single("");
    for backoff in [
        "backoff = \"no_backoff\"",
        "backoff = { none = { base = \"1s\", cap = \"30s\" } }",
        "backoff = { full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "backoff = { equal_jitter = { base = \"1s\", cap = \"30s\" } }",
        "backoff = { sdk_jitter = { base = \"1s\", cap = \"30s\" } }",
        "backoff = { additive_jitter = { base = \"1s\", cap = \"30s\" } }",
        "backoff = { decorrelated_jitter = { base = \"1s\", cap = \"30s\" } }",
        "retry_after = { obey = {} }",
        "budget = { ratio = { of_requests = 0.0, burst = 0.0, scope = \"fleet\" } }",
    ] {
        assert_same(&plain, &single(backoff));
    }
    assert_ne!(fingerprints(&plain), fingerprints(&single(RETRY)), "retries change nothing");
}

#[test]
fn a_timeout_that_is_never_reached_is_none() {
    let with = |limit: &str| {
        let layer = format!("{RETRY}\n{limit}").leak();
        Fleet { layer, ..Fleet::default() }.runs()
    };
    let none = with("");
    // Beyond the horizon it is not even an event.
    assert_same(&none, &with("timeout = \"1h\""));
    assert_same(&none, &with("deadline = \"1h\""));
    // Before it, its events do nothing.
    assert_same_values(&none, &with("timeout = \"5min\""));
    assert_same_values(&none, &with("deadline = \"5min\""));
    assert_ne!(fingerprints(&none), fingerprints(&with("timeout = \"1s\"")));
}

#[test]
fn watching_more_changes_no_trajectory() {
    let plain = Fleet::default().runs();
    let watched = Fleet { measure: "per_retry = 3", ..Fleet::default() }.runs();
    assert_eq!(fingerprints(&plain), fingerprints(&watched));
    for metric in &plain.cell.metrics {
        assert_eq!(plain.values(&metric.name), watched.values(&metric.name), "{}", metric.name);
    }
    assert!(watched.cell.metrics.len() > plain.cell.metrics.len());
}

#[test]
fn a_coarse_curve_adds_up_what_a_fine_one_shows() {
    let fine = Fleet::default().runs();
    let coarse = Fleet { measure: "curve = \"5s\"", ..Fleet::default() }.runs();
    assert_eq!(fingerprints(&fine), fingerprints(&coarse));
    for (fine, coarse) in fine.runs.iter().zip(&coarse.runs) {
        assert!(fine.retries.len() > 12, "too short a curve to tell");
        let sums: Vec<u32> = fine.retries.chunks(5).map(|five| five.iter().sum()).collect();
        assert_eq!((sums, &fine.values), (coarse.retries.clone(), &coarse.values));
    }
}

/// A herd without chance: times in milliseconds, all multiplied by `scale`.
fn clockwork(scale: u64, service_ms: u64) -> Run {
    let ms = |n: u64| format!("\"{}ms\"", n * scale);
    let text = format!(
        r#"
        workload = {{ clients = 50, burst = {{ at = {at} }} }}
        measure = {{ window = {window}, horizon = {horizon}, per_retry = 3 }}

        [provider]
        concurrency = 2
        queue = {{ fifo = {{ limit = 10 }} }}
        service = {service}

        [[provider.faults]]
        outage = {{ from = {from}, to = {to}, status = 503 }}

        [[client.layers]]
        name = "client"
        max_attempts = 9
        timeout = {timeout}
        deadline = {deadline}
        backoff = {{ none = {{ base = {base}, cap = {cap} }} }}
        "#,
        at = ms(20),
        window = ms(100),
        horizon = ms(600_000),
        service = ms(service_ms),
        from = ms(300),
        to = ms(900),
        timeout = ms(777),
        deadline = ms(9_000),
        base = ms(100),
        cap = ms(1_600),
    );
    runs(&text, 1).runs.remove(0)
}

#[test]
fn doubling_every_time_doubles_every_time() {
    let metrics = cell("workload = { burst = {} }\nmeasure = { per_retry = 3 }").metrics;
    let unlike = |one: &Run, two: &Run| -> Vec<String> {
        let follows = |unit: &str, x: f64, y: f64| match unit {
            "s" => (y - 2.0 * x).abs() <= 1e-12 * y,
            "1/s" => (2.0 * y - x).abs() <= 1e-12 * x,
            _ => x == y,
        };
        let values = metrics.iter().zip(one.values.iter().zip(&two.values));
        let unlike = values.filter(|(metric, pair)| match pair {
            (Some(x), Some(y)) => !follows(metric.unit, *x, *y),
            (x, y) => x != y,
        });
        unlike.map(|(metric, _)| metric.name.clone()).collect()
    };
    let (one, two) = (clockwork(1, 90), clockwork(2, 90));
    assert_eq!(unlike(&one, &two), [""; 0]);
    assert_eq!((&one.first_attempts, &one.retries), (&two.first_attempts, &two.retries));
    assert!(one.events > 200, "the clockwork hardly moves");
    assert!(!unlike(&one, &clockwork(2, 91)).is_empty(), "one service 1 % off passes");
}

#[test]
fn one_more_server_never_delays_the_last_answer() {
    let last = |concurrency: u32| {
        let text = format!(
            r#"
            workload = {{ poisson = {{ rate = "10/s", duration = "30s" }} }}
            measure = {{ window = "1s", horizon = "1h" }}

            [provider]
            concurrency = {concurrency}
            queue = {{ fifo = {{}} }}
            service = {{ lognormal = {{ median = "200ms", p90 = "1s" }} }}
            "#
        );
        let runs = runs(&text, 20);
        (runs.values("last_resolved_s"), runs.values("completion_max_s"))
    };
    let by_servers: Vec<_> = (1..=6).map(last).collect();
    for (fewer, more) in by_servers.iter().zip(&by_servers[1..]) {
        assert!(fewer.0.iter().zip(&more.0).all(|(a, b)| a >= b), "{fewer:?} then {more:?}");
        assert!(fewer.1.iter().zip(&more.1).all(|(a, b)| a >= b), "{fewer:?} then {more:?}");
    }
    assert!(by_servers[0].0.iter().zip(&by_servers[5].0).all(|(a, b)| a > b), "no difference");
}

#[test]
fn ten_replications_are_the_first_ten_of_twenty() {
    let text = Fleet::default().text();
    let (ten, twenty) = (runs(&text, 10), runs(&text, 20));
    assert_eq!(ten.runs[..], twenty.runs[..10]);
    assert_ne!(twenty.runs[..10], twenty.runs[10..]);
}

#[test]
fn policies_share_their_random_numbers_and_not_their_rows() {
    let same = || named_cell("same", &Fleet::default().text());
    let other =
        || named_cell("other", &Fleet { layer: "max_attempts = 2", ..Fleet::default() }.text());
    let alone = run_cells(vec![same()], 10, 1).remove(0);
    let together = run_cells(vec![other(), same(), same(), other()], 10, 2);
    assert_same(&alone, &together[1]);
    assert_same(&alone, &together[2]);
    assert_same(&together[0], &together[3]);
    for metric in ["amplification", "succeeded", "completion_mean_s", "last_resolved_s"] {
        let (left, right) = (together[1].values(metric), together[2].values(metric));
        let difference = paired::compare(&left, &right).unwrap().difference;
        assert_eq!((difference.mean, difference.min, difference.max), (0.0, 0.0, 0.0), "{metric}");
    }
    let requests = |runs: &CellRuns| runs.values("requests");
    assert_eq!(requests(&together[0]), requests(&together[1]), "arrivals depend on the policy");
    assert_ne!(fingerprints(&together[0]), fingerprints(&together[1]));
}
