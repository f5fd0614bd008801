//! Recovery of results folders.

use super::sources::Sources;
use crate::error::Result;
use crate::experiment::{Counts, WindowRow};
use crate::output::plot::recovery::{Course, Points, RecoveryFigure, chart};
use crate::output::plot::{Look, Picture};
use crate::output::{Results, not_drawn, number};

/// Points of a line: more windows than that are taken together.
const POINTS: usize = 160;
/// Share of a policy's attempts that is drawn at least.
const DRAWN: f64 = 0.99;

/// The picture.
pub fn of_results(look: Look, sources: &Sources) -> Result<Picture> {
    let policies = sources.by_policy("windows.csv", Results::curves)?;
    let setting = sources.setting();
    let over = setting.outages_s.iter().map(|(_, to)| *to).chain(setting.trigger_over_s);
    let least = (over.fold(0.0, f64::max) * 1.5).min(setting.horizon_s);
    let least = (least / setting.curve_s).ceil() as usize;
    let windows = policies.iter().map(|(_, rows)| nearly_all(rows)).max().unwrap_or(0).max(least);
    let cut = policies.iter().any(|(_, rows)| rows.len() > windows);
    let together = windows.div_ceil(POINTS).max(1);
    let mut note = sources.note();
    if together > 1 {
        let length = number(together as f64 * setting.curve_s);
        note += &format!(" · means over {length} s");
    }
    if cut {
        note += " · last 1 % of attempts not shown";
    }
    let figure = RecoveryFigure {
        title: sources.title(),
        note,
        outages_s: setting.outages_s.clone(),
        trigger_over_s: setting.trigger_over_s,
        policies: policies
            .into_iter()
            .map(|(label, rows)| {
                course(label, &rows[..rows.len().min(windows)], together, setting.curve_s)
            })
            .collect(),
    };
    chart(&figure).draw(look).map_err(not_drawn)
}

fn course(label: String, rows: &[WindowRow], together: usize, window_s: f64) -> Course {
    let chunks = || rows.chunks(together);
    let mean = |rows: &[WindowRow], pick: &dyn Fn(&WindowRow) -> f64| {
        rows.iter().map(pick).sum::<f64>() / rows.len() as f64
    };
    let points = |pick: fn(&WindowRow) -> Counts| -> Vec<Points> {
        let of = |rows: &[WindowRow]| {
            [
                mean(rows, &|row| pick(row).p05),
                mean(rows, &|row| pick(row).p50),
                mean(rows, &|row| pick(row).p95),
            ]
        };
        chunks().map(of).collect()
    };
    // Each point stands in the middle of its windows.
    let at = |rows: &[WindowRow]| mean(rows, &|row| row.start_s) + window_s / 2.0;
    Course {
        label,
        at_s: chunks().map(at).collect(),
        demand: chunks().map(|rows| mean(rows, &|row| row.requests_mean) / window_s).collect(),
        answers: chunks().map(|rows| mean(rows, &|row| row.answers.mean) / window_s).collect(),
        queue: points(|row| row.queue),
        in_flight: points(|row| row.in_flight),
    }
}

/// How many windows hold nearly all attempts.
fn nearly_all(rows: &[WindowRow]) -> usize {
    let total: f64 = rows.iter().map(|row| row.attempts.mean).sum();
    let mut so_far = 0.0;
    let enough = rows.iter().position(|row| {
        so_far += row.attempts.mean;
        so_far >= DRAWN * total
    });
    enough.map_or(rows.len(), |index| index + 1)
}
