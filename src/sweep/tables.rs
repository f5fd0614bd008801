//! The result files of a finished sweep, written row by row.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::design::{Design, Varied};
use super::header::Header;
use super::journal::{Journal, Record};
use super::staged::{Staged, Written};
use crate::error::{Error, Result};
use crate::experiment::summary_of;
use crate::output::{PACKED_RUNS, RUNS};
use crate::stats::quantile::{interval_ranks, nearest_rank};
use crate::stats::summary::Summary;

/// The tables of a sweep whose runs are all there.
pub struct Tables {
    journal: Journal,
    design: Design,
    varied: Vec<Varied>,
    made: Made,
    ranks: Ranks,
}

/// What was made, of the rows that have been written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    /// Runs.
    pub runs: u64,
    /// Their events.
    pub events: u64,
}

/// Ranks of the ends of intervals, by the number of values.
#[derive(Debug, Default)]
struct Ranks(BTreeMap<usize, [Option<(usize, usize)>; 2]>);

impl Ranks {
    /// Those of the intervals of the 50 and 95 % points of so many values.
    fn of(&mut self, n: usize) -> [Option<(usize, usize)>; 2] {
        *self.0.entry(n).or_insert_with(|| [0.5, 0.95].map(|q| interval_ranks(n, q, 0.95)))
    }
}

/// Most values that are held to summarise a cell: 16 MB.
const MOST_VALUES: usize = 2_000_000;

/// One metric of a cell over its replications.
#[derive(Clone, Debug)]
pub struct CellMetric {
    /// None when no replication has a value.
    pub summary: Option<Summary>,
    /// Nearest-rank 5, 50 and 95 % points.
    pub quantiles: Option<[f64; 3]>,
    /// Intervals of the 50 and 95 % points, where there are replications enough.
    pub intervals: [Option<(f64, f64)>; 2],
}

impl Tables {
    /// Those of a journal that has all its runs.
    pub fn new(journal: Journal) -> Result<Tables> {
        let design = Design::of(journal.header())?;
        let varied = design.columns();
        Ok(Tables { journal, design, varied, made: Made::default(), ranks: Ranks::default() })
    }

    /// Which sweep it is.
    pub fn header(&self) -> &Header {
        self.journal.header()
    }

    /// The runs of runs.csv, once it is written.
    pub fn made(&self) -> Made {
        self.made
    }

    /// The columns of what is varied.
    pub fn varied(&self) -> impl Iterator<Item = &str> {
        self.varied.iter().map(|varied| varied.column.as_str())
    }

    /// What is varied, as it is in a cell.
    pub fn values(&self, cell: u64) -> Vec<String> {
        let texts = self.design.values(cell);
        self.varied.iter().zip(&texts).map(|(varied, text)| varied.show(text)).collect()
    }

    /// The runs of a cell: all replications, or as many as it has where it may have enough earlier.
    fn runs(&self, cell: u64) -> Result<Range<u64>> {
        let most = u64::from(self.journal.header().replications);
        let all = cell * most..(cell + 1) * most;
        match all.clone().find(|run| !self.journal.has(*run)) {
            None => Ok(all),
            Some(end) if self.journal.header().until.is_some() => Ok(all.start..end),
            Some(run) => Err(Error::Bug(format!("run {run} is not there"))),
        }
    }

    fn record(&mut self, run: u64) -> Result<Record> {
        self.journal.read(run)?.ok_or_else(|| Error::Bug(format!("run {run} is not there")))
    }

    /// All metrics of a cell, in the order of the header's columns.
    pub fn summaries(&mut self, cell: u64) -> Result<Vec<CellMetric>> {
        self.summaries_by(cell, MOST_VALUES)
    }

    /// The same, from so many values at once: a cell of very many replications is read several times.
    fn summaries_by(&mut self, cell: u64, most_values: usize) -> Result<Vec<CellMetric>> {
        let runs = self.runs(cell)?;
        let at_once = (most_values as u64 / (runs.end - runs.start).max(1)).max(1) as usize;
        let columns = self.journal.header().columns.clone();
        let mut summaries = Vec::new();
        for (part, columns) in columns.chunks(at_once).enumerate() {
            // No more than that: a list that grows may be half empty.
            let empty = |_| Vec::with_capacity((runs.end - runs.start) as usize);
            let mut values: Vec<Vec<f64>> = columns.iter().map(empty).collect();
            for run in runs.clone() {
                let record = self.record(run)?;
                for (list, value) in values.iter_mut().zip(&record.values[part * at_once..]) {
                    list.extend(*value);
                }
            }
            let units = columns.iter().map(|(_, unit)| unit.as_str());
            let of = |(values, unit)| CellMetric::of(values, unit, &mut self.ranks);
            summaries.extend(values.into_iter().zip(units).map(of));
        }
        Ok(summaries)
    }

    /// Writes runs.csv: a row per run, in order, a column per metric. Packed, it is runs.csv.gz.
    pub fn write_runs(&mut self, folder: &Path, packed: bool) -> Result<Written> {
        let mut file = Staged::create(folder, if packed { PACKED_RUNS } else { RUNS })?;
        file.rows(|csv| {
            let header = self.journal.header().clone();
            let metrics = header.columns.iter().map(|(name, _)| name.as_str());
            csv.write_record(
                self.place_names().chain(["replication", "fingerprint"]).chain(metrics),
            )?;
            self.made = Made::default();
            for cell in 0..header.cells {
                let place = self.place(cell);
                for (replication, run) in self.runs(cell)?.enumerate() {
                    let record = self.record(run)?;
                    self.made.runs += 1;
                    self.made.events += record.events;
                    let run = [replication.to_string(), format!("{:#018x}", record.fingerprint)];
                    let found = record.values.iter().map(|value| text(*value));
                    csv.write_record(place.iter().cloned().chain(run).chain(found))?;
                }
            }
            Ok(())
        })?;
        file.finish()
    }

    /// Writes summary.csv: a row per cell and metric.
    pub fn write_summary(&mut self, folder: &Path) -> Result<Written> {
        let mut file = Staged::create(folder, "summary.csv")?;
        file.rows(|csv| {
            let header = self.journal.header().clone();
            csv.write_record(self.place_names().chain(["metric", "unit", "n"]).chain(NUMBERS))?;
            for cell in 0..header.cells {
                let place = self.place(cell);
                for ((name, unit), one) in header.columns.iter().zip(self.summaries(cell)?) {
                    let n = one.summary.as_ref().map_or(0, |s| s.n).to_string();
                    let named = place.iter().cloned().chain([name.clone(), unit.clone(), n]);
                    csv.write_record(named.chain(one.numbers().map(text)))?;
                }
            }
            Ok(())
        })?;
        file.finish()
    }

    /// Names of the columns that say which cell it is.
    fn place_names(&self) -> impl Iterator<Item = &str> {
        ["cell"].into_iter().chain(self.varied())
    }

    fn place(&self, cell: u64) -> Vec<String> {
        std::iter::once(cell.to_string()).chain(self.values(cell)).collect()
    }
}

/// Columns of summary.csv after `n`.
const NUMBERS: [&str; 13] = [
    "mean",
    "sd",
    "ci95_low",
    "ci95_high",
    "min",
    "p05",
    "p50",
    "p95",
    "max",
    "p50_ci95_low",
    "p50_ci95_high",
    "p95_ci95_low",
    "p95_ci95_high",
];

impl CellMetric {
    /// That of the values of the replications, in their order.
    fn of(mut values: Vec<f64>, unit: &str, ranks: &mut Ranks) -> CellMetric {
        let summary = summary_of(unit, &values);
        values.sort_unstable_by(f64::total_cmp);
        let point = |q| nearest_rank(&values, q);
        let quantiles = || Some([point(0.05)?, point(0.5)?, point(0.95)?]);
        let ends = |(low, high): (usize, usize)| (values[low - 1], values[high - 1]);
        let intervals = ranks.of(values.len()).map(|ranks| ranks.map(ends));
        CellMetric { summary, quantiles: quantiles(), intervals }
    }

    fn numbers(&self) -> [Option<f64>; 13] {
        let s = self.summary.as_ref();
        let ends = |ci: Option<(f64, f64)>| [ci.map(|c| c.0), ci.map(|c| c.1)];
        let [low, high] = ends(s.and_then(|s| s.ci95));
        let [p05, p50, p95] = [0, 1, 2].map(|i| self.quantiles.map(|q| q[i]));
        let [[p50_low, p50_high], [p95_low, p95_high]] = self.intervals.map(ends);
        let (mean, sd) = (s.map(|s| s.mean), s.and_then(|s| s.sd));
        let (min, max) = (s.map(|s| s.min), s.map(|s| s.max));
        [mean, sd, low, high, min, p05, p50, p95, max, p50_low, p50_high, p95_low, p95_high]
    }
}

/// The shortest form that reads back the same; nothing for a missing value.
fn text(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::header;
    use super::*;

    #[test]
    fn a_cell_that_is_read_in_pieces_has_the_same_summaries() {
        let home = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(home.path(), header()).unwrap();
        for run in 0..12u64 {
            // The second metric has no value in every third run.
            let values = vec![Some((run * 7 % 5) as f64), (run % 3 > 0).then_some(run as f64)];
            journal.append(&Record { run, fingerprint: 0, events: 1, values }).unwrap();
        }
        let mut tables = Tables::new(journal).unwrap();
        for cell in 0..4 {
            let whole = tables.summaries(cell).unwrap();
            let found: Vec<usize> =
                whole.iter().map(|one| one.summary.as_ref().unwrap().n).collect();
            assert_eq!(found, [3, 2]);
            for most_values in [1, 3, 5, 6] {
                let pieces = tables.summaries_by(cell, most_values).unwrap();
                assert_eq!(format!("{pieces:?}"), format!("{whole:?}"), "{most_values}");
            }
        }
    }
}
