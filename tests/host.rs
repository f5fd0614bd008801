//! What an attempt needs before it is sent: a connection, and its turn in a process.

mod common;

use common::{runs, watch};
use retrylab::experiment::CellRuns;
use retrylab::model::{Observer, Side};
use retrylab::units::Time;

/// Instants of all attempts at the provider.
#[derive(Default)]
struct Arrivals(Vec<Time>);

impl Observer for Arrivals {
    fn attempt(&mut self, now: Time, _: Side, _number: u32) {
        self.0.push(now);
    }
}

fn arrivals(text: &str) -> Vec<Time> {
    watch(text, 1, Arrivals::default).remove(0).0.0
}

const MS: u64 = 1_000_000;

/// Clients at one instant with this host and layer.
fn burst(clients: u32, host: &str, layer: &str) -> String {
    format!(
        r#"
        workload = {{ clients = {clients}, burst = {{ at = "1s" }} }}
        provider = {{ service = "100ms" }}
        [client]
        host = {{ {host} }}
        [[client.layers]]
        name = "client"
        {layer}
        "#
    )
}

#[test]
fn clients_of_one_process_send_one_after_the_other() {
    let text = burst(200, "cpu_per_attempt = \"2ms\"", "");
    let expected: Vec<Time> = (1..=200).map(|i| 1_000 * MS + i * 2 * MS).collect();
    assert_eq!(arrivals(&text), expected);
    let found = runs(&text, 1);
    let value = |name: &str| found.values(name)[0];
    // 50 in each window of 100 ms but the first, which begins with 2 ms of work.
    assert_eq!(value("peak_attempts_bin"), 50.0);
    assert_eq!((value("send_delay_mean_s"), value("send_delay_max_s")), (0.201, 0.4));
    assert_eq!(value("last_resolved_s"), 1.5);
    // As many machines, or a process that takes no time, are a herd.
    for host in ["processes = 200, cpu_per_attempt = \"2ms\"", "processes = 1", ""] {
        let herd = runs(&burst(200, host, ""), 1);
        assert_eq!(herd.values("peak_attempts_bin"), [200.0], "{host}");
    }
}

#[test]
fn clients_are_spread_evenly_over_processes() {
    let text = burst(10, "processes = 4, cpu_per_attempt = \"5ms\"", "");
    // Three clients in two of the processes, two in the others.
    let expected = [5, 5, 5, 5, 10, 10, 10, 10, 15, 15].map(|ms| (1_000 + ms) * MS);
    assert_eq!(arrivals(&text), expected);
}

#[test]
fn retries_wait_for_their_process_too() {
    let text = format!(
        "{}\n[[provider.faults]]\noutage = {{ from = \"0s\", status = 503 }}",
        burst(3, "cpu_per_attempt = \"10ms\"", "max_attempts = 2")
            .replace("provider = { service = \"100ms\" }", "")
    );
    // Refused at once, each is back in line behind the others.
    assert_eq!(arrivals(&text), [10, 20, 30, 40, 50, 60].map(|ms| (1_000 + ms) * MS));
}

#[test]
fn answers_stand_in_the_same_line_as_attempts() {
    let text =
        burst(3, "cpu_per_attempt = \"10ms\", cpu_per_answer = \"20ms\"", "max_attempts = 2")
            .replace("\"100ms\"", "\"0s\"");
    // Sent after 10, 20 and 30 ms and answered at once; read after 50, 70 and 90 ms.
    let found = runs(&text, 1);
    assert_eq!(found.values("completion_mean_s"), [0.07]);
    assert_eq!(found.values("completion_max_s"), [0.09]);
    // The same with refusals: retries come behind the answers that have come meanwhile.
    let refused = format!(
        "{}\n[[provider.faults]]\noutage = {{ from = \"0s\", to = \"1045ms\", status = 503 }}",
        text.replace("provider = { service = \"0s\" }", "")
    );
    let expected = [10, 20, 30, 100, 110, 120].map(|ms| (1_000 + ms) * MS);
    assert_eq!(arrivals(&refused), expected);
}

#[test]
fn an_answer_that_is_read_too_late_is_late() {
    let found = |timeout: &str| {
        let host = "cpu_per_answer = \"20ms\"";
        let text =
            burst(3, host, &format!("timeout = \"{timeout}\"")).replace("\"100ms\"", "\"0s\"");
        let runs = runs(&text, 1);
        (runs.values("succeeded")[0], runs.values("late_answers")[0])
    };
    // All are answered at once, and read after 20, 40 and 60 ms.
    assert_eq!(found("60ms"), (3.0, 0.0));
    assert_eq!(found("59ms"), (2.0, 1.0));
    assert_eq!(found("39ms"), (1.0, 2.0));
}

/// Ten clients, three connections: waves of 100 ms.
fn waves(scope: &str, layer: &str) -> CellRuns {
    let host = format!("connections = {{ limit = 3, scope = \"{scope}\" }}");
    runs(&burst(10, &format!("processes = 2, {host}"), layer), 1)
}

#[test]
fn connections_are_shared_as_far_as_their_scope_says() {
    for (scope, peak, last) in [("group", 3.0, 1.4), ("process", 6.0, 1.2), ("client", 10.0, 1.1)] {
        let found = waves(scope, "");
        assert_eq!(found.values("peak_in_flight"), [peak], "{scope}");
        assert_eq!(found.values("last_resolved_s"), [last], "{scope}");
    }
}

#[test]
fn waiting_for_a_connection_counts_towards_the_timeout_unless_it_starts_at_the_send() {
    let found = |starts: &str, layer: &str| {
        let host = format!(
            "connections = {{ limit = 3, scope = \"group\" }}, timeout_starts = \"{starts}\""
        );
        let runs = runs(&burst(10, &host, layer), 1);
        (runs.values("succeeded")[0], runs.values("attempts")[0], runs.values("late_answers")[0])
    };
    // The second wave is sent after 100 ms and cut off after 150; then nobody waits any more.
    assert_eq!(found("at_call", "timeout = \"150ms\""), (3.0, 6.0, 3.0));
    assert_eq!(found("at_send", "timeout = \"150ms\""), (10.0, 10.0, 0.0));
    // Deadlines count it in any case.
    assert_eq!(found("at_send", "timeout = \"150ms\"\ndeadline = \"250ms\""), (6.0, 9.0, 3.0));
}

#[test]
fn a_connection_is_free_as_soon_as_its_attempt_is_over() {
    // Each attempt is given up after 50 ms: waves of 50 ms, although the provider needs 100.
    let layer = "timeout = \"50ms\"";
    let host = "connections = { limit = 5, scope = \"group\" }, timeout_starts = \"at_send\"";
    let text = burst(10, host, layer);
    let expected = [0, 0, 0, 0, 0, 50, 50, 50, 50, 50].map(|ms| (1_000 + ms) * MS);
    assert_eq!(arrivals(&text), expected);
}

#[test]
fn whoever_runs_out_of_time_in_line_takes_no_time_of_the_process() {
    let text = burst(10, "cpu_per_attempt = \"10ms\"", "timeout = \"35ms\"\nmax_attempts = 2");
    // Three are sent. The fourth is cut off while the process works for it, and six before that;
    // their second attempts at 35 ms find the process busy until 40 ms.
    // The third of them would be sent as its time is over.
    assert_eq!(arrivals(&text), [10, 20, 30, 50, 60].map(|ms| (1_000 + ms) * MS));
}
