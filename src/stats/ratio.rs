//! The ratio of two means, without most of its bias.

use super::student;
use super::sum::compensated_sum;
use super::summary::summarise;

/// Confidence of the interval of a [`Ratio`].
const LEVEL: f64 = 0.95;

/// A ratio of means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The jackknife's estimate.
    pub value: f64,
    /// Its 95 % interval (Student's t over pseudo-values).
    pub ci95: (f64, f64),
}

/// Mean of `above` over mean of `below`, where the i-th values of both are of the same run.
///
/// The plain ratio of means is biased by terms of 1/n, which the jackknife removes: pseudo-value i is
/// n·r − (n − 1)·r₋ᵢ, r₋ᵢ being the ratio without run i. `None` for fewer than two pairs, for
/// different lengths, and where a denominator is 0 or nothing finite comes out. Source: M. H. Quenouille,
/// "Notes on bias in estimation", Biometrika 43 (1956), <https://doi.org/10.1093/biomet/43.3-4.353>;
/// A. M. Law, "Simulation Modeling and Analysis", 5th ed. (2015), section 9.5.
pub fn jackknife(above: &[f64], below: &[f64]) -> Option<Ratio> {
    let n = above.len();
    if n < 2 || n != below.len() {
        return None;
    }
    let sum = |values: &[f64]| compensated_sum(values.iter().copied());
    let (a, b) = (sum(above), sum(below));
    // What is left of a denominator without one run may be nothing but rounding.
    if below.iter().any(|y| (b - y).abs() <= 1e-12 * b.abs()) {
        return None;
    }
    let count = n as f64;
    let whole = a / b;
    let pseudo = |(x, y): (&f64, &f64)| count * whole - (count - 1.0) * ((a - x) / (b - y));
    let values: Vec<f64> = above.iter().zip(below).map(pseudo).collect();
    let summary = summarise(&values)?;
    let ci95 = student::interval(summary.mean, summary.sd?, n, LEVEL)?;
    Some(Ratio { value: summary.mean, ci95 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportional_samples_have_their_ratio_exactly() {
        let below = [1.0, 2.0, 4.0, 8.0];
        let above = below.map(|v| 3.0 * v);
        let ratio = jackknife(&above, &below).unwrap();
        assert!((ratio.value - 3.0).abs() < 1e-12);
        assert!((ratio.ci95.0 - 3.0).abs() < 1e-12 && (ratio.ci95.1 - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_small_sample_by_hand() {
        // r = 6/10; without a run: 5/8, 4/6, 3/6; pseudo-values 0.55, 0.46667, 0.8.
        let ratio = jackknife(&[1.0, 2.0, 3.0], &[2.0, 4.0, 4.0]).unwrap();
        assert!((ratio.value - 1.816_666_666_7 / 3.0).abs() < 1e-9, "{}", ratio.value);
    }

    /// Over all samples of three from {1, 2, 3, 4} the plain ratio 1/mean is biased, and this less.
    #[test]
    fn it_is_less_biased_than_the_plain_ratio() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let (mut plain, mut better, mut count) = (0.0, 0.0, 0.0);
        for x in values {
            for y in values {
                for z in values {
                    let below = [x, y, z];
                    plain += 3.0 / (x + y + z);
                    better += jackknife(&[1.0; 3], &below).unwrap().value;
                    count += 1.0;
                }
            }
        }
        let truth = 1.0 / 2.5;
        let (plain, better) = (plain / count - truth, better / count - truth);
        assert!(plain > 0.02 && better.abs() < plain / 2.0, "{plain} {better}");
    }

    #[test]
    fn what_has_no_ratio_gives_none() {
        assert_eq!(jackknife(&[1.0], &[1.0]), None);
        assert_eq!(jackknife(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(jackknife(&[1.0, 2.0], &[0.0, 0.0]), None);
        assert_eq!(jackknife(&[1.0, 2.0], &[1.0, 0.0]), None);
        let mut once = [0.0; 49];
        once[7] = 1.0;
        assert_eq!(jackknife(&[2.0; 49], &once), None);
        assert_eq!(jackknife(&[1.0, f64::NAN], &[1.0, 1.0]), None);
    }
}
