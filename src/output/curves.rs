//! Result files over time: windows.csv, waves.csv and completions.csv.

use super::rows::csv_text;
use crate::error::Result;
use crate::experiment::{CellRuns, Counts, completions, waves, windows};
use crate::metrics::WAVES;

/// The columns of windows.csv.
const WINDOWS: [&str; 24] = [
    "policy",
    "window_start_s",
    "first_attempts_mean",
    "retries_mean",
    "retries_p05",
    "retries_p50",
    "retries_p95",
    "attempts_mean",
    "attempts_p05",
    "attempts_p50",
    "attempts_p95",
    "requests_mean",
    "answers_mean",
    "answers_p05",
    "answers_p50",
    "answers_p95",
    "queue_mean",
    "queue_p05",
    "queue_p50",
    "queue_p95",
    "in_flight_mean",
    "in_flight_p05",
    "in_flight_p50",
    "in_flight_p95",
];

fn points(spread: Counts) -> [f64; 4] {
    [spread.mean, spread.p05, spread.p50, spread.p95]
}

/// A row per policy and window.
pub fn windows_csv(cells: &[CellRuns]) -> Result<Vec<u8>> {
    csv_text(|csv| {
        csv.write_record(WINDOWS)?;
        for cell in cells {
            for row in windows(cell) {
                let head = [row.start_s, row.first_attempts_mean];
                let [retries, attempts] = [row.retries, row.attempts].map(points);
                let state = [row.answers, row.queue, row.in_flight].map(points);
                let numbers = head
                    .into_iter()
                    .chain(retries)
                    .chain(attempts)
                    .chain([row.requests_mean])
                    .chain(state.into_iter().flatten())
                    .map(|number| number.to_string());
                csv.write_record(std::iter::once(cell.cell.policy.clone()).chain(numbers))?;
            }
        }
        Ok(())
    })
}

/// A row per policy, attempt number and window.
pub fn waves_csv(cells: &[CellRuns]) -> Result<Vec<u8>> {
    csv_text(|csv| {
        let points_of = ["attempts_mean", "attempts_p05", "attempts_p50", "attempts_p95"];
        csv.write_record(["policy", "attempt", "window_start_s"].into_iter().chain(points_of))?;
        for cell in cells {
            for row in waves(cell) {
                let more = if row.number == WAVES { "+" } else { "" };
                let keys = [cell.cell.policy.clone(), format!("{}{more}", row.number)];
                let numbers = std::iter::once(row.start_s).chain(points(row.attempts));
                csv.write_record(keys.into_iter().chain(numbers.map(|n| n.to_string())))?;
            }
        }
        Ok(())
    })
}

/// A row per policy and share of the requests.
pub fn completions_csv(cells: &[CellRuns]) -> Result<Vec<u8>> {
    csv_text(|csv| {
        csv.write_record(["policy", "share", "n", "within_s_p05", "within_s_p50", "within_s_p95"])?;
        for cell in cells {
            for row in completions(cell) {
                let time = |time: Option<f64>| time.map_or(String::new(), |s| s.to_string());
                let keys = [cell.cell.policy.clone(), row.share.to_string(), row.n.to_string()];
                csv.write_record(keys.into_iter().chain(row.points_s.map(time)))?;
            }
        }
        Ok(())
    })
}
