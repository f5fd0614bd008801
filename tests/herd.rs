//! Deterministic cases, to the nanosecond: one server and a herd, token buckets, rejections.

mod common;

use std::fmt::Write as _;

use common::watch;
use retrylab::answer::Outcome;
use retrylab::model::{Observer, Report};
use retrylab::theory::herd::{Tie, TokenBucket, completion_ns, successes_by_timeout};
use retrylab::units::Time;

/// Instants of answers and of refusals.
#[derive(Default)]
struct Outcomes {
    answered: Vec<Time>,
    gave_up: Vec<Time>,
}

impl Observer for Outcomes {
    fn resolved(&mut self, now: Time, _group: usize, _created: Time, outcome: Outcome) {
        match outcome {
            Outcome::Succeeded => self.answered.push(now),
            Outcome::Partial | Outcome::GaveUp(_) => self.gave_up.push(now),
        }
    }
}

fn one_run(text: &str) -> (Outcomes, Report) {
    watch(text, 1, Outcomes::default).remove(0)
}

const CLIENTS: u64 = 100;
const SERVICE_MS: u64 = 37;

fn herd(service_ms: u64, layer: &str) -> String {
    format!(
        r#"
        workload = {{ clients = {CLIENTS}, burst = {{}} }}
        provider = {{ concurrency = 1, queue = {{ fifo = {{}} }}, service = "{service_ms}ms" }}
        client = {{ layers = [{{ name = "client"{layer} }}] }}
        measure = {{ horizon = "1h" }}
        "#
    )
}

#[test]
fn the_kth_of_a_herd_is_done_after_k_services() {
    let theory: Vec<Time> =
        (1..=CLIENTS).map(|k| completion_ns(k, SERVICE_MS * 1_000_000)).collect();
    assert_eq!(one_run(&herd(SERVICE_MS, "")).0.answered, theory);
    assert_ne!(one_run(&herd(SERVICE_MS + 1, "")).0.answered, theory, "the planted bug passes");
}

#[test]
fn a_timeout_cuts_the_herd_where_the_rule_for_ties_says() {
    let succeeded = |service_ms, timeout_ms: u64, rule: &str| {
        let layer = format!(", timeout = \"{timeout_ms}ms\", reply_at_timeout = \"{rule}\"");
        one_run(&herd(service_ms, &layer)).1.ledger.succeeded
    };
    let theory = |timeout_ms: u64, tie| {
        successes_by_timeout(CLIENTS, SERVICE_MS * 1_000_000, timeout_ms * 1_000_000, tie)
    };
    for timeout_ms in [1, 36, 37, 38, 369, 370, 371, 3699, 3700, 3701, 9999] {
        let in_time = succeeded(SERVICE_MS, timeout_ms, "in_time");
        assert_eq!(in_time, theory(timeout_ms, Tie::ReplyWins), "{timeout_ms} ms, in time");
        let late = succeeded(SERVICE_MS, timeout_ms, "late");
        assert_eq!(late, theory(timeout_ms, Tie::TimeoutWins), "{timeout_ms} ms, late");
    }
    // Planted: another service time, and the other rule at a tie.
    assert_ne!(succeeded(SERVICE_MS - 1, 369, "in_time"), theory(369, Tie::ReplyWins));
    assert_ne!(succeeded(SERVICE_MS, 370, "late"), theory(370, Tie::ReplyWins));
}

/// Clients that knock every 10 ms until they are let in, so a token never waits long and the
/// bucket, which holds two or more, never turns one away.
fn knocking(rate: &str, burst: u64, horizon: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 130, burst = {{}} }}
        provider = {{ limits = {{ requests = {{ rate = "{rate}", burst = {burst} }} }} }}
        measure = {{ horizon = "{horizon}" }}
        [[client.layers]]
        name = "client"
        max_attempts = 1000000
        backoff = {{ none = {{ base = "10ms", cap = "10ms" }} }}
        "#
    )
}

#[test]
fn a_saturated_bucket_admits_its_burst_and_its_refill() {
    let second = 1_000_000_000;
    for (rate, tokens, per_ns) in
        [("10/s", 10, second), ("7/s", 7, second), ("90/min", 90, 60 * second)]
    {
        for burst in [2, 13] {
            let bucket = TokenBucket { burst, tokens, per_ns };
            for (horizon, last_knock_ns) in [("3.005s", 3 * second), ("9.999s", 9_990_000_000)] {
                let theory = bucket.admitted_when_saturated(last_knock_ns).unwrap();
                let admitted = |burst| one_run(&knocking(rate, burst, horizon)).1.ledger.admitted;
                assert_eq!(admitted(burst), theory, "{rate}, burst {burst}, {horizon}");
                assert_ne!(admitted(burst + 1), theory, "the planted bug passes");
            }
        }
    }
}

#[test]
fn any_demand_stays_within_burst_and_refill() {
    let bucket = TokenBucket { burst: 5, tokens: 10, per_ns: 1_000_000_000 };
    let admitted = |rate: &str| -> Vec<u64> {
        let text = format!(
            r#"
            workload = {{ poisson = {{ rate = "40/s" }} }}
            provider = {{ limits = {{ requests = {{ rate = "{rate}", burst = 5 }} }} }}
            measure = {{ horizon = "20s" }}
            "#
        );
        watch(&text, 64, Outcomes::default).iter().map(|(_, r)| r.ledger.admitted).collect()
    };
    let bound = bucket.admitted_when_saturated(20_000_000_000).unwrap();
    let good = admitted("10/s");
    assert!(good.iter().all(|&n| n <= bound), "{good:?} against {bound}");
    assert!(
        good.iter().any(|&n| n + 1 >= bound),
        "demand of 4 times the rate uses it up: {good:?}"
    );
    assert!(admitted("10.5/s").iter().all(|&n| n > bound), "the planted bug passes");
}

/// A trace file with one request per instant given, each with its number as output tokens.
fn trace(offsets_s: impl Iterator<Item = u64>) -> tempfile::NamedTempFile {
    let mut rows = String::from("TIMESTAMP,ContextTokens,GeneratedTokens\n");
    for (number, s) in offsets_s.enumerate() {
        writeln!(rows, "2024-05-10 00:{:02}:{:02}.000,0,{number}", s / 60, s % 60).unwrap();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), rows).unwrap();
    file
}

/// simmer's case: arrivals every second, service 1.5 s, one server and no queue. With arrivals
/// at 1 … 100 half of 100 are served, the last until 100.5 s; here time starts at the first.
#[test]
fn every_other_arrival_is_refused() {
    let file = trace(1..=100);
    let path = file.path().display();
    let run = |service: &str| {
        let text = format!(
            "workload = {{ trace = {{ file = '{path}' }} }}
             provider = {{ concurrency = 1, service = \"{service}\" }}"
        );
        one_run(&text)
    };
    let (outcomes, report) = run("1.5s");
    assert_eq!((report.ledger.succeeded, report.ledger.refused_by_load), (50, 50));
    assert_eq!(outcomes.answered.last(), Some(&(98_000_000_000 + 1_500_000_000)));
    // A service of two seconds ends as the next but one arrives: the place is free for it.
    assert_eq!(run("2s").1.ledger.succeeded, 50);
    assert_eq!(run("2.1s").1.ledger.succeeded, 34, "every third");
}

#[test]
fn without_capacity_nothing_is_answered() {
    for queue in ["", ", queue = { fifo = {} }", ", queue = { fifo = { limit = 7 } }"] {
        let text = |concurrency: u32| {
            format!(
                r#"
                workload = {{ poisson = {{ rate = "5/s", duration = "10s" }} }}
                provider = {{ concurrency = {concurrency}, service = "1ms"{queue} }}
                measure = {{ horizon = "60s" }}
                client = {{ layers = [{{ name = "client", max_attempts = 3, timeout = "1s" }}] }}
                "#
            )
        };
        let ledger = one_run(&text(0)).1.ledger;
        assert_eq!((ledger.succeeded, ledger.started, ledger.busy), (0, 0, 0));
        assert!(ledger.created > 20 && ledger.gave_up_total() == ledger.created);
        assert!(one_run(&text(1)).1.ledger.succeeded > 0, "one place is planted and not seen");
    }
}

/// One client whose first attempt takes 1.5 s and every other one 1 s.
fn slow_start(timeout: &str, wait: &str) -> (Outcomes, Report) {
    let text = format!(
        r#"
        workload = {{ burst = {{}} }}

        [provider]
        service = "1s"
        faults = [{{ slow = {{ share = 1.0, of = "requests", service = "1.5s" }} }}]

        [[client.layers]]
        name = "client"
        max_attempts = 3
        timeout = "{timeout}"
        backoff = {{ none = {{ base = "{wait}", cap = "{wait}" }} }}
        "#
    );
    one_run(&text)
}

#[test]
fn an_answer_that_nobody_waits_for_is_late() {
    let ms = |n: u64| n * 1_000_000;
    // It comes while the client sleeps before its retry, or while the retry is under way.
    for (wait, sent_again_ms) in [("5s", 6_200), ("100ms", 1_300)] {
        let (outcomes, report) = slow_start("1.2s", wait);
        assert_eq!(outcomes.answered, [ms(sent_again_ms + 1_000)], "a wait of {wait}");
        assert_eq!((report.ledger.late, report.ledger.delivered), (1, 1));
    }
    // It comes after the client has given up.
    let (outcomes, report) = slow_start("900ms", "10ms");
    assert_eq!((outcomes.answered.len(), outcomes.gave_up), (0, vec![ms(3 * 900 + 2 * 10)]));
    assert_eq!((report.ledger.late, report.ledger.delivered), (3, 0));
    // Whoever waits longer gets it.
    assert_eq!(slow_start("1.6s", "5s").0.answered, [ms(1_500)]);
}

#[test]
fn an_outage_is_over_at_its_end() {
    let answered = |to: &str| {
        let text = format!(
            r#"
            workload = {{ burst = {{}} }}
            provider = {{ faults = [{{ outage = {{ from = "0s", to = "{to}", status = 503 }} }}] }}

            [[client.layers]]
            name = "client"
            max_attempts = 5
            backoff = {{ none = {{ base = "1s", cap = "30s" }} }}
            "#
        );
        one_run(&text).0.answered
    };
    assert_eq!(answered("1s"), [1_000_000_000]);
    assert_eq!(answered("1.000000001s"), [3_000_000_000]);
    assert_eq!(answered("999.999999ms"), [1_000_000_000]);
}

/// Clients that share two permits and run out of time together: those in line send nothing, where
/// handing the permits around at that instant would make one wave of them all.
#[test]
fn a_herd_in_line_for_permits_goes_home_without_sending() {
    let attempts = |limits: &str| {
        let text = format!(
            r#"
            workload = {{ clients = 100, burst = {{}} }}
            provider = {{ service = "1h" }}
            measure = {{ horizon = "1min" }}
            client = {{ layers = [{limits}] }}
            "#
        );
        let (outcomes, report) = one_run(&text);
        assert_eq!(outcomes.gave_up, [10_000_000_000; 100]);
        report.ledger.attempts
    };
    let shared = "semaphore = { permits = 2, scope = \"fleet\" }";
    let own_deadline = format!("{{ name = \"one\", deadline = \"10s\", {shared} }}");
    assert_eq!(attempts(&own_deadline), 2);
    let outer_timeout =
        format!("{{ name = \"in\", {shared} }}, {{ name = \"out\", timeout = \"10s\" }}");
    assert_eq!(attempts(&outer_timeout), 2);
    assert_eq!(attempts("{ name = \"one\", deadline = \"10s\" }"), 100);
}
