//! A results folder as pictures need it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Setting;
use super::plot::PlotError;
use super::table_file::TableFile;
use crate::error::{Error, Result};
use crate::experiment::{CompletionRow, Counts, WaveRow, WindowRow};
use crate::metrics::WAVES;

/// A results folder with what its manifest says.
#[derive(Clone, Debug)]
pub struct Results {
    folder: PathBuf,
    manifest: Value,
    /// The circumstances.
    pub setting: Setting,
}

/// Something for each policy, in the order of the files.
pub type ByPolicy<R> = Vec<(String, R)>;

/// A mean with its interval, as summary.csv has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean {
    /// The values of the columns that say which cell it is: `policy`, or what a sweep varies.
    pub cell: Vec<String>,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Its mean, where some replication has a value.
    pub mean: Option<f64>,
    /// The 95 % interval, where there are replications enough.
    pub ci95: Option<(f64, f64)>,
}

impl Results {
    /// Opens a folder.
    pub fn open(folder: &Path) -> Result<Results> {
        let name = folder.display();
        let path = folder.join("manifest.json");
        let text = std::fs::read(&path).map_err(|e| {
            Error::Input(format!(
                "{name}: this is no results folder of retrylab; {} cannot be read ({e})",
                path.display()
            ))
        })?;
        let manifest: Value = serde_json::from_slice(&text)
            .map_err(|e| Error::Input(format!("{}: {e}", path.display())))?;
        let setting = serde_json::from_value(manifest["setting"].clone()).unwrap_or_default();
        Ok(Results { folder: folder.to_owned(), manifest, setting })
    }

    /// manifest.json.
    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// What the folder is called.
    pub fn name(&self) -> String {
        let last = self.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        last.unwrap_or_else(|| self.folder.display().to_string())
    }

    /// The title of its scenario, or else its name.
    pub fn title(&self) -> String {
        if !self.setting.title.is_empty() {
            return self.setting.title.clone();
        }
        let scenario = std::fs::read_to_string(self.path("scenario.toml")).unwrap_or_default();
        let scenario: toml::Table = scenario.parse().unwrap_or_default();
        let title = scenario.get("title").and_then(|title| title.as_str());
        title.map_or_else(|| self.name(), str::to_owned)
    }

    /// Master seed.
    pub fn seed(&self) -> String {
        self.manifest["seed"].as_str().unwrap_or("?").to_owned()
    }

    /// Replications.
    pub fn replications(&self) -> usize {
        self.manifest["replications"].as_u64().unwrap_or(0) as usize
    }

    /// Whether it has a file.
    pub fn has(&self, file: &str) -> bool {
        self.folder.join(file).is_file()
    }

    /// The path of one of its files.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Whether it holds a sweep, whose tables have cells.
    pub fn is_sweep(&self) -> bool {
        let columns = TableFile::columns_of(&self.path("summary.csv"));
        columns.is_ok_and(|columns| columns.iter().any(|column| column == "cell"))
    }

    /// What it holds, in words.
    pub fn holds(&self) -> &'static str {
        match () {
            () if self.has("settings.csv") => "what tune has found",
            () if self.is_sweep() => "a sweep",
            () if self.has("ramp.csv") => "what metastable has found",
            () if self.has("windows.csv") => "runs of some policies",
            () => "nothing that is drawn",
        }
    }

    /// One of its tables; `picture` needs it, and `command` makes it.
    pub fn table(&self, file: &str, picture: &str, command: &str) -> Result<TableFile> {
        if !self.has(file) {
            return Err(Error::Input(format!(
                "{}: the folder holds {}, and {picture} is drawn from {file}; make one with `{command}`",
                self.folder.display(),
                self.holds()
            )));
        }
        TableFile::read(&self.path(file))
    }

    /// The curves of a table of windows, by policy.
    pub fn curves(table: &TableFile) -> Result<ByPolicy<Vec<WindowRow>>> {
        let row = |index: usize| {
            let counts = |name: &str| counts(table, index, name);
            Ok(WindowRow {
                start_s: table.number(index, "window_start_s")?,
                first_attempts_mean: table.number(index, "first_attempts_mean")?,
                retries: counts("retries")?,
                attempts: counts("attempts")?,
                requests_mean: table.number(index, "requests_mean")?,
                answers: counts("answers")?,
                queue: counts("queue")?,
                in_flight: counts("in_flight")?,
            })
        };
        by_policy(table, row)
    }

    /// The waves of attempts, by policy.
    pub fn waves(table: &TableFile) -> Result<ByPolicy<Vec<WaveRow>>> {
        by_policy(table, |index| {
            let text = table.text(index, "attempt")?;
            let number = text.trim_end_matches('+').parse().ok();
            let number = number.filter(|number| (1..=WAVES).contains(number));
            Ok(WaveRow {
                number: number
                    .ok_or_else(|| table.problem(index, "attempt", "no attempt number"))?,
                start_s: table.number(index, "window_start_s")?,
                attempts: counts(table, index, "attempts")?,
            })
        })
    }

    /// When requests were answered, by policy.
    pub fn completions(table: &TableFile) -> Result<ByPolicy<Vec<CompletionRow>>> {
        by_policy(table, |index| {
            let within = |point: &str| table.optional(index, &format!("within_s_{point}"));
            Ok(CompletionRow {
                share: table.number(index, "share")?,
                n: table.number(index, "n")? as usize,
                points_s: [within("p05")?, within("p50")?, within("p95")?],
            })
        })
    }

    /// The means of a summary whose cells are told by these columns.
    pub fn means(table: &TableFile, columns: &[String]) -> Result<Vec<Mean>> {
        let mean = |index: usize| {
            let cell: Result<Vec<String>> =
                columns.iter().map(|name| table.text(index, name).map(str::to_owned)).collect();
            let ends = (table.optional(index, "ci95_low")?, table.optional(index, "ci95_high")?);
            Ok(Mean {
                cell: cell?,
                metric: table.text(index, "metric")?.to_owned(),
                unit: table.text(index, "unit")?.to_owned(),
                mean: table.optional(index, "mean")?,
                ci95: ends.0.zip(ends.1),
            })
        };
        (0..table.len()).map(mean).collect()
    }
}

fn counts(table: &TableFile, index: usize, name: &str) -> Result<Counts> {
    let point = |point: &str| table.number(index, &format!("{name}_{point}"));
    Ok(Counts { mean: point("mean")?, p05: point("p05")?, p50: point("p50")?, p95: point("p95")? })
}

/// Rows gathered by their policies, in order of appearance.
fn by_policy<R>(table: &TableFile, row: impl Fn(usize) -> Result<R>) -> Result<ByPolicy<Vec<R>>> {
    let mut all: Vec<(String, Vec<R>)> = Vec::new();
    for index in 0..table.len() {
        let policy = table.text(index, "policy")?;
        if all.last().is_none_or(|(last, _)| last != policy) {
            all.push((policy.to_owned(), Vec::new()));
        }
        if let Some((_, rows)) = all.last_mut() {
            rows.push(row(index)?);
        }
    }
    Ok(all)
}

/// A picture that cannot be made of a user's numbers, in words for him.
pub fn not_drawn(error: PlotError) -> Error {
    match error {
        PlotError::NoPanels | PlotError::TooManyPanels { .. } | PlotError::BadNumber { .. } => {
            Error::Input(error.to_string())
        }
        other => Error::Bug(other.to_string()),
    }
}
