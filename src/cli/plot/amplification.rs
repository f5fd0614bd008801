//! Attempts per request over the failure rate of a sweep.

use super::grid::Grid;
use super::sources::Sources;
use crate::error::{Error, Result};
use crate::output::not_drawn;
use crate::output::plot::amplification::{AmplificationFigure, Rates, chart};
use crate::output::plot::trade_off::Known;
use crate::output::plot::{Look, MAX_SERIES, Picture};
use crate::scenario::Document;

const METRIC: &str = "amplification";

/// The picture.
pub fn of_results(look: Look, metrics: &[String], sources: &Sources) -> Result<Picture> {
    let metric = match metrics {
        [] => METRIC,
        [one] => one,
        _ => return Err(Error::Input("--metric: amplification draws one".to_owned())),
    };
    let grid = Grid::read(sources, metric)?;
    let is_rate =
        |key: &String| key.starts_with("provider.faults.") && key.ends_with(".error.share");
    let Some(rate) = grid.keys.iter().position(is_rate) else {
        return Err(grid.wrong("amplification needs the share of attempts that fail, such as --vary provider.faults.0.error.share=0..0.9:lin10"));
    };
    if grid.keys.len() > 2 {
        return Err(grid.wrong("amplification needs the failure rate and at most one other key"));
    }
    let other = (0..grid.keys.len()).find(|key| *key != rate);
    let written = most_attempts(sources)?;
    let values = other.map_or(vec![String::new()], |key| grid.values(key));
    if values.len() > MAX_SERIES {
        return Err(grid.wrong(&format!("amplification tells {MAX_SERIES} series apart")));
    }
    let mut series = Vec::new();
    for value in values {
        let of_series = |cell: &[String]| other.is_none_or(|key| cell[key] == value);
        let mut cells = Vec::new();
        for mean in grid.means.iter().filter(|mean| of_series(&mean.cell)) {
            let p: f64 = mean.cell[rate].parse().map_err(|_| {
                Error::Input(format!("{}: \"{}\" is no number", grid.keys[rate], mean.cell[rate]))
            })?;
            cells.extend(mean.mean.map(|value| (p, Known { mean: value, ci95: mean.ci95 })));
        }
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let key = other.map(|key| grid.keys[key].as_str());
        let label = key.map_or(metric.to_owned(), |key| format!("{} = {value}", short(key)));
        series.push(Rates { label, max_attempts: attempts(key, &value, &written), cells });
    }
    let figure = AmplificationFigure {
        title: sources.title(),
        note: sources.note(),
        metric: (grid.metric.clone(), metric == METRIC),
        series,
    };
    chart(&figure).draw(look).map_err(not_drawn)
}

/// "client.layers.sdk.max_attempts" is "sdk.max_attempts".
fn short(key: &str) -> &str {
    key.strip_prefix("client.layers.").unwrap_or(key)
}

/// The names of the layers as written with the most attempts of each.
type Written = Vec<(String, u32)>;

/// Those of the sweep's scenario.
fn most_attempts(sources: &Sources) -> Result<Option<Written>> {
    let path = sources.first().path("scenario.toml");
    let scenario = Document::read(&path)?.scenario()?;
    let [group] = &scenario.groups[..] else { return Ok(None) };
    let layers = group.client.layers.iter();
    Ok(Some(layers.map(|layer| (layer.name.clone(), layer.max_attempts)).collect()))
}

/// The most attempts of a request where a key has this value: the product over the layers. None where the key changes
/// something else that may bound them.
fn attempts(key: Option<&str>, value: &str, written: &Option<Written>) -> Option<u32> {
    let written = written.as_ref()?;
    let changed = key.and_then(|key| key.strip_suffix(".max_attempts"));
    let changed = changed.map(|layer| layer.strip_prefix("client.layers.").unwrap_or(layer));
    let is = |layer: &str, index: usize| {
        changed.is_some_and(|changed| changed == layer || changed == index.to_string())
    };
    let of_layer = |(index, (layer, most)): (usize, &(String, u32))| match is(layer, index) {
        true => value.parse().ok(),
        false => Some(*most),
    };
    let moved = |key: &str| key != "policy" && changed.is_none() && key.contains("client.layers");
    if key.is_some_and(moved) {
        return None;
    }
    let mut layers = written.iter().enumerate().map(of_layer);
    layers.try_fold(1_u32, |product, most| product.checked_mul(most?))
}
