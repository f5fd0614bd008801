//! Pictures of small recorded results: their SVG is that of the record, to the byte.
//!
//! `BLESS=1` renews the digests; the pictures are looked at then.

mod command;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use command::{here, run};

const DIGESTS: &str = "tests/data/plots/digests.txt";

/// A picture, and the words of its command behind `plot`; folders are those of the record.
const PICTURES: &[(&str, &[&str])] = &[
    ("load", &["load", "storm"]),
    ("load-log", &["load", "storm", "--axis", "log", "--width", "600", "--theme", "dark"]),
    ("waves", &["waves", "storm"]),
    ("waves-two", &["waves", "storm", "storm", "--width", "1600"]),
    ("completion", &["completion", "storm", "--theme", "dark"]),
    ("trade-off", &["trade-off", "storm"]),
    ("recovery", &["recovery", "queue"]),
    ("recovery-many", &["recovery", "storm", "--theme", "dark"]),
    ("hysteresis", &["hysteresis", "queue"]),
    ("heat-map", &["heat-map", "failing", "--metric", "amplification"]),
    ("amplification", &["amplification", "failing", "--width", "600"]),
    ("pareto", &["pareto", "tuned"]),
    ("waits", &["waits", "decorrelated"]),
    ("waits-layer", &["waits", "failing.toml", "--layer", "sdk"]),
];

fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The SVG of a picture.
fn draw(home: &Path, name: &str, words: &[&str]) -> String {
    let record = here("tests/data/plots");
    let output = home.join(name);
    let output = output.to_str().unwrap();
    let args = [&["plot"], words, &["-q", "-o", output]].concat();
    let ran = run(&record, &args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    let png = fs::read(format!("{output}.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"), "{name}");
    fs::read_to_string(format!("{output}.svg")).unwrap()
}

#[test]
fn pictures_are_those_of_the_record() {
    let home = tempfile::tempdir().unwrap();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (name, words) in PICTURES {
        let svg = draw(home.path(), name, words);
        assert!(!svg.contains("NaN") && svg.contains("<title>"), "{name}");
        found.insert((*name).to_owned(), format!("{:016x}", digest(svg.as_bytes())));
    }
    let text: String = found.iter().map(|(name, digest)| format!("{name} {digest}\n")).collect();
    if std::env::var_os("BLESS").is_some() {
        return fs::write(here(DIGESTS), text).unwrap();
    }
    let noted = fs::read_to_string(here(DIGESTS)).unwrap();
    assert_eq!(text, noted, "look at what has changed, then BLESS=1 cargo test --test plots");
}

/// The load figure of a run's folder is drawn when it is made; drawn from its files it is the same.
#[test]
fn load_is_drawn_from_files_as_it_was_from_runs() {
    let home = tempfile::tempdir().unwrap();
    let drawn = draw(home.path(), "load", &["load", "storm"]);
    assert!(drawn == fs::read_to_string(here("tests/data/plots/storm/load.svg")).unwrap());
}

/// A folder that a kind is not drawn from is told apart, with the command that makes the right one.
#[test]
fn another_folder_is_refused_with_what_makes_the_right_one() {
    let record = here("tests/data/plots");
    for (words, parts) in [
        (&["waves", "failing"][..], &["a sweep", "waves.csv", "retrylab compare"][..]),
        (&["completion", "tuned"], &["what tune has found", "completions.csv"]),
        (&["heat-map", "storm"], &["runs of some policies", "retrylab sweep"]),
        (&["amplification", "queue"], &["what metastable has found", "error.share"]),
        (&["hysteresis", "storm"], &["ramp.csv", "retrylab metastable"]),
        (&["pareto", "storm"], &["settings.csv", "retrylab tune"]),
        (&["heat-map", "failing", "--metric", "peak_bim"], &["did you mean `peak_bin`"]),
        (&["heat-map", "failing", "storm"], &["one results folder; found 2"]),
        (
            &["waves", "storm", "--metric", "peak_bin"],
            &["--metric peak_bin", "always draws the same"],
        ),
        (&["pareto", "tuned", "--metric", "attempts"], &["two objectives"]),
        (&["waits", "opnai-python-3.57"], &["openai-python-3.57"]),
        (&["waits", "failing.toml", "--layer", "app"], &["--layer", "sdk"]),
    ] {
        let home = tempfile::tempdir().unwrap();
        let output = home.path().join("x");
        let ran = run(&record, &[&["plot"], words, &["-o", output.to_str().unwrap()]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words:?}: {ran:?}");
        assert_eq!(ran.err.trim_end().lines().count(), 1, "{words:?}: {}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "{words:?}: no {part} in {}", ran.err);
        }
    }
}
