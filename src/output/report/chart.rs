//! The interactive chart of the load: its data, and the place that the script draws in.

use serde_json::json;

use super::escape::json_in_script;
use crate::experiment::WindowRow;
use crate::output::Setting;
use crate::output::plot::palette;

/// Policies and their windows.
pub type Curves = [(String, Vec<WindowRow>)];

/// The element that chart.js fills, with the data beside it. Without the script it stays hidden, and the picture of
/// the load shows the same.
pub fn html(curves: &Curves, setting: &Setting) -> String {
    let labels: Vec<&str> = curves.iter().map(|(label, _)| label.as_str()).collect();
    let policy = |((label, rows), hue): (&(String, Vec<WindowRow>), usize)| {
        let sent = rows.iter().rposition(|row| row.attempts.mean > 0.0).map_or(0, |last| last + 1);
        let windows: Vec<[f64; 3]> = rows[..sent]
            .iter()
            .map(|row| [rounded(row.attempts.mean), row.attempts.p05, row.attempts.p95])
            .collect();
        json!({ "name": label, "hue": hue % palette::SERIES.len(), "windows": windows })
    };
    let data = json!({
        "window_s": setting.curve_s,
        "capacity": setting.capacity_per_point(),
        "outages_s": setting.outages_s,
        "policies": curves.iter().zip(palette::assigned(&labels)).map(policy).collect::<Vec<_>>(),
    });
    format!(
        "<div class=\"explore\" hidden><script type=\"application/json\">{}</script></div>\n",
        json_in_script(&data.to_string())
    )
}

/// Hundredths of an attempt are finer than any eye.
fn rounded(mean: f64) -> f64 {
    (mean * 100.0).round() / 100.0
}
