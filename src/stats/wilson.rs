//! The interval of a probability from so many successes in so many trials.

use super::student::t_quantile;

/// Wilson's score interval of a probability; `level` is the confidence, for instance 0.95.
///
/// Unlike mean ± 1.96·√(p(1 − p)/n) it stays within 0 to 1 and says something when nothing has
/// happened yet: 0 of 200 is 0 to 1.9 %. `None` unless `successes ≤ trials`, `trials > 0` and
/// `0 < level < 1`. Source: E. B. Wilson, "Probable inference, the law of succession, and
/// statistical inference", Journal of the American Statistical Association 22 (1927),
/// <https://doi.org/10.1080/01621459.1927.10502953>.
pub fn wilson(successes: u64, trials: u64, level: f64) -> Option<(f64, f64)> {
    let valid = trials > 0 && successes <= trials && level > 0.0 && level < 1.0;
    let z = t_quantile(0.5 + level / 2.0, f64::INFINITY).filter(|_| valid)?;
    let n = trials as f64;
    let p = successes as f64 / n;
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let (middle, scale) = (p + z * z / (2.0 * n), 1.0 + z * z / n);
    // Rounding must not put the end beyond what was seen.
    let low = if successes == 0 { 0.0 } else { ((middle - spread) / scale).max(0.0) };
    let high = if successes == trials { 1.0 } else { ((middle + spread) / scale).min(1.0) };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
    /// Medicine 17 (1998), table I, method 3.
    #[test]
    fn published_intervals_are_met() {
        for (x, n, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (found_low, found_high) = wilson(x, n, 0.95).unwrap();
            assert!((found_low - low).abs() < 5e-5, "{x} of {n}: {found_low}");
            assert!((found_high - high).abs() < 5e-5, "{x} of {n}: {found_high}");
        }
    }

    #[test]
    fn it_is_symmetric_and_never_a_point() {
        for n in [1_u64, 10, 200] {
            for x in 0..=n {
                let (low, high) = wilson(x, n, 0.95).unwrap();
                let (other_low, other_high) = wilson(n - x, n, 0.95).unwrap();
                assert!((low - (1.0 - other_high)).abs() < 1e-12, "{x} of {n}");
                assert!((high - (1.0 - other_low)).abs() < 1e-12, "{x} of {n}");
                assert!((0.0..1.0).contains(&low) && low < high && high <= 1.0);
            }
        }
        let (low, high) = wilson(0, 200, 0.95).unwrap();
        assert!(low == 0.0 && (high - 0.0189).abs() < 5e-4, "{high}");
    }

    #[test]
    fn what_is_no_probability_has_no_interval() {
        assert_eq!(wilson(0, 0, 0.95), None);
        assert_eq!(wilson(3, 2, 0.95), None);
        assert_eq!(wilson(1, 2, 1.0), None);
        assert_eq!(wilson(1, 2, f64::NAN), None);
    }
}
