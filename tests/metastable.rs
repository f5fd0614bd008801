//! Collapse with a trigger and without: what is metastable, what is overload, and what recovers.

mod command;

use command::{SMALL, run};
use retrylab::experiment::{Cell, Seed};
use retrylab::scenario::Document;

/// One server of one second, three attempts of 10 s each, and a pause of a minute.
const QUEUE: &str = r#"
workload = { poisson = { rate = "0.5/s" } }
client   = { layers = [{ name = "client", max_attempts = 3, timeout = "10s" }] }
measure  = { window = "1s", horizon = "4000s", health = { window = "500s", last = 2 } }

[provider]
concurrency = 1
queue       = { fifo = {} }
service     = "1s"
faults      = [{ capacity = { from = "1000s", to = "1060s", concurrency = 0 } }]

[trigger]
to      = "1060s"
without = ["provider.faults=[]"]
"#;

/// Metrics of a few runs with settings.
fn metrics(settings: &[&str], names: &[&str]) -> Vec<Vec<Option<f64>>> {
    let document = Document::parse("test", QUEUE.to_owned(), ".".into()).unwrap();
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    let cell = Cell::new("test", &document.with(&settings).unwrap()).unwrap();
    let place = |name: &&str| cell.metrics.iter().position(|m| m.name == *name).unwrap();
    let places: Vec<usize> = names.iter().map(place).collect();
    let run = |replication| {
        let run = cell.run(Seed(42), replication).unwrap();
        places.iter().map(|&place| run.values[place]).collect()
    };
    (0..6).map(run).collect()
}

const ENDS: [&str; 4] =
    ["collapsed_at_end", "metastable", "recovered", "collapsed_without_trigger"];

fn ends(settings: &[&str], expected: [f64; 4]) {
    for run in metrics(settings, &ENDS) {
        assert_eq!(run, expected.map(Some), "{settings:?}");
    }
}

#[test]
fn half_the_load_collapses_with_the_trigger_alone() {
    ends(&[], [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn more_than_the_capacity_is_overload_and_not_metastable() {
    ends(&["workload.poisson.rate=1.5/s"], [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_small_load_recovers() {
    ends(&["workload.poisson.rate=0.15/s"], [0.0, 0.0, 1.0, 0.0]);
}

/// The trigger leaves 60·0.5 requests; without retries they are served at 1/s while 0.5/s come, so
/// that the wait is below the timeout again 2·(60 - 10) = 100 s after it, in the first window of 500 s.
#[test]
fn recovery_is_counted_from_the_end_of_the_trigger() {
    let settings =
        ["client.layers.client.max_attempts=1", "measure.health={window=\"50s\",last=5}"];
    for run in metrics(&settings, &["recovery_s", "recovered", "amplification_at_end"]) {
        assert!(run[0].is_some_and(|s| (40.0..200.0).contains(&s)), "{run:?}");
        assert_eq!(run[1..], [Some(1.0), Some(1.0)]);
    }
    for run in metrics(&[], &["recovery_s"]) {
        assert_eq!(run, [None], "what has not recovered has no time");
    }
}

#[test]
fn what_nobody_asks_for_cannot_collapse() {
    let settings = ["workload={clients=50,burst={at=\"990s\"}}"];
    for run in metrics(&settings, &["collapsed_at_end", "metastable", "recovered", "recovery_s"]) {
        assert_eq!(run, [None; 4]);
    }
}

/// The retries of a collapsed server: all three attempts of each request are sent, for nothing.
#[test]
fn a_collapsed_server_has_no_goodput_and_all_attempts() {
    let names = ["goodput_at_end", "goodput_at_end_per_s", "goodput_without_trigger"];
    for run in metrics(&[], &names) {
        assert_eq!(run[..2], [Some(0.0), Some(0.0)]);
        assert!(run[2].is_some_and(|share| (0.97..1.03).contains(&share)), "{run:?}");
    }
    for run in metrics(&[], &["amplification_at_end"]) {
        assert!(run[0].is_some_and(|a| (2.85..3.15).contains(&a)), "{run:?}");
    }
}

#[test]
fn the_pair_has_the_same_random_numbers() {
    let names = ["goodput_at_end", "goodput_without_trigger", "collapsed_without_trigger"];
    // Nothing is taken away, so that both runs are one.
    let document = QUEUE.replace("provider.faults=[]", "provider.concurrency=1");
    let document = Document::parse("test", document, ".".into()).unwrap();
    let cell = Cell::new("test", &document).unwrap();
    let place = |name: &&str| cell.metrics.iter().position(|m| m.name == *name).unwrap();
    for replication in 0..4 {
        let values = cell.run(Seed(42), replication).unwrap().values;
        let [with, without, collapsed] = [0, 1, 2].map(|k| values[place(&names[k])]);
        assert_eq!((with, collapsed), (without, Some(1.0)));
    }
}

/// The command says what the metrics say, and finds the loads between which the server is vulnerable:
/// 1/3 of the capacity of 1/s (hidden) and all of it (advertised).
#[test]
fn the_command_tells_shares_recovery_and_loads() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("queue.toml"), QUEUE).unwrap();
    let places = "provider.queue={fifo={limit=49}}";
    let args = ["metastable", "queue.toml", "-r", "10", "--ramp", "10000s", "-q", "--set", places];
    let json = run(home.path(), &[&args[..], &["--json"]].concat()).json();
    assert_eq!(json["schema"], "retrylab.metastable/1");
    for (share, mean) in
        [("stuck", 1.0), ("recovered", 0.0), ("metastable", 1.0), ("stuck_without_trigger", 0.0)]
    {
        assert_eq!(
            (&json[share]["mean"], &json[share]["n"]),
            (&mean.into(), &10.into()),
            "{share}"
        );
    }
    // Wilson: 0 of 10 is 0 to 27.8 %.
    let high = json["recovered"]["ci95"][1].as_f64().unwrap();
    assert!((high - 0.2775).abs() < 1e-3, "{high}");
    assert_eq!((&json["recovery_s"]["n"], &json["censored"]), (&0.into(), &10.into()));
    let loads = &json["loads"];
    assert_eq!(loads["advertised_per_s"], 1.0);
    let hidden = loads["hidden_per_s"].as_f64().unwrap();
    assert!((0.30..0.42).contains(&hidden), "{hidden}");
    assert_eq!(loads["hidden_known_to_per_s"], 1.0 / 128.0);
    let at = |load: &str| loads[load]["mean"].as_f64().unwrap();
    assert!(at("collapse") > 0.5 && at("recovery") < 0.5, "{loads}");
    assert_eq!(at("hysteresis"), 1.0);

    let text = run(home.path(), &args);
    assert_eq!(text.code, 0, "{text:?}");
    for part in
        ["metastable", "95 % interval (Wilson)", "none of 10 runs", "advertised 1/s; hidden 0.3"]
    {
        assert!(text.out.contains(part), "no {part} in {}", text.out);
    }
    let small = ["--set", "workload.poisson.rate=0.2/s", "-r", "5"];
    let healthy = run(home.path(), &[&args[..2], &small[..]].concat());
    assert!(healthy.out.contains("over 5 runs; 0 had not recovered"), "{}", healthy.out);
}

#[test]
fn the_command_needs_a_trigger_and_leaves_out_loads_that_are_not_one_number() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let ran = run(home.path(), &["metastable", "storm.toml"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("names no trigger; write [trigger]"), "{}", ran.err);
    let trigger = "[trigger]\nto = \"1s\"\nwithout = [\"provider.faults=[]\"]\n[measure]";
    let text = SMALL.replacen("[measure]", trigger, 1);
    std::fs::write(home.path().join("storm.toml"), text).unwrap();
    let json = run(home.path(), &["metastable", "storm.toml", "--json", "-q"]).json();
    // A burst has no demand at the end: no share, no loads.
    assert_eq!((&json["stuck"]["n"], &json["loads"]), (&0.into(), &serde_json::Value::Null));
}

/// A short queue never collapses, and with a demand that is over nothing can be told.
#[test]
fn hidden_capacity_is_no_more_than_what_was_seen() {
    let hidden = |more: &[&str]| {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("queue.toml"), QUEUE).unwrap();
        let args = [&["metastable", "queue.toml", "-r", "3", "--json"][..], more].concat();
        let ran = run(home.path(), &args);
        assert_eq!(ran.code, 0, "{ran:?}");
        let loads = &ran.json()["loads"];
        (loads["hidden_per_s"].as_f64(), loads["hidden_is_at_least"].as_bool().unwrap())
    };
    let (found, at_least) = hidden(&["--set", "provider.queue={fifo={limit=5}}"]);
    assert!(found.unwrap() > 0.9 && at_least, "{found:?}");
    let (found, at_least) = hidden(&["--set", "workload.poisson.duration=5min"]);
    assert_eq!((found, at_least), (None, false));
}
