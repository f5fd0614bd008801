//! Rows of runs.csv, and what they cost against the runs that they tell of.
//!
//! At its end it writes a million rows and says in how many seconds, beside the time of as many runs, taken from
//! 1,000 of them in the same process. As a test it does that with a hundredth.

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group};
use retrylab::experiment::{CellRuns, Run};
use retrylab::output::runs_csv;
use retrylab::scenario::Document;
use retrylab::sweep::{Begin, Record, Shard, Sweep, SweepFolder, Tables};

mod published;
mod sweeps;

use published::thousand_clients;
use sweeps::sweep;

/// Rows of a table that is written at once.
const ROWS: u32 = 10_000;

/// A sweep of one value with as many replications as a table has rows.
fn one_cell(document: Document) -> Sweep {
    sweep(document, &["provider.concurrency=1000"], ROWS, 1)
}

fn simulate(sweep: &Sweep, runs: u32) -> CellRuns {
    let cell = sweep.cell(0).expect("a cell");
    let run = |replication| cell.run(sweep.effort.seed, replication).expect("a run");
    CellRuns { runs: (0..runs).map(run).collect(), cell }
}

/// The tables of a sweep in which these runs were made over and over.
fn tables(sweep: &Sweep, runs: &[Run], folder: &Path) -> Tables {
    let columns = sweep.survey().expect("sound cells");
    let header = sweep.header("csv", Shard::WHOLE, columns).expect("a header");
    let (_, mut journal) =
        SweepFolder::open(folder, header, Begin::Fresh).expect("a folder for the sweep");
    for (run, made) in (0..u64::from(ROWS)).zip(runs.iter().cycle()) {
        let Run { fingerprint, events, ref values, .. } = *made;
        let record = Record { run, fingerprint, events, values: values.clone() };
        journal.append(&record).expect("a record");
    }
    Tables::new(journal).expect("a journal that has all its runs")
}

fn rows(c: &mut Criterion) {
    let sweep = one_cell(thousand_clients());
    let made = simulate(&sweep, 100);
    let home = tempfile::tempdir().expect("a folder for results");
    let mut tables = tables(&sweep, &made.runs, home.path());
    let runs = made.runs.iter().cycle().take(ROWS as usize).cloned().collect();
    let all = [CellRuns { runs, cell: made.cell }];

    let mut group = c.benchmark_group("csv");
    group.sample_size(10);
    group.throughput(Throughput::Elements(u64::from(ROWS)));
    group.bench_function("rows of compare, from memory", |b| b.iter(|| runs_csv(&all)));
    for (name, packed) in [("rows of a sweep, to disk", false), ("the same, packed", true)] {
        group.bench_function(name, |b| b.iter(|| tables.write_runs(home.path(), packed)));
    }
    group.finish();
}

/// The time that `work` takes.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// Says what the rows of so many tables of a sweep of `document` cost, and as many of its runs.
fn against_runs(name: &str, document: Document, tables_of: u32) -> [Duration; 2] {
    let sweep = one_cell(document);
    let (rows, runs) = (tables_of * ROWS, tables_of * 10);
    let (simulating, made) = timed(|| simulate(&sweep, runs));
    let home = tempfile::tempdir().expect("a folder for results");
    let mut tables = tables(&sweep, &made.runs, home.path());
    let writing = timed(|| {
        for _ in 0..tables_of {
            tables.write_runs(home.path(), false).expect("the rows");
        }
    });
    let (row, run) = (writing.0 / rows, simulating / runs);
    println!(
        "{name}: {rows} rows written in {:.2} s, {} ns each; as many runs take {:.2} s, {} ns each",
        writing.0.as_secs_f64(),
        row.as_nanos(),
        (run * rows).as_secs_f64(),
        run.as_nanos(),
    );
    [row, run]
}

const FIVE_CLIENTS: &str = include_str!("five-clients.toml");

criterion_group!(benches, rows);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    // A name of another bench is a filter for that one.
    if std::env::args().skip(1).any(|arg| !arg.starts_with('-') && !"csv".contains(&arg)) {
        return;
    }
    let has = |wanted: &str| std::env::args().any(|arg| arg == wanted);
    // As Criterion has it: `cargo test` does not say --bench.
    let tables = if has("--bench") && !has("--test") { 100 } else { 1 };
    let five = Document::parse("five", FIVE_CLIENTS.to_owned(), "".into()).expect("a scenario");
    against_runs("five clients", five, tables);
    let [row, run] = against_runs("thousand-clients", thousand_clients(), tables);
    assert!(row < run, "a row costs {row:?}, the run that it tells of {run:?}");
}
