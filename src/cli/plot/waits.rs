//! The law of waits of a preset, a policy or a scenario's layer.

use std::path::Path;

use super::super::schedule;
use crate::error::{Error, Result};
use crate::experiment::Schedule;
use crate::output::plot::waits::{RetryWaits, WaitsFigure, chart};
use crate::output::plot::{Look, Picture};
use crate::output::{not_drawn, number};
use crate::scenario::Document;

/// At most so many retries are drawn.
const MOST: usize = 8;

/// The picture of a preset or policy of that name, or of a scenario file's layer.
pub fn draw(look: Look, what: &Path, layer: Option<&str>) -> Result<Picture> {
    let name = what.to_string_lossy();
    let (title, keys) = if what.is_file() {
        of_scenario(what, layer)?
    } else {
        (format!("Waits of {name}"), schedule::keys(&name, None)?)
    };
    let waits = Schedule::waits(&keys, 503)?;
    if waits.is_empty() {
        return Err(Error::Input(format!(
            "{name}: a 503 is not retried, so that there is no wait"
        )));
    }
    let calls = waits[0].len();
    let more = if waits.len() > MOST {
        format!(" · first {MOST} of {} retries", waits.len())
    } else {
        String::new()
    };
    let retries = (1..).zip(waits).take(MOST);
    let figure = WaitsFigure {
        title,
        note: format!(
            "waits of {} sampled calls, every attempt of which is answered 503 without Retry-After{more}",
            number(calls as f64)
        ),
        retries: retries.map(|(retry, waits)| RetryWaits { retry, waits }).collect(),
    };
    chart(&figure).draw(look).map_err(not_drawn)
}

/// Title and keys of a layer: the one that is named, or the outermost.
fn of_scenario(path: &Path, layer: Option<&str>) -> Result<(String, String)> {
    let scenario = Document::read(path)?.scenario()?;
    let layers = &scenario.groups[0].client.layers;
    let found = match layer {
        Some(name) => layers.iter().find(|layer| layer.name == name),
        None => layers.last(),
    };
    let found = found.ok_or_else(|| {
        let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
        Error::Input(format!("--layer: the layers are {}", names.join(", ")))
    })?;
    let bug = |e: toml::ser::Error| Error::Bug(format!("a layer does not print: {e}"));
    let toml::Value::Table(mut keys) = toml::Value::try_from(found).map_err(bug)? else {
        return Err(Error::Bug("a layer is no table".to_owned()));
    };
    // What shapes a wait, and nothing that may cut a call short.
    keys.retain(|key, _| ["backoff", "max_attempts", "retry_on", "retry_after"].contains(&key));
    let lines = keys.iter().map(|(key, value)| format!("{key} = {value}\n"));
    Ok((format!("Waits of layer {}", found.name), lines.collect()))
}
