//! The same seed gives the same bytes: whatever the threads, the folder and the environment are.

mod command;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use command::{here, retrylab, run};

/// Files that are a pure function of version, scenario and seed.
const FILES: [&str; 7] = [
    "runs.csv",
    "summary.csv",
    "windows.csv",
    "waves.csv",
    "completions.csv",
    "load.svg",
    "load.png",
];

fn study() -> String {
    here("experiments/studies/ten-second-outage/scenario.toml").display().to_string()
}

/// Runs with `-o` in a folder of its own and gives the files.
fn results(
    home: &Path,
    args: &[&str],
    change: impl Fn(&mut Command) -> &mut Command,
) -> Vec<Vec<u8>> {
    let mut command = retrylab(home);
    command.args(args).args(["-q", "-o", "out"]);
    change(&mut command);
    let output = command.output().unwrap();
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(1), "{args:?}: {output:?}");
    FILES.map(|file| fs::read(home.join("out").join(file)).unwrap()).to_vec()
}

fn assert_same(what: &str, a: &[Vec<u8>], b: &[Vec<u8>]) {
    for ((a, b), file) in a.iter().zip(b).zip(FILES) {
        assert!(a == b, "{what}: {file} is different");
    }
}

fn nothing_matters_but_the_seed(args: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let elsewhere = other.path().join("a folder with spaces/ü");
    fs::create_dir_all(&elsewhere).unwrap();
    let plain = results(home.path(), args, |c| c.args(["--threads", "1"]));
    for threads in ["2", "8"] {
        let got = results(home.path(), args, |c| c.args(["--threads", threads]));
        assert_same(threads, &got, &plain);
    }
    let surroundings = [
        ("TZ", "Asia/Kathmandu"),
        ("LANG", "de_DE.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("COLUMNS", "20"),
        ("NO_COLOR", "1"),
        ("TERM", "dumb"),
        ("RAYON_NUM_THREADS", "3"),
    ];
    let got = results(&elsewhere, args, |c| c.env_remove("HOME").envs(surroundings));
    assert_same("surroundings", &got, &plain);
    let got = results(home.path(), args, |c| c.args(["--color", "always", "--seed", "0x2a"]));
    assert_same("hex seed", &got, &plain);
    let got = results(home.path(), args, |c| c.args(["--seed", "42"]));
    assert_same("decimal seed", &got, &plain);
    let got = results(home.path(), args, |c| c.args(["--seed", "43"]));
    assert!(got[0] != plain[0], "another seed gives other runs");
}

#[test]
fn an_experiment_is_the_same_everywhere() {
    nothing_matters_but_the_seed(&["reproduce", "thousand-clients", "--replications", "6"]);
}

#[test]
fn a_comparison_is_the_same_everywhere() {
    nothing_matters_but_the_seed(&["compare", &study(), "-r", "4"]);
}

#[test]
fn an_embedded_experiment_is_the_folder_in_the_repository() {
    let home = tempfile::tempdir().unwrap();
    let folder = here("experiments/published/retry-layers").display().to_string();
    let embedded = results(home.path(), &["reproduce", "retry-layers"], |c| c);
    assert_same("path", &results(home.path(), &["reproduce", &folder], |c| c), &embedded);
}

/// Rows by policy, without the header.
fn rows(runs: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(runs).lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn fewer_replications_are_the_first_of_more() {
    let home = tempfile::tempdir().unwrap();
    let of = |r: &str| {
        rows(&results(home.path(), &["reproduce", "thousand-clients", "-r", r], |c| c)[0])
    };
    let (three, six) = (of("3"), of("6"));
    assert_eq!((three.len(), six.len()), (15, 30));
    for (index, chunk) in three.chunks(3).enumerate() {
        assert_eq!(chunk, &six[index * 6..index * 6 + 3]);
    }
}

#[test]
fn another_policy_beside_it_changes_no_run() {
    let home = tempfile::tempdir().unwrap();
    let of = |policies: &str| {
        rows(
            &results(home.path(), &["compare", &study(), "-r", "2", "--policies", policies], |c| c)
                [0],
        )
    };
    let (two, three) = (of("none,full"), of("none,equal,full"));
    assert_eq!(two[..2], three[..2]);
    assert_eq!(two[2..], three[4..]);
}

#[test]
fn json_is_the_same_bytes_twice() {
    let home = tempfile::tempdir().unwrap();
    let of = || run(home.path(), &["compare", &study(), "-r", "2", "--json"]).out;
    assert_eq!(of(), of());
}

/// Every policy by name, in two comparisons, since one picture holds eight.
const POLICIES: [&str; 2] = [
    "none,sdk,equal,full,decorrelated",
    "additive,no-backoff,no-retry,preset:openai-python-3.57,preset:anthropic-python-2.14",
];

/// The rows of the golden table: scenario, policy, replication, fingerprint, digest of
/// summary.csv.
fn golden_rows() -> String {
    let mut table = "scenario,policy,replication,fingerprint,summary_digest\n".to_owned();
    let mut add = |name: &str, args: &[&str]| {
        let home = tempfile::tempdir().unwrap();
        let files = results(home.path(), args, |c| c);
        let digest = retrylab::engine::digest(&files[1]);
        for row in rows(&files[0]) {
            let key: Vec<&str> = row.split(',').take(3).collect();
            table.push_str(&format!("{name},{},{digest:016x}\n", key.join(",")));
        }
    };
    for (name, _) in retrylab::experiment::names() {
        add(name, &["reproduce", name, "-r", "2"]);
    }
    for policies in POLICIES {
        let study = study();
        add("ten-second-outage", &["compare", &study, "-r", "2", "--policies", policies]);
    }
    for path in scenarios() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        add(name, &["run", path.to_str().unwrap(), "-r", "2"]);
    }
    table
}

/// Scenarios that use parts which the experiments do not, sorted.
fn scenarios() -> Vec<PathBuf> {
    let entries = fs::read_dir(here("tests/golden")).unwrap();
    let all = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = all.filter(|path| path.extension().unwrap() == "toml").collect();
    paths.sort();
    paths
}

#[test]
fn trajectories_are_those_of_the_golden_table() {
    let path: PathBuf = here("tests/golden.csv");
    let now = golden_rows();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &now).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let differing: Vec<String> = now
        .lines()
        .filter(|line| !golden.lines().any(|old| old == *line))
        .map(|line| {
            let key = line.splitn(4, ',').take(3).collect::<Vec<_>>().join(",");
            let old = golden.lines().find(|old| old.starts_with(&format!("{key},")));
            format!("  now {line}\n  was {}", old.unwrap_or("not there"))
        })
        .collect();
    assert!(
        now == golden,
        "results are not those of tests/golden.csv:\n{}\n\
         A fingerprint changes when a trajectory does; the digest alone when only what is \
         reported does.\nWhen that is meant, `BLESS=1 cargo test --test determinism` writes the \
         table anew, and CHANGELOG.md must name the changed trajectories: users compare their \
         results with older ones.",
        differing.join("\n")
    );
}
