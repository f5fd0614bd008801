//! Sweeps: the same rows as single runs, however they are cut, killed or divided.

mod command;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use command::{Ran, SMALL, names, retrylab, run};

const GRID: [&str; 8] = [
    "sweep",
    "storm.toml",
    "--vary",
    "workload.clients=5,20",
    "--vary",
    "client.layers.app.max_attempts=1..3:lin3",
    "-r",
    "2",
];

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    home
}

fn sweep(home: &Path, more: &[&str]) -> Ran {
    run(home, &[&GRID, more].concat())
}

/// The tables of a folder.
fn tables(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: &&str| ((*name).to_owned(), fs::read(folder.join(name)).unwrap());
    ["runs.csv", "summary.csv", "scenario.toml"].iter().map(read).collect()
}

fn rows(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut csv = csv::Reader::from_path(path).unwrap();
    let header = csv.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = csv.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
    (header, rows)
}

fn counts(ran: &Ran) -> [u64; 3] {
    assert_eq!(ran.code, 0, "{ran:?}");
    let document = ran.json();
    assert_eq!(document["schema"], "retrylab.sweep/1");
    ["runs_total", "runs_reused", "runs_computed"].map(|key| document[key].as_u64().unwrap())
}

#[test]
fn a_cell_has_the_runs_that_it_has_alone() {
    let home = home();
    assert_eq!(counts(&sweep(home.path(), &["-o", "grid", "--json"])), [12, 0, 12]);
    let (header, all) = rows(&home.path().join("grid/runs.csv"));
    assert_eq!(header[..3], ["cell", "workload.clients", "client.layers.app.max_attempts"]);
    assert_eq!(all.len(), 12);
    for (cell, (clients, attempts)) in
        [(5, 1), (5, 2), (5, 3), (20, 1), (20, 2), (20, 3)].into_iter().enumerate()
    {
        let settings = [
            format!("workload.clients={clients}"),
            format!("client.layers.app.max_attempts={attempts}"),
        ];
        let args = ["run", "storm.toml", "-r", "2", "-o", "one", "--set", &settings[0], "--set"];
        assert_eq!(run(home.path(), &[&args[..], &[&settings[1]]].concat()).code, 0);
        let (names, alone) = rows(&home.path().join("one/runs.csv"));
        for (row, single) in all[2 * cell..2 * cell + 2].iter().zip(&alone) {
            assert_eq!(row[..3], [cell.to_string(), clients.to_string(), attempts.to_string()]);
            for (name, value) in names.iter().zip(single).skip(1) {
                let place = header.iter().position(|column| column == name).unwrap();
                assert_eq!(row[place], *value, "{name} of cell {cell}");
            }
        }
    }
}

#[test]
fn policies_and_keys_vary_together() {
    let home = home();
    let args = ["sweep", "storm.toml", "-r", "2", "-q", "-o", "pairs", "--layer", "sdk", "--vary"];
    let pairs = "policy,client.layers.app.timeout=(full,500ms),(no-retry,2s)";
    assert_eq!(run(home.path(), &[&args[..], &[pairs]].concat()).code, 0);
    let (header, all) = rows(&home.path().join("pairs/runs.csv"));
    assert_eq!(header[1..3], ["policy", "client.layers.app.timeout_s"]);
    let place = header.iter().position(|column| column == "amplification").unwrap();
    let found: Vec<[&str; 2]> = all.iter().map(|row| [&row[1][..], &row[2][..]]).collect();
    assert_eq!(found, [["full", "0.5"], ["full", "0.5"], ["no-retry", "2"], ["no-retry", "2"]]);
    assert!(all[2..].iter().all(|row| row[place] == "1"));
    // The full policy is that of compare.
    let args = ["compare", "storm.toml", "-r", "2", "-q", "-o", "compared", "--policies", "full"];
    let set = ["--layer", "sdk", "--set", "client.layers.app.timeout=500ms"];
    assert_eq!(run(home.path(), &[&args[..], &set].concat()).code, 0);
    let (_, compared) = rows(&home.path().join("compared/runs.csv"));
    assert_eq!(all[0][4], compared[0][2], "fingerprints");
}

#[test]
fn a_sample_is_drawn_by_the_seed() {
    let home = home();
    let draw = |seed: &str, folder: &str| {
        let args = ["sweep", "storm.toml", "-r", "1", "-q", "--sample", "6", "--seed", seed];
        let vary = ["--vary", "client.layers.app.timeout=100ms..10s:log", "-o", folder];
        assert_eq!(run(home.path(), &[&args[..], &vary].concat()).code, 0);
        rows(&home.path().join(folder).join("runs.csv")).1
    };
    let (one, again, other) = (draw("1", "a"), draw("1", "b"), draw("2", "c"));
    assert_eq!(one, again);
    assert_ne!(one, other);
    // One in each sixth of the two decades.
    let part = |row: &Vec<String>| ((row[1].parse::<f64>().unwrap().log10() + 1.0) * 3.0) as usize;
    let mut parts: Vec<usize> = one.iter().map(part).collect();
    parts.sort_unstable();
    assert_eq!(parts, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn threads_and_parts_make_no_difference() {
    let home = home();
    let folder = |name: &str| home.path().join(name);
    assert_eq!(sweep(home.path(), &["-o", "whole", "--threads", "1"]).code, 0);
    assert_eq!(sweep(home.path(), &["-o", "two", "--threads", "2"]).code, 0);
    let whole = tables(&folder("whole"));
    assert_eq!(tables(&folder("two")), whole);
    for count in [1, 3, 7] {
        let parts: Vec<String> = (1..=count).rev().map(|i| format!("part-{count}-{i}")).collect();
        for (part, index) in parts.iter().zip((1..=count).rev()) {
            let shard = format!("{index}/{count}");
            assert_eq!(sweep(home.path(), &["-o", part, "--shard", &shard]).code, 0);
        }
        let into = format!("merged-{count}");
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let args = [&["merge", "-q", "-o", &into][..], &parts].concat();
        let merged = run(home.path(), &args);
        assert_eq!((merged.code, &merged.out[..]), (0, ""), "{merged:?}");
        assert_eq!(tables(&folder(&into)), whole, "{count} parts");
        // It is a sweep like any other, and has nothing left to do.
        assert_eq!(counts(&sweep(home.path(), &["-o", &into, "--resume", "--json"])), [12, 12, 0]);
        assert_eq!(tables(&folder(&into)), whole, "{count} parts, resumed");
    }
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let home = home();
    for (part, more) in [
        ("1of2", &["--shard", "1/2"][..]),
        ("2of2", &["--shard", "2/2"]),
        ("again", &["--shard", "1/2"]),
        ("1of3", &["--shard", "1/3"]),
        ("seed", &["--shard", "2/2", "--seed", "7"]),
        ("torn", &["--shard", "2/2"]),
    ] {
        assert_eq!(sweep(home.path(), &[&["-o", part], more].concat()).code, 0);
    }
    let journal = home.path().join("torn/journal.bin");
    let bytes = fs::read(&journal).unwrap();
    fs::write(&journal, &bytes[..bytes.len() - 10]).unwrap();
    for (parts, said) in [
        (&["1of2"][..], "missing: part 2/2"),
        (&["1of2", "again"], "again and 1of2 are both part 1/2"),
        (&["1of2", "1of3"], "1of3 is of another sweep than 1of2: it was divided in 3, not in 2"),
        (&["1of2", "seed"], "the seed is 0x2a there, and 0x7 here"),
        (&["torn", "1of2"], "part 2/2 is not finished: 1 of its runs are missing"),
        (&["1of2", "./1of2"], "./1of2 is named twice"),
        (&["nowhere"], "nowhere/journal.bin"),
    ] {
        let args = [&["merge", "-o", "merged"][..], parts].concat();
        let ran = run(home.path(), &args);
        assert_eq!((ran.code, &ran.out[..]), (2, ""), "{ran:?}");
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
        assert!(!home.path().join("merged").exists());
    }
}

#[test]
fn another_sweep_is_not_resumed() {
    let home = home();
    assert_eq!(sweep(home.path(), &["-o", "grid"]).code, 0);
    let before = tables(&home.path().join("grid"));
    let refused = |ran: &Ran, said: &str| {
        assert_eq!((ran.code, &ran.out[..]), (2, ""), "{ran:?}");
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    };
    refused(&sweep(home.path(), &["-o", "grid"]), "--resume, or begin anew by --fresh");
    for (more, said) in [
        (&["--seed", "7"][..], "the seed is 0x2a there, and 0x7 here"),
        (&["--vary", "provider.concurrency=1,2"], "the --vary is"),
        (&["--sample", "6"], "the --sample is none there, and 6 here"),
        (&["--shard", "1/2"], "it is part 1/1 there, and 1/2 here"),
        (&["--layer", "app"], "the place of policies is nothing there, and --layer app here"),
        (
            &["--set", "provider.concurrency=6"],
            "the scenario has \"concurrency = 5\" there, and \"concurrency = 6\" here",
        ),
    ] {
        refused(&sweep(home.path(), &[&["-o", "grid", "--resume"], more].concat()), said);
    }
    assert_eq!(tables(&home.path().join("grid")), before);
    // What is refused, or fails in its first run, does not cost what is there.
    for (more, said) in [
        (&["--set", "provider.concurrency=x"][..], "provider.concurrency"),
        (&["--vary", "provider.service=1ms,x"], "provider.service"),
        (&["--set", "measure.events_per_instant=2"], "zero-time livelock"),
        (&["--metric", "size"], "there is no metric \"size\""),
    ] {
        refused(&sweep(home.path(), &[&["-o", "grid", "--fresh"], more].concat()), said);
        assert_eq!(counts(&sweep(home.path(), &["-o", "grid", "--resume", "--json"])), [12, 12, 0]);
    }
    assert_eq!(tables(&home.path().join("grid")), before);
    let anew = sweep(home.path(), &["-o", "grid", "--fresh", "--seed", "7", "--json"]);
    assert_eq!(counts(&anew), [12, 0, 12]);
    assert_ne!(tables(&home.path().join("grid")), before);
}

#[test]
fn a_trace_that_has_changed_is_another_sweep() {
    let home = home();
    let trace = |tokens: u32| {
        let row = |i: u32| format!("{i}.5,10,{tokens}\n");
        let rows: String = (0..5).map(row).collect();
        fs::write(home.path().join("t.csv"), format!("at_s,input_tokens,output_tokens\n{rows}"))
            .unwrap();
    };
    let scenario = "workload = { clients = 2, trace = { file = \"t.csv\" } }\nprovider = { concurrency = 1 }\n";
    fs::write(home.path().join("storm.toml"), scenario).unwrap();
    let args = ["sweep", "storm.toml", "--vary", "provider.concurrency=1,2", "-r", "1", "-o", "x"];
    trace(5);
    let first = run(home.path(), &args);
    assert_eq!(first.code, 0, "{first:?}");
    trace(6);
    let ran = run(home.path(), &[&args[..], &["--resume"]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the trace is t.csv"), "{}", ran.err);
}

#[test]
fn what_is_broken_is_said_and_computed_again() {
    let home = home();
    assert_eq!(sweep(home.path(), &["-o", "grid"]).code, 0);
    let folder = home.path().join("grid");
    let (whole, path) = (tables(&folder), folder.join("journal.bin"));
    let bytes = fs::read(&path).unwrap();
    let record = (bytes.len() - bytes.iter().position(|b| *b == b'\n').unwrap() - 18) / 12;
    let start = bytes.len() - 12 * record;
    // Torn in the middle of its eighth record.
    fs::write(&path, &bytes[..start + 7 * record + 100]).unwrap();
    let ran = sweep(home.path(), &["-o", "grid", "--resume", "--json"]);
    assert_eq!(counts(&ran), [12, 7, 5]);
    assert_eq!(ran.err.matches("journal:").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("the last record is torn (100 bytes)"), "{}", ran.err);
    assert_eq!(tables(&folder), whole);
    // A bit of its third record.
    let mut flipped = bytes.clone();
    flipped[start + 2 * record + 50] ^= 4;
    fs::write(&path, &flipped).unwrap();
    let ran = sweep(home.path(), &["-o", "grid", "--resume", "--json"]);
    assert_eq!(counts(&ran), [12, 11, 1]);
    assert!(ran.err.contains("record 2 is damaged"), "{}", ran.err);
    assert_eq!(tables(&folder), whole);
    // Killed before the header was written: there is nothing, and it begins.
    for length in [0, 100, bytes.iter().position(|b| *b == b'\n').unwrap() + 5] {
        fs::write(&path, &bytes[..length]).unwrap();
        assert_eq!(counts(&sweep(home.path(), &["-o", "grid", "--resume", "--json"])), [12, 0, 12]);
        assert_eq!(tables(&folder), whole);
    }
    // Nor does another command take the folder.
    let ran = run(home.path(), &["run", "storm.toml", "-q", "-o", "grid"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the folder has a sweep"), "{}", ran.err);
    // The header.
    flipped = bytes;
    flipped[20] ^= 1;
    fs::write(&path, &flipped).unwrap();
    let ran = sweep(home.path(), &["-o", "grid", "--resume"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the header is damaged; start anew with --fresh"), "{}", ran.err);
}

/// A sweep that takes about a second.
const LONG: [&str; 8] = [
    "sweep",
    "storm.toml",
    "--vary",
    "workload.clients=100..2000:lin20",
    "-r",
    "20",
    "--json",
    "-o",
];

/// Kills a process after so long; true when it had not ended by itself.
fn killed(home: &Path, args: &[&str], after: Duration) -> bool {
    let mut child =
        retrylab(home).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let running = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    running
}

/// Runs that a journal has, by its length: records are of one length.
fn finished(folder: &Path, whole: u64, total: u64) -> u64 {
    let length = |folder: &Path| fs::metadata(folder.join("journal.bin")).map_or(0, |m| m.len());
    let bytes = fs::read(folder.join("journal.bin")).unwrap_or_default();
    let head = bytes.iter().position(|b| *b == b'\n').map_or(0, |at| at as u64 + 18);
    let record = (whole - head) / total;
    length(folder).saturating_sub(head) / record
}

#[test]
fn a_sweep_that_is_killed_goes_on_where_it_was() {
    let home = home();
    let whole = home.path().join("whole");
    let start = Instant::now();
    assert_eq!(counts(&run(home.path(), &[&LONG[..], &["whole"]].concat())), [400, 0, 400]);
    let time = start.elapsed();
    let (tables_of_whole, length) =
        (tables(&whole), fs::metadata(whole.join("journal.bin")).unwrap().len());
    let mut kills = 0;
    for (trial, threads) in (0..12).zip(["1", "2"].into_iter().cycle()) {
        let name = format!("killed-{trial}");
        let folder = home.path().join(&name);
        let args = [&LONG[..], &[&name, "--resume", "--threads", threads]].concat();
        // Twice in a row, at moments that no two trials share.
        for part in 0..2 {
            let share = f64::from(2 * trial + part) * 0.618_034 % 1.0;
            let after = time.mul_f64(0.05 + 0.4 * share);
            kills += u64::from(killed(home.path(), &args, after));
        }
        let reused = finished(&folder, length, 400);
        let ran = run(home.path(), &args);
        assert_eq!(counts(&ran), [400, reused, 400 - reused], "{name}: {}", ran.err);
        assert!(tables(&folder) == tables_of_whole, "{name}");
        assert_eq!(counts(&run(home.path(), &args)), [400, 400, 0]);
    }
    assert!(kills >= 20, "only {kills} of 24 kills met a sweep that was running");
}

#[test]
fn two_processes_do_not_share_a_folder() {
    let home = home();
    assert_eq!(sweep(home.path(), &["-o", "grid"]).code, 0);
    let file = fs::File::open(home.path().join("grid/journal.bin")).unwrap();
    file.lock().unwrap();
    for mode in ["--resume", "--fresh"] {
        let ran = sweep(home.path(), &["-o", "grid", mode]);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.err.contains("another process works on this sweep"), "{}", ran.err);
    }
    file.unlock().unwrap();
    assert_eq!(counts(&sweep(home.path(), &["-o", "grid", "--resume", "--json"])), [12, 12, 0]);
}

#[test]
fn what_cannot_be_swept_is_refused_before_anything_runs() {
    let home = home();
    fs::create_dir(home.path().join("thesis")).unwrap();
    fs::write(home.path().join("thesis/thesis.tex"), "years of work").unwrap();
    let bad = |args: &[&str], code: i32, said: &str| {
        let ran = run(home.path(), &[&["sweep", "storm.toml"], args].concat());
        assert_eq!((ran.code, &ran.out[..]), (code, ""), "{ran:?}");
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    };
    let clients = ["--vary", "workload.clients=1,2"];
    let with = |more: &[&'static str]| [&clients[..], more].concat();
    bad(&["--vary", "workload.clientz=1,2", "-o", "x"], 2, "did you mean `clients`?");
    bad(&["--vary", "workload.clients=1,-2", "-o", "x"], 2, "--vary workload.clients=-2");
    bad(&["--vary", "policy=ful", "-o", "x"], 2, "did you mean `full`?");
    bad(&["--vary", "workload.clients=1..9:log", "-o", "x"], 2, "draw with --sample");
    bad(&["--vary", "workload.clients=5..1", "-o", "x"], 2, "the smaller end first");
    bad(&with(&["--vary", "workload.clients=3", "-o", "x"]), 2, "is varied twice");
    bad(&["--vary", "measure.replications=1,2", "-o", "x"], 2, "those of -r");
    bad(&["--vary", "expect.peak_bin=< 5", "-o", "x"], 2, "changes nothing about a run");
    bad(&with(&["--metric", "peak_slidin", "-o", "x"]), 2, "did you mean `peak_sliding`?");
    bad(&with(&["--shard", "3/2", "-o", "x"]), 2, "i from 1 to n");
    bad(&with(&["-o", "thesis"]), 2, "not results of retrylab");
    bad(&with(&["-o", "storm.toml"]), 3, "this is a file");
    bad(&with(&[]), 2, "--output");
    let many = [
        "--vary",
        "workload.clients=1..100000:lin100000",
        "--vary",
        "provider.concurrency=1..100000:lin100000",
        "-o",
        "x",
    ];
    bad(&many, 2, "write fewer values");
    let large = ["--vary", "workload.clients=1,4000000000", "-o", "x"];
    bad(&large, 2, "--max-memory");
    assert_eq!(names(home.path()), ["storm.toml", "thesis"]);
    assert_eq!(names(&home.path().join("thesis")), ["thesis.tex"]);
}

#[test]
fn a_plan_says_how_much_it_is_and_writes_nothing() {
    let home = home();
    let ran = sweep(home.path(), &["--dry-run"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("6 cells × 2 replications = 12 runs"), "{}", ran.out);
    let plan = sweep(home.path(), &["--dry-run", "--json", "--shard", "1/5"]).json();
    assert_eq!((&plan["cells"], &plan["runs"]), (&6.into(), &3.into()));
    assert_eq!(names(home.path()), ["storm.toml"]);
}

#[test]
fn old_results_of_another_command_do_not_stay_beside_a_sweep() {
    let home = home();
    assert_eq!(run(home.path(), &["run", "storm.toml", "-r", "2", "-q", "-o", "out"]).code, 0);
    assert!(home.path().join("out/windows.csv").exists());
    assert_eq!(sweep(home.path(), &["-o", "out", "-q"]).code, 0);
    assert_eq!(
        names(&home.path().join("out")),
        ["journal.bin", "manifest.json", "runs.csv", "scenario.toml", "summary.csv"]
    );
}

/// What a packed table holds.
fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn packed_rows_are_the_same_rows() {
    let home = home();
    let at = |name: &str| home.path().join(name);
    assert_eq!(sweep(home.path(), &["-o", "plain", "-q"]).code, 0);
    for name in ["packed", "again"] {
        assert_eq!(sweep(home.path(), &["-o", name, "-q", "--gzip"]).code, 0);
    }
    assert_eq!(
        names(&at("packed")),
        ["journal.bin", "manifest.json", "runs.csv.gz", "scenario.toml", "summary.csv"]
    );
    let bytes = fs::read(at("packed/runs.csv.gz")).unwrap();
    assert_eq!(unpacked(&at("packed/runs.csv.gz")), fs::read(at("plain/runs.csv")).unwrap());
    assert_eq!(fs::read(at("again/runs.csv.gz")).unwrap(), bytes);
    assert_eq!(bytes[4..8], [0; 4], "no date");
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(at("packed/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["files"][1]["name"], "runs.csv.gz");
    assert_eq!(manifest["files"][1]["bytes"], bytes.len());

    // Parts as well; and what is packed is compared with what is not.
    for (part, folder) in [("1/2", "one"), ("2/2", "two")] {
        assert_eq!(sweep(home.path(), &["-o", folder, "-q", "--shard", part]).code, 0);
    }
    assert_eq!(run(home.path(), &["merge", "one", "two", "-q", "--gzip", "-o", "merged"]).code, 0);
    assert_eq!(fs::read(at("merged/runs.csv.gz")).unwrap(), bytes);
    let diff = run(home.path(), &["diff", "plain", "packed", "--json"]);
    assert_eq!(diff.code, 0, "{diff:?}");
    let changes = diff.json()["changes"].as_array().unwrap().clone();
    assert!(!changes.is_empty() && changes.iter().all(|c| c["change"] == "same"));

    // A file that is cut is no shorter table.
    fs::write(at("again/runs.csv.gz"), &bytes[..bytes.len() / 2]).unwrap();
    let diff = run(home.path(), &["diff", "plain", "again"]);
    assert_eq!((diff.code, &diff.out[..]), (2, ""), "{diff:?}");
    assert!(diff.err.contains("again/runs.csv.gz: "), "{}", diff.err);

    // Unpacked by the same command without the option, it is there once.
    assert_eq!(sweep(home.path(), &["-o", "packed", "-q", "--resume"]).code, 0);
    assert_eq!(tables(&at("packed")), tables(&at("plain")));
    assert!(!at("packed/runs.csv.gz").exists());
}

/// Hundreds of cells are looked at in pieces, on threads that end in any order.
#[test]
fn columns_and_errors_are_those_of_the_first_cells_for_any_number_of_threads() {
    let home = home();
    let sweep = |slow: &str, threads: &str, more: &[&str]| {
        let fast = ["--vary", "workload.clients=1..100:lin100", "-r", "1", "-q"];
        let args = ["sweep", "storm.toml", "--vary", slow, "--threads", threads];
        run(home.path(), &[&args[..], &fast, more].concat())
    };
    let mut headers = Vec::new();
    for threads in ["1", "2", "7"] {
        let bad = sweep("provider.concurrency=5,-1,-2", threads, &["--dry-run"]);
        assert_eq!(bad.code, 2, "{bad:?}");
        assert!(bad.err.contains("--vary provider.concurrency=-1:"), "{}", bad.err);
        // Later cells have metrics that earlier ones have not.
        assert_eq!(sweep("measure.per_retry=0,2,1", threads, &["-o", threads]).code, 0);
        headers.push(rows(&home.path().join(threads).join("runs.csv")).0);
    }
    let retries: Vec<&String> =
        headers[0].iter().filter(|name| name.starts_with("retry_")).collect();
    assert!(retries[0].starts_with("retry_1_"), "{retries:?}");
    assert_eq!(headers[0].last(), retries.last().copied(), "after those of the first cell");
    assert!(retries.last().unwrap().starts_with("retry_2_"), "{retries:?}");
    assert!(headers.iter().all(|header| *header == headers[0]));
}
