//! The row of numbers printed for one metric over replications.

use super::student;
use super::sum::compensated_sum;
use super::wilson::wilson;

/// Confidence of the interval in a [`Summary`].
const LEVEL: f64 = 0.95;

/// Location, spread and confidence of one metric; all in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor `n − 1`); none for a single value.
    pub sd: Option<f64>,
    /// 95 % confidence interval of the mean (Student's t); none for a single value.
    pub ci95: Option<(f64, f64)>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

/// Summary of `values`; none when there are none or one of them is not finite.
///
/// Mean and standard deviation are computed in two passes with compensated sums. Equal
/// values give exactly that value as mean and exactly zero as deviation. Source: T. F. Chan,
/// G. H. Golub, R. J. LeVeque, "Algorithms for Computing the Sample Variance", The American
/// Statistician 37 (1983), <https://doi.org/10.1080/00031305.1983.10483115>.
pub fn summarise(values: &[f64]) -> Option<Summary> {
    let &first = values.first()?;
    if values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let n = values.len();
    let min = values.iter().copied().fold(first, f64::min);
    let max = values.iter().copied().fold(first, f64::max);
    let mean = mean_within(values, min, max);
    let sd = (n > 1).then(|| variance(values, mean).sqrt());
    Some(Summary {
        n,
        mean,
        sd,
        ci95: sd.and_then(|sd| student::interval(mean, sd, n, LEVEL)),
        min,
        max,
    })
}

/// Summary of values that are 1 where something has happened and 0 where it has not: the mean is
/// its share, the interval Wilson's, there for a single value as well.
pub fn summarise_share(values: &[f64]) -> Option<Summary> {
    let summary = summarise(values)?;
    let happened = values.iter().filter(|value| **value != 0.0).count();
    Some(Summary { ci95: wilson(happened as u64, values.len() as u64, LEVEL), ..summary })
}

/// Sample variance about a known mean (divisor `n − 1`), for at least two values.
pub(super) fn variance(values: &[f64], mean: f64) -> f64 {
    let deviations = || values.iter().map(|v| v - mean);
    let squares = compensated_sum(deviations().map(|d| d * d));
    // Zero but for the rounding of the mean, whose effect this takes away.
    let drift = compensated_sum(deviations());
    let n = values.len() as f64;
    ((squares - drift * drift / n) / (n - 1.0)).max(0.0)
}

/// The mean, never outside the values (where rounding could put it).
///
/// In particular equal values have exactly their value as mean.
fn mean_within(values: &[f64], min: f64, max: f64) -> f64 {
    (compensated_sum(values.iter().copied()) / values.len() as f64).clamp(min, max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_sample_has_its_textbook_summary() {
        let summary = summarise(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((summary.n, summary.mean), (8, 5.0));
        assert_eq!((summary.min, summary.max), (2.0, 9.0));
        let sd = summary.sd.unwrap();
        assert!((sd * sd - 32.0 / 7.0).abs() < 1e-14);
        let (low, high) = summary.ci95.unwrap();
        let half = 2.364_624_252 * sd / 8.0_f64.sqrt();
        assert!((low - (5.0 - half)).abs() < 1e-9 && (high - (5.0 + half)).abs() < 1e-9);
    }

    #[test]
    fn equal_values_have_no_spread_at_all() {
        for value in [0.1, 1.0 / 3.0, 1e300, -7.3e-12, 0.0] {
            for n in [2, 3, 10, 1001] {
                let summary = summarise(&vec![value; n]).unwrap();
                assert_eq!(summary.mean, value);
                assert_eq!(summary.sd, Some(0.0));
                assert_eq!(summary.ci95, Some((value, value)));
            }
        }
    }

    #[test]
    fn a_single_value_has_no_interval() {
        let summary = summarise(&[3.5]).unwrap();
        assert_eq!((summary.n, summary.mean), (1, 3.5));
        assert_eq!((summary.sd, summary.ci95), (None, None));
    }

    #[test]
    fn nothing_or_nonsense_has_no_summary() {
        assert_eq!(summarise(&[]), None);
        assert_eq!(summarise(&[1.0, f64::NAN]), None);
        assert_eq!(summarise(&[f64::INFINITY]), None);
    }

    #[test]
    fn a_share_has_an_interval_even_when_nothing_has_happened() {
        let summary = summarise_share(&[0.0; 200]).unwrap();
        let (low, high) = summary.ci95.unwrap();
        assert!(summary.mean == 0.0 && low == 0.0 && (high - 0.0189).abs() < 5e-4);
        let summary = summarise_share(&[0.0, 1.0, 1.0, 1.0]).unwrap();
        assert_eq!((summary.mean, summary.ci95), (0.75, wilson(3, 4, LEVEL)));
        assert_eq!(summarise_share(&[]), None);
    }

    #[test]
    fn a_large_offset_does_not_eat_the_spread() {
        let summary = summarise(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]).unwrap();
        assert_eq!(summary.mean, 1e9 + 10.0);
        assert_eq!(summary.sd, Some(30.0_f64.sqrt()));
    }
}
