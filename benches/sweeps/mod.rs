//! A sweep as the command makes it, step by step, so that each step can be measured.

#![allow(dead_code)] // every measurement uses a part of it

use std::path::Path;

use retrylab::experiment::{Effort, Place, Seed};
use retrylab::scenario::{Document, MemoryLimit};
use retrylab::sweep::{Begin, Design, Journal, Progress, Shard, Sweep, SweepFolder, Tables, run};

/// `replications` of each cell that `axes` (as for `--vary`) make of `document`.
pub fn sweep(document: Document, axes: &[&str], replications: u32, threads: usize) -> Sweep {
    let effort = Effort { seed: Seed(42), replications, threads, memory: MemoryLimit::default() };
    let axes = axes.iter().map(|axis| axis.parse().expect("an axis")).collect();
    let design = Design::new(axes, None, effort.seed).expect("a design");
    Sweep { document, design, place: Place::default(), effort, until: None }
}

/// Runs a part of it into a journal in `folder`, whatever is there: the survey and the runs.
pub fn run_part(sweep: &Sweep, shard: Shard, folder: &Path) -> (SweepFolder, Journal) {
    let columns = sweep.survey().expect("sound cells");
    let header = sweep.header("sweep", shard, columns).expect("a header");
    let (folder, mut journal) =
        SweepFolder::open(folder, header, Begin::Fresh).expect("a folder for the sweep");
    run(sweep, &mut journal, &Progress { planned: &|_| {}, done: &|| {} }).expect("the runs");
    (folder, journal)
}

/// The whole command: survey, runs, journal, tables.
pub fn run_whole(sweep: &Sweep, folder: &Path) {
    let (folder, journal) = run_part(sweep, Shard::WHOLE, folder);
    let mut tables = Tables::new(journal).expect("a journal that has all its runs");
    folder.finish(&mut tables, sweep.effort.threads, false).expect("the tables");
}
