//! The limit of time until the provider has accepted, apart from the limit of the attempt.

mod common;

use common::runs;
use retrylab::experiment::CellRuns;

/// Ten clients at once; the provider accepts one per second, and serves each for so long.
fn herd(service: &str, layer: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = 10, burst = {{}} }}
        [provider]
        service = "{service}"
        backlog = {{ limit = 100, accept = "1s" }}
        [[client.layers]]
        name = "client"
        {layer}
        "#
    );
    runs(&text, 1)
}

#[test]
fn who_is_not_accepted_in_time_gives_up() {
    let found = herd("10ms", "connect_timeout = \"3500ms\"");
    assert_eq!(found.values("succeeded"), [3.0]);
    assert_eq!(found.values("last_resolved_s"), [3.5]);
    // Those who have gone are never taken in hand: one place is served for 3 × 10 ms.
    assert_eq!(found.values("wasted_tokens"), [0.0]);
}

#[test]
fn the_limit_ends_when_the_provider_accepts() {
    let found = herd("1min", "connect_timeout = \"11s\"");
    assert_eq!(found.values("succeeded"), [10.0]);
    assert_eq!(found.values("last_resolved_s"), [70.0]);
}

#[test]
fn the_timeout_of_the_attempt_counts_from_its_start() {
    // Accepted at 1, 2 and 3 s; a service of 2.5 s is over by 5 s for two of them.
    let found = herd("2500ms", "connect_timeout = \"3500ms\"\ntimeout = \"5s\"");
    assert_eq!(found.values("succeeded"), [2.0]);
    assert_eq!(found.values("last_resolved_s"), [5.0]);
    // The shorter of both limits holds for those in the backlog.
    let found = herd("2500ms", "connect_timeout = \"1min\"\ntimeout = \"5s\"");
    assert_eq!(found.values("succeeded"), [2.0]);
    assert_eq!(found.values("last_resolved_s"), [5.0]);
}

#[test]
fn a_connection_that_takes_too_long_is_retried_like_any_timeout() {
    // In the first round 1 to 3 are accepted. The others come back at 3.5 s, behind the seven whom
    // they left in the backlog: the first of them is accepted at 11 s.
    let layer = "max_attempts = 2\nconnect_timeout = \"3500ms\"";
    let found = herd("10ms", layer);
    assert_eq!(found.values("succeeded"), [3.0]);
    assert_eq!(found.values("last_resolved_s"), [7.0]);
    let patient = layer.replace("3500ms", "7500ms");
    // 1 to 7 at once; the last three come back at 7.5 s and are accepted at 11, 12 and 13 s.
    let found = herd("10ms", &patient);
    assert_eq!(found.values("succeeded"), [10.0]);
    assert_eq!(found.values("last_resolved_s"), [13.01]);
}

#[test]
fn a_stream_lives_on_after_a_slow_connect() {
    let text = r#"
        workload = { clients = 3, burst = {} }
        request = { stream = true, input_tokens = 10, output_tokens = 10000 }
        [provider]
        service = { tokens = { first = "100ms", rate = "1000/s" } }
        backlog = { limit = 100, accept = "2s" }
        [[client.layers]]
        name = "client"
        connect_timeout = "5s"
        timeout = "6s"
        timeout_of = "silence"
    "#;
    let found = runs(text, 1);
    // Accepted at 2 and 4 s, the third one not; ten seconds of tokens each.
    assert_eq!(found.values("succeeded"), [2.0]);
    assert_eq!(found.values("last_resolved_s"), [14.1]);
}

#[test]
fn a_refusal_that_does_not_come_through_leaves_nobody_waiting_for_ever() {
    let text = r#"
        workload = { clients = 500, burst = {} }
        provider = { faults = [{ outage = { from = "0s", to = "3s", status = 503 } }] }
        measure = { horizon = "10min" }
        [client]
        network = { latency = "10ms", loss = 0.2 }
        [[client.layers]]
        name = "client"
        max_attempts = 3
        connect_timeout = "1s"
        timeout = "10s"
    "#;
    assert_eq!(runs(text, 1).values("open"), [0.0]);
    // A word that comes too late, and a deadline of the layer.
    let text = r#"
        workload = { clients = 10, burst = {} }
        provider = { faults = [{ outage = { from = "0s", to = "1min", status = 503 } }] }
        [client]
        network = { latency = "5s" }
        [[client.layers]]
        name = "client"
        connect_timeout = "6s"
        deadline = "7s"
    "#;
    assert_eq!(runs(text, 1).values("last_resolved_s"), [7.0]);
    let found =
        herd("1s", "connect_timeout = \"1s\"\nreply_at_timeout = \"late\"\ntimeout = \"1s\"");
    assert_eq!(found.values("open"), [0.0]);
}

#[test]
fn who_never_connected_is_not_served() {
    let text = r#"
        workload = { clients = 10, burst = {} }
        provider = { service = "1s" }
        request = { input_tokens = 100, output_tokens = 50 }
        [client]
        network = { latency = "6s" }
        [[client.layers]]
        name = "client"
        connect_timeout = "5s"
    "#;
    let found = runs(text, 1);
    assert_eq!(found.values("last_resolved_s"), [5.0]);
    assert_eq!(found.values("billed_tokens"), [0.0]);
}

#[test]
fn a_preset_gives_it_where_no_timeout_is_written_and_where_connections_are_made() {
    let of = |layers: &str| -> Vec<Option<String>> {
        let text = format!("workload = {{ burst = {{}} }}\n{layers}");
        let cell = common::cell(&text);
        let layers = &cell.scenario.groups[0].client.layers;
        layers.iter().map(|layer| layer.connect_timeout.map(|t| t.to_string())).collect()
    };
    let sdk = "[[client.layers]]\nname = \"sdk\"\npreset = \"openai-python-3.57\"\n";
    let app = "[[client.layers]]\nname = \"app\"\npreset = \"openai-python-3.57\"\n";
    let five = Some("5s".to_owned());
    assert_eq!(of(&format!("{sdk}{app}")), [five.clone(), None]);
    // `timeout=20` of httpx holds for connecting too, which it then does not cut short.
    assert_eq!(of(&format!("{sdk}timeout = \"20s\"")), [None]);
    assert_eq!(of(&format!("{sdk}timeout = \"20s\"\nconnect_timeout = \"5s\"")), [five]);
}
