//! The loop of a slow ramp.

use super::sources::Sources;
use crate::error::{Error, Result};
use crate::output::plot::hysteresis::{HysteresisFigure, Step, chart};
use crate::output::plot::{Look, Picture};
use crate::output::{Results, not_drawn, number};

/// The picture.
pub fn of_results(look: Look, sources: &Sources) -> Result<Picture> {
    let folder = sources.first();
    let (file, turn) = match folder.setting.turn_s {
        Some(turn) => ("windows.csv", Some(turn)),
        None => ("ramp.csv", None),
    };
    let curves = Results::curves(&sources.table(folder, file)?)?;
    let Some((_, rows)) = curves.first().filter(|(_, rows)| rows.len() > 3) else {
        return Err(Error::Input(format!("{}: {file} has no windows to draw", folder.name())));
    };
    let window = rows[1].start_s - rows[0].start_s;
    // The slow ramp of metastable is as long on its way back.
    let turn = turn.unwrap_or_else(|| (rows.last().map_or(0.0, |row| row.start_s) + window) / 2.0);
    let steps = rows.iter().map(|row| -> (f64, Step) {
        let points = [row.answers.p05, row.answers.p50, row.answers.p95];
        (row.start_s, (row.requests_mean / window, points.map(|count| count / window)))
    });
    let (up, down): (Vec<_>, Vec<_>) = steps.partition(|(start, _)| start + window / 2.0 < turn);
    let bare =
        |steps: Vec<(f64, Step)>| straight(steps.into_iter().map(|(_, step)| step).collect());
    let figure = HysteresisFigure {
        title: folder.title(),
        note: format!(
            "{} · windows of {} s, {} s each way; demand as a straight line",
            sources.note(),
            number(window),
            number(turn)
        ),
        up: bare(up),
        down: bare(down),
    };
    chart(&figure).draw(look).map_err(not_drawn)
}

/// The same with its demand on a straight line, as a ramp has it: what is counted in a window goes up and
/// down by chance.
fn straight(steps: Vec<Step>) -> Vec<Step> {
    let n = steps.len() as f64;
    let index = |i: usize| i as f64 - (n - 1.0) / 2.0;
    let mean = steps.iter().map(|(demand, _)| demand).sum::<f64>() / n;
    let square: f64 = (0..steps.len()).map(|i| index(i) * index(i)).sum();
    let product: f64 = steps.iter().enumerate().map(|(i, (demand, _))| index(i) * demand).sum();
    let slope = if square > 0.0 { product / square } else { 0.0 };
    let fitted = |(i, (_, points)): (usize, Step)| ((mean + slope * index(i)).max(0.0), points);
    steps.into_iter().enumerate().map(fitted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_straight() {
        let steps = [1.0, 4.0, 4.0, 7.0].map(|demand| (demand, [0.0; 3])).to_vec();
        let demands: Vec<f64> = straight(steps).into_iter().map(|(demand, _)| demand).collect();
        let expected = [1.3, 3.1, 4.9, 6.7];
        assert!(demands.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{demands:?}");
    }
}
