//! Two policies compared run by run, on common random numbers.

use std::error::Error;
use std::fmt;

use super::summary::{Summary, summarise, variance};

/// Differences `a − b` of pairs, and what the pairing was worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Summary of the differences; its interval is the paired-t interval.
    pub difference: Summary,
    /// `(var a + var b) / var(a − b)`: how many times more runs independent samples would
    /// need for the same interval. None for a single pair or when all differences are equal.
    pub variance_reduction: Option<f64>,
}

/// Why two samples cannot be compared pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedError {
    /// The samples have different lengths.
    LengthsDiffer {
        /// Length of the first sample.
        left: usize,
        /// Length of the second sample.
        right: usize,
    },
    /// There are no pairs.
    Empty,
    /// A value or a difference is infinite or not a number.
    NotFinite,
}

impl fmt::Display for PairedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthsDiffer { left, right } => {
                write!(f, "cannot pair {left} values with {right}")
            }
            Self::Empty => write!(f, "there are no values to pair"),
            Self::NotFinite => write!(f, "a value to pair is not a finite number"),
        }
    }
}

impl Error for PairedError {}

/// Compares `left[i]` with `right[i]` for every `i`; differences are left minus right.
///
/// Identical samples give a difference of exactly zero. Source: A. M. Law, "Simulation
/// Modeling and Analysis", 5th ed. (2015), sections 10.2.1 (paired-t) and 11.2 (common
/// random numbers).
pub fn compare(left: &[f64], right: &[f64]) -> Result<Paired, PairedError> {
    if left.len() != right.len() {
        return Err(PairedError::LengthsDiffer { left: left.len(), right: right.len() });
    }
    if left.is_empty() {
        return Err(PairedError::Empty);
    }
    let pairs = left.iter().zip(right);
    let differences: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
    let difference = summarise(&differences).ok_or(PairedError::NotFinite)?;
    Ok(Paired { difference, variance_reduction: variance_reduction(left, right, &differences) })
}

fn variance_reduction(left: &[f64], right: &[f64], differences: &[f64]) -> Option<f64> {
    let of_differences = sample_variance(differences)?;
    let apart = sample_variance(left)? + sample_variance(right)?;
    (of_differences > 0.0).then(|| apart / of_differences)
}

fn sample_variance(values: &[f64]) -> Option<f64> {
    let summary = summarise(values).filter(|s| s.n > 1)?;
    Some(variance(values, summary.mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_samples_differ_by_exactly_zero() {
        let sample = [0.1, 0.7, 1e17, -3.3];
        let paired = compare(&sample, &sample).unwrap();
        assert_eq!(paired.difference.mean, 0.0);
        assert_eq!(paired.difference.sd, Some(0.0));
        assert_eq!(paired.difference.ci95, Some((0.0, 0.0)));
        assert_eq!(paired.variance_reduction, None);
    }

    #[test]
    fn a_known_comparison_has_its_known_values() {
        let paired = compare(&[3.0, 5.0, 8.0], &[1.0, 4.0, 5.0]).unwrap();
        assert_eq!(paired.difference.mean, 2.0);
        assert_eq!(paired.difference.sd, Some(1.0));
        // Variances 19/3 and 13/3 apart, 1 together.
        let reduction = paired.variance_reduction.unwrap();
        assert!((reduction - 32.0 / 3.0).abs() < 1e-13);
    }

    #[test]
    fn one_pair_has_a_difference_but_no_interval() {
        let paired = compare(&[3.0], &[1.0]).unwrap();
        assert_eq!(paired.difference.mean, 2.0);
        assert_eq!(paired.difference.ci95, None);
        assert_eq!(paired.variance_reduction, None);
    }

    #[test]
    fn unusable_samples_are_refused_with_a_reason() {
        let differ = PairedError::LengthsDiffer { left: 2, right: 1 };
        assert_eq!(compare(&[1.0, 2.0], &[1.0]), Err(differ));
        assert_eq!(differ.to_string(), "cannot pair 2 values with 1");
        assert_eq!(compare(&[], &[]), Err(PairedError::Empty));
        assert_eq!(compare(&[f64::NAN], &[0.0]), Err(PairedError::NotFinite));
        assert_eq!(compare(&[1e308], &[-1e308]), Err(PairedError::NotFinite));
    }
}
