//! Retry waves of results folders.

use super::sources::Sources;
use crate::error::Result;
use crate::experiment::WaveRow;
use crate::metrics::WAVES;
use crate::output::plot::waves::{Waves, WavesFigure, chart};
use crate::output::plot::{Look, Picture};
use crate::output::{Results, not_drawn};

/// Share of a policy's attempts that is drawn at least.
const DRAWN: f64 = 0.99;

/// The picture.
pub fn of_results(look: Look, sources: &Sources) -> Result<Picture> {
    let policies = sources.by_policy("waves.csv", Results::waves)?;
    let setting = sources.setting();
    let least = setting.outages_s.iter().map(|(_, to)| to * 1.2).fold(0.0, f64::max);
    let end = policies.iter().map(|(_, rows)| nearly_all(rows)).fold(least, f64::max);
    let cut = policies.iter().flat_map(|(_, rows)| rows).any(|row| row.start_s > end);
    let tail = if cut { " · last 1 % of attempts not shown" } else { "" };
    let waves = |(label, rows): &(String, Vec<WaveRow>)| {
        let mut by_number = vec![Vec::new(); WAVES];
        for row in rows.iter().filter(|row| row.start_s <= end) {
            by_number[row.number - 1].push((row.start_s, row.attempts.mean));
        }
        let used = by_number.iter().rposition(|wave| !wave.is_empty()).map_or(0, |last| last + 1);
        by_number.truncate(used);
        Waves { label: label.clone(), by_number }
    };
    let figure = WavesFigure {
        title: sources.title(),
        note: format!("{} · mean over seeds{tail}", sources.note()),
        window_s: setting.curve_s,
        capacity: setting.capacity_per_point().filter(|capacity| *capacity >= 0.01),
        outages_s: setting.outages_s.clone(),
        policies: policies.iter().map(waves).collect(),
        width_px: look.width_px,
    };
    chart(&figure).draw(look).map_err(not_drawn)
}

/// The start of the window by which nearly all attempts have been sent.
fn nearly_all(rows: &[WaveRow]) -> f64 {
    let mut windows: Vec<(f64, f64)> =
        rows.iter().map(|row| (row.start_s, row.attempts.mean)).collect();
    windows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = windows.iter().map(|(_, mean)| mean).sum();
    let mut so_far = 0.0;
    let enough = windows.iter().find(|(_, mean)| {
        so_far += mean;
        so_far >= DRAWN * total
    });
    enough.map_or(0.0, |(start, _)| *start)
}
