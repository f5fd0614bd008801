//! The result files of a finished sweep, written row by row.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::design::{Design, Varied};
use super::header::Header;
use super::journal::{Journal, Record};
use crate::engine::Fnv;
use crate::error::{Error, Result};
use crate::experiment::summary_of;
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

/// A file that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// FNV-1a of its bytes.
    pub fnv1a: u64,
}

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

    /// The records of a cell, in order of replication.
    fn records(&mut self, cell: u64) -> Result<Vec<Record>> {
        let most = u64::from(self.journal.header().replications);
        let early = self.journal.header().until.is_some();
        let mut records = Vec::new();
        for run in cell * most..(cell + 1) * most {
            match self.journal.read(run)? {
                Some(record) => records.push(record),
                // It has enough.
                None if early => break,
                None => return Err(Error::Bug(format!("run {run} is not there"))),
            }
        }
        Ok(records)
    }

    /// All metrics of a cell, in the order of the header's columns.
    pub fn summaries(&mut self, cell: u64) -> Result<Vec<CellMetric>> {
        let records = self.records(cell)?;
        let columns = self.journal.header().columns.iter().enumerate();
        let ranks = &mut self.ranks;
        Ok(columns.map(|(at, (_, unit))| CellMetric::of(&records, at, unit, ranks)).collect())
    }

    /// Writes runs.csv: a row per run, in order, a column per metric.
    pub fn write_runs(&mut self, folder: &Path) -> Result<Written> {
        let mut file = Staged::create(folder, "runs.csv")?;
        file.rows(|csv| {
            let header = self.journal.header().clone();
            let metrics = header.columns.iter().map(|(name, _)| name.as_str());
            csv.write_record(
                self.place_names().chain(["replication", "fingerprint"]).chain(metrics),
            )?;
            self.made = Made::default();
            for cell in 0..header.cells {
                let place = self.place(cell);
                for (replication, record) in self.records(cell)?.into_iter().enumerate() {
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
    fn of(records: &[Record], column: usize, unit: &str, ranks: &mut Ranks) -> CellMetric {
        let mut values: Vec<f64> =
            records.iter().filter_map(|record| record.values[column]).collect();
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

/// Writes a small file as a whole.
pub fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<Written> {
    let mut file = Staged::create(folder, name)?;
    file.out.write_all(bytes).map_err(Error::output(&file.place))?;
    file.finish()
}

/// A file that is written beside its place and put there when it is complete.
struct Staged {
    name: String,
    place: PathBuf,
    staged: PathBuf,
    out: Hashed,
}

impl Staged {
    fn create(folder: &Path, name: &str) -> Result<Staged> {
        let place = folder.join(name);
        let staged = folder.join(format!(".{name}.new"));
        let file = File::create(&staged).map_err(Error::output(&place))?;
        let out =
            Hashed { file: BufWriter::with_capacity(1 << 18, file), bytes: 0, fnv: Fnv::new() };
        Ok(Staged { name: name.to_owned(), place, staged, out })
    }

    /// Writes rows until `write` is done.
    fn rows(
        &mut self,
        write: impl FnOnce(&mut csv::Writer<&mut Hashed>) -> std::result::Result<(), RowError>,
    ) -> Result<()> {
        let mut writer = csv::Writer::from_writer(&mut self.out);
        let written = write(&mut writer).and_then(|()| writer.flush().map_err(RowError::Output));
        // Dropped first: it writes what it holds.
        drop(writer);
        written.map_err(|error| match error {
            RowError::Output(error) => Error::output(&self.place)(error),
            RowError::Other(error) => error,
        })
    }

    /// Puts the file in its place once it is on the disk.
    fn finish(self) -> Result<Written> {
        let Hashed { file, bytes, fnv } = self.out;
        let put = || -> io::Result<()> {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            fs::rename(&self.staged, &self.place)
        };
        put().map_err(Error::output(&self.place))?;
        Ok(Written { name: self.name, bytes, fnv1a: fnv.value() })
    }
}

/// Why a row is not written.
enum RowError {
    Output(io::Error),
    Other(Error),
}

impl From<csv::Error> for RowError {
    fn from(error: csv::Error) -> RowError {
        RowError::Output(error.into())
    }
}

impl From<Error> for RowError {
    fn from(error: Error) -> RowError {
        RowError::Other(error)
    }
}

/// Counts and hashes what goes into a file.
struct Hashed {
    file: BufWriter<File>,
    bytes: u64,
    fnv: Fnv,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        self.fnv.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
