//! Mean and spread of values that come one after the other.

use super::student;

/// What is known of the values so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Running {
    n: u32,
    mean: f64,
    squares: f64,
}

impl Running {
    /// Adds a value.
    ///
    /// Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products",
    /// Technometrics 4 (1962), <https://doi.org/10.1080/00401706.1962.10490022>.
    pub fn add(&mut self, value: f64) {
        self.n += 1;
        let step = value - self.mean;
        self.mean += step / f64::from(self.n);
        self.squares += step * (value - self.mean);
    }

    /// How many values there are.
    pub fn n(&self) -> u32 {
        self.n
    }

    /// Their mean; 0 for none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Sum of their squared distances from the mean.
    pub fn squares(&self) -> f64 {
        self.squares
    }

    /// Half of the interval of the mean (Student's t), for two values and more.
    pub fn half_width(&self, level: f64) -> Option<f64> {
        let n = self.n as usize;
        let sd = (n > 1).then(|| (self.squares.max(0.0) / (self.n - 1) as f64).sqrt())?;
        student::interval(0.0, sd, n, level).map(|(_, high)| high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::summarise;

    #[test]
    fn it_says_what_a_summary_says() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let mut running = Running::default();
        assert_eq!((running.n(), running.half_width(0.95)), (0, None));
        values.iter().for_each(|value| running.add(*value));
        let summary = summarise(&values).unwrap();
        let (low, high) = summary.ci95.unwrap();
        assert!((running.mean() - summary.mean).abs() < 1e-12);
        assert!((running.half_width(0.95).unwrap() - (high - low) / 2.0).abs() < 1e-12);
        let mut same = Running::default();
        (0..5).for_each(|_| same.add(0.1));
        assert_eq!((same.mean(), same.half_width(0.95)), (0.1, Some(0.0)));
    }
}
