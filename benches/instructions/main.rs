//! Instructions per event, counted by valgrind, against those on record: a slower engine is seen on a
//! machine that other work shares, where no clock would show it.
//!
//! ```text
//! cargo bench --bench instructions               # fails when a case takes 3 % more than on record
//! BLESS=1 cargo bench --bench instructions       # renews the record
//! ```
//! Each case runs in a process of its own under `valgrind --tool=callgrind`, which counts only inside of
//! [`cases::counted`], so neither the scenario's text nor valgrind's own start is in the number. As a test, each case
//! runs once, uncounted.

use std::process::ExitCode;

mod callgrind;
mod cases;
#[path = "../hold/mod.rs"]
mod hold;
#[path = "../model/mod.rs"]
mod model;
#[path = "../published/mod.rs"]
mod published;
mod record;

use record::{Compiler, Record};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [option, case] = args.as_slice()
        && option == callgrind::CASE
    {
        println!("{}", cases::run(case));
        return ExitCode::SUCCESS;
    }
    let has = |wanted: &str| args.iter().any(|arg| arg == wanted);
    // A name of another bench is a filter for that one.
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    if filter.is_some_and(|filter| !"instructions".contains(filter.as_str())) {
        return ExitCode::SUCCESS;
    }
    // As Criterion has it: `cargo test` does not say --bench.
    if !has("--bench") || has("--test") {
        cases::NAMES.iter().for_each(|case| println!("{case}: {} events", cases::run(case)));
        return ExitCode::SUCCESS;
    }
    let Some(valgrind) = callgrind::version() else {
        println!("nothing is counted: valgrind is not there; install the package of that name");
        return ExitCode::SUCCESS;
    };
    let counts: Vec<(&str, f64)> =
        cases::NAMES.iter().map(|case| (*case, callgrind::instructions_per_event(case))).collect();
    if std::env::var_os("BLESS").is_some() {
        Record::new(valgrind, &counts).write();
        println!("on record: {}", Record::PLACE);
        return ExitCode::SUCCESS;
    }
    compare(&Record::read(), &counts)
}

/// Says what became of each case; a failure when one has risen.
fn compare(record: &Record, counts: &[(&str, f64)]) -> ExitCode {
    let verdicts: Vec<_> =
        counts.iter().map(|(case, count)| (case, count, record.judge(case, *count))).collect();
    for (case, count, verdict) in &verdicts {
        println!("{case:<28} {count:8.1} instructions per event; {verdict}");
    }
    let (there, here) = (&record.compiler, Compiler::here());
    if *there != here {
        println!("nothing is judged: the record is of {there}, this is {here}");
        return ExitCode::SUCCESS;
    }
    if verdicts.iter().any(|(_, _, verdict)| verdict.asks_to_renew()) {
        println!("where that is meant, BLESS=1 renews {}", Record::PLACE);
    }
    match verdicts.iter().any(|(_, _, verdict)| verdict.fails()) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}
