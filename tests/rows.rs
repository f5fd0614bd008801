//! Clients that contend for a row, against closed forms and the original simulator.

mod common;

use common::{assert_agrees, assert_caught, runs};

/// So many clients at once, who read after one way and write two ways later; `backoff` between their
/// attempts.
fn contend(clients: u32, way: &str, two_ways: &str, rest: &str) -> String {
    format!(
        r#"
        measure = {{ horizon = "1h" }}
        workload = {{ clients = {clients}, burst = {{}} }}
        [provider]
        service = {two_ways}
        row = {{}}
        [client]
        network = {{ latency = {way} }}
        [[client.layers]]
        name = "client"
        {rest}
        "#
    )
}

const NO_BACKOFF: &str = "max_attempts = 1000000\nbackoff = \"no_backoff\"";

/// All read and write at the same instants, so that one of those left succeeds in each round.
#[test]
fn in_lockstep_one_write_stands_per_round() {
    for clients in [1u32, 2, 7, 50] {
        let n = f64::from(clients);
        let found = runs(&contend(clients, "\"10ms\"", "\"20ms\"", NO_BACKOFF), 2);
        assert_eq!(found.values("attempts"), [n * (n + 1.0) / 2.0; 2]);
        assert_eq!(found.values("conflicts"), [n * (n - 1.0) / 2.0; 2]);
        for end in found.values("last_resolved_s") {
            assert!((end - 0.04 * n).abs() < 1e-9, "{end}");
        }
    }
}

/// Reads and writes that take no time between them never overlap.
#[test]
fn a_write_at_the_instant_of_its_read_stands() {
    let found = runs(&contend(50, "\"10ms\"", "\"0s\"", NO_BACKOFF), 2);
    assert_eq!(
        (found.values("attempts"), found.values("conflicts")),
        (vec![50.0; 2], vec![0.0; 2])
    );
}

/// Four ways of |N(10 ms, 2 ms)|, whose mean is 10 ms to the seventh digit.
#[test]
fn a_lone_client_needs_one_call_of_four_ways() {
    let way = "{ normal = { mean = \"10ms\", sd = \"2ms\" } }";
    let two = "{ normal = { mean = \"20ms\", sd = \"2.828427ms\" } }";
    let found = runs(&contend(1, way, two, NO_BACKOFF), 2_000);
    assert!(found.values("attempts").iter().all(|n| *n == 1.0));
    let time = found.values("last_resolved_s");
    assert_agrees("time", &time, 0.04);
    assert_caught("time", &time, 0.04 + 0.002);
}

/// A write stands for the others although its client has gone, and what ends with an error writes
/// nothing.
#[test]
fn a_write_stands_without_its_client_and_an_error_writes_nothing() {
    // Both read at 10 ms and write at 30 ms; nobody waits any more then, or tries again.
    let once = |clients, rest: &str| contend(clients, "\"10ms\"", "\"20ms\"", rest);
    let gone = runs(&once(2, "timeout = \"25ms\""), 1);
    assert_eq!((gone.values("conflicts"), gone.values("late_answers")), (vec![1.0], vec![1.0]));
    let failing = "[[provider.faults]]\nerror = { share = 1.0, status = 500 }\n";
    let failed = runs(&format!("{}{failing}", once(3, "")), 1);
    assert_eq!((failed.values("conflicts"), failed.values("gave_up")), (vec![0.0], vec![3.0]));
}

/// Everyone for himself.
#[test]
fn clients_with_a_row_each_do_not_conflict() {
    let text = contend(9, "\"10ms\"", "\"20ms\"", NO_BACKOFF);
    let found = runs(&text.replace("row = {}", "row = { shared_by = \"client\" }"), 1);
    assert_eq!((found.values("attempts"), found.values("conflicts")), (vec![9.0], vec![0.0]));
}
