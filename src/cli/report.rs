//! What run and compare print and write: documents, tables, folders.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::common::EffortArgs;
use super::plot;
use crate::error::Result;
use crate::experiment::{Cell, CellRuns, Effort, summaries};
use crate::output::{
    Folder, completions_csv, manifest, of_cells, runs_csv, summary_csv, waves_csv, windows_csv,
};
use crate::scenario::canonical;
use crate::stats::summary::Summary;

/// `{"unit":…,"mean":…,"sd":…,"ci95":[…],"min":…,"max":…}`; nulls where there is no value.
pub fn summary_json(unit: &str, summary: Option<&Summary>) -> Value {
    json!({
        "unit": unit,
        "n": summary.map_or(0, |s| s.n),
        "mean": summary.map(|s| s.mean),
        "sd": summary.and_then(|s| s.sd),
        "ci95": summary.and_then(|s| s.ci95),
        "min": summary.map(|s| s.min),
        "max": summary.map(|s| s.max),
    })
}

/// All metrics of a cell by name.
pub fn metrics_json(cell: &CellRuns) -> Value {
    let entry = |one: crate::experiment::MetricSummary<'_>| {
        (one.metric.name.clone(), summary_json(one.metric.unit, one.summary.as_ref()))
    };
    Value::Object(summaries(cell).into_iter().map(entry).collect::<Map<_, _>>())
}

/// Writes the result files of some cells into a staged folder and swaps it in; says what it did.
pub fn write_folder(
    folder: Folder,
    name: &str,
    title: &str,
    cells: &[CellRuns],
    effort: &Effort,
) -> Result<String> {
    write_folder_with(folder, name, title, cells, effort, &[])
}

/// The same with more files.
pub fn write_folder_with(
    folder: Folder,
    name: &str,
    title: &str,
    cells: &[CellRuns],
    effort: &Effort,
    more: &[(&str, &[u8])],
) -> Result<String> {
    let place = folder.place().display().to_string();
    let picture = plot::of_cells(title, cells, &effort.seed.to_string())?;
    let (runs, summary, windows) = (runs_csv(cells)?, summary_csv(cells)?, windows_csv(cells)?);
    let (waves, completions) = (waves_csv(cells)?, completions_csv(cells)?);
    let mut files: Vec<(&str, &[u8])> = vec![
        ("runs.csv", &runs),
        ("summary.csv", &summary),
        ("windows.csv", &windows),
        ("waves.csv", &waves),
        ("completions.csv", &completions),
        ("load.svg", picture.svg.as_bytes()),
        ("load.png", &picture.png),
    ];
    files.extend(more);
    // One cell is one scenario and can be run again; the path of a trace stays as written.
    let scenario = canonical(&cells[0].cell.scenario)?;
    if cells.len() == 1 {
        files.push(("scenario.toml", scenario.as_bytes()));
    }
    if folder.is_there(&files) {
        return Ok(format!("{place} is up to date"));
    }
    let manifest = manifest(name, effort, &files, of_cells(title, cells)?);
    for (file, bytes) in &files {
        folder.write(file, bytes)?;
    }
    folder.write("manifest.json", manifest.as_bytes())?;
    folder.swap_in()?;
    Ok(format!("wrote {place}"))
}

/// Runs the cells, with curves where there is a folder to write.
pub fn execute(
    args: &EffortArgs,
    cells: Vec<Cell>,
    effort: Effort,
    curves: bool,
) -> Result<Vec<CellRuns>> {
    if curves { args.execute_with_curves(cells, effort) } else { args.execute(cells, effort) }
}

/// Starts the folder that `-o` names, if it does.
pub fn stage(output: Option<&Path>, cells: &[Cell]) -> Result<Option<Folder>> {
    let Some(place) = output else { return Ok(None) };
    plot::check(cells)?;
    Folder::stage(place).map(Some)
}
