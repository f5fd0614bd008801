//! What a sample is like, and how far it is from a law.

use crate::math;
use crate::stats::quantile::{interval, nearest_rank};

/// A sample in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// How many values.
    pub n: usize,
    /// Mean.
    pub mean: f64,
    /// Coefficient of variation: standard deviation over mean; 0 where the mean is 0.
    pub cv: f64,
    /// Median.
    pub p50: f64,
    /// 90 % point.
    pub p90: f64,
    /// 99 % point.
    pub p99: f64,
}

impl Figures {
    /// Of ascending values; None where there are none.
    pub fn of(sorted: &[f64]) -> Option<Figures> {
        let at = |q| nearest_rank(sorted, q);
        let n = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / n;
        let square = sorted.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let cv = if mean > 0.0 { math::sqrt(square) / mean } else { 0.0 };
        Some(Figures { n: sorted.len(), mean, cv, p50: at(0.5)?, p90: at(0.9)?, p99: at(0.99)? })
    }
}

/// Ascending.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The Kolmogorov-Smirnov distance of ascending values from a law. Whole numbers are what is left of the
/// law's when they are rounded, so that `half` is 0.5 for them and 0 for times.
pub fn distance(sorted: &[f64], half: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let n = sorted.len();
    // Where there are very many values, those between two looks cannot be further off than their share.
    let stride = n.div_ceil(20_000).max(1);
    let (mut worst, mut i) = (0.0_f64, 0);
    while i < n {
        let value = sorted[i];
        let first = sorted[..=i].partition_point(|x| *x < value);
        let last = i + sorted[i..].partition_point(|x| *x <= value);
        let (below, at) = (first as f64 / n as f64, last as f64 / n as f64);
        worst = worst.max((below - cdf(value - half)).abs()).max((at - cdf(value + half)).abs());
        i = last.max(i + stride);
    }
    worst
}

/// The distance of two samples, both ascending.
pub fn distance_of_two(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut worst) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        i += a[i..].partition_point(|x| *x <= value);
        j += b[j..].partition_point(|x| *x <= value);
        worst = worst.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    worst
}

/// A distance that a right law exceeds for 1 sample of 100, or 0.02, which is near enough: W. J. Conover, "Practical
/// Nonparametric Statistics" (1999), table A13.
pub fn near(n: usize) -> f64 {
    (1.63 / math::sqrt(n as f64)).max(0.02)
}

/// A difference of two figures that counts as none.
pub const CLOSE: f64 = 0.05;

/// Whether `value` may be the q-quantile of what `sorted` is a sample of: within 5 % of it, inside its 99 % interval, or where
/// there are too few values for an interval.
pub fn may_be_quantile(sorted: &[f64], q: f64, value: f64) -> bool {
    let close = nearest_rank(sorted, q).is_some_and(|found| (value - found).abs() <= CLOSE * found);
    close || interval(sorted, q, 0.99).is_none_or(|(low, high)| (low..=high).contains(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_one_to_hundred() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let found = Figures::of(&values).unwrap();
        assert_eq!(
            (found.n, found.mean, found.p50, found.p90, found.p99),
            (100, 50.5, 50.0, 90.0, 99.0)
        );
        assert!((found.cv - (9_999.0_f64 / 12.0).sqrt() / 50.5).abs() < 1e-12);
        assert_eq!(Figures::of(&[]), None);
    }

    #[test]
    fn a_sample_is_half_a_step_from_the_law_that_it_stands_on() {
        let values: Vec<f64> = (0..100).map(|i| (f64::from(i) + 0.5) / 100.0).collect();
        assert!((distance(&values, 0.0, |x| x) - 0.005).abs() < 1e-12);
        assert!((distance(&values, 0.0, |x| x * x) - 0.25).abs() < 0.01);
        // One value of many, and whole numbers.
        assert!(
            (distance(&[3.0; 50], 0.0, |x| if x < 3.0 { 0.0 } else { 1.0 }) - 1.0).abs() < 1e-12
        );
        assert_eq!(distance(&[3.0; 50], 0.5, |x| if x < 3.0 { 0.0 } else { 1.0 }), 0.0);
        let many: Vec<f64> = (0..1_000_000).map(|i| f64::from(i) / 1e6).collect();
        assert!((distance(&many, 0.0, |x| x * x) - 0.25).abs() < 1e-4);
    }

    #[test]
    fn two_samples_are_as_far_as_their_steps() {
        assert_eq!(distance_of_two(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), 0.0);
        assert_eq!(distance_of_two(&[1.0, 1.0], &[2.0, 2.0]), 1.0);
        assert_eq!(distance_of_two(&[1.0, 2.0], &[2.0, 3.0]), 0.5);
    }
}
