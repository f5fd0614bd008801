//! The front that `tune` has found.

use serde_json::Value;

use super::sources::{Sources, counted};
use crate::error::{Error, Result};
use crate::output::not_drawn;
use crate::output::plot::pareto::{OnFront, ParetoFigure, chart};
use crate::output::plot::trade_off::Known;
use crate::output::plot::{Look, Picture};

/// The picture.
pub fn of_results(look: Look, metrics: &[String], sources: &Sources) -> Result<Picture> {
    let settings = sources.table(sources.first(), "settings.csv")?;
    let tune = read(sources)?;
    let all: Vec<(&str, bool)> = list(&tune["objectives"])
        .filter_map(|one| Some((one["metric"].as_str()?, one["maximise"].as_bool()?)))
        .collect();
    let [x, y] = chosen(metrics, &all)?;
    let mut dots = Vec::new();
    for row in 0..settings.len() {
        dots.extend(settings.optional(row, x)?.zip(settings.optional(row, y)?));
    }
    let mut unit = [String::new(), String::new()];
    let checked = list(&tune["checked"]);
    let front: Vec<OnFront> = checked
        .filter_map(|setting| {
            for (unit, metric) in unit.iter_mut().zip([x, y]) {
                let found = setting["objectives"][metric]["unit"].as_str();
                *unit = found.unwrap_or_default().to_owned();
            }
            on_front(setting, [x, y], &tune["recommended"])
        })
        .collect();
    let axis = |metric: &str, unit: &str| {
        let most = all.iter().any(|(name, maximise)| *name == metric && *maximise);
        let better = if most { "more is better" } else { "less is better" };
        if unit.is_empty() {
            format!("{metric}, {better}")
        } else {
            format!("{metric} ({unit}), {better}")
        }
    };
    let paths: Vec<String> = list(&tune["checked"])
        .find_map(|setting| setting["values"].as_object().filter(|values| !values.is_empty()))
        .map(|values| values.keys().cloned().collect())
        .unwrap_or_default();
    let number = |key: &str| tune[key].as_f64().unwrap_or(0.0);
    let note = format!(
        "labels: {} · {} · {} from seed {}",
        paths.join(", "),
        counted(number("settings"), "setting"),
        counted(number("replications"), "replication"),
        tune["check_seed"].as_str().unwrap_or("?"),
    );
    let title =
        format!("{}: settings that no other beats", tune["scenario"].as_str().unwrap_or("tune"));
    let axes = [axis(x, &unit[0]), axis(y, &unit[1])];
    let figure = ParetoFigure { title, note, axes, settings: dots, front };
    chart(&figure).draw(look).map_err(not_drawn)
}

/// The two objectives that are drawn, of those that there are.
fn chosen<'a>(metrics: &'a [String], all: &[(&'a str, bool)]) -> Result<[&'a str; 2]> {
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let chosen: Vec<&str> = match metrics {
        [] => names.iter().copied().take(2).collect(),
        some => some.iter().map(String::as_str).collect(),
    };
    if chosen.iter().any(|name| !names.contains(name)) {
        return Err(Error::Input(format!("--metric: the objectives are {}", names.join(", "))));
    }
    <[&str; 2]>::try_from(chosen).map_err(|_| {
        Error::Input(format!(
            "pareto draws two objectives, and tune was given {}; name two with --minimise or --maximise there",
            names.join(", ")
        ))
    })
}

fn read(sources: &Sources) -> Result<Value> {
    let path = sources.first().path("tune.json");
    let bad = |e: &dyn std::fmt::Display| Error::Input(format!("{}: {e}", path.display()));
    let text = std::fs::read(&path).map_err(|e| bad(&e))?;
    serde_json::from_slice(&text).map_err(|e| bad(&e))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn on_front(setting: &Value, [x, y]: [&str; 2], recommended: &Value) -> Option<OnFront> {
    let known = |metric: &str| {
        let found = &setting["objectives"][metric];
        let ends = (found["ci95"][0].as_f64(), found["ci95"][1].as_f64());
        Some(Known { mean: found["mean"].as_f64()?, ci95: ends.0.zip(ends.1) })
    };
    let values = setting["values"].as_object().map(|values| {
        let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        values.values().map(text).collect::<Vec<_>>().join(", ")
    });
    let current = setting["setting"].as_u64() == Some(0);
    Some(OnFront {
        label: values.filter(|text| !text.is_empty()).unwrap_or("current".to_owned()),
        x: known(x)?,
        y: known(y)?,
        feasible: setting["feasible"].as_bool().unwrap_or(true),
        current,
        recommended: setting["setting"] == *recommended,
    })
}
