//! Counts per window as steps: a slanted line would show load at times that had none.

use super::chart::Place;

/// How windows become steps: one each, unless there are more than pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    window_s: f64,
    per_step: usize,
    count: usize,
}

impl Steps {
    /// Steps for windows of this length up to an end in seconds, in a figure of this width.
    pub fn of(window_s: f64, end_s: f64, width_px: u32) -> Steps {
        let windows = (end_s / window_s).round().max(1.0) as usize;
        let most = (width_px as usize * 9 / 10).max(1);
        let per_step = windows.div_ceil(most);
        Steps { window_s, per_step, count: windows.div_ceil(per_step) }
    }

    /// Where the last step ends.
    pub fn end_s(&self) -> f64 {
        (self.count * self.per_step) as f64 * self.window_s
    }

    /// What a note has to say of it.
    pub fn note(&self) -> Option<String> {
        (self.per_step > 1).then(|| format!("steps: max of {} windows", self.per_step))
    }

    /// The largest value in each step, of windows with their starts.
    pub fn values(&self, windows: &[Place]) -> Vec<f64> {
        let mut values = vec![0.0_f64; self.count];
        for (start, value) in windows {
            let index = (start / self.window_s).round() as usize / self.per_step;
            if let Some(step) = values.get_mut(index) {
                *step = step.max(*value);
            }
        }
        values
    }

    /// The top of values as steps.
    pub fn top(&self, values: &[f64]) -> Vec<Place> {
        let length = self.per_step as f64 * self.window_s;
        let step = |(index, value): (usize, &f64)| {
            [(index as f64 * length, *value), ((index + 1) as f64 * length, *value)]
        };
        values.iter().enumerate().flat_map(step).collect()
    }

    /// The steps in pieces without those that are empty.
    pub fn pieces(&self, windows: &[Place]) -> Vec<Vec<Place>> {
        let mut pieces: Vec<Vec<Place>> = Vec::new();
        let mut goes_on = false;
        for pair in self.top(&self.values(windows)).chunks(2) {
            let there = pair[0].1 > 0.0;
            if there && !goes_on {
                pieces.push(Vec::new());
            }
            if let Some(piece) = pieces.last_mut().filter(|_| there) {
                piece.extend_from_slice(pair);
            }
            goes_on = there;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_steps_and_gaps_stay_empty() {
        let steps = Steps::of(0.5, 2.0, 1000);
        let pieces = steps.pieces(&[(0.0, 3.0), (1.0, 2.0), (1.5, 2.0)]);
        let expected =
            [vec![(0.0, 3.0), (0.5, 3.0)], vec![(1.0, 2.0), (1.5, 2.0), (1.5, 2.0), (2.0, 2.0)]];
        assert_eq!(pieces, expected);
        assert_eq!(steps.note(), None);
    }

    #[test]
    fn more_windows_than_pixels_keep_their_peaks() {
        let steps = Steps::of(0.1, 1000.0, 1000);
        let windows: Vec<Place> =
            (0..10_000).map(|i| (f64::from(i) * 0.1, if i == 777 { 9.0 } else { 1.0 })).collect();
        let values = steps.values(&windows);
        assert!(values.len() <= 900 && steps.end_s() >= 1000.0);
        assert_eq!(values.iter().filter(|v| **v == 9.0).count(), 1);
        assert_eq!(steps.note().as_deref(), Some("steps: max of 12 windows"));
    }
}
