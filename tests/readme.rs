//! Tables in the README are the output of the commands that stand above them.
//!
//! A block starts with `<!-- retrylab ARGS -->` and ends with `<!-- end -->`. `BLESS=1` rewrites
//! the blocks; the diff is then reviewed.

use std::path::Path;
use std::process::Command;

const START: &str = "<!-- retrylab ";
const END: &str = "<!-- end -->";

/// What the command prints.
fn output(args: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_retrylab"))
        .args(args.split_whitespace())
        .args(["--quiet", "--output"])
        .arg(folder.path().join("results"))
        .output()
        .unwrap();
    assert!(output.status.success(), "retrylab {args}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The text with every block renewed.
fn renewed(text: &str) -> String {
    let mut renewed = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(START) {
        let head = start + rest[start..].find("-->\n").unwrap();
        let args = rest[start + START.len()..head].trim();
        let end = head + rest[head..].find(END).unwrap();
        renewed += &format!("{}-->\n\n{}\n\n", &rest[..head], output(args).trim_end());
        rest = &rest[end..];
    }
    renewed + rest
}

#[test]
fn blocks_are_what_their_commands_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.matches(END).count() >= 2, "README.md has its blocks");
    let renewed = renewed(&text);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &renewed).unwrap();
        return;
    }
    assert!(
        renewed == text,
        "README.md is not what its commands print; look, then BLESS=1 cargo test --test readme"
    );
}
