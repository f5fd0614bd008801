//! What a provider does with work that has waited too long decides whether it recovers.
//!
//! The system of the AWS DynamoDB summary of 2015-09-20 (<https://aws.amazon.com/message/5467D2/>):
//! clients that need one answer each and ask again when it comes too late. 200 clients, 10 places
//! of 0.5 s: capacity 20/s, and all of them together wait 10 s, longer than their 5.25 s.

mod common;

use common::runs;
use retrylab::experiment::CellRuns;

const CAPACITY: f64 = 20.0;

fn herd(provider: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = 200, closed_loop = {{ jobs = 100000 }} }}
        request = {{ input_tokens = 7, output_tokens = 3 }}
        measure = {{ horizon = "60.25s" }}
        [provider]
        concurrency = 10
        service = "500ms"
        {provider}
        [[client.layers]]
        name = "client"
        max_attempts = 1000
        backoff = {{ none = {{ base = "100ms", cap = "100ms" }} }}
        timeout = "5.25s"
        "#
    );
    runs(&text, 1)
}

fn value(runs: &CellRuns, metric: &str) -> f64 {
    runs.values(metric)[0]
}

/// Waves end at 0.5 s, 1 s, …, 60 s.
const ALL: f64 = 60.0 * CAPACITY;

#[test]
fn first_in_first_out_works_for_nobody() {
    let found = herd("queue = { fifo = {} }");
    // The first 5 s are in time; after that whoever is served has waited 10 s.
    assert_eq!(value(&found, "succeeded"), 5.0 * CAPACITY);
    assert_eq!(value(&found, "late_answers"), ALL - 5.0 * CAPACITY);
    assert_eq!(value(&found, "wasted_tokens"), 10.0 * (ALL - 5.0 * CAPACITY));
}

#[test]
fn a_queue_shorter_than_capacity_times_patience_works_for_all() {
    // 90 wait for 4.5 s and are served in 0.5 s, 100 would end after 5.5 s.
    let short = herd("queue = { fifo = { limit = 90 } }");
    assert_eq!((value(&short, "succeeded"), value(&short, "late_answers")), (ALL, 0.0));
    let long = herd("queue = { fifo = { limit = 100 } }");
    assert!(value(&long, "succeeded") < 0.1 * ALL);
}

#[test]
fn dropping_in_time_for_the_service_works_for_all() {
    let found = herd("queue = { fifo = { max_wait = \"4.75s\" } }");
    assert_eq!((value(&found, "succeeded"), value(&found, "late_answers")), (ALL, 0.0));
    assert!(value(&found, "dropped") > 0.0);
}

/// The oldest client that still waits has no time left for its service.
#[test]
fn dropping_only_what_has_expired_helps_little_while_the_line_is_as_long_as_the_patience() {
    let found = herd("queue = { fifo = { drop_gone = true } }");
    assert!(value(&found, "succeeded") < 0.1 * ALL, "{}", value(&found, "succeeded"));
    assert!(value(&found, "dropped") > 0.0);
}

#[test]
fn last_in_first_out_works_for_the_fresh() {
    for queue in
        ["queue = { lifo = {} }", "queue = { lifo = { limit = 50, when_full = \"drop_oldest\" } }"]
    {
        let found = herd(queue);
        assert!(value(&found, "succeeded") > 0.95 * ALL, "{}", value(&found, "succeeded"));
    }
    // Refusing at the door of a stack keeps its bottom full of those who have gone; the top works.
    let found = herd("queue = { lifo = { limit = 50 } }");
    assert!(value(&found, "succeeded") > 0.9 * ALL, "{}", value(&found, "succeeded"));
}

#[test]
fn removed_work_frees_its_place() {
    let found = herd("queue = { fifo = {} }\ncancelled_work = \"removed\"");
    // The head of the line has little time left, so some service is started and stopped again.
    assert!(value(&found, "succeeded") > 0.5 * ALL, "{}", value(&found, "succeeded"));
    assert_eq!(value(&found, "late_answers"), 0.0);
    let wasted = value(&found, "wasted_tokens");
    assert!(0.0 < wasted && wasted <= 10.0 * value(&found, "stopped"), "{wasted}");
    assert!(value(&found, "removed") > 0.0);
}

/// 12 clients, one place of 1 s, 2.5 s of patience: the third has half of its service, the others
/// leave the line, and nobody comes back.
#[test]
fn waiting_and_started_work_is_taken_back_when_its_client_goes() {
    let text = r#"
        workload = { clients = 12, burst = {} }
        request = { output_tokens = 10 }
        provider = { concurrency = 1, service = "1s", queue = { fifo = {} }, cancelled_work = "removed" }
        [[client.layers]]
        name = "client"
        timeout = "2.5s"
    "#;
    let found = runs(text, 1);
    let metrics = ["succeeded", "stopped", "removed", "wasted_tokens", "last_resolved_s"];
    assert_eq!(metrics.map(|m| value(&found, m)), [2.0, 1.0, 9.0, 10.0, 2.5]);
}

/// Answers of the herd when operators act at 20 s; with places or patience enough for all it
/// recovers, however long the old work takes.
#[test]
fn more_places_or_more_patience_end_it_and_a_pause_alone_does_not() {
    let fifo = "queue = { fifo = {} }\n[[provider.actions]]\n";
    let succeeded = |action: &str| value(&herd(&format!("{fifo}{action}")), "succeeded");
    let collapsed = 5.0 * CAPACITY;
    assert!(succeeded("concurrency = { at = \"20s\", places = 40 }") > collapsed + 500.0);
    let patient = "timeout = { at = \"20s\", layer = \"client\", timeout = \"60s\" }";
    assert!(succeeded(patient) > collapsed + 100.0);
    // All come back together: again the first 5 s are in time.
    let pause = "pause = { from = \"20s\", to = \"50s\" }";
    assert_eq!(succeeded(pause), 2.0 * collapsed);
}
