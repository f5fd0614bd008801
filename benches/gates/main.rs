//! The gates of the engine that need no peer: ratios within one run, of the full model.
//!
//! ```text
//! cargo bench --bench gates                 # a Markdown table; exit status 1 when a gate is missed by more than noise
//! cargo bench --bench gates -- --small      # without ten million clients and without the clock
//! ```
//! Ten million clients take a few minutes and 3 GB. As a test, each kind of run is made once, small.

use std::process::ExitCode;

mod against;
#[path = "../peers/clock.rs"]
mod clock;
mod commands;
#[expect(dead_code, reason = "runs are made on several sets of pending events here")]
#[path = "../model/mod.rs"]
mod model;
#[path = "../published/mod.rs"]
mod published;
mod runs;
#[path = "../sweeps/mod.rs"]
mod sweeps;
mod ties;

/// A gate: what was measured of runs of which size, between which limits it is to lie.
struct Line {
    what: &'static str,
    size: String,
    value: f64,
    gate: Gate,
    /// "x" for a ratio, "s" for seconds.
    unit: &'static str,
    /// A miss by no more than this part is no failure.
    noise: f64,
}

/// What is asked of a value.
enum Gate {
    AtLeast(f64),
    AtMost(f64),
}

/// What ratios of two runs of one program differ by from time to time on a machine that others share.
const NOISE: f64 = 0.05;

/// The same of what waits for memory or is measured in seconds, where one machine is not like another: twice the
/// same program was 2.4 and 3.6 times as fast as on a heap.
const LOUD: f64 = 0.2;

impl Line {
    fn ratio(what: &'static str, clients: u32, value: f64, gate: Gate) -> Line {
        Line { what, size: format!("{clients} clients"), value, gate, unit: "x", noise: NOISE }
    }

    fn loud(self) -> Line {
        Line { noise: LOUD, ..self }
    }

    /// By what part it is beyond its gate.
    fn miss(&self) -> f64 {
        match self.gate {
            Gate::AtLeast(least) => 1.0 - self.value / least,
            Gate::AtMost(most) => self.value / most - 1.0,
        }
    }

    fn is_missed(&self) -> bool {
        self.miss() > self.noise
    }

    fn markdown(&self) -> String {
        let Line { what, size, value, unit, .. } = self;
        let gate = match self.gate {
            Gate::AtLeast(least) => format!("≥ {least}{unit}"),
            Gate::AtMost(most) => format!("≤ {most}{unit}"),
        };
        let verdict = match self.miss() {
            ..=0.0 => "holds".to_owned(),
            miss => format!("MISSED by {:.0} %", 100.0 * miss),
        };
        format!("| {what} | {size} | **{value:.2}{unit}** | {gate} | {verdict} |")
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
    let small = has("--small");
    let sizes = match (measured, small) {
        (true, false) => against::SIZES.as_slice(),
        (true, true) => &against::SIZES[..4],
        (false, _) => &against::SIZES[..1],
    };
    let mut lines = against::lines(sizes);
    lines.extend(ties::lines(if measured { 200 } else { 1 }));
    lines.extend(commands::lines(measured));
    if measured && !small {
        lines.extend(commands::by_the_clock());
    }
    println!("| what | of | measured | gate | verdict |\n| --- | ---: | ---: | --- | --- |");
    lines.iter().for_each(|line| println!("{}", line.markdown()));
    // Unoptimised, nothing is held to a gate.
    match measured && lines.iter().any(Line::is_missed) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}
