//! Load over time in blocks, for a terminal.

use super::number;
use crate::experiment::CellRuns;
use crate::units::Span;

/// A curve with its name, the mean of so many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it is called; not shown when it is the only one.
    pub name: String,
    /// A value per window, from t = 0.
    pub values: Vec<f64>,
    /// Runs that it is the mean of.
    pub runs: usize,
}

impl Curve {
    /// The mean number of attempts per window of load curves, over the runs of a cell.
    pub fn of(cell: &CellRuns) -> Curve {
        let runs = cell.runs.len();
        let mut sums: Vec<u64> = Vec::new();
        for counts in cell.runs.iter().flat_map(|run| [&run.first_attempts, &run.retries]) {
            sums.resize(sums.len().max(counts.len()), 0);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(*count));
        }
        let values = sums.into_iter().map(|sum| sum as f64 / runs as f64).collect();
        Curve { name: cell.cell.policy.clone(), values, runs }
    }
}

/// Rows of the only curve; one of several has one.
const ROWS: usize = 4;

/// The least width of a curve that says anything.
const LEAST: usize = 16;

/// Eighths of a block.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Curves below each other, on one scale, at most `width` characters wide; nothing where
/// there is no room or no load.
pub fn sparklines(curves: &[Curve], window: Span, width: usize) -> String {
    let most = curves.iter().flat_map(|curve| &curve.values).fold(0.0, |a: f64, b| a.max(*b));
    let points = curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0);
    let names = match curves {
        [_] => 0,
        _ => curves.iter().map(|curve| curve.name.chars().count() + 2).max().unwrap_or(0),
    };
    let peaks: Vec<String> = curves.iter().map(|curve| peak(curve, window)).collect();
    let peak_width = peaks.iter().map(|peak| peak.chars().count() + 2).max().unwrap_or(0);
    let room = width.saturating_sub(names + peak_width);
    if room < LEAST || most <= 0.0 {
        return String::new();
    }
    // A column is several windows, of which the highest counts, or a window several columns.
    let bin = points.div_ceil(room).max(1);
    let stretch = (room / points).max(1);
    let rows = if curves.len() == 1 { ROWS } else { 1 };
    let of = match curves[0].runs {
        1 => String::new(),
        runs => format!(", mean of {runs} runs"),
    };
    let mut text = format!("attempts per {window}{of}\n");
    for (curve, peak) in curves.iter().zip(&peaks) {
        let name = if curves.len() == 1 { "" } else { &curve.name };
        let columns = columns(&curve.values, points, bin, stretch);
        for row in (0..rows).rev() {
            let blocks: String =
                columns.iter().map(|value| block(*value, most, row, rows)).collect();
            let peak = if row + 1 == rows { format!("  {peak}") } else { String::new() };
            text += format!("{name:names$}{blocks}{peak}").trim_end();
            text.push('\n');
        }
    }
    let end = seconds(points, window);
    let plot = points.div_ceil(bin) * stretch;
    let axis = plot.saturating_sub(3);
    text + &format!("{:names$}0 s{end:>axis$}\n", "")
}

/// "1,000 at 0 s"
fn peak(curve: &Curve, window: Span) -> String {
    let highest = |best: (usize, f64), (i, value): (usize, &f64)| {
        if *value > best.1 { (i, *value) } else { best }
    };
    let (at, value) = curve.values.iter().enumerate().fold((0, 0.0), highest);
    format!("at most {} at {}", number(value), seconds(at, window))
}

/// The start of window number `n`.
fn seconds(n: usize, window: Span) -> String {
    format!("{} s", number(n as f64 * window.seconds()))
}

/// The highest value of each column.
fn columns(values: &[f64], points: usize, bin: usize, stretch: usize) -> Vec<f64> {
    let value = |i: usize| values.get(i).copied().unwrap_or(0.0);
    let highest = |start: usize| (start..start + bin).map(value).fold(0.0, f64::max);
    let bins = (0..points).step_by(bin).map(highest);
    bins.flat_map(|value| std::iter::repeat_n(value, stretch)).collect()
}

/// The part of a column that is in `row` of so many rows, 0 the lowest; something of any load is seen.
fn block(value: f64, most: f64, row: usize, rows: usize) -> char {
    let eighths = (value / most * (8 * rows) as f64).round() as usize;
    let eighths = if value > 0.0 { eighths.max(1) } else { 0 };
    BLOCKS[eighths.saturating_sub(8 * row).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Span = Span::from_nanos(100_000_000);

    fn curve(name: &str, values: &[f64]) -> Curve {
        Curve { name: name.to_owned(), values: values.to_vec(), runs: 20 }
    }

    #[test]
    fn several_curves_share_a_scale_and_a_time() {
        let curves = [
            curve("none", &[80.0, 0.0, 0.0, 80.0]),
            curve("full", &[80.0, 40.0, 10.0, 0.1, 0.0, 20.0]),
        ];
        let text = "\
attempts per 100ms, mean of 20 runs
none  ████        ████          at most 80 at 0 s
full  ████▄▄▄▄▁▁▁▁▁▁▁▁    ▂▂▂▂  at most 80 at 0 s
      0 s                0.6 s
";
        assert_eq!(sparklines(&curves, WINDOW, 49), text);
    }

    #[test]
    fn a_single_curve_is_taller() {
        let curves = [curve("as written", &[0.0, 8.0, 16.0, 32.0, 31.0, 1.0, 0.0, 0.0])];
        let text = "\
attempts per 100ms, mean of 20 runs
      ██▇▇        at most 32 at 0.3 s
      ████
    ██████
  ████████▁▁
0 s        0.8 s
";
        assert_eq!(sparklines(&curves, WINDOW, 40), text);
    }

    #[test]
    fn peaks_survive_a_narrow_terminal_and_none_is_too_wide() {
        let mut values = vec![1.0; 10_000];
        values[7_777] = 1_000.0;
        let curves = [curve("none", &values), curve("full", &values[..500])];
        for width in [60, 80, 200] {
            let text = sparklines(&curves, WINDOW, width);
            assert_eq!(text.matches('█').count(), 1, "{text}");
            assert!(text.contains("at most 1,000 at 777.7 s"), "{text}");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{widest:?} in {width}");
        }
        assert_eq!(sparklines(&curves, WINDOW, 30), "");
        assert_eq!(sparklines(&[curve("none", &[0.0, 0.0])], WINDOW, 80), "");
        assert_eq!(sparklines(&[curve("none", &[])], WINDOW, 80), "");
    }
}
