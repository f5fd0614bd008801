//! What is billed, and how long measured machines take.

mod common;

use common::runs;
use retrylab::experiment::CellRuns;

fn value(runs: &CellRuns, metric: &str) -> f64 {
    runs.values(metric)[0]
}

/// One client, an answer of 10 s whose first token comes after 2 s, and 6 s of patience, twice.
fn impatient(provider: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ burst = {{}} }}
        request = {{ input_tokens = 1000, output_tokens = 80 }}
        [provider]
        service = {{ tokens = {{ first = "2s", rate = "10/s" }} }}
        {provider}
        [[client.layers]]
        name = "client"
        max_attempts = 2
        timeout = "6s"
        backoff = {{ none = {{ base = "1s", cap = "1s" }} }}
        "#
    );
    runs(&text, 1)
}

#[test]
fn stopped_work_is_billed_by_the_rule() {
    // Two attempts that nobody waits for; 4 s of decoding are 40 of the 80 tokens.
    let wasted = |provider: &str| value(&impatient(provider), "wasted_tokens");
    let removed = |billing: &str| wasted(&format!("cancelled_work = \"removed\"\n{billing}"));
    assert_eq!(wasted(""), 2.0 * 1080.0);
    assert_eq!(removed(""), 2.0 * 1080.0);
    assert_eq!(removed("billing = { rule = \"cancel_aware\" }"), 2.0 * 1040.0);
    let lag = "billing = { rule = \"cancel_aware\", cancel_lag = \"500ms\" }";
    assert_eq!(removed(lag), 2.0 * 1045.0);
    assert_eq!(removed("billing = { rule = \"free_errors\" }"), 0.0);
    // Nobody notices that the client has gone, so there is nothing to cut short.
    assert_eq!(wasted("billing = { rule = \"cancel_aware\" }"), 2.0 * 1080.0);
    assert_eq!(wasted("billing = { rule = \"free_errors\" }"), 0.0);
}

#[test]
fn a_retry_within_the_lifetime_pays_the_cached_price() {
    let run = |lifetime: &str| {
        impatient(&format!("billing = {{ price = \"claude-sonnet-4\"{lifetime} }}"))
    };
    // Two prompts of 1,000 tokens at 3 dollars a million and two answers of 80 at 15.
    let usd = |prompts: f64| prompts * 1_000.0 * 3e-6 + 160.0 * 15e-6;
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    assert!(close(value(&run(""), "wasted_usd"), usd(2.0)));
    // The second starts 7 s after the first.
    let long = run(", cache_lifetime = \"5min\"");
    assert!(close(value(&long, "wasted_usd"), usd(1.1)));
    assert_eq!(value(&long, "cached_tokens"), 1000.0);
    assert_eq!(value(&long, "wasted_tokens"), 2160.0);
    assert!(close(value(&run(", cache_lifetime = \"7s\""), "wasted_usd"), usd(2.0)));
}

/// An answer that is delivered from the cache leaves no waste behind.
#[test]
fn a_delivered_retry_is_useful_at_the_cached_price() {
    let text = r#"
        workload = { burst = {} }
        request = { input_tokens = 1000, output_tokens = 80 }
        [provider]
        service = "1s"
        billing = { price = "claude-sonnet-4", cache_lifetime = "5min" }
        [[provider.faults]]
        slow = { share = 1.0, of = "requests", service = "30s" }
        [[client.layers]]
        name = "client"
        max_attempts = 2
        timeout = "2s"
    "#;
    let found = runs(text, 1);
    assert_eq!((value(&found, "succeeded"), value(&found, "useful_tokens")), (1.0, 1080.0));
    assert_eq!(value(&found, "cached_tokens"), 1000.0);
    let (one, cached) = (1_000.0 * 3e-6 + 80.0 * 15e-6, 1_000.0 * 0.3e-6 + 80.0 * 15e-6);
    assert!((value(&found, "wasted_usd") - one).abs() < 1e-12);
    assert!((value(&found, "billed_usd") - one - cached).abs() < 1e-12);
}

#[test]
fn service_grows_with_the_places_that_are_busy() {
    let text = r#"
        workload = { clients = 5, burst = {} }
        [provider]
        concurrency = 5
        service = "1s"
        slower_when_full = 3.0
    "#;
    // 1 s, 1.5 s, …, 3 s.
    let found = runs(text, 1);
    assert_eq!((value(&found, "completion_mean_s"), value(&found, "completion_max_s")), (2.0, 3.0));
}

#[test]
fn a_measured_machine_prefills_and_decodes() {
    let text = |clients: u32, machines: u32| {
        format!(
            r#"
            workload = {{ clients = {clients}, burst = {{}} }}
            request = {{ input_tokens = 512, output_tokens = 100 }}
            [provider]
            concurrency = 64
            service = {{ prefill_decode = {{ preset = "llama2-70b-8xh100", machines = {machines} }} }}
            "#
        )
    };
    let longest = |clients, machines| value(&runs(&text(clients, machines), 1), "completion_max_s");
    // 53.9 ms to the first token; per token 29.76 ms alone, 50.16 ms in a batch of 64.
    assert_eq!(longest(1, 1), 0.0539 + 100.0 * 0.02976);
    assert_eq!(longest(64, 1), 0.0539 + 100.0 * 0.05016);
    assert_eq!(longest(64, 64), longest(1, 1));
}
