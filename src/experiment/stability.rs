//! How stable a scenario is: what its trigger leaves behind, and which loads it comes back from.

use toml::{Table, Value};

use super::{Cell, CellRuns, Effort, summary_of};
use crate::error::{Error, Result};
use crate::metrics::INDICATOR;
use crate::scenario::{Document, Health, Scenario};
use crate::stats::summary::{Summary, summarise};
use crate::units::Span;

/// Halvings of the load: hidden capacity is known to 1/128 of the advertised one.
const HALVINGS: u32 = 7;

/// Windows on each way of a ramp: few, because a window with a handful of requests collapses by chance.
const WINDOWS: u64 = 50;

/// What the runs of a scenario with a trigger show.
#[derive(Clone, Debug)]
pub struct Stability {
    /// Runs.
    pub runs: usize,
    /// Collapsed in each of the last windows.
    pub stuck: Option<Summary>,
    /// In none of them.
    pub recovered: Option<Summary>,
    /// Stuck, and healthy without the trigger.
    pub metastable: Option<Summary>,
    /// Stuck without the trigger as well.
    pub stuck_without: Option<Summary>,
    /// Seconds until recovery, of those that recovered.
    pub recovery_s: Option<Summary>,
    /// Runs that had not recovered at the horizon, whose time is not known.
    pub censored: usize,
}

impl Stability {
    /// Reads it off the runs of a scenario with a trigger.
    pub fn of(runs: &CellRuns) -> Stability {
        let share = |metric: &str| summary_of(INDICATOR, &runs.values(metric));
        let recovered = runs.values("recovered");
        Stability {
            runs: runs.runs.len(),
            stuck: share("collapsed_at_end"),
            recovered: share("recovered"),
            metastable: share("metastable"),
            stuck_without: share("collapsed_without_trigger"),
            recovery_s: summarise(&runs.values("recovery_s")),
            censored: recovered.iter().filter(|value| **value == 0.0).count(),
        }
    }
}

/// The loads of a scenario whose demand is one number.
#[derive(Clone, Debug)]
pub struct Loads {
    /// Requests per second that the provider can serve.
    pub advertised: f64,
    /// The largest load from which at least half of the runs with the trigger come back, requests per second;
    /// None when some load leaves nothing to be told at the end, such as a workload that is over by then.
    pub hidden: Option<f64>,
    /// True when they come back from every load that was tried: it is that much at least.
    pub at_least: bool,
    /// How well that is known.
    pub step: f64,
    /// Each way of the slow ramp.
    pub ramp: Span,
    /// Its runs.
    pub ramp_runs: CellRuns,
    /// Demand at which the ramp collapses, of runs that do.
    pub collapse: Option<Summary>,
    /// Demand at which it recovers on its way down, of those that do.
    pub recovery: Option<Summary>,
    /// Share of the runs that collapsed with a loop: recovery at a lower load, or none.
    pub hysteresis: Option<Summary>,
}

/// Runs cells for someone who shows progress.
pub type Execute<'a> = &'a dyn Fn(Vec<Cell>, Effort) -> Result<Vec<CellRuns>>;

/// The loads of a scenario; None when its demand is not one number (several groups, another workload
/// than `poisson` or `spike`) or nothing bounds what its provider can serve.
pub fn loads(
    document: &Document,
    ramp: Option<Span>,
    effort: Effort,
    execute: Execute<'_>,
) -> Result<Option<Loads>> {
    let cell = Cell::new("as written", document)?;
    let scenario = &cell.scenario;
    let (Some(key), Some(capacity)) = (demand_key(scenario), cell.capacity_per_window()) else {
        return Ok(None);
    };
    let advertised = capacity / scenario.measure.window.seconds();
    let alone = alone(document, scenario)?;
    let stuck = |load: f64| -> Result<Option<f64>> {
        let set = alone.with_value("the search for the hidden capacity", key, rate(load))?;
        let runs = execute(vec![Cell::new("search", &set)?], effort)?;
        let share = runs.first().and_then(|runs| summarise(&runs.values("collapsed_at_end")));
        Ok(share.map(|share| share.mean))
    };
    let (mut low, mut high, mut known) = (0.0, advertised, true);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match stuck(middle)? {
            Some(share) if share <= 0.5 => low = middle,
            Some(_) => high = middle,
            None => {
                known = false;
                break;
            }
        }
    }
    let ramp = ramp.unwrap_or(scenario.measure.horizon);
    let runs = execute(
        vec![Cell::new("ramp", &slow_ramp(document, scenario, advertised, ramp)?)?],
        effort,
    )?;
    let runs = runs.into_iter().next();
    let runs = runs.ok_or_else(|| Error::Bug("a ramp has no runs".to_owned()))?;
    Ok(Some(Loads {
        advertised,
        hidden: known.then_some(low),
        at_least: known && high >= advertised,
        step: high - low,
        ramp,
        collapse: summarise(&runs.values("collapse_load_per_s")),
        recovery: summarise(&runs.values("recovery_load_per_s")),
        hysteresis: summary_of(INDICATOR, &runs.values("hysteresis")),
        ramp_runs: runs,
    }))
}

/// The key of the one rate that is a scenario's demand.
fn demand_key(scenario: &Scenario) -> Option<&'static str> {
    let [group] = &scenario.groups[..] else { return None };
    match &group.workload {
        _ if group.name.is_some() => None,
        workload if workload.poisson.is_some() => Some("workload.poisson.rate"),
        workload if workload.spike.is_some() => Some("workload.spike.rate"),
        workload if workload.renewal.as_ref().is_some_and(|stream| stream.rate.is_some()) => {
            Some("workload.renewal.rate")
        }
        _ => None,
    }
}

/// Requests per hour, so that small loads keep their digits.
fn rate(per_second: f64) -> Value {
    Value::String(format!("{}/h", (per_second * 3_600.0).round().max(1.0)))
}

fn health(Health { window, last }: Health) -> Value {
    let keys = [("window", Value::String(window.to_string())), ("last", Value::from(last))];
    Value::Table(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Table>())
}

/// The document with the trigger, but not in pairs.
fn alone(document: &Document, scenario: &Scenario) -> Result<Document> {
    let by = "the search for the hidden capacity";
    document.without("trigger")?.with_value(by, "measure.health", health(scenario.measure.health()))
}

/// The document without its trigger, under a demand that goes slowly up to the capacity and back.
fn slow_ramp(
    document: &Document,
    scenario: &Scenario,
    capacity: f64,
    way: Span,
) -> Result<Document> {
    let by = "the slow ramp";
    let whole = Span::from_nanos(way.nanos().saturating_mul(2));
    let window = Span::from_nanos((way.nanos() / WINDOWS).max(1));
    let span = |span: Span| Value::String(span.to_string());
    let ramp = [
        ("from", rate(0.1 * capacity)),
        ("to", rate(0.98 * capacity)),
        ("over", span(way)),
        ("back", span(way)),
    ];
    let ramp: Table = ramp.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let clients = Value::from(i64::from(scenario.groups[0].workload.clients));
    let workload = Table::from_iter([
        ("clients".to_owned(), clients),
        ("ramp".to_owned(), Value::Table(ramp)),
    ]);
    let bare = match document.without_trigger(scenario)? {
        Some(bare) => bare.without("trigger")?,
        None => document.clone(),
    };
    bare.with_value(by, "workload", Value::Table(workload))?
        .with_value(by, "measure.horizon", span(whole))?
        .with_value(by, "measure.window", span(window))?
        .with_value(by, "measure.curve", span(window))?
        .with_value(by, "measure.health", health(Health { window, last: 1 }))
}
