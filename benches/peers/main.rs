//! How fast others run the same model: SimPy, nexosim and NumPy against the library with all it does.
//!
//! `cargo bench --bench peers` makes what the peers need under `target/peers` (the first time takes
//! Python 3 and a network), runs everybody in turn, checks that they agree on the result, and only
//! then compares CPU times. The table goes to standard output, all else to standard error. Exit
//! status 1: a gate is missed; 2: a peer does not run or does not agree, so nothing is compared.
//!
//! As a test (`-- --test`, or under `cargo test`) the library alone meets what the peers once gave.

mod agreement;
mod child;
mod clock;
mod contest;
mod game;
mod known;
mod ours;
mod peer;
mod table;

#[expect(dead_code, reason = "results are compared here, and its replicate keeps the events only")]
#[path = "../model/mod.rs"]
mod model;
#[path = "../published/mod.rs"]
mod published;

use std::process::ExitCode;

use contest::{CONTESTS, Line};
use peer::Peers;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |option: &str| arguments.iter().any(|argument| argument == option);
    // A name of another bench is a filter for that one.
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    if filter.is_some_and(|filter| !"peers".contains(filter.as_str())) {
        return ExitCode::SUCCESS;
    }
    // `cargo bench` says --bench and nobody else does; criterion goes by that as well.
    let held = if given("--test") || !given("--bench") { known::check() } else { compare() };
    match held {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("peers: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Whether all gates hold.
fn compare() -> Result<bool, String> {
    if cfg!(not(unix)) {
        eprintln!("no clock of CPU time here: times are those of the wall clock");
    }
    let mut peers = Peers::start()?;
    let mut lines: Vec<Line> = Vec::new();
    for contest in &CONTESTS {
        lines.extend(contest.hold(&mut peers)?);
    }
    print!("{}", table::markdown(&lines));
    Ok(lines.iter().all(Line::holds))
}
