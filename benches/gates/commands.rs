//! Whole commands: sweeps that others have published the cost of, two threads against one, and `reproduce`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use retrylab::scenario::Document;

use crate::clock::cpu_time;
use crate::published::thousand_clients;
use crate::sweeps::{run_whole, sweep};
use crate::{Gate, LOUD, Line, NOISE};

/// The sweep of the backoff simulation of 2015: 19 numbers of clients, 5 backoffs, 100 runs of each. Its own
/// program in Python takes 120 s of CPU time.
const CONTEND: [&str; 2] = [
    "workload.clients=10..190:lin19",
    "client.layers.client.backoff=no_backoff\
     ,{ none = { base = \"10ms\", cap = \"2s\" } }\
     ,{ equal_jitter = { base = \"10ms\", cap = \"2s\" } }\
     ,{ full_jitter = { base = \"10ms\", cap = \"2s\" } }\
     ,{ decorrelated_jitter = { base = \"5ms\", cap = \"2s\" } }",
];

/// The phase map of retrystorm: 9 rates and 4 policies, 5 runs of 60 s of each. Its own program in Java
/// takes 9.2 s of CPU time.
const RATES: &str = "workload.spike.rate=500/s,600/s,700/s,800/s,820/s,850/s,880/s,900/s,920/s";
const RETRIES: &str = "client.layers.client.max_attempts=1,6";
const BREAKERS: &str = "client.layers.client.breaker=\
    { ratio = { failures = 0.5, min_calls = 50, last = 50 }, open = \"2s\", stops = \"retries\", scope = \"client\" },\
    { ratio = { failures = 0.5, min_calls = 50, last = 50 }, open = \"2s\", stops = \"all\", scope = \"client\" }";

/// The lines of CPU time; without replications each is only tried.
pub fn lines(measured: bool) -> Vec<Line> {
    eprintln!("whole commands");
    let home = tempfile::tempdir().expect("a folder for results");
    vec![
        contend(home.path(), if measured { 100 } else { 0 }),
        phase_map(home.path(), if measured { 5 } else { 0 }),
        two_threads(home.path(), if measured { 10_000 } else { 20 }),
    ]
}

/// The lines by the clock, which say something only where nothing else runs.
pub fn by_the_clock() -> Vec<Line> {
    eprintln!("by the clock");
    let home = tempfile::tempdir().expect("a folder for results");
    vec![
        reproduce(home.path(), "thousand-clients", 5, 0.5),
        reproduce(home.path(), "--all", 1, 60.0),
    ]
}

fn document(name: &str, text: &str) -> Document {
    Document::parse(name, text.to_owned(), PathBuf::new()).expect("a valid scenario")
}

fn contend(home: &Path, replications: u32) -> Line {
    let document = document("contend", include_str!("contend.toml"));
    let value = cost_of(&document, &CONTEND, replications, 1, home);
    let (what, size) = ("CPU time of the 2015 backoff sweep", "9,500 runs".to_owned());
    Line { what, size, value, gate: Gate::AtMost(15.0), unit: "s", noise: LOUD }
}

fn phase_map(home: &Path, replications: u32) -> Line {
    let text = include_str!("../../experiments/published/retrystorm-phase-map/scenario.toml");
    // The runs without the trigger that recovery is judged by are no part of the published map.
    let (start, end) = (text.find("[trigger]"), text.find("[measure]"));
    let (start, end) = (start.expect("it has a trigger"), end.expect("it says what to measure"));
    let document = document("phase-map", &[&text[..start], &text[end..]].concat());
    let cost = |axis| cost_of(&document, &[RATES, axis], replications, 1, home);
    let (what, size) = ("CPU time of the retrystorm phase map", "180 runs of 60 s".to_owned());
    Line {
        what,
        size,
        value: cost(RETRIES) + cost(BREAKERS),
        gate: Gate::AtMost(9.0),
        unit: "s",
        noise: LOUD,
    }
}

/// Replications of one cell on two threads against one; they write the same bytes.
fn two_threads(home: &Path, replications: u32) -> Line {
    let document = thousand_clients();
    let axis = ["provider.concurrency=1000"];
    let costs = [1, 2].map(|threads| {
        let folder = home.join(format!("threads-{threads}"));
        let cost = cost_of(&document, &axis, replications, threads, &folder);
        (cost, std::fs::read(folder.join("runs.csv")).expect("a table of runs"))
    });
    let [(one, expected), (two, found)] = costs;
    assert!(expected == found, "one thread and two write different tables");
    let (what, size) = ("CPU time on two threads against one", format!("{replications} runs"));
    Line { what, size, value: two / one, gate: Gate::AtMost(1.05), unit: "x", noise: NOISE }
}

/// CPU seconds of a sweep; nothing is run for 0 replications.
fn cost_of(
    document: &Document,
    axes: &[&str],
    replications: u32,
    threads: usize,
    to: &Path,
) -> f64 {
    let sweep = sweep(document.clone(), axes, replications.max(1), threads);
    if replications == 0 {
        sweep.survey().expect("sound cells");
        return 0.0;
    }
    let start = cpu_time();
    run_whole(&sweep, to);
    (cpu_time() - start).as_secs_f64()
}

/// The shortest time that `retrylab reproduce` takes, of so many.
fn reproduce(home: &Path, what: &'static str, times: u32, gate: f64) -> Line {
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrylab"));
        command.args(["reproduce", what, "-q", "-o"]).arg(home.join(what)).stdout(Stdio::null());
        let start = Instant::now();
        let status = command.status().expect("the command starts");
        assert!(status.success(), "reproduce {what} ends with {status}");
        start.elapsed().as_secs_f64()
    };
    let value = (0..times).map(|_| run()).fold(f64::INFINITY, f64::min);
    Line {
        what: "reproduce, by the clock",
        size: what.to_owned(),
        value,
        gate: Gate::AtMost(gate),
        unit: "s",
        noise: LOUD,
    }
}
