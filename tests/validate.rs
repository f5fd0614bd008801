//! Logs beside the simulation: the simulation's own log agrees, another one parts, and what is no log is refused.

mod command;

use std::fs;
use std::path::Path;

use command::{Ran, run};

const STORM: &str = r#"
workload = { clients = 30, burst = { spread = "100ms" } }
request = { input_tokens = 500, output_tokens = 40 }
[provider]
concurrency = 10
service = "200ms"
billing = { price = "claude-sonnet-4" }
[[provider.faults]]
outage = { from = "0s", to = "300ms", status = 503 }
[[client.layers]]
name = "sdk"
preset = "openai-python-3.57"
[measure]
horizon = "60s"
"#;

/// The log of a run of [`STORM`], in a folder that has the scenario too.
fn traced(folder: &Path, seed: &str) -> String {
    fs::write(folder.join("storm.toml"), STORM).unwrap();
    let ran = run(folder, &["trace", "storm.toml", "-q", "-o", "wire.csv", "--seed", seed]);
    assert_eq!(ran.code, 0, "{ran:?}");
    fs::read_to_string(folder.join("wire.csv")).unwrap()
}

fn validated(folder: &Path, options: &[&str]) -> Ran {
    let fixed = ["validate", "wire.csv", "storm.toml", "--json", "-q"];
    run(folder, &[&fixed[..], options].concat())
}

/// Names of the checks that part.
fn parted(ran: &Ran) -> Vec<String> {
    let document = ran.json();
    let checks = document["checks"].as_array().unwrap().iter();
    let bad = checks.filter(|check| check["agrees"] == false);
    bad.map(|check| check["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_log_of_a_run_agrees_with_other_runs() {
    let home = tempfile::tempdir().unwrap();
    for seed in ["7", "8", "9"] {
        traced(home.path(), seed);
        let ran = validated(home.path(), &["-r", "400"]);
        assert_eq!((ran.code, parted(&ran)), (0, vec![]), "seed {seed}");
        // A trace does not tell what requests are that nobody served.
        let ran = validated(home.path(), &["--arrivals", "measured"]);
        assert!(ran.code == 2 && ran.err.contains("--arrivals scenario"), "{ran:?}");
    }
}

#[test]
fn what_differs_is_named() {
    let home = tempfile::tempdir().unwrap();
    traced(home.path(), "7");
    // Another SDK waits longer, and one that tries once more calls more.
    let other =
        ["--set", "client.layers.sdk.backoff={ sdk_jitter = { base = \"1s\", cap = \"8s\" } }"];
    let ran = validated(home.path(), &other);
    assert_eq!(ran.code, 1);
    assert!(parted(&ran).contains(&"waits before retry 1".to_owned()), "{:?}", parted(&ran));
    let ran = validated(home.path(), &["--set", "provider.concurrency=2"]);
    assert!(parted(&ran).iter().any(|name| name.starts_with("requests of")), "{:?}", parted(&ran));
    let ran =
        validated(home.path(), &["--arrivals", "scenario", "--set", "request.output_tokens=400"]);
    assert_eq!(parted(&ran), ["output tokens billed"]);
}

#[test]
fn what_is_no_log_is_refused_with_its_line() {
    let home = tempfile::tempdir().unwrap();
    let log = traced(home.path(), "7");
    let lines: Vec<&str> = log.lines().collect();
    let swapped = [lines[0], lines[lines.len() - 1], lines[1]].join("\n");
    for (text, parts) in [
        (String::new(), ["wire.csv:1", "no column `time_ns`"]),
        ("a,b\n1,2\n".to_owned(), ["wire.csv:1", "retrylab stub -o"]),
        (format!("{}\n", lines[0]), ["wire.csv:2", "no attempt"]),
        (format!("{}\n1,,1\n", lines[0]), ["wire.csv:2", "torn"]),
        (log.replacen(",created,", ",born,", 1), ["wire.csv:2", "`born` is no event"]),
        (format!("{}\nx{}\n", lines[0], lines[1]), ["wire.csv:2", "a whole number is needed"]),
        (format!("{swapped}\n"), ["wire.csv:3", "in the order of time"]),
    ] {
        fs::write(home.path().join("wire.csv"), text).unwrap();
        let ran = validated(home.path(), &[]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{parts:?}");
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{parts:?}: {}", ran.err);
    }
}

#[test]
#[cfg(not(feature = "stub"))]
fn without_its_server_the_stub_says_how_to_build_it() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), STORM).unwrap();
    let ran = run(home.path(), &["stub", "storm.toml"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("--features stub"), "{}", ran.err);
}
