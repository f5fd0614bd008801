//! Reads a runs.csv again: of a run, a comparison, an experiment or a sweep.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::folder::{PACKED_RUNS, RUNS};
use crate::error::{Error, Result};

/// The runs of a results folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// Where they are from.
    pub name: String,
    /// Master seed; None where the folder does not say.
    pub seed: Option<String>,
    /// Names of the metrics.
    pub metrics: Vec<String>,
    /// The rows that belong together, in order of appearance.
    pub cells: Vec<CellRows>,
}

/// The rows of a policy or of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRows {
    /// Which: "full", "workload.clients=5 policy=full".
    pub key: String,
    /// Replications with the values of all metrics, in order of replication.
    pub rows: Vec<Row>,
}

/// A replication with the values of all metrics.
pub type Row = (u32, Vec<Option<f64>>);

impl Runs {
    /// Reads `folder`/runs.csv, or runs.csv.gz where that is what there is.
    pub fn read(folder: &Path) -> Result<Runs> {
        let (path, file) = open(folder)?;
        let bad = |e: csv::Error| Error::Input(format!("{}: {e}", path.display()));
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file);
        let header = reader.headers().map_err(bad)?.clone();
        let layout = Layout::of(&header).ok_or_else(|| {
            Error::Input(format!(
                "{}: this is no runs.csv of retrylab; it needs the columns policy or cell, replication, fingerprint and metrics",
                path.display()
            ))
        })?;
        let mut cells: Vec<CellRows> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (number, record) in reader.records().enumerate() {
            let record = record.map_err(bad)?;
            let (key, row) = layout.row(&record).map_err(|problem| {
                Error::Input(format!("{}:{}: {problem}", path.display(), number + 2))
            })?;
            match places.get(&key) {
                Some(place) => cells[*place].rows.push(row),
                None => {
                    places.insert(key.clone(), cells.len());
                    cells.push(CellRows { key, rows: vec![row] });
                }
            }
        }
        cells
            .iter_mut()
            .try_for_each(CellRows::tidy)
            .map_err(|problem| Error::Input(format!("{}: {problem}", path.display())))?;
        if cells.is_empty() {
            return Err(Error::Input(format!("{}: there are no rows", path.display())));
        }
        Ok(Runs {
            name: folder.display().to_string(),
            seed: seed(folder),
            metrics: layout.metrics,
            cells,
        })
    }
}

impl Runs {
    /// The cells by their keys.
    pub fn by_key(&self) -> BTreeMap<&str, &CellRows> {
        self.cells.iter().map(|cell| (cell.key.as_str(), cell)).collect()
    }
}

impl CellRows {
    /// Rows in order of replication, each once: two drawn cells may have the same values, and then have
    /// the same runs.
    fn tidy(&mut self) -> std::result::Result<(), String> {
        self.rows.sort_by_key(|(replication, _)| *replication);
        self.rows.dedup();
        match self.rows.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(()),
            Some(pair) => Err(format!(
                "replication {} of {} is there twice, and differs",
                pair[0].0, self.key
            )),
        }
    }
}

/// Where things stand in a row.
struct Layout {
    columns: Vec<String>,
    /// Columns that say which cell it is.
    keys: Vec<usize>,
    replication: usize,
    first_metric: usize,
    metrics: Vec<String>,
}

impl Layout {
    fn of(header: &csv::StringRecord) -> Option<Layout> {
        let columns: Vec<String> = header.iter().map(str::to_owned).collect();
        let replication = columns.iter().position(|column| column == "replication")?;
        let first_metric = replication + 2;
        if columns.get(replication + 1).is_none_or(|column| column != "fingerprint")
            || replication == 0
            || columns.len() <= first_metric
        {
            return None;
        }
        // The number of a cell says nothing where its values stand beside it.
        let keys: Vec<usize> =
            (0..replication).filter(|i| columns[*i] != "cell" || replication == 1).collect();
        let metrics = columns[first_metric..].to_vec();
        Some(Layout { columns, keys, replication, first_metric, metrics })
    }

    fn row(&self, record: &csv::StringRecord) -> std::result::Result<(String, Row), String> {
        if record.len() != self.columns.len() {
            return Err(format!(
                "found {} fields, and {} columns",
                record.len(),
                self.columns.len()
            ));
        }
        let key = |i: &usize| match self.columns[*i].as_str() {
            "policy" if self.keys.len() == 1 => record[*i].to_owned(),
            column => format!("{column}={}", &record[*i]),
        };
        let key: Vec<String> = self.keys.iter().map(key).collect();
        let replication = record[self.replication].parse();
        let replication = replication.map_err(|_| {
            format!("replication: \"{}\" is no whole number", &record[self.replication])
        })?;
        let value = |i: usize| match &record[i] {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => Err(format!("{}: \"{text}\" is no number", self.columns[i])),
            },
        };
        let values =
            (self.first_metric..record.len()).map(value).collect::<std::result::Result<_, _>>()?;
        Ok((key.join(" "), (replication, values)))
    }
}

/// The table of runs in a folder, unpacked.
fn open(folder: &Path) -> Result<(PathBuf, Box<dyn Read>)> {
    let (plain, packed) = (folder.join(RUNS), folder.join(PACKED_RUNS));
    let is_packed = !plain.exists() && packed.exists();
    let path = if is_packed { packed } else { plain };
    let file = File::open(&path).map_err(|e| Error::Input(format!("{}: {e}", path.display())))?;
    match is_packed {
        false => Ok((path, Box::new(file))),
        true => Ok((path, Box::new(MultiGzDecoder::new(BufReader::new(file))))),
    }
}

/// The seed that the manifest of a folder names.
fn seed(folder: &Path) -> Option<String> {
    let path: PathBuf = folder.join("manifest.json");
    let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    manifest["seed"].as_str().map(str::to_owned)
}
