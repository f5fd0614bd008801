//! From windows to the columns that are drawn.

use super::{LoadFigure, LoadWindow};

/// One step of the curves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    pub start_s: f64,
    pub end_s: f64,
    pub first: f64,
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// The shared time axis and how windows are gathered on it.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeAxis {
    pub start_s: f64,
    pub end_s: f64,
    /// How many windows make a column: 1 unless there are more windows than pixel columns. A
    /// whole number.
    pub windows_per_column: f64,
    column_s: f64,
    count: usize,
}

impl TimeAxis {
    /// The axis that holds all windows of all panels.
    pub fn of(figure: &LoadFigure) -> TimeAxis {
        let starts = || {
            let windows = figure.panels.iter().flat_map(|panel| &panel.windows);
            windows.map(|window| window.start_s)
        };
        let first = starts().fold(f64::INFINITY, f64::min).min(f64::MAX);
        let last = starts().fold(f64::NEG_INFINITY, f64::max);
        let (first, last) = if last < first {
            (0.0, 0.0) // no windows at all
        } else {
            (first, last)
        };
        // Time counts from zero, unless that would leave most of the axis empty.
        let start_s = if first > 0.0 && first <= (last - first) / 2.0 { 0.0 } else { first };
        let windows = ((last - start_s) / figure.window_s).round() + 1.0;
        let windows_per_column = (windows / f64::from(most_columns(figure.width_px))).ceil();
        TimeAxis {
            start_s,
            end_s: start_s + windows * figure.window_s,
            windows_per_column,
            column_s: windows_per_column * figure.window_s,
            count: (windows / windows_per_column).ceil() as usize,
        }
    }

    /// The width of a column in pixels if the axis is `width_px` long.
    pub fn column_px(&self, width_px: f64) -> f64 {
        width_px * self.column_s / (self.end_s - self.start_s)
    }

    /// One panel's curve with a column for every place on the axis. Each number of a column is
    /// the largest of its windows.
    pub fn columns(&self, windows: &[LoadWindow]) -> Vec<Column> {
        let mut columns: Vec<Column> = (0..self.count).map(|index| self.empty(index)).collect();
        let window_s = self.column_s / self.windows_per_column;
        for window in windows {
            // Round to the window first: a start of 0.30000000000000004 is not in the window 0.2.
            let number = ((window.start_s - self.start_s) / window_s).round();
            let index = (number / self.windows_per_column).floor() as usize;
            if let Some(column) = columns.get_mut(index) {
                column.first = column.first.max(window.first_attempts_mean);
                column.mean = column.mean.max(window.retries_mean);
                column.low = column.low.max(window.retries_p05);
                column.high = column.high.max(window.retries_p95);
            }
        }
        columns
    }

    fn empty(&self, index: usize) -> Column {
        let start_s = self.start_s + index as f64 * self.column_s;
        Column {
            start_s,
            // The last column may hold fewer windows than the others.
            end_s: (self.start_s + (index + 1) as f64 * self.column_s).min(self.end_s),
            first: 0.0,
            mean: 0.0,
            low: 0.0,
            high: 0.0,
        }
    }
}

/// More columns than this cannot be told apart in the width of a panel.
fn most_columns(width_px: u32) -> u32 {
    width_px * 9 / 10
}

/// The largest number that any of the columns shows.
pub fn largest(columns: &[Column]) -> f64 {
    columns.iter().fold(0.0, |largest, column| {
        let Column { first, mean, high, .. } = *column;
        largest.max(first).max(mean).max(high)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{CountAxis, LoadPanel};
    use super::*;

    fn figure(windows: usize) -> LoadFigure {
        let window = |index: usize| LoadWindow {
            start_s: index as f64 * 0.1,
            first_attempts_mean: 0.0,
            retries_mean: if index == 777 { 50.0 } else { 1.0 },
            retries_p05: 0.0,
            retries_p95: 2.0,
        };
        LoadFigure {
            title: String::new(),
            note: String::new(),
            window_s: 0.1,
            capacity_per_window: None,
            outages: Vec::new(),
            axis: CountAxis::Linear,
            width_px: 1000,
            panels: vec![LoadPanel {
                label: String::new(),
                peak_note: String::new(),
                windows: (0..windows).map(window).collect(),
            }],
        }
    }

    #[test]
    fn few_windows_are_columns_of_their_own() {
        let figure = figure(200);
        let axis = TimeAxis::of(&figure);
        let columns = axis.columns(&figure.panels[0].windows);
        assert_eq!(axis.windows_per_column, 1.0);
        assert_eq!(columns.len(), 200);
        assert!(columns.iter().all(|column| column.mean == 1.0));
    }

    #[test]
    fn merging_keeps_the_peak_and_the_end() {
        let figure = figure(36_000);
        let axis = TimeAxis::of(&figure);
        let columns = axis.columns(&figure.panels[0].windows);
        assert!(columns.len() <= 900);
        assert_eq!(columns.iter().filter(|column| column.mean == 50.0).count(), 1);
        assert!(columns.iter().all(|column| column.mean >= 1.0));
        assert_eq!(columns.last().map(|column| column.end_s), Some(axis.end_s));
    }
}
