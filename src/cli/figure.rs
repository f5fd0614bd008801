//! The load figure of some cells.

use crate::error::{Error, Result};
use crate::experiment::{Cell, CellRuns, WindowRow, windows};
use crate::output::number;
use crate::output::plot::{
    CountAxis, LoadFigure, LoadPanel, LoadWindow, MAX_PANELS, Picture, PlotError, load,
};
use crate::scenario::Scenario;
use crate::server::Fault;
use crate::units::Span;

/// A policy's name and its load per window.
type Curve = (String, Vec<WindowRow>);

/// Refuses, before anything runs, what could not be drawn after it.
pub fn check(cells: &[Cell]) -> Result<()> {
    if cells.len() > MAX_PANELS {
        return Err(Error::Input(format!(
            "{} policies do not fit into one picture; at most {MAX_PANELS}",
            cells.len()
        )));
    }
    let window = cells.first().map_or(SHORTEST, |cell| cell.scenario.measure.curve_window());
    if window < SHORTEST {
        return Err(Error::Input(format!(
            "measure.window: windows of {window} cannot be drawn; write at least {SHORTEST}"
        )));
    }
    Ok(())
}

/// The shortest window that is drawn.
const SHORTEST: Span = Span::from_nanos(1_000);

/// The load per window of cells that were just run, on the axis that suits it.
pub fn of_cells(title: &str, cells: &[CellRuns], seed: &str) -> Result<Picture> {
    on_axis(None, title, cells, seed)
}

/// The same on a given axis.
pub fn on_axis(
    axis: Option<CountAxis>,
    title: &str,
    cells: &[CellRuns],
    seed: &str,
) -> Result<Picture> {
    let curves: Vec<Curve> =
        cells.iter().map(|cell| (cell.cell.policy.clone(), windows(cell))).collect();
    let scenario = &cells[0].cell.scenario;
    // The axis names the window, so the note need not.
    let mut note = format!(
        "{} · {} from seed {seed}",
        counted(scenario.clients() as f64, "client"),
        counted(cells[0].runs.len() as f64, "replication"),
    );
    let (curves, cut) = without_tail(curves, until(scenario));
    if cut {
        note.push_str(" · last 1 % of attempts not shown");
    }
    let peaks: Vec<Option<f64>> = cells.iter().map(mean_peak).collect();
    let per_point = scenario.measure.windows_per_point() as f64;
    let capacity = shared_capacity(cells).map(|capacity| capacity * per_point);
    draw(axis, title, &note, scenario, capacity, &curves, &peaks)
}

/// The mean over replications of the fullest aligned window of retries.
fn mean_peak(cell: &CellRuns) -> Option<f64> {
    crate::stats::summary::summarise(&cell.values("peak_bin")).map(|s| s.mean)
}

fn draw(
    axis: Option<CountAxis>,
    title: &str,
    note: &str,
    scenario: &Scenario,
    capacity: Option<f64>,
    curves: &[Curve],
    peaks: &[Option<f64>],
) -> Result<Picture> {
    let window = scenario.measure.window;
    // A capacity of nothing has no line.
    let capacity = capacity.filter(|capacity| *capacity >= 0.01);
    let panel = |((label, rows), peak): (&Curve, &Option<f64>)| LoadPanel {
        label: label.clone(),
        peak_note: peak.map_or(String::new(), |peak| {
            format!("busiest {}: {} retries (mean over seeds)", spaced(window), number(peak))
        }),
        windows: rows.iter().map(window_of).collect(),
    };
    let figure = LoadFigure {
        title: title.to_owned(),
        note: note.to_owned(),
        window_s: scenario.measure.curve_window().seconds(),
        capacity_per_window: capacity,
        outages: outages(scenario),
        axis: axis.unwrap_or_else(|| suitable(capacity, curves)),
        panels: curves.iter().zip(peaks).map(panel).collect(),
    };
    load::draw(&figure).map_err(|error| match error {
        PlotError::NoPanels | PlotError::TooManyPanels { .. } => Error::Input(error.to_string()),
        other => Error::Bug(other.to_string()),
    })
}

/// The capacity of all policies; None when they differ, for the panels share one line.
fn shared_capacity(cells: &[CellRuns]) -> Option<f64> {
    let capacity = |cell: &CellRuns| cell.cell.capacity_per_window();
    let first = cells.first().and_then(capacity);
    first.filter(|_| cells.iter().all(|cell| capacity(cell) == first))
}

/// A mean load this many times the capacity would press the capacity onto a linear axis.
const LINEAR_REACH: f64 = 20.0;

/// The axis on which both the load and the capacity can be read.
fn suitable(capacity: Option<f64>, curves: &[Curve]) -> CountAxis {
    let rows = curves.iter().flat_map(|(_, rows)| rows);
    let largest = rows.map(|row| row.first_attempts_mean.max(row.retries_mean)).fold(0.0, f64::max);
    match capacity {
        Some(capacity) if largest > LINEAR_REACH * capacity => CountAxis::Log,
        _ => CountAxis::Linear,
    }
}

fn window_of(row: &WindowRow) -> LoadWindow {
    LoadWindow {
        start_s: row.start_s,
        first_attempts_mean: row.first_attempts_mean,
        retries_mean: row.retries_mean,
        retries_p05: row.retries_p05,
        retries_p95: row.retries_p95,
    }
}

/// "1 client", "1,000 clients".
fn counted(count: f64, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1.0 { "" } else { "s" })
}

/// "100 ms": a span with a space before its unit, as prose has it.
fn spaced(span: Span) -> String {
    let text = span.to_string();
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    format!("{} {}", &text[..unit], &text[unit..])
}

/// Share of a policy's attempts that is drawn at least.
const DRAWN: f64 = 0.99;

/// The curves up to the window by which every policy has sent nearly all of its attempts: a few
/// stragglers would otherwise press the storm into a corner of the picture. True when windows
/// were left out.
fn without_tail(curves: Vec<Curve>, least: usize) -> (Vec<Curve>, bool) {
    let windows = curves.iter().map(|(_, rows)| nearly_all(rows)).max().unwrap_or(0).max(least);
    let cut = curves.iter().any(|(_, rows)| rows.len() > windows);
    let short = |(label, mut rows): Curve| {
        rows.truncate(windows);
        (label, rows)
    };
    (curves.into_iter().map(short).collect(), cut)
}

/// Outages that end, in seconds; one that never ends would shade the whole picture.
fn outages(scenario: &Scenario) -> Vec<(f64, f64)> {
    let ended = |fault: &Fault| {
        let (from, to) = fault.period();
        to.filter(|_| is_total(fault)).map(|to| (from.seconds(), to.seconds()))
    };
    scenario.provider.faults.iter().filter_map(ended).collect()
}

/// True when nothing that arrives is served.
fn is_total(fault: &Fault) -> bool {
    match fault {
        Fault::Outage(_) | Fault::RefuseConnections(_) => true,
        Fault::Capacity(capacity) => capacity.concurrency == 0,
        Fault::Slow(_)
        | Fault::SlowDown(_)
        | Fault::Error(_)
        | Fault::CacheLoss(_)
        | Fault::StreamError(_) => false,
    }
}

/// Windows until the last outage is over and a little longer, so that a picture never ends before
/// the recovery begins.
fn until(scenario: &Scenario) -> usize {
    let faults = scenario.provider.faults.iter().filter(|fault| is_total(fault));
    let end = faults.filter_map(|fault| fault.period().1).max().unwrap_or_default();
    let end = end.min(scenario.measure.horizon).nanos();
    ((end + end / 5) / scenario.measure.curve_window().nanos()) as usize
}

/// How many windows hold [`DRAWN`] of the attempts.
fn nearly_all(rows: &[WindowRow]) -> usize {
    let load = |row: &WindowRow| row.first_attempts_mean + row.retries_mean;
    let total: f64 = rows.iter().map(load).sum();
    let mut so_far = 0.0;
    let enough = rows.iter().position(|row| {
        so_far += load(row);
        so_far >= DRAWN * total
    });
    enough.map_or(rows.len(), |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_far_above_the_capacity_gets_a_logarithmic_axis() {
        let row = |first: f64, retries: f64| WindowRow {
            start_s: 0.0,
            first_attempts_mean: first,
            retries_mean: retries,
            retries_p05: 0.0,
            retries_p50: 0.0,
            retries_p95: 1e6,
        };
        let curves = [("none".to_owned(), vec![row(10.0, 0.0), row(0.0, 200.0)])];
        assert_eq!(suitable(Some(9.9), &curves), CountAxis::Log);
        assert_eq!(suitable(Some(10.0), &curves), CountAxis::Linear);
        assert_eq!(suitable(None, &curves), CountAxis::Linear);
        assert_eq!(suitable(Some(1.0), &[]), CountAxis::Linear);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1.0, "client"), "1 client");
        assert_eq!(counted(1000.0, "client"), "1,000 clients");
    }
}
