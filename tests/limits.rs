//! Limits as whole scenarios see them.

mod common;

use common::{cell, runs};
use retrylab::experiment::CellRuns;
use retrylab::presets::{Kind, find};

fn value(runs: &CellRuns, metric: &str) -> f64 {
    runs.values(metric)[0]
}

/// A throttle that clears in seconds, and five retries in 0.15 s
/// (<https://github.com/github/copilot-cli/issues/3679>): 270,000 tokens a minute, a deficit of
/// 20,000 of them takes 4.4 s.
#[test]
fn retries_that_are_over_before_the_bucket_refills_are_lost() {
    let run = |backoff: &str| {
        let text = format!(
            r#"
            workload = {{ clients = 2, burst = {{}} }}
            request = {{ input_tokens = 22000 }}
            [provider]
            limits = {{ tokens = {{ rate = "270000/min", burst = 24000, retry_after = "absent" }} }}
            [[client.layers]]
            name = "cli"
            max_attempts = 6
            backoff = {{ {backoff} }}
            "#
        );
        runs(&text, 20)
    };
    let hasty = run("none = { base = \"30ms\", multiplier = 1.0, cap = \"30ms\" }");
    assert_eq!(hasty.values("succeeded"), [1.0; 20]);
    assert_eq!(hasty.values("refused_by_limit_tokens"), [6.0; 20]);
    assert_eq!(hasty.values("wasted_tokens"), [0.0; 20]);
    let patient = run("sdk_jitter = { base = \"500ms\", cap = \"8s\" }");
    assert_eq!(patient.values("succeeded"), [2.0; 20]);
}

/// 100 clients that ask ten times a second each, and one request a second.
fn storm(consumes: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = 100, burst = {{}} }}
        measure = {{ horizon = "30500ms" }}
        [provider]
        limits = {{ requests = {{ rate = "60/min", burst = 1 }}, rejected_consumes = "{consumes}" }}
        [[client.layers]]
        name = "client"
        max_attempts = 1000
        backoff = {{ none = {{ base = "100ms", multiplier = 1.0, cap = "100ms" }} }}
        "#
    );
    runs(&text, 1)
}

#[test]
fn a_storm_of_rejected_retries_keeps_the_limit_exhausted_where_they_count() {
    assert_eq!(value(&storm("none"), "succeeded"), 31.0);
    assert_eq!(value(&storm("request"), "succeeded"), 1.0);
}

#[test]
fn nothing_is_served_once_the_money_is_spent() {
    // 1,000 input tokens at 3 dollars and 1,000 of output at 15 dollars a million: 1.8 cents each.
    let text = r#"
        workload = { clients = 1, closed_loop = { jobs = 20 } }
        request = { input_tokens = 1000, output_tokens = 1000 }
        [provider]
        service = "1s"
        limits = { spend = { usd = 0.09 } }
        billing = { price = "claude-sonnet-4" }
        [[client.layers]]
        name = "client"
        max_attempts = 3
        backoff = { none = { base = "1s", multiplier = 1.0, cap = "1s" } }
        retry_on = { never_codes = ["enforced_spend_limit_reached"] }
    "#;
    let found = runs(text, 1);
    let values = ["succeeded", "attempts", "gave_up_not_retryable", "refused_by_limit_spend"];
    assert_eq!(values.map(|m| value(&found, m)), [5.0, 20.0, 15.0, 15.0]);
    assert!((value(&found, "billed_usd") - 0.09).abs() < 1e-12);
}

#[test]
fn an_operator_raises_a_limit() {
    let text = r#"
        workload = { clients = 200, burst = {} }
        measure = { horizon = "20050ms" }
        [provider]
        limits = { requests = { rate = "1/s", burst = 1 } }
        [[provider.actions]]
        limit = { at = "10s", of = "requests", rate = "5/s" }
        [[client.layers]]
        name = "client"
        max_attempts = 1000
        backoff = { none = { base = "100ms", multiplier = 1.0, cap = "100ms" } }
    "#;
    // One at 0 s, 1 s, …, 10 s, then one every 0.2 s.
    assert_eq!(value(&runs(text, 1), "succeeded"), 11.0 + 50.0);
}

/// Whoever waits as he is told gets in, as long as nobody else comes: three ways of counting.
#[test]
fn one_wait_is_enough_for_a_client_alone() {
    for limit in [
        "requests = { rate = \"7/min\", burst = 2, retry_after = \"exact\" }",
        "requests = { rate = \"7/min\", counting = \"fixed_window\", window = \"60s\", retry_after = \"exact\" }",
        "requests = { rate = \"7/min\", counting = \"sliding_window\", window = \"60s\", retry_after = \"exact\" }",
        "input_tokens = { rate = \"900/min\", burst = 300, retry_after = \"exact\" }",
        "output_tokens = { rate = \"900/min\", burst = 300, retry_after = \"exact\" }",
        "tokens = { rate = \"900/min\", burst = 300, reserve = 200, retry_after = \"exact\" }",
        "growth = { window = \"10s\", factor = 1.0, free = 2, retry_after = \"exact\" }",
    ] {
        let text = format!(
            r#"
            workload = {{ clients = 1, closed_loop = {{ jobs = 30 }} }}
            request = {{ input_tokens = 100, output_tokens = {{ uniform = {{ low = 50, high = 200 }} }} }}
            measure = {{ horizon = "1h" }}
            [provider]
            service = "100ms"
            limits = {{ {limit} }}
            [[client.layers]]
            name = "client"
            max_attempts = 2
            retry_after = {{ obey = {{}} }}
            "#
        );
        let found = runs(&text, 3);
        assert_eq!(found.values("succeeded"), [30.0; 3], "{limit}");
        assert!(value(&found, "refused_by_limit") >= 4.0, "{limit}");
    }
}

/// Fifty agents on a full minute's bucket of tokens: the tier lets through what it says.
#[test]
fn a_tier_lets_through_its_minutes_of_tokens() {
    // Prompts of 10,000 tokens: three of the 30,000 at once, then three a minute.
    let text = r#"
        workload = { clients = 50, burst = {} }
        request = { input_tokens = 10000, output_tokens = 10 }
        measure = { horizon = "599s" }
        [provider]
        limits = { preset = "claude-tier-1", requests = { burst = 50 } }
        [[client.layers]]
        name = "client"
        max_attempts = 100000
        backoff = { none = { base = "100ms", multiplier = 1.0, cap = "100ms" } }
    "#;
    let found = runs(text, 1);
    assert_eq!(value(&found, "succeeded"), 3.0 + 29.0);
}

#[test]
fn every_tier_and_every_price_can_be_used() {
    for kind in [Kind::Limits, Kind::Price] {
        for name in kind.names() {
            assert!(find(kind, name).is_some());
            let line = match kind {
                Kind::Limits => format!("limits = {{ preset = \"{name}\" }}"),
                _ => format!("billing = {{ price = \"{name}\" }}"),
            };
            let cell = cell(&format!("workload = {{ burst = {{}} }}\n[provider]\n{line}"));
            let provider = &cell.scenario.provider;
            match kind {
                Kind::Limits => assert!(provider.limits.requests.is_some(), "{name}"),
                _ => assert!(provider.billing.price().is_some(), "{name}"),
            }
        }
    }
}
