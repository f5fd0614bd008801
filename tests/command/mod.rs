//! Runs the command under test.

#![allow(dead_code)]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of the command gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: &Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The one JSON document on standard output.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// The command, in a folder.
pub fn retrylab(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrylab"));
    command.current_dir(folder).stdin(Stdio::null()).env("RUST_BACKTRACE", "1");
    command
}

pub fn run<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> Ran {
    let ran = Ran::of(&retrylab(folder).args(args).output().unwrap());
    no_panic(&ran.err);
    ran
}

/// Runs with `input` on standard input.
pub fn run_with(folder: &Path, args: &[&str], input: &[u8]) -> Ran {
    let mut command = retrylab(folder);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses early may not read it all.
    let _ = stdin.write_all(input);
    drop(stdin);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    no_panic(&ran.err);
    ran
}

pub fn no_panic(err: &str) {
    for word in ["panicked", "RUST_BACKTRACE", "stack backtrace", "internal error"] {
        assert!(!err.contains(word), "{err}");
    }
}

/// A path in this repository.
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A small scenario with a bit of everything; tests edit its lines.
pub const SMALL: &str = r#"format = 1
title = "Twenty clients"

[workload]
clients = 20
burst = { at = "0s" }

[provider]
service = "10ms"
concurrency = 5

[[provider.faults]]
outage = { from = "0s", to = "1s", status = 503 }

[[client.layers]]
name = "sdk"
max_attempts = 3
backoff = { full_jitter = { base = "1s", cap = "30s" } }

[[client.layers]]
name = "app"
semaphore = { permits = 2, scope = "fleet" }

[measure]
window = "100ms"
horizon = "10min"
replications = 2
"#;
