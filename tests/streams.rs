//! Streamed answers that break off, against closed forms.

mod common;

use common::{REPLICATIONS, assert_agrees, mean_and_error, runs};
use retrylab::theory::retry::{amplification, failed_share};

/// 2,000 requests of 100 input and 1,000 output tokens: first token after 100 ms, the last at 1.1 s.
fn streams(share: f64, when: &str, how: &str, layer: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 2000, burst = {{}} }}
        request = {{ stream = true, input_tokens = 100, output_tokens = 1000 }}
        [provider]
        service = {{ tokens = {{ first = "100ms", rate = "1000/s" }} }}
        [[provider.faults]]
        stream_error = {{ share = {share}, when = "{when}", how = "{how}" }}
        [[client.layers]]
        name = "client"
        {layer}
        "#
    )
}

#[test]
fn errors_before_the_first_token_are_retried_unseen() {
    let layer = "max_attempts = 3\nretry_on = { broken_streams = \"before_first_token\" }";
    let runs = runs(&streams(0.3, "before_first_token", "error", layer), REPLICATIONS);
    assert_agrees("success", &runs.values("success_ratio"), 1.0 - failed_share(0.3, 3));
    assert_agrees("amplification", &runs.values("amplification"), amplification(0.3, 3));
    assert!(runs.values("partial").iter().all(|n| *n == 0.0));
}

#[test]
fn the_official_sdks_do_not_retry_a_stream_that_has_begun() {
    for (when, partial) in [("before_first_token", 0.0), ("after_first_token", 0.3)] {
        let layer = "preset = \"anthropic-python-2.14\"";
        let runs = runs(&streams(0.3, when, "error", layer), REPLICATIONS);
        assert!(runs.values("amplification").iter().all(|n| *n == 1.0));
        assert_agrees("success", &runs.values("success_ratio"), 0.7);
        let shares: Vec<f64> = runs.values("partial").iter().map(|n| n / 2_000.0).collect();
        let (mean, error) = mean_and_error(&shares);
        assert!((mean - partial).abs() <= 4.0 * error, "{when}: {mean}");
    }
}

#[test]
fn a_restart_wastes_what_had_been_delivered() {
    // Each of p/(1 - p) broken attempts per request bills 100 + U(0, 1000) tokens.
    let layer = "max_attempts = 100\nretry_on = { broken_streams = \"restart\" }";
    let runs = runs(&streams(0.2, "after_first_token", "error", layer), 4 * REPLICATIONS);
    assert!(runs.values("success_ratio").iter().all(|share| *share == 1.0));
    let waste: Vec<f64> = runs.values("wasted_tokens").iter().map(|n| n / 2_000.0).collect();
    assert_agrees("waste", &waste, 0.25 * 600.0);
}

#[test]
fn silence_ends_with_the_read_timeout_counted_from_the_last_token() {
    // Broken at 100 ms + U(0, 1 s); the client gives up 5 s later.
    let layer = "timeout = \"5s\"\ntimeout_of = \"silence\"";
    let runs = runs(&streams(1.0, "after_first_token", "silence", layer), 8);
    assert!(runs.values("partial").iter().all(|n| *n == 2_000.0));
    for last in runs.values("last_resolved_s") {
        assert!((6.09..=6.1).contains(&last), "{last}");
    }
}

#[test]
fn a_read_timeout_lets_a_long_stream_live_and_an_attempt_timeout_does_not() {
    for (of, succeeded) in [("attempt", 0.0), ("silence", 2_000.0), ("head", 2_000.0)] {
        let layer = format!("timeout = \"500ms\"\ntimeout_of = \"{of}\"");
        let runs = runs(&streams(0.0, "after_first_token", "error", &layer), 1);
        assert_eq!(runs.values("succeeded"), [succeeded], "{of}");
    }
}

#[test]
fn a_hazard_at_every_token_breaks_long_answers_more_often() {
    // 1,000 tokens at one in a thousand: e^-1 of them whole.
    let layer = "max_attempts = 1";
    let share = "share = 0.5, when = \"after_first_token\"";
    let text =
        streams(0.5, "after_first_token", "error", layer).replace(share, "per_token = 0.001");
    let found = runs(&text, REPLICATIONS);
    let whole = 0.999f64.powi(1_000);
    assert_agrees("whole", &found.values("success_ratio"), whole);
    let partial: Vec<f64> = found.values("partial").iter().map(|n| n / 2_000.0).collect();
    assert_agrees("partial", &partial, 0.999 - whole);
    // The mean of min(K, n) for a geometric K, and the prompt.
    let tokens = 0.999 * (1.0 - whole) / 0.001;
    let billed: Vec<f64> = found.values("billed_tokens").iter().map(|n| n / 2_000.0).collect();
    assert_agrees("billed", &billed, 100.0 + tokens);
}
