//! Several providers, and layers that fall back from one to the next, against closed forms.

mod common;

use common::{assert_agrees, assert_caught, runs};
use retrylab::experiment::CellRuns;

/// Clients that try each of two providers three times; `first` and `second` are keys of the
/// providers, `sdk` further keys of the layer inside.
fn two(first: &str, second: &str, sdk: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = 1000, burst = {{}} }}
        request = {{ input_tokens = 1000, output_tokens = 100 }}
        [[client.layers]]
        name = "sdk"
        max_attempts = 3
        {sdk}
        backoff = {{ full_jitter = {{ base = "500ms", cap = "8s" }} }}
        [[client.layers]]
        name = "router"
        max_attempts = 2
        fallback = true
        [provider]
        {first}
        [[fallback]]
        name = "second"
        {second}
        "#
    );
    runs(&text, 200)
}

fn all_alike(runs: &CellRuns, metric: &str) -> f64 {
    let values = runs.values(metric);
    assert!(!values.is_empty(), "{metric}");
    assert!(values.iter().all(|value| *value == values[0]), "{metric}: {values:?}");
    values[0]
}

const DOWN: &str = r#"faults = [{ outage = { from = "0s", to = "1h", status = 503 } }]"#;
const PRICES: [&str; 2] = [
    "billing = { input_usd_per_mtok = 1.0, output_usd_per_mtok = 10.0 }",
    "billing = { input_usd_per_mtok = 2.0, output_usd_per_mtok = 20.0 }",
];

#[test]
fn the_second_provider_answers_when_the_first_is_down() {
    let runs = two(&format!("{DOWN}\n{}", PRICES[0]), PRICES[1], "");
    let value = |metric| all_alike(&runs, metric);
    assert_eq!(value("succeeded"), 1000.0);
    assert_eq!(value("attempts"), 4000.0);
    assert_eq!(value("provider_provider_attempts"), 3000.0);
    assert_eq!(value("provider_second_attempts"), 1000.0);
    assert_eq!(
        [value("provider_provider_answers"), value("provider_second_answers")],
        [0.0, 1000.0]
    );
    // 1,000 prompts of 1,000 tokens at $2, 1,000 answers of 100 tokens at $20.
    assert!((value("billed_usd") - 4.0).abs() < 1e-9);
    assert_eq!(value("provider_provider_billed_usd"), 0.0);
    assert!((value("provider_second_billed_usd") - 4.0).abs() < 1e-9);
}

#[test]
fn work_that_nobody_waits_for_stays_with_its_provider() {
    // The first answers after 2 s, when everybody has gone on; its work is done and billed there.
    let first = format!("service = \"2s\"\n{}", PRICES[0]);
    let runs = two(&first, PRICES[1], "timeout = \"1s\"");
    let value = |metric| all_alike(&runs, metric);
    assert_eq!(value("succeeded"), 1000.0);
    assert_eq!(
        [value("provider_provider_answers"), value("provider_second_answers")],
        [0.0, 1000.0]
    );
    assert_eq!(value("late_answers"), 3000.0);
    assert!((value("provider_provider_wasted_usd") - 6.0).abs() < 1e-9);
    assert_eq!(value("provider_second_wasted_tokens"), 0.0);
    assert!((value("billed_usd") - 10.0).abs() < 1e-9);
}

#[test]
fn errors_of_both_providers_multiply() {
    let error =
        |share: f64| format!("faults = [{{ error = {{ share = {share}, status = 500 }} }}]");
    let (p, q): (f64, f64) = (0.6, 0.7);
    let good = two(&error(p), &error(q), "");
    let bad = two(&error(0.65), &error(q), "");
    let tries = |p: f64| 1.0 + p + p * p;
    for (metric, theory) in [
        ("success_ratio", 1.0 - (p * q).powi(3)),
        ("provider_provider_attempts", 1000.0 * tries(p)),
        ("provider_second_attempts", 1000.0 * p.powi(3) * tries(q)),
    ] {
        assert_agrees(metric, &good.values(metric), theory);
        // The share of those who succeed hardly differs.
        if metric != "success_ratio" {
            assert_caught(metric, &bad.values(metric), theory);
        }
    }
}

#[test]
fn after_the_last_provider_comes_the_first() {
    let text = |attempts: u32| {
        format!(
            r#"
            workload = {{ clients = 10, burst = {{}} }}
            provider = {{ {DOWN} }}
            [[fallback]]
            name = "b"
            {DOWN}
            [[fallback]]
            name = "c"
            {DOWN}
            [[client.layers]]
            name = "router"
            max_attempts = {attempts}
            fallback = true
            backoff = {{ none = {{ base = "1s", cap = "1s" }} }}
            "#
        )
    };
    for (attempts, expected) in [(2, [10.0, 10.0, 0.0]), (3, [10.0; 3]), (7, [30.0, 20.0, 20.0])] {
        let runs = runs(&text(attempts), 2);
        let names = ["provider", "b", "c"];
        let found = names.map(|name| all_alike(&runs, &format!("provider_{name}_attempts")));
        assert_eq!(found, expected, "{attempts} attempts");
    }
}

#[test]
fn a_limit_is_that_of_one_provider() {
    let limit = r#"limits = { requests = { rate = "1/h", burst = 600 } }"#;
    let runs = two(limit, limit, "");
    let value = |metric| all_alike(&runs, metric);
    // 600 here, 400 there after three refusals each.
    assert_eq!(value("succeeded"), 1000.0);
    assert_eq!(
        [value("provider_provider_answers"), value("provider_second_answers")],
        [600.0, 400.0]
    );
    assert_eq!(value("refused_by_limit"), 1200.0);
}

#[test]
fn breakers_inside_are_one_for_each_provider() {
    // One client after the other: the breaker of the first provider opens after five failures and
    // keeps everybody from it, that of the second never opens.
    let text = |scope: &str| {
        format!(
            r#"
            workload = {{ clients = 1, closed_loop = {{ jobs = 100 }} }}
            provider = {{ {DOWN} }}
            [[fallback]]
            name = "second"
            service = "10ms"
            [[client.layers]]
            name = "sdk"
            breaker = {{ consecutive = {{ failures = 5 }}, open = "1h", scope = "{scope}" }}
            [[client.layers]]
            name = "router"
            max_attempts = 2
            fallback = true
            retry_on = {{ refusals = true }}
            "#
        )
    };
    for scope in ["client", "group", "fleet"] {
        let runs = runs(&text(scope), 2);
        assert_eq!(all_alike(&runs, "succeeded"), 100.0, "{scope}");
        assert_eq!(all_alike(&runs, "provider_provider_attempts"), 5.0, "{scope}");
        assert_eq!(all_alike(&runs, "provider_second_attempts"), 100.0, "{scope}");
    }
}
