//! What ten thousand cores would take for a sweep, on paper, from what was measured on one.
//!
//! A part of a sweep looks at all its cells, runs every M-th run on the K cores of its machine, and builds the cell
//! of a run anew when it has no other run of that cell at hand. Then one process merges the M parts. So
//! for C cells of R replications
//!
//! ```text
//! C·look/K  +  C·R·(run + look·min(1, M/R))/(M·K)  +  run  +  C·R·merge_run + C·merge_cell
//! ```
//! with one run more because the last one to end is waited for.

use crate::cost::Care;
use crate::merging::{merge, run_parts};
use crate::published::thousand_clients;
use crate::single::storm_cost;
use crate::sweeps::sweep;
use crate::table::{markdown, time, whole};

/// What was measured, in CPU seconds.
struct Measured {
    /// To build a cell and look at it.
    look: f64,
    /// To merge a run.
    merge_run: f64,
    /// To merge a cell.
    merge_cell: f64,
}

/// A sweep that is thought of: what is run, the seconds of a run, cells, replications.
struct Thought {
    what: String,
    run: f64,
    cells: f64,
    replications: f64,
}

/// Cores of a machine.
const CORES: f64 = 48.0;

/// Machines; a part each.
const MACHINES: [f64; 3] = [1.0, 21.0, 211.0];

impl Thought {
    fn runs(&self) -> f64 {
        self.cells * self.replications
    }

    /// Seconds of one of so many parts, on so many cores.
    fn part(&self, measured: &Measured, parts: f64, cores: f64) -> f64 {
        let again = measured.look * (parts / self.replications).min(1.0);
        self.cells * measured.look / cores + self.runs() * (self.run + again) / (parts * cores)
    }

    fn merging(&self, measured: &Measured) -> f64 {
        self.runs() * measured.merge_run + self.cells * measured.merge_cell
    }

    fn row(&self, measured: &Measured) -> Vec<String> {
        let merging = self.merging(measured);
        let cluster =
            |machines: f64| time(self.part(measured, machines, CORES) + self.run + merging);
        let size = format!("{} × {}", whole(self.cells), whole(self.replications));
        let alone = time(self.part(measured, 1.0, 1.0) + merging);
        [self.what.clone(), size, time(self.run), alone]
            .into_iter()
            .chain(MACHINES.map(cluster))
            .chain([time(merging)])
            .collect()
    }
}

/// Times of sweeps by the number of cores, and how far the paper is right about parts.
pub fn on_paper(care: Care) -> String {
    let (measured, thousand, check) = measure(care);
    let thought = |what, run, cells| Thought { what, run, cells, replications: 1e3 };
    let published = |cells| thought("thousand-clients".to_owned(), thousand, cells);
    let storm = |clients| {
        let run = storm_cost(care, clients, "full_jitter").seconds();
        thought(format!("storm, {} clients", whole(f64::from(clients))), run, 1e3)
    };
    let storms = care.of(&[100_000, 1_000_000]).map(storm);
    let sweeps: Vec<Thought> =
        [published(1e3)].into_iter().chain(storms).chain([published(1e6)]).collect();
    let columns = MACHINES.map(|machines| format!("{} cores", whole(machines * CORES)));
    let names = ["sweep", "cells × replications", "a run", "1 core"].into_iter();
    let names: Vec<&str> =
        names.chain(columns.iter().map(String::as_str)).chain(["of it merging"]).collect();
    let table = markdown(&names, sweeps.iter().map(|sweep| sweep.row(&measured)));
    format!("{table}\n{check}")
}

/// The constants, the seconds of a run of thousand-clients, and what the parts of a sweep took beside what they
/// should by these.
fn measure(care: Care) -> (Measured, f64, String) {
    let (cells, replications, parts) = (100u32, 10, 7);
    // A provider that always fails is the same with any number of places: all cells cost the same.
    let axis = format!("provider.concurrency=1001..{}:lin{cells}", 1000 + cells);
    let few = sweep(thousand_clients(), &[&axis], replications, 1);
    let look = care.least(|| drop(few.survey().expect("sound cells"))).as_secs_f64();
    let look = look / f64::from(cells);
    let cell = few.cell(0).expect("a cell");
    let run = care
        .runs(|replication| cell.run(few.effort.seed, replication).expect("a run").events)
        .seconds();
    let home = tempfile::tempdir().expect("a folder for parts");
    let longest = run_parts(&few, parts, home.path()).into_iter().max().expect("parts");
    let merging = merge(care, parts, home.path()).as_secs_f64();
    // As many cells of one replication each: what is left is the cells'.
    let single = sweep(thousand_clients(), &[&axis], 1, 1);
    let other = tempfile::tempdir().expect("a folder for parts");
    run_parts(&single, parts, other.path());
    let merging_cells = merge(care, parts, other.path()).as_secs_f64();
    let (cells, runs) = (f64::from(cells), f64::from(cells * replications));
    let merge_run = (merging - merging_cells) / (runs - cells);
    let measured = Measured { look, merge_run, merge_cell: merging_cells / cells - merge_run };
    let thought =
        Thought { what: String::new(), run, cells, replications: f64::from(replications) };
    let check = format!(
        "Measured: {} to look at a cell, {} to merge a run and {} a cell. A part of seven of {} × {} runs of thousand-clients \
         should take {} by that on one core; the longest took {}.\n",
        time(look),
        time(measured.merge_run),
        time(measured.merge_cell),
        whole(cells),
        replications,
        time(thought.part(&measured, f64::from(parts), 1.0)),
        time(longest.as_secs_f64()),
    );
    (measured, run, check)
}
