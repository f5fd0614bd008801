//! `retrylab trace`: logs, Chrome traces, stories and the check.

mod command;
mod common;

use std::fs;
use std::path::Path;

use command::{Ran, SMALL, run};
use serde_json::Value;

/// One client against an outage: every instant follows from the document.
const STORY: &str = r#"
workload = { clients = 1, burst = {} }
request  = { input_tokens = 1155, output_tokens = 129 }
measure  = { horizon = "60s" }

[provider]
concurrency = 1
queue       = { fifo = { limit = 5 } }
service     = "3s"
billing     = { rule = "strict", price = "claude-sonnet-4" }
faults      = [{ outage = { from = "0s", to = "1500ms", status = 529 } }]

[[client.layers]]
name         = "sdk"
max_attempts = 3
timeout      = "2s"
backoff      = { none = { base = "1s", cap = "8s" } }
semaphore    = { permits = 1, scope = "client" }

[[client.layers]]
name         = "app"
max_attempts = 2
backoff      = { none = { base = "5s", cap = "30s" } }
deadline     = "20s"
"#;

fn home(text: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), text).unwrap();
    home
}

fn trace(home: &Path, args: &[&str]) -> Ran {
    let ran = run(home, &[&["trace", "storm.toml", "-q"], args].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    ran
}

fn rows(csv: &str) -> Vec<csv::StringRecord> {
    csv::Reader::from_reader(csv.as_bytes()).records().map(Result::unwrap).collect()
}

/// Attempt 3 starts at 4 s and attempt 2, at 1 s, is still in the outage.
#[test]
fn a_story_says_when_and_why() {
    let home = home(STORY);
    let told = trace(home.path(), &["--explain", "1"]).out;
    let expected = [
        " 0.000 s  request 1 of client 1 is created",
        " 0.000 s  it takes a permit of sdk",
        " 0.000 s  attempt 1 is refused: 529, an outage until 1.5 s",
        " 0.000 s  it gives the permit of sdk back",
        " 0.000 s  sdk waits 1 s before retry 1: exponential backoff without jitter",
        " 1.000 s  it takes a permit of sdk",
        " 1.000 s  attempt 2 is refused: 529, an outage until 1.5 s",
        " 1.000 s  it gives the permit of sdk back",
        " 1.000 s  sdk waits 2 s before retry 2: exponential backoff without jitter",
        " 3.000 s  it takes a permit of sdk",
        " 3.000 s  attempt 3 is sent and served at once",
        " 5.000 s  sdk stops waiting: its timeout of 2 s is over",
        " 5.000 s  it gives the permit of sdk back",
        " 5.000 s  sdk gives up: its 3 attempts are used up",
        " 5.000 s  app waits 5 s before retry 1: exponential backoff without jitter",
        " 6.000 s  the answer to attempt 3 comes too late, nobody waits for it; 1,155 + 129 tokens (0.0054 USD) are billed",
        "10.000 s  it takes a permit of sdk",
        "10.000 s  attempt 4 is sent and served at once",
        "12.000 s  sdk stops waiting: its timeout of 2 s is over",
        "12.000 s  it gives the permit of sdk back",
        "12.000 s  sdk waits 1 s before retry 1: exponential backoff without jitter",
        "13.000 s  the answer to attempt 4 comes too late, nobody waits for it; 1,155 + 129 tokens (0.0054 USD) are billed",
        "13.000 s  it takes a permit of sdk",
        "13.000 s  attempt 5 is sent and served at once",
        "15.000 s  sdk stops waiting: its timeout of 2 s is over",
        "15.000 s  it gives the permit of sdk back",
        "15.000 s  sdk waits 2 s before retry 2: exponential backoff without jitter",
        "16.000 s  the answer to attempt 5 comes too late, nobody waits for it; 1,155 + 129 tokens (0.0054 USD) are billed",
        "17.000 s  it takes a permit of sdk",
        "17.000 s  attempt 6 is sent and served at once",
        "19.000 s  sdk stops waiting: its timeout of 2 s is over",
        "19.000 s  it gives the permit of sdk back",
        "19.000 s  sdk gives up: its 3 attempts are used up",
        "19.000 s  app gives up: its 2 attempts are used up",
        "19.000 s  the request ends without an answer",
        "20.000 s  the answer to attempt 6 comes too late, nobody waits for it; 1,155 + 129 tokens (0.0054 USD) are billed",
        "",
        "In all: no answer after 19 s; 6 attempts, 4,620 + 516 tokens (0.0216 USD) billed, all of them wasted.",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), expected);

    let json = trace(home.path(), &["--explain", "1", "--json"]).json();
    assert_eq!(json["schema"], "retrylab.story/1");
    assert_eq!(json["sentences"].as_array().unwrap().len(), expected.len() - 2);
    assert_eq!(json["sentences"][2]["text"], expected[2].split("  ").nth(1).unwrap());
    assert_eq!(json["events"][0]["event"], "created");

    // With time enough the same request has a good end.
    let set = ["--explain", "1", "--set", "client.layers.sdk.timeout=4s"];
    let told = trace(home.path(), &set).out;
    let end = " 6.000 s  attempt 3 is answered; 1,155 + 129 tokens (0.0054 USD) are billed";
    assert!(told.contains(end.trim_start()), "{told}");
    assert!(
        told.ends_with(
            "3 attempts, 1,155 + 129 tokens (0.0054 USD) billed, none of them wasted.\n"
        )
    );
}

#[test]
fn what_makes_a_request_wait_or_end_is_named() {
    let home = home(STORY);
    let cases: [(&[&str], &[&str]); 6] = [
        (
            &["--set", "client.layers.app.deadline=4s"],
            &["4.000 s  app gives up: its deadline of 4 s is over"],
        ),
        (
            &["--set", "client.layers.app.deadline=9s"],
            &["5.000 s  app gives up: a wait of 5 s would pass its deadline of 9 s"],
        ),
        (
            &[
                "--set",
                "client.layers.sdk.budget={ ratio = { of_requests = 0.1, burst = 1, scope = \"fleet\" } }",
            ],
            &["1.000 s  sdk gives up: its retry budget has nothing left"],
        ),
        (
            &[
                "--set",
                "client.layers.sdk.breaker={ consecutive = { failures = 2 }, open = \"1s\", scope = \"fleet\" }",
            ],
            &["1.000 s  the breaker of sdk opens for 1 s"],
        ),
        (
            &["--policy", "equal", "--layer", "sdk"],
            &[" before retry 1: equal jitter, U(500 ms, 1 s)", "U(1 s, 2 s)"],
        ),
        (
            &[
                "--set",
                "provider.faults=[]",
                "--set",
                "provider.limits={ requests = { rate = \"1/min\", burst = 1 } }",
            ],
            &[
                "attempt 2 is refused: 429, the limit on requests (1/min) is reached; Retry-After 57 s",
            ],
        ),
    ];
    for (args, parts) in cases {
        let told = trace(home.path(), &[&["--explain", "1"], args].concat()).out;
        for part in parts {
            assert!(told.contains(part), "no \"{part}\" in\n{told}");
        }
    }
}

#[test]
fn formats_tell_the_same() {
    let home = home(SMALL);
    let csv = trace(home.path(), &[]).out;
    let json = trace(home.path(), &["--format", "jsonl"]).out;
    let rows = rows(&csv);
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(rows.len(), json.lines().count());
    for (row, line) in rows.iter().zip(json.lines()) {
        let object: Value = serde_json::from_str(line).unwrap();
        for (column, field) in header.iter().zip(row) {
            let value = match &object[column] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(value, field, "{column} of {line}");
        }
    }
    // The ending says the format.
    for (file, stdout) in [("log.csv", csv), ("log.jsonl", json)] {
        let ran = run(home.path(), &["trace", "storm.toml", "-o", file]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
        assert_eq!(ran.err, format!("wrote {file}: {} events\n", rows.len()));
        assert_eq!(fs::read_to_string(home.path().join(file)).unwrap(), stdout);
    }
    let chrome = trace(home.path(), &["--format", "chrome"]).out;
    trace(home.path(), &["-o", "log.json"]);
    assert_eq!(fs::read_to_string(home.path().join("log.json")).unwrap(), chrome);
    let files = fs::read_dir(home.path()).unwrap().count();
    assert_eq!(files, 4, "no temporary file stays");
}

#[test]
fn few_clients_are_a_part_of_the_log_and_counters_are_of_all() {
    let home = home(SMALL);
    let all = rows(&trace(home.path(), &[]).out);
    let few = rows(&trace(home.path(), &["--clients", "3"]).out);
    let of_few = |row: &&csv::StringRecord| row[2].parse::<u32>().unwrap() <= 3;
    assert_eq!(few, all.iter().filter(of_few).cloned().collect::<Vec<_>>());
    assert!(!few.is_empty() && few.len() < all.len());

    let read = |args: &[&str]| {
        let args = [&["--format", "chrome"], args].concat();
        common::chrome::read(trace(home.path(), &args).out.as_bytes()).unwrap()
    };
    let (few, all) = (read(&["--clients", "3"]), read(&[]));
    assert_eq!(few.counters, all.counters);
    assert_eq!((few.tracks.len(), all.tracks.len()), (3, 20));

    let metrics = run(home.path(), &["run", "storm.toml", "-r", "1", "--json"]).json();
    let metric = |name: &str| metrics["metrics"][name]["mean"].as_f64().unwrap() as u64;
    let most = |counter: &str| *all.counters[counter].iter().max().unwrap();
    assert_eq!(most("load"), metric("peak_attempts_bin"));
    assert_eq!(all.counters["load"].iter().sum::<u64>(), metric("attempts"));
    assert_eq!(most("in flight"), metric("peak_in_flight"));
    assert_eq!(all.spans["attempt"], metric("attempts"));
    assert_eq!(all.outcomes["answered"], metric("succeeded"));
}

#[test]
fn seeds_and_replications_are_those_of_run() {
    let home = home(SMALL);
    let first = trace(home.path(), &[]).out;
    assert_eq!(trace(home.path(), &["--seed", "0x2a"]).out, first);
    assert_ne!(trace(home.path(), &["--seed", "43"]).out, first);
    let second = trace(home.path(), &["--replication", "1"]).out;
    assert_ne!(second, first);
    run(home.path(), &["run", "storm.toml", "-o", "out", "-q"]);
    let runs = fs::read_to_string(home.path().join("out/runs.csv")).unwrap();
    let mut runs = csv::Reader::from_reader(runs.as_bytes());
    let attempts = runs.headers().unwrap().iter().position(|name| name == "attempts").unwrap();
    for (run, log) in runs.records().map(Result::unwrap).zip([first, second]) {
        let sent = rows(&log).iter().filter(|row| &row[4] == "sent").count();
        assert_eq!(run[attempts].parse::<usize>().unwrap(), sent);
    }
}

#[test]
fn the_check_compares_all_events() {
    let home = home(SMALL);
    let count = rows(&trace(home.path(), &[]).out).len();
    let checked = trace(home.path(), &["--check"]).out;
    assert_eq!(checked, format!("{count} events, all the same in both runs\n"));
    let json = trace(home.path(), &["--check", "--json", "--clients", "1"]).json();
    assert_eq!(json["difference"], Value::Null);
    assert!(json["same"].as_u64().unwrap() < count as u64);
}
