//! The interval of a long run's mean, from means of batches.

use super::student::t_quantile;
use super::summary::{Summary, summarise};

/// Fewest batches.
pub const BATCHES: usize = 30;

/// What batches of a series say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// Of the means of batches: their mean, spread and interval.
    pub summary: Summary,
    /// Values in a batch; up to 29 last values are left over and not used.
    pub size: usize,
    /// Correlation of neighbouring batches; 0 when all are equal.
    pub lag1: f64,
    /// False when neighbours resemble each other more than independent ones would: the interval is
    /// too narrow, and the run too short.
    pub independent: bool,
}

/// Means of 30 batches of equal size, in the order of `values`; none for fewer than 60 values.
/// `risk` is that of doubting batches that are independent (one-sided), for instance 0.05.
///
/// Source: A. M. Law, "Simulation Modeling and Analysis", 5th ed. (2015), section 9.5.3; the test of
/// correlation: J. von Neumann, "Distribution of the ratio of the mean square successive difference
/// to the variance", Annals of Mathematical Statistics 12 (1941), with the variance
/// (n − 2)/(n² − 1) and normal quantiles.
pub fn batch_means(values: &[f64], risk: f64) -> Option<BatchMeans> {
    let size = values.len() / BATCHES;
    if size < 2 {
        return None;
    }
    let batches = values.chunks_exact(size).take(BATCHES);
    let means: Vec<f64> =
        batches.map(|batch| Some(summarise(batch)?.mean)).collect::<Option<_>>()?;
    let summary = summarise(&means)?;
    let lag1 = lag1(&means, summary.mean);
    let n = BATCHES as f64;
    let most = t_quantile(1.0 - risk, f64::INFINITY)? * ((n - 2.0) / (n * n - 1.0)).sqrt();
    Some(BatchMeans { summary, size, lag1, independent: lag1 <= most })
}

/// 1 less half of von Neumann's ratio: its mean is 0 for independent values.
fn lag1(means: &[f64], mean: f64) -> f64 {
    let steps: f64 = means.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
    let squares: f64 = means.iter().map(|value| (value - mean) * (value - mean)).sum();
    if squares > 0.0 { 1.0 - steps / (2.0 * squares) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    #[test]
    fn thirty_batches_are_their_means() {
        let values: Vec<f64> = (0..65).map(|i| f64::from(i / 2)).collect();
        let found = batch_means(&values, 0.05).unwrap();
        assert_eq!((found.size, found.summary.n, found.summary.mean), (2, 30, 14.5));
        assert!(!found.independent && found.lag1 > 0.8, "a ramp is not steady: {}", found.lag1);
        assert_eq!(batch_means(&values[..59], 0.05), None);
        assert_eq!(batch_means(&[2.0; 60], 0.05).unwrap().summary.ci95, Some((2.0, 2.0)));
    }

    /// Independent values fail the test of correlation in 5 % of series.
    #[test]
    fn independence_is_doubted_as_often_as_it_says() {
        let streams = Streams::new(7, 0);
        let doubted = (0..2_000).filter(|series| {
            let mut stream = streams.stream(Purpose::Sample, *series, 0);
            let values: Vec<f64> = (0..300).map(|_| stream.unit()).collect();
            !batch_means(&values, 0.05).unwrap().independent
        });
        let share = doubted.count() as f64 / 2_000.0;
        assert!((share - 0.05).abs() < 0.015, "{share}");
    }
}
