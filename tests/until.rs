//! Sweeps that make replications until means are known well enough.

mod command;

use std::fs;
use std::path::Path;

use command::{Ran, run};
use retrylab::stats::running::Running;

const STORM: &str = r#"
[workload]
burst = {}
[provider]
concurrency = 50
service = { exponential = { mean = "1s" } }
[[client.layers]]
name = "app"
max_attempts = 5
backoff = { full_jitter = { base = "1s", cap = "30s" } }
"#;

const KNOWN: [&str; 12] = [
    "sweep",
    "storm.toml",
    "--vary",
    "workload.clients=100,300,1000",
    "--vary",
    "policy=none,full",
    "--metric",
    "peak_sliding,completion_mean_s",
    "--until-halfwidth=4%",
    "--max-replications",
    "45",
    "--json",
];

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), STORM).unwrap();
    home
}

fn known(home: &Path, more: &[&str]) -> Ran {
    run(home, &[&KNOWN[..], &["-r", "10"], more].concat())
}

fn tables(folder: &Path) -> Vec<Vec<u8>> {
    ["runs.csv", "summary.csv"].iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

/// The replications of each of six cells: the values of the two metrics.
fn cells(folder: &Path) -> Vec<Vec<[f64; 2]>> {
    let mut csv = csv::Reader::from_path(folder.join("runs.csv")).unwrap();
    let header = csv.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let (peak, completion, replication) =
        (place("peak_sliding"), place("completion_mean_s"), place("replication"));
    let mut cells = vec![Vec::new(); 6];
    for row in csv.records().map(Result::unwrap) {
        let cell: &mut Vec<[f64; 2]> = &mut cells[row[0].parse::<usize>().unwrap()];
        assert_eq!(row[replication], cell.len().to_string());
        cell.push([row[peak].parse().unwrap(), row[completion].parse().unwrap()]);
    }
    cells
}

fn is_known(values: &[[f64; 2]]) -> bool {
    (0..2).all(|metric| {
        let mut running = Running::default();
        values.iter().for_each(|pair| running.add(pair[metric]));
        running.half_width(0.95).unwrap() <= 0.04 / 1.04 * running.mean()
    })
}

#[test]
fn every_cell_has_as_many_batches_as_it_needs_and_no_more() {
    let home = home();
    let ran = known(home.path(), &["-o", "known"]);
    // A cell is still open when it has had the most.
    assert_eq!(ran.code, 1, "{ran:?}");
    let cells = cells(&home.path().join("known"));
    let counts: Vec<usize> = cells.iter().map(Vec::len).collect();
    for values in &cells {
        let n = values.len();
        assert!(n == 45 || (n.is_multiple_of(10) && is_known(values)), "{counts:?}");
        let before = (10..n).step_by(10).any(|n| is_known(&values[..n]));
        assert!(!before, "known before, of {counts:?}");
    }
    // The test sees something: cells that stop at once, later, and never.
    let any = |range: std::ops::RangeInclusive<usize>| counts.iter().any(|n| range.contains(n));
    assert!(any(10..=10) && any(20..=40) && any(45..=45), "{counts:?}");
    let open = cells.iter().filter(|cell| cell.len() == 45 && !is_known(cell)).count();
    assert_eq!(ran.json()["cells_not_known"], open);
    assert!(ran.err.contains("not known well enough after 45 replications"), "{}", ran.err);
    assert_eq!(ran.json()["runs_total"], counts.iter().sum::<usize>());
    let text = fs::read_to_string(home.path().join("known/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["runs"], ran.json()["runs_total"]);
    assert_eq!(manifest["until"]["batch"], 10);
}

#[test]
fn an_interrupted_one_makes_the_same_runs() {
    let home = home();
    let whole = known(home.path(), &["-o", "whole"]).json()["runs_total"].as_u64().unwrap();
    let journal = fs::read(home.path().join("whole/journal.bin")).unwrap();
    let head = journal.iter().position(|b| *b == b'\n').unwrap() + 18;
    let record = (journal.len() - head) / whole as usize;
    for (kept, threads) in [(0, "1"), (7, "2"), (whole / 2, "1"), (whole - 1, "2"), (whole, "1")] {
        let folder = home.path().join(format!("kept-{kept}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("journal.bin"), &journal[..head + kept as usize * record]).unwrap();
        let name = folder.display().to_string();
        let ran = known(home.path(), &["-o", &name, "--resume", "--threads", threads]);
        let found = ran.json();
        assert_eq!(found["runs_reused"], kept, "{ran:?}");
        assert_eq!(found["runs_total"], whole);
        assert!(tables(&folder) == tables(&home.path().join("whole")), "kept {kept}");
    }
}

/// 1.1 % is not a short number in binary.
#[test]
fn any_part_is_the_same_when_it_is_read_back() {
    let home = home();
    for part in ["1.1%", "0.7%", "12.3%"] {
        let args =
            ["sweep", "storm.toml", "--vary", "workload.clients=100", "--metric", "attempts"];
        let more = ["--until-halfwidth", part, "--max-replications", "20", "--json", "-o", part];
        let first = run(home.path(), &[&args[..], &more].concat()).json();
        let again = run(home.path(), &[&args[..], &more, &["--resume"]].concat()).json();
        assert_eq!(first["runs_total"], again["runs_reused"], "{part}");
        assert_eq!(again["runs_computed"], 0);
    }
}

#[test]
fn what_does_not_go_together_is_said() {
    let home = home();
    for (args, part) in [
        (&["--shard", "1/2", "-o", "x"][..], "cannot be used with"),
        (&["-r", "9", "-o", "x"], "-r 10 or more"),
        (&["-r", "50", "-o", "x"], "less than one batch of 50"),
        (&["--until-halfwidth=3", "-o", "x"], "write 2% or 0.02"),
    ] {
        let args = [&KNOWN[..], args].concat();
        let args: Vec<&str> = match part.contains("0.02") {
            true => args.into_iter().filter(|arg| *arg != "--until-halfwidth=4%").collect(),
            false => args,
        };
        let ran = run(home.path(), &args);
        assert_eq!((ran.code, ran.err.contains(part)), (2, true), "{args:?}: {}", ran.err);
        assert!(!home.path().join("x").exists());
    }
    let no_metric = ["sweep", "storm.toml", "--vary", "workload.clients=5,6"];
    let ran = run(home.path(), &[&no_metric[..], &["--until-halfwidth", "2%", "-o", "x"]].concat());
    assert_eq!((ran.code, ran.err.contains("--metric")), (2, true), "{}", ran.err);
    // Another rule is another sweep, and there is nothing to merge.
    assert_eq!(known(home.path(), &["-o", "known"]).code, 1);
    let others = [&KNOWN[..7], &["peak_sliding", "--until-halfwidth", "4%", "-r", "10"]].concat();
    let ran = run(home.path(), &[&others[..], &["-o", "known", "--resume"]].concat());
    assert!(ran.code == 2 && ran.err.contains("the --until-halfwidth is 0.04 of"), "{}", ran.err);
    let ran = run(home.path(), &["merge", "known", "-o", "merged"]);
    assert!(ran.code == 2 && ran.err.contains("has no parts"), "{}", ran.err);
    let plan = known(home.path(), &["--dry-run"]).json();
    assert_eq!((&plan["runs"], &plan["runs_at_most"]), (&60.into(), &270.into()));
}
