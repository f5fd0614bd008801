//! Counts instructions: this program again, under valgrind.

use std::fs;
use std::process::{Command, Stdio};

/// The option by which a process is told to run one case.
pub const CASE: &str = "--case";

/// "valgrind-3.19.0"; None when there is none.
pub fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Instructions of one run of a case, through its events.
pub fn instructions_per_event(case: &str) -> f64 {
    let home = tempfile::tempdir().expect("a folder for the counts");
    let counts = home.path().join("counts");
    // An environment of its own: its size moves the stack.
    let output = Command::new("valgrind")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .args(["--quiet", "--tool=callgrind", "--toggle-collect=*cases*counted*"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(std::env::current_exe().expect("the path of this program"))
        .args([CASE, case])
        .stderr(Stdio::inherit())
        .output()
        .expect("valgrind runs");
    assert!(output.status.success(), "{case}: valgrind ended with {}", output.status);
    let events = String::from_utf8_lossy(&output.stdout).trim().parse::<f64>();
    let counts = fs::read_to_string(&counts).expect("what callgrind writes");
    let total = counts.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.and_then(|total| total.trim().parse::<f64>().ok()).unwrap_or(0.0);
    assert!(total > 0.0, "{case}: callgrind has not found the function that is counted");
    total / events.expect("a number of events")
}
