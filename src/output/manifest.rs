//! manifest.json: who, what, with what. The one file with a date, a commit and a command.

use serde_json::{Value, json};

use super::Setting;
use crate::engine;
use crate::error::Result;
use crate::experiment::{Cell, CellRuns, Effort};
use crate::scenario::{canonical, digest};

/// The manifest of a results folder with these files; `more` is an object whose keys are added.
pub fn manifest(name: &str, effort: &Effort, files: &[(&str, &[u8])], more: Value) -> String {
    let files: Vec<Value> = files
        .iter()
        .map(|(name, bytes)| json!({ "name": name, "bytes": bytes.len(), "fnv1a": format!("{:016x}", engine::digest(bytes)) }))
        .collect();
    let seconds = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_secs());
    let mut document = json!({
        "schema": "retrylab.manifest/1",
        "name": name,
        "version": env!("CARGO_PKG_VERSION"),
        "commit": env!("RETRYLAB_COMMIT"),
        "command": std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect::<Vec<_>>(),
        "unix_time": seconds,
        "seed": effort.seed,
        "replications": effort.replications,
        "threads": effort.thread_count(),
        "files": files,
    });
    if let (Value::Object(document), Value::Object(more)) = (&mut document, more) {
        document.extend(more);
    }
    format!("{document:#}\n")
}

/// What a manifest says of the cells of a comparison of that title.
pub fn of_cells(title: &str, cells: &[CellRuns]) -> Result<Value> {
    let policy = |cell: &Cell| {
        Ok(json!({
            "policy": cell.policy,
            "scenario_digest": digest(&cell.scenario)?,
            "scenario": canonical(&cell.scenario)?,
            "assumptions": cell.assumptions(),
        }))
    };
    let policies: Vec<Value> = cells.iter().map(|c| policy(&c.cell)).collect::<Result<_>>()?;
    let events: u64 = cells.iter().flat_map(|c| &c.runs).map(|run| run.events).sum();
    let setting = Setting::of(title, cells.iter().map(|c| &c.cell));
    Ok(json!({ "events": events, "policies": policies, "setting": setting }))
}
