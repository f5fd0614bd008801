//! Runs what is missing in a journal.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::header::Shard;
use super::journal::{Journal, Record};
use super::plan::Sweep;
use super::until::{CellSoFar, Until};
use crate::error::{Error, Result};
use crate::experiment::Cell;

/// Runs that are planned together: enough to keep threads busy, few enough to hold their cells.
const BLOCK: usize = 2_048;

/// Hears of the work.
pub struct Progress<'a> {
    /// So many runs will be made, or are there already.
    pub planned: &'a dyn Fn(u64),
    /// A run is over.
    pub done: &'a (dyn Fn() + Sync),
}

/// Runs what the journal lacks and notes each run as soon as it is over; says which cells have had
/// the most replications and are still not known well enough.
pub fn run(sweep: &Sweep, journal: &mut Journal, progress: &Progress<'_>) -> Result<Vec<u64>> {
    let columns = journal.header().columns.iter().map(|(name, _)| name.clone()).collect();
    let mut work = Work { sweep, journal, columns, pool: sweep.effort.pool()?, progress };
    let open = match &sweep.until {
        None => {
            let shard = work.journal.header().shard;
            let slots = 0..work.journal.header().runs_of_shard();
            (progress.planned)(slots.end);
            work.runs(slots.map(|slot| shard.run(slot)))?;
            Vec::new()
        }
        Some(until) => work.until(until)?,
    };
    journal.sync()?;
    Ok(open)
}

/// What a sweep works with.
struct Work<'a> {
    sweep: &'a Sweep,
    journal: &'a mut Journal,
    columns: Vec<String>,
    pool: rayon::ThreadPool,
    progress: &'a Progress<'a>,
}

impl Work<'_> {
    /// Makes those of these runs that are missing.
    fn runs(&mut self, mut runs: impl Iterator<Item = u64>) -> Result<()> {
        loop {
            let block: Vec<u64> = runs.by_ref().take(BLOCK).collect();
            if block.is_empty() {
                return Ok(());
            }
            let missing: Vec<u64> =
                block.into_iter().filter(|run| !self.journal.has(*run)).collect();
            let shared = Mutex::new(&mut *self.journal);
            let (sweep, columns, done) = (self.sweep, &self.columns, self.progress.done);
            self.pool.install(|| run_block(sweep, &missing, columns, &shared, done))?;
        }
    }

    /// Makes batch after batch for every cell that has not enough. Whether it has depends on its
    /// own replications in their order alone, so that an interrupted sweep goes on as it would have.
    fn until(&mut self, until: &Until) -> Result<Vec<u64>> {
        let most = self.sweep.effort.replications;
        let first = |cell: u64| cell * u64::from(most);
        let watched = until.watched(&self.journal.header().columns);
        let cells = 0..self.journal.header().cells;
        let mut open: Vec<CellSoFar> = cells.map(|cell| CellSoFar::new(cell, &watched)).collect();
        let (mut from, mut planned) = (0, 0);
        while from < most && !open.is_empty() {
            let batch = from..most.min(from.saturating_add(until.batch));
            planned += open.len() as u64 * u64::from(batch.end - batch.start);
            (self.progress.planned)(planned);
            let runs_of = |cell: &CellSoFar| {
                let first = first(cell.cell);
                batch.clone().map(move |replication| first + u64::from(replication))
            };
            self.runs(open.iter().flat_map(runs_of))?;
            let mut still_open = Vec::new();
            for mut cell in open {
                for run in runs_of(&cell) {
                    let record = self.journal.read(run)?;
                    let missing = || Error::Bug(format!("run {run} is not there"));
                    cell.add(&record.ok_or_else(missing)?);
                }
                if !until.is_met(&cell) {
                    still_open.push(cell);
                }
            }
            (open, from) = (still_open, batch.end);
        }
        Ok(open.iter().map(|cell| cell.cell).collect())
    }
}

fn run_block(
    sweep: &Sweep,
    missing: &[u64],
    columns: &[String],
    journal: &Mutex<&mut Journal>,
    progress: &(dyn Fn() + Sync),
) -> Result<()> {
    let replications = u64::from(sweep.effort.replications);
    let mut numbers: Vec<u64> = missing.iter().map(|run| run / replications).collect();
    numbers.dedup();
    let cells: Vec<Placed> = numbers
        .par_iter()
        .map(|number| Ok(Placed::new(sweep.cell(*number)?, columns)))
        .collect::<Result<_>>()?;
    let one = |run: &u64| -> Result<()> {
        let cell = match numbers.binary_search(&(run / replications)) {
            Ok(index) => &cells[index],
            Err(_) => return Err(Error::Bug("a run has no cell".to_owned())),
        };
        let record = cell.run(sweep, *run, (run % replications) as u32)?;
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.append(&record)?;
        progress();
        Ok(())
    };
    // Collected in order, so that the first error is the same for any number of threads.
    let done: Vec<Result<()>> = missing.par_iter().map(one).collect();
    done.into_iter().collect()
}

/// A cell, and where its metrics stand among the columns.
struct Placed {
    cell: Cell,
    places: Vec<Option<usize>>,
}

impl Placed {
    fn new(cell: Cell, columns: &[String]) -> Placed {
        let place = |name: &String| cell.metrics.iter().position(|metric| metric.name == *name);
        let places = columns.iter().map(place).collect();
        Placed { cell, places }
    }

    fn run(&self, sweep: &Sweep, number: u64, replication: u32) -> Result<Record> {
        let run = self.cell.run(sweep.effort.seed, replication)?;
        let value = |place: &Option<usize>| place.and_then(|place| run.values[place]);
        let values = self.places.iter().map(value).collect();
        Ok(Record { run: number, fingerprint: run.fingerprint, events: run.events, values })
    }
}

/// Tries the first run of a part: what fails at once must not have cost the journal of another sweep.
pub fn try_first(sweep: &Sweep, shard: Shard) -> Result<()> {
    let replications = u64::from(sweep.effort.replications);
    let run = shard.run(0);
    if run >= sweep.runs() {
        return Ok(());
    }
    let cell = sweep.cell(run / replications)?;
    cell.run(sweep.effort.seed, (run % replications) as u32).map(|_| ())
}

/// What a sweep would take.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// CPU time of all runs.
    pub cpu: Duration,
    /// Events of all runs.
    pub events: f64,
}

/// Runs one replication of a few cells, first, last and between, and takes the others for alike.
#[expect(clippy::disallowed_methods, reason = "it is the time that is asked for")]
pub fn estimate(sweep: &Sweep) -> Result<Estimate> {
    let cells = sweep.design.cells();
    let mut probes: Vec<u64> = (0..5).map(|k| k * (cells - 1) / 4).collect();
    probes.dedup();
    let (mut spent, mut events) = (Duration::ZERO, 0u64);
    for number in &probes {
        let cell = sweep.cell(*number)?;
        let start = Instant::now();
        events += cell.run(sweep.effort.seed, 0)?.events;
        spent += start.elapsed();
    }
    let factor = sweep.runs() as f64 / probes.len() as f64;
    Ok(Estimate { cpu: spent.mul_f64(factor), events: events as f64 * factor })
}
