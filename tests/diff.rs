//! `retrylab diff`: what is worse is said, and exits with 1.

mod command;

use std::fs;
use std::path::Path;

use command::{Ran, SMALL, run};

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    home
}

fn results(home: &Path, folder: &str, more: &[&str]) {
    let ran = run(home, &[&["run", "storm.toml", "-r", "30", "-q", "-o", folder], more].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn change(ran: &Ran, metric: &str) -> String {
    let document = ran.json();
    assert_eq!(document["schema"], "retrylab.diff/1");
    let changes = document["changes"].as_array().unwrap().clone();
    let one = changes.into_iter().find(|one| one["metric"] == metric).unwrap();
    one["change"].as_str().unwrap().to_owned()
}

#[test]
fn the_same_is_the_same_and_worse_is_worse() {
    let home = home();
    results(home.path(), "a", &[]);
    results(home.path(), "again", &["--threads", "1"]);
    results(home.path(), "once", &["--set", "client.layers.sdk.max_attempts=1"]);
    let same = run(home.path(), &["diff", "a", "again", "--json"]);
    assert_eq!(same.code, 0);
    assert!(same.json()["changes"].as_array().unwrap().iter().all(|one| one["change"] == "same"));
    // Without retries nothing gets through the outage, and there are none to be in a peak.
    let worse = run(home.path(), &["diff", "a", "once", "--json"]);
    assert_eq!(worse.code, 1);
    assert_eq!(change(&worse, "success_ratio"), "worse");
    assert_eq!(change(&worse, "amplification"), "better");
    assert_eq!(change(&worse, "requests"), "same");
    let better = run(home.path(), &["diff", "once", "a", "--metric", "success_ratio"]);
    assert_eq!(better.code, 0, "{better:?}");
    assert!(better.out.contains("0 worse, 1 better"), "{}", better.out);
    // Nothing succeeds: there is no completion time any more.
    let lost = run(home.path(), &["diff", "a", "once", "--metric", "completion_p99_s"]);
    assert_eq!(lost.code, 1);
    assert!(lost.out.contains("1 lost"), "{}", lost.out);
    // Two scenario files, run now.
    let text = SMALL.replace("max_attempts = 3", "max_attempts = 1");
    fs::write(home.path().join("once.toml"), text).unwrap();
    let ran = run(home.path(), &["diff", "storm.toml", "once.toml", "-r", "30", "--json"]);
    assert_eq!(ran.json()["changes"], worse.json()["changes"]);
    // And one of each.
    let mixed = run(home.path(), &["diff", "a", "once.toml", "-r", "30", "--json"]);
    assert_eq!(mixed.json()["changes"], worse.json()["changes"]);
}

#[test]
fn policies_and_cells_are_found_by_name() {
    let home = home();
    let compare = |folder: &str, policies: &str| {
        let args = ["compare", "storm.toml", "--layer", "sdk", "-r", "5", "-q", "-o", folder];
        assert_eq!(run(home.path(), &[&args[..], &["--policies", policies]].concat()).code, 0);
    };
    compare("two", "none,full");
    compare("other", "full,no-retry");
    let ran = run(home.path(), &["diff", "two", "other", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.json()["changes"].as_array().unwrap().iter().all(|one| one["cell"] == "full"));
    assert_eq!(
        (&ran.json()["only_in_a"][0], &ran.json()["only_in_b"][0]),
        (&"none".into(), &"no-retry".into())
    );
    compare("third", "equal,sdk");
    let ran = run(home.path(), &["diff", "two", "third"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("two has none, full, and third has equal, sdk"), "{}", ran.err);
    // Cells by their values, whatever their numbers.
    let sweep = |folder: &str, values: &str| {
        let vary = format!("workload.clients={values}");
        let args = ["sweep", "storm.toml", "-r", "3", "-q", "-o", folder, "--vary", &vary];
        assert_eq!(run(home.path(), &args).code, 0);
    };
    sweep("s1", "5,10");
    sweep("s2", "10,20");
    let ran = run(home.path(), &["diff", "s1", "s2", "--json"]);
    let document = ran.json();
    let changes = document["changes"].as_array().unwrap();
    assert!(changes.iter().all(|one| one["cell"] == "workload.clients=10"));
    assert!(changes.iter().all(|one| one["change"] == "same"), "{document}");
}

#[test]
fn what_cannot_be_paired_is_refused() {
    let home = home();
    results(home.path(), "a", &[]);
    results(home.path(), "seven", &["--seed", "7"]);
    let refused = |args: &[&str], said: &str| {
        let ran = run(home.path(), &[&["diff"], args].concat());
        assert_eq!((ran.code, &ran.out[..]), (2, ""), "{ran:?}");
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    };
    refused(&["a", "seven"], "a is of seed 0x2a and seven of seed 0x7");
    refused(&["a", "nowhere"], "nowhere");
    refused(&["a", "a", "--metric", "peak_bim"], "did you mean `peak_bin`?");
    let broken = |text: &str| {
        fs::create_dir_all(home.path().join("broken")).unwrap();
        fs::write(home.path().join("broken/runs.csv"), text).unwrap();
    };
    for (text, said) in [
        ("", "this is no runs.csv"),
        ("name,size\nx,1\n", "this is no runs.csv"),
        ("policy,replication,fingerprint,peak_bin\n", "there are no rows"),
        ("policy,replication,fingerprint,peak_bin\nfull,0,0x1\n", "runs.csv:2: found 3 fields"),
        ("policy,replication,fingerprint,peak_bin\nfull,x,0x1,5\n", "runs.csv:2: replication"),
        ("policy,replication,fingerprint,peak_bin\nfull,0,0x1,nan\n", "runs.csv:2: peak_bin"),
        ("policy,replication,fingerprint,peak_bin\nfull,0,0x1,1e999\n", "peak_bin"),
        (
            "policy,replication,fingerprint,peak_bin\nfull,0,0x1,5\nfull,0,0x1,6\n",
            "replication 0 of full is there twice, and differs",
        ),
    ] {
        broken(text);
        refused(&["a", "broken"], said);
    }
    // Nothing that could be compared is no "no difference".
    broken("policy,replication,fingerprint,size\nfull,0,0x1,5\n");
    refused(&["a", "broken"], "no metric is in both a and broken");
    broken("policy,replication,fingerprint,peak_bin\nfull,0,0x1,\n");
    refused(&["broken", "a"], "no metric has a value in broken");
    fs::write(home.path().join("broken/runs.csv"), [0xff, 0xfe, 0x00, 0x2c]).unwrap();
    refused(&["a", "broken"], "runs.csv");
}

/// "late_answers" is better when lower; what a provider called `late` answers is neither.
#[test]
fn a_name_that_ends_like_another_metric_fools_nobody() {
    let home = home();
    let write = |folder: &str, value: u32| {
        let columns = "provider_late_billed_per_useful,provider_late_answers,retry_1_shared_waits";
        let other = "provider_b_billed_per_useful,provider_b_answers";
        let row = |r: u32| format!("full,{r},0x1,1,{value},{value},1,{value}\n");
        let rows: String = (0..5).map(row).collect();
        fs::create_dir_all(home.path().join(folder)).unwrap();
        let text = format!("policy,replication,fingerprint,{columns},{other}\n{rows}");
        fs::write(home.path().join(folder).join("runs.csv"), text).unwrap();
    };
    write("less", 3);
    write("more", 5);
    let ran = run(home.path(), &["diff", "less", "more", "--json"]);
    assert_eq!(ran.code, 1);
    assert_eq!(change(&ran, "provider_late_answers"), "differs");
    assert_eq!(change(&ran, "retry_1_shared_waits"), "worse");
}

/// A table of runs of `cells` cells, two replications each; the replications are in two blocks, and the
/// order of cells is turned when `turned`.
fn many(path: &Path, cells: u32, turned: bool) {
    let row = |cell: u32, replication: u32| {
        format!("{cell},{cell},{replication},0x1,{}\n", cell + replication)
    };
    let at = |i: u32| if turned { cells - 1 - i } else { i };
    let block = |replication| (0..cells).map(move |i| row(at(i), replication));
    let rows: String = block(0).chain(block(1)).collect();
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("runs.csv"), format!("cell,x,replication,fingerprint,peak_bin\n{rows}"))
        .unwrap();
}

/// With a search through all cells for each this would take minutes.
#[test]
fn tens_of_thousands_of_cells_find_their_partners() {
    let home = home();
    many(&home.path().join("a"), 20_000, false);
    many(&home.path().join("b"), 20_001, true);
    let ran = run(home.path(), &["diff", "a", "b", "--json"]);
    let document = ran.json();
    let changes = document["changes"].as_array().unwrap();
    assert_eq!((ran.code, changes.len()), (0, 20_000));
    assert!(changes.iter().all(|one| one["change"] == "same" && one["n"] == 2));
    assert_eq!(document["only_in_b"].as_array().unwrap()[..], ["x=20000"]);
}
