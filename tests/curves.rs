//! Curves of runs: what result files and pictures show over time.

mod common;

use common::{SEED, cell};
use retrylab::experiment::{
    Effort, Seed, completions, execute, execute_with_curves, waves, windows,
};
use retrylab::scenario::MemoryLimit;

/// Five clients at once before one place and a queue of three; the one that is refused comes again.
const FIVE: &str = r#"
[workload]
clients = 5
burst = {}
[provider]
concurrency = 1
queue = { fifo = { limit = 3 } }
service = "100ms"
[[client.layers]]
name = "client"
max_attempts = 2
backoff = { table = { waits = ["1s"] } }
[measure]
horizon = "10s"
"#;

fn effort(replications: u32) -> Effort {
    Effort { seed: Seed(SEED), replications, threads: 1, memory: MemoryLimit::default() }
}

#[test]
fn five_clients_before_one_place() {
    let cells = execute_with_curves(vec![cell(FIVE)], effort(3), &|| {}).unwrap();
    let rows = windows(&cells[0]);
    // The last answer comes at 1.1 s, in the window that begins there.
    assert_eq!(rows.len(), 12);
    let state = |i: usize| {
        let row = &rows[i];
        [row.attempts, row.answers, row.queue, row.in_flight].map(|counts| counts.p50)
    };
    // What is done at 0.1 s is done in the second window.
    assert_eq!(state(0), [5.0, 0.0, 3.0, 4.0]);
    assert_eq!(state(1), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(state(4), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(state(10), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(state(11), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!((rows[0].first_attempts_mean, rows[0].requests_mean), (5.0, 5.0));
    assert_eq!(rows[10].retries, rows[10].attempts);
    let waves = waves(&cells[0]);
    let shown: Vec<_> = waves.iter().map(|w| (w.number, w.start_s, w.attempts.mean)).collect();
    assert_eq!(shown, [(1, 0.0, 5.0), (2, 1.0, 1.0)]);
}

#[test]
fn completion_is_of_all_requests_also_of_those_never_answered() {
    let of = |text: &str| {
        let cells = execute_with_curves(vec![cell(text)], effort(3), &|| {}).unwrap();
        completions(&cells[0])
    };
    let at = |rows: &[retrylab::experiment::CompletionRow], share: f64| {
        let row = rows.iter().find(|row| row.share == share).unwrap();
        (row.n, row.points_s[1])
    };
    let all = of(FIVE);
    assert_eq!(at(&all, 0.2), (3, Some(0.1)));
    assert_eq!(at(&all, 0.21), (3, Some(0.2)));
    assert_eq!(at(&all, 0.8), (3, Some(0.4)));
    assert_eq!(at(&all, 1.0), (3, Some(1.1)));
    let without = of(&FIVE.replace("max_attempts = 2", "max_attempts = 1"));
    assert_eq!(at(&without, 0.8), (3, Some(0.4)));
    assert_eq!(at(&without, 0.81), (0, None));
}

#[test]
fn watching_curves_moves_nothing() {
    let bare = execute(vec![cell(FIVE)], effort(2), &|| {}).unwrap();
    let watched = execute_with_curves(vec![cell(FIVE)], effort(2), &|| {}).unwrap();
    for (bare, watched) in bare[0].runs.iter().zip(&watched[0].runs) {
        assert!(bare.curves.windows.is_empty() && !watched.curves.windows.is_empty());
        assert_eq!(bare.fingerprint, watched.fingerprint);
        assert_eq!(bare.values, watched.values);
        let firsts: Vec<u32> = watched.curves.windows.iter().map(|w| w.waves[0]).collect();
        assert_eq!(firsts[..bare.first_attempts.len()], bare.first_attempts);
    }
}
