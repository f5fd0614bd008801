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
