//! Idempotency keys: what is done and billed once, and what twice.

mod common;

use common::{assert_agrees, assert_caught, runs};
use retrylab::experiment::CellRuns;

/// Clients that wait for a minute and try four times, one, two and four seconds apart.
fn impatient(clients: u32, request: &str, provider: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = {clients}, burst = {{}} }}
        measure = {{ horizon = "1h" }}
        [request]
        output_tokens = 1000
        {request}
        [provider]
        {provider}
        [[client.layers]]
        name = "client"
        max_attempts = 4
        timeout = "60s"
        backoff = {{ none = {{ base = "1s", cap = "4s" }} }}
        "#
    );
    runs(&text, 20)
}

fn value(runs: &CellRuns, metric: &str) -> f64 {
    let values = runs.values(metric);
    assert!(!values.is_empty(), "{metric}");
    assert!(values.iter().all(|value| *value == values[0]), "{metric}: {values:?}");
    values[0]
}

const KEY: &str = "idempotency_key = true";

#[test]
fn a_repeat_attaches_to_the_work_under_way() {
    let provider = "service = \"86s\"\nidempotency = {}";
    let with = impatient(10, KEY, provider);
    assert_eq!(value(&with, "succeeded"), 10.0);
    assert_eq!(value(&with, "completion_max_s"), 86.0);
    assert_eq!([value(&with, "attempts"), value(&with, "attached")], [20.0, 10.0]);
    assert_eq!([value(&with, "billed_tokens"), value(&with, "wasted_tokens")], [10_000.0, 0.0]);
    assert_eq!(value(&with, "repeated_effects"), 0.0);
    // Neither a key that the provider does not know nor a provider that gets no key is enough.
    for (request, provider) in [(KEY, "service = \"86s\""), ("idempotency_key = false", provider)] {
        let without = impatient(10, request, provider);
        assert_eq!([value(&without, "succeeded"), value(&without, "attached")], [0.0, 0.0]);
        assert_eq!(value(&without, "billed_tokens"), 40_000.0);
        assert_eq!(value(&without, "repeated_effects"), 30.0);
    }
}

#[test]
fn repeats_that_were_given_up_get_no_answer() {
    // Done at 200 s, when the fourth attempt waits: late for the first, nothing for two others.
    let runs = impatient(10, KEY, "service = \"200s\"\nidempotency = {}");
    assert_eq!([value(&runs, "succeeded"), value(&runs, "completion_max_s")], [10.0, 200.0]);
    assert_eq!([value(&runs, "attached"), value(&runs, "late_answers")], [30.0, 10.0]);
}

#[test]
fn an_answer_is_remembered_for_its_lifetime() {
    // Done at 60.5 s; the repeat comes at 61 s.
    let within = impatient(1, KEY, "service = \"60500ms\"\nidempotency = { lifetime = \"501ms\" }");
    assert_eq!([value(&within, "succeeded"), value(&within, "completion_max_s")], [1.0, 61.0]);
    assert_eq!(value(&within, "billed_tokens"), 1000.0);
    let beyond = impatient(1, KEY, "service = \"60500ms\"\nidempotency = { lifetime = \"500ms\" }");
    assert_eq!([value(&beyond, "succeeded"), value(&beyond, "repeated_effects")], [0.0, 3.0]);
}

#[test]
fn a_repeat_takes_no_limit_and_no_place() {
    let limited = "limits = { requests = { rate = \"1/h\", burst = 1 } }";
    for scarce in [limited, "concurrency = 1"] {
        let provider = format!("service = \"86s\"\nidempotency = {{}}\n{scarce}");
        let runs = impatient(1, KEY, &provider);
        assert_eq!([value(&runs, "succeeded"), value(&runs, "attached")], [1.0, 1.0], "{scarce}");
    }
}

#[test]
fn work_that_fails_is_forgotten_by_all_who_wait() {
    // 0 s: sent. 60 s: given up. 61 s: attached. 86 s: the error for both. 87 s, after the
    // second wait of 2 s at 88 s: new work, given up at 148 s, attached at 152 s, the error at 174 s.
    let provider = "service = \"86s\"\nidempotency = {}\n\
                    faults = [{ error = { share = 1.0, status = 500 } }]";
    let runs = impatient(1, KEY, provider);
    assert_eq!([value(&runs, "attempts"), value(&runs, "attached")], [4.0, 2.0]);
    assert_eq!([value(&runs, "gave_up"), value(&runs, "gave_up_after_max_s")], [1.0, 174.0]);
    assert_eq!(value(&runs, "billed_tokens"), 0.0);
}

#[test]
fn a_provider_that_notices_stops_what_nobody_waits_for() {
    let provider = "service = \"86s\"\nidempotency = {}\ncancelled_work = \"removed\"";
    let runs = impatient(1, KEY, provider);
    assert_eq!([value(&runs, "attached"), value(&runs, "stopped")], [0.0, 4.0]);
    assert_eq!([value(&runs, "succeeded"), value(&runs, "repeated_effects")], [0.0, 0.0]);
}

/// An exponential service of mean 40 s: a client that gives up after a minute comes back for the
/// same work with a key, and for new work without one.
#[test]
fn attempts_of_a_population_have_closed_forms() {
    let provider = |mean: &str| {
        format!("service = {{ exponential = {{ mean = \"{mean}\" }} }}\nidempotency = {{}}")
    };
    // Given up at 60, 121 and 183 s, and at last at 247 s. With a key the one piece of work is
    // awaited until then.
    let still_open = |t: f64| (-t / 40.0).exp();
    let good = impatient(2000, KEY, &provider("40s"));
    let bad = impatient(2000, KEY, &provider("43s"));
    let attempts = 1.0 + [60.0, 121.0, 183.0].map(still_open).iter().sum::<f64>();
    assert_agrees("amplification", &good.values("amplification"), attempts);
    assert_caught("amplification", &bad.values("amplification"), attempts);
    assert_agrees("success", &good.values("success_ratio"), 1.0 - still_open(247.0));
    assert_eq!(value(&good, "repeated_effects"), 0.0);
}
