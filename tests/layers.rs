//! Layers that know of each other, against closed forms.

mod common;

use common::{assert_agrees, runs};

/// Two layers that retry, against a provider that always fails.
fn nested(inner: &str, outer: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 50, burst = {{}} }}
        provider = {{ faults = [{{ outage = {{ from = "0s", status = 429 }} }}] }}
        measure = {{ horizon = "2h", window = "1s" }}
        [[client.layers]]
        name = "stream"
        max_attempts = 10
        backoff = {{ none = {{ base = "1s", cap = "30s" }} }}
        {inner}
        [[client.layers]]
        name = "executor"
        max_attempts = 10
        backoff = {{ none = {{ base = "1s", cap = "30s" }} }}
        {outer}
        "#
    )
}

/// GCWing/OpenBitFun pull request 1184: a final error that looks transient is retried ten times ten times;
/// taken for what it is, ten.
#[test]
fn exhausted_retries_are_not_retried_where_a_layer_knows_of_them() {
    let amplification = |outer| runs(&nested("", outer), 2).values("amplification");
    assert_eq!(amplification(""), [100.0; 2]);
    assert_eq!(amplification("retry_on = { exhausted = false }"), [10.0; 2]);
}

/// The waits of the inner layer are 1, 2, 4, 8, 16, 30 … s. With 10 s left by the layer outside, the retry after 7 s is the last
/// that comes in time; who knows that gives up then, and not at 10 s.
#[test]
fn a_layer_that_knows_the_deadline_does_not_sleep_past_it() {
    let found = |inner| {
        let runs = runs(&nested(inner, "deadline = \"10s\""), 2);
        (runs.values("amplification")[0], runs.values("gave_up_after_max_s")[0])
    };
    assert_eq!(found(""), (4.0, 10.0));
    // The layer outside then waits 1 s, and the inner one starts anew: attempts at 0, 1, 3, 7 and 8, 9 s.
    assert_eq!(found("inherit_deadline = true"), (6.0, 9.0));
    let text =
        nested("inherit_deadline = true", "deadline = \"10s\"\nretry_on = { exhausted = false }");
    let runs = runs(&text, 2);
    assert_eq!(
        (runs.values("amplification")[0], runs.values("gave_up_after_max_s")[0]),
        (4.0, 7.0)
    );
}

/// LiteLLM 1.110.2: two retries, and 2 s to 2.75 s wasted after the last failure.
#[test]
fn a_layer_may_sleep_after_its_last_attempt() {
    let text = |more: &str| {
        format!(
            r#"
            workload = {{ clients = 2000, burst = {{}} }}
            provider = {{ faults = [{{ outage = {{ from = "0s", status = 429 }} }}] }}
            measure = {{ horizon = "1h", window = "1s" }}
            [[client.layers]]
            name = "router"
            max_attempts = 3
            backoff = {{ formula = "min(8s, 500ms * 2^n) + uniform(0, 0.75)" }}
            {more}
            "#
        )
    };
    let mean = |text: &str| {
        let found = runs(text, 16);
        assert_eq!(found.values("amplification"), [3.0; 16]);
        found.values("gave_up_after_mean_s")
    };
    assert_agrees("without", &mean(&text("")), 1.5 + 0.75);
    assert_agrees("with", &mean(&text("wait_after_last = true")), 1.5 + 0.75 + 2.0 + 0.375);
    // A deadline that forbids the sleep ends it.
    let short = runs(&text("wait_after_last = true\ndeadline = \"3s\""), 2);
    assert!(short.values("gave_up_after_max_s").iter().all(|&t| t < 3.0));
}
