//! The load figure of some cells.

use super::sources::{Sources, counted};
use crate::error::{Error, Result};
use crate::experiment::{Cell, CellRuns, WindowRow, windows};
use crate::output::plot::{
    CountAxis, LoadFigure, LoadPanel, LoadWindow, Look, MAX_PANELS, Picture, PlotError, load,
};
use crate::output::{Results, Setting, number};
use crate::stats::summary::summarise;
use crate::units::Span;

/// A policy's name and its load per window.
pub type Curve = (String, Vec<WindowRow>);

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

/// The load figure of cells that were run with curves, on the axis that suits it.
pub fn of_cells(title: &str, cells: &[CellRuns], seed: &str) -> Result<Picture> {
    on_axis(None, Look::default(), &Load::of_cells(title, cells, seed))
}

/// What the load figure is made of: from cells that were just run, or from their files.
pub struct Load {
    /// The circumstances.
    pub setting: Setting,
    /// Master seed.
    pub seed: String,
    /// Replications.
    pub replications: usize,
    /// Curves by policy.
    pub curves: Vec<Curve>,
    /// The mean over replications of the fullest aligned window of retries, by policy.
    pub peaks: Vec<Option<f64>>,
}

impl Load {
    /// That of cells.
    pub fn of_cells(title: &str, cells: &[CellRuns], seed: &str) -> Load {
        let curve = |cell: &CellRuns| (cell.cell.policy.clone(), windows(cell));
        let peak = |cell: &CellRuns| summarise(&cell.values("peak_bin")).map(|s| s.mean);
        Load {
            setting: Setting::of(title, cells.iter().map(|cell| &cell.cell)),
            seed: seed.to_owned(),
            replications: cells.first().map_or(0, |cell| cell.runs.len()),
            curves: cells.iter().map(curve).collect(),
            peaks: cells.iter().map(peak).collect(),
        }
    }
}

/// The picture of results folders.
pub fn of_results(axis: Option<CountAxis>, look: Look, sources: &Sources) -> Result<Picture> {
    let curves = sources.by_policy("windows.csv", Results::curves)?;
    let first = sources.first();
    let setting = Setting { title: first.title(), ..first.setting.clone() };
    let mut peaks = Vec::new();
    for folder in sources.folders() {
        let means = Results::means(&sources.table(folder, "summary.csv")?, &["policy".to_owned()])?;
        peaks.extend(means.into_iter().filter(|mean| mean.metric == "peak_bin").map(|m| m.mean));
    }
    let load =
        Load { setting, seed: first.seed(), replications: first.replications(), curves, peaks };
    on_axis(axis, look, &load)
}

/// The load figure on a given axis.
pub fn on_axis(axis: Option<CountAxis>, look: Look, load: &Load) -> Result<Picture> {
    let setting = &load.setting;
    // The axis names the window, so the note need not.
    let mut note = format!(
        "{} · {} from seed {}",
        counted(setting.clients, "client"),
        counted(load.replications as f64, "replication"),
        load.seed,
    );
    let (curves, cut) = without_tail(&load.curves, until(setting));
    if cut {
        note.push_str(" · last 1 % of attempts not shown");
    }
    // A capacity of nothing has no line.
    let capacity = setting.capacity_per_point().filter(|capacity| *capacity >= 0.01);
    let window = Span::from_nanos((setting.window_s * 1e9).round() as u64);
    let panel = |((label, rows), peak): (&Curve, &Option<f64>)| LoadPanel {
        label: label.clone(),
        peak_note: peak.map_or(String::new(), |peak| {
            format!("busiest {}: {} retries (mean over seeds)", spaced(window), number(peak))
        }),
        windows: rows.iter().map(window_of).collect(),
    };
    let figure = LoadFigure {
        title: setting.title.clone(),
        note,
        window_s: setting.curve_s,
        capacity_per_window: capacity,
        outages: setting.outages_s.clone(),
        axis: axis.unwrap_or_else(|| suitable(capacity, &curves)),
        width_px: look.width_px,
        panels: curves.iter().zip(&load.peaks).map(panel).collect(),
    };
    load::draw(&figure, look.theme).map_err(|error| match error {
        PlotError::NoPanels | PlotError::TooManyPanels { .. } => Error::Input(error.to_string()),
        other => Error::Bug(other.to_string()),
    })
}

/// A mean load this many times the capacity would press the capacity onto a linear axis.
const LINEAR_REACH: f64 = 20.0;

/// The axis on which both the load and the capacity can be read.
fn suitable(capacity: Option<f64>, curves: &[Curve]) -> CountAxis {
    let rows = curves.iter().flat_map(|(_, rows)| rows);
    let largest = rows.map(|row| row.first_attempts_mean.max(row.retries.mean)).fold(0.0, f64::max);
    match capacity {
        Some(capacity) if largest > LINEAR_REACH * capacity => CountAxis::Log,
        _ => CountAxis::Linear,
    }
}

fn window_of(row: &WindowRow) -> LoadWindow {
    LoadWindow {
        start_s: row.start_s,
        first_attempts_mean: row.first_attempts_mean,
        retries_mean: row.retries.mean,
        retries_p05: row.retries.p05,
        retries_p95: row.retries.p95,
    }
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
/// with attempts were left out.
fn without_tail(curves: &[Curve], least: usize) -> (Vec<Curve>, bool) {
    // Answers may come after the last attempt.
    let sent = |rows: &[WindowRow]| {
        rows.iter().rposition(|row| row.attempts.mean > 0.0).map_or(0, |last| last + 1)
    };
    let windows = curves.iter().map(|(_, rows)| nearly_all(rows)).max().unwrap_or(0).max(least);
    let cut = curves.iter().any(|(_, rows)| sent(rows) > windows);
    let short = |(label, rows): &Curve| (label.clone(), rows[..sent(rows).min(windows)].to_vec());
    (curves.iter().map(short).collect(), cut)
}

/// Windows until the last outage is over and a little longer, so that a picture never ends before
/// the recovery begins.
fn until(setting: &Setting) -> usize {
    let end = setting.outages_s.iter().map(|(_, to)| *to).fold(0.0, f64::max);
    let nanos = |seconds: f64| (seconds * 1e9).round() as u64;
    let end = nanos(end.min(setting.horizon_s));
    ((end + end / 5) / nanos(setting.curve_s).max(1)) as usize
}

/// How many windows hold [`DRAWN`] of the attempts.
fn nearly_all(rows: &[WindowRow]) -> usize {
    let load = |row: &WindowRow| row.attempts.mean;
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
    use crate::experiment::Counts;

    #[test]
    fn a_load_far_above_the_capacity_gets_a_logarithmic_axis() {
        let row = |first: f64, retries: f64| WindowRow {
            first_attempts_mean: first,
            retries: Counts { mean: retries, p95: 1e6, ..Counts::default() },
            ..WindowRow::default()
        };
        let curves = [("none".to_owned(), vec![row(10.0, 0.0), row(0.0, 200.0)])];
        assert_eq!(suitable(Some(9.9), &curves), CountAxis::Log);
        assert_eq!(suitable(Some(10.0), &curves), CountAxis::Linear);
        assert_eq!(suitable(None, &curves), CountAxis::Linear);
        assert_eq!(suitable(Some(1.0), &[]), CountAxis::Linear);
    }
}
