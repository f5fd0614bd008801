//! The gates of the engine that need no peer: ratios within one run, of the full model.
//!
//! ```text
//! cargo bench --bench gates            # prints a Markdown table; exit status 1 when a gate is missed
//! ```
//! Ten million clients take a few minutes and 3 GB. As a test, each kind of run is made once, small.

use std::process::ExitCode;

mod against;
#[path = "../peers/clock.rs"]
mod clock;
#[expect(dead_code, reason = "runs are made on several sets of pending events here")]
#[path = "../model/mod.rs"]
mod model;
mod runs;
mod ties;

/// A gate: what was measured, between which limits it is to lie.
struct Line {
    what: &'static str,
    clients: u32,
    ratio: f64,
    gate: Gate,
}

/// What is asked of a ratio.
enum Gate {
    AtLeast(f64),
    AtMost(f64),
}

impl Line {
    fn holds(&self) -> bool {
        match self.gate {
            Gate::AtLeast(least) => self.ratio >= least,
            Gate::AtMost(most) => self.ratio <= most,
        }
    }

    fn markdown(&self) -> String {
        let Line { what, clients, ratio, .. } = self;
        let gate = match self.gate {
            Gate::AtLeast(least) => format!("≥ {least}x"),
            Gate::AtMost(most) => format!("≤ {most}x"),
        };
        let verdict = if self.holds() { "holds" } else { "MISSED" };
        format!("| {what} | {clients} | **{ratio:.2}x** | {gate} | {verdict} |")
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| args.iter().any(|arg| arg == wanted);
    // A name of another bench is a filter for that one.
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    if filter.is_some_and(|filter| !"gates".contains(filter.as_str())) {
        return ExitCode::SUCCESS;
    }
    // As Criterion has it: `cargo test` does not say --bench.
    let measured = has("--bench") && !has("--test");
    let sizes = if measured { against::SIZES.as_slice() } else { &against::SIZES[..1] };
    let mut lines = against::lines(sizes);
    lines.extend(ties::lines(if measured { 200 } else { 1 }));
    println!("| what | clients | ratio | gate | verdict |\n| --- | ---: | ---: | --- | --- |");
    lines.iter().for_each(|line| println!("{}", line.markdown()));
    // Unoptimised, nothing is held to a gate.
    match !measured || lines.iter().all(Line::holds) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
