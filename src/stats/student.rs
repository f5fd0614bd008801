//! Intervals from Student's t distribution.
//!
//! Source: "Student", "The probable error of a mean", Biometrika 6 (1908),
//! <https://doi.org/10.1093/biomet/6.1.1>; prediction interval: G. J. Hahn and
//! W. Q. Meeker, "Statistical Intervals" (1991), section 4.7,
//! <https://doi.org/10.1002/9780470316771>.

use std::cell::RefCell;
use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom the expansion about the normal quantile is used.
const MANY_DEGREES: f64 = 1000.0;

/// Quantiles are rounded to this many steps per unit.
const STEPS_PER_UNIT: f64 = 1e9;

/// The `p`-quantile of Student's t with `df` degrees of freedom, **rounded to 1e-9**.
///
/// The distribution function behind it takes logarithms and exponentials from the platform,
/// whose last digit may differ between machines; rounding keeps that out of printed
/// results. Infinite `df` gives the normal quantile. Right to 1e-9 for `df ≥ 1` and tails
/// between 1e-7 and 0.4 (relative to the quantile where that is above 1), to 1e-8 nearer
/// to the median. `None` unless `0 < p < 1` and `df > 0`.
pub fn t_quantile(p: f64, df: f64) -> Option<f64> {
    let valid = p > 0.0 && p < 1.0 && df > 0.0;
    if !valid {
        return None;
    }
    // Symmetric about zero: the upper half is enough.
    let upper_tail = if p > 0.5 { 1.0 - p } else { p };
    let rounded = remembered(upper_tail, df)?;
    Some(if p < 0.5 { -rounded } else { rounded })
}

/// The rounded quantile. A table of a million intervals has a handful of sample sizes, and each
/// bisection takes longer than all else about an interval.
fn remembered(upper_tail: f64, df: f64) -> Option<f64> {
    thread_local! {
        static KNOWN: RefCell<BTreeMap<(u64, u64), f64>> = const { RefCell::new(BTreeMap::new()) };
    }
    let key = (upper_tail.to_bits(), df.to_bits());
    if let Some(size) = KNOWN.with_borrow(|known| known.get(&key).copied()) {
        return Some(size);
    }
    let size = if upper_tail == 0.5 {
        0.0
    } else if df > MANY_DEGREES {
        near_normal(upper_tail, df)?
    } else {
        by_bisection(upper_tail, df)?
    };
    let rounded = (size * STEPS_PER_UNIT).round() / STEPS_PER_UNIT;
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert(key, rounded)
    });
    Some(rounded)
}

/// So many quantiles are remembered at a time.
const MOST_REMEMBERED: usize = 1_000;

/// Confidence interval of a mean: `mean ± t·sd/√n`, with `n − 1` degrees of freedom.
///
/// `level` is the confidence, for instance 0.95. `None` unless `n ≥ 2`, `0 < level < 1`,
/// `sd ≥ 0`, and `mean` and `sd` are finite.
pub fn interval(mean: f64, sd: f64, n: usize, level: f64) -> Option<(f64, f64)> {
    around(mean, sd, n, level, (1.0 / n as f64).sqrt())
}

/// Interval for one further value from the same source: `mean ± t·sd·√(1 + 1/n)`.
///
/// A single published run is judged against this one. Arguments as for [`interval`].
pub fn prediction_interval(mean: f64, sd: f64, n: usize, level: f64) -> Option<(f64, f64)> {
    around(mean, sd, n, level, (1.0 + 1.0 / n as f64).sqrt())
}

fn around(mean: f64, sd: f64, n: usize, level: f64, factor: f64) -> Option<(f64, f64)> {
    let valid = n >= 2 && level > 0.0 && level < 1.0 && sd >= 0.0;
    if !(valid && mean.is_finite() && sd.is_finite()) {
        return None;
    }
    let t = t_quantile(0.5 + level / 2.0, (n - 1) as f64)?;
    let half_width = t * sd * factor;
    Some((mean - half_width, mean + half_width))
}

/// The point above which the share `upper_tail` (below one half) lies.
///
/// `StudentsT::inverse_cdf` of statrs 0.19 is not used: it is wrong by up to 4e-4 from
/// about 3000 degrees of freedom and does not return at all for p = 0.500001 and 1e9 of
/// them. Its tail probability is right to 1e-14, and bisection of that always ends.
fn by_bisection(upper_tail: f64, df: f64) -> Option<f64> {
    let distribution = StudentsT::new(0.0, 1.0, df).ok()?;
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while distribution.sf(high) > upper_tail && high.is_finite() {
        low = high;
        high *= 2.0;
    }
    loop {
        let middle = low + (high - low) / 2.0;
        // Neighbouring numbers: there is nothing between them.
        if middle <= low || middle >= high {
            return Some(middle);
        }
        if distribution.sf(middle) > upper_tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The same by an expansion in powers of `1/df` about the normal quantile.
///
/// Source: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.7.5,
/// <https://personal.math.ubc.ca/~cbm/aands/page_949.htm>.
fn near_normal(upper_tail: f64, df: f64) -> Option<f64> {
    let z = -Normal::new(0.0, 1.0).ok()?.inverse_cdf(upper_tail);
    let s = z * z;
    let first = z * (s + 1.0) / 4.0;
    let second = z * ((5.0 * s + 16.0) * s + 3.0) / 96.0;
    let third = z * (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0;
    let fourth = z * ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92160.0;
    Some(z + (first + (second + (third + fourth / df) / df) / df) / df)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles at 0.95, 0.975 and 0.995, computed with 30 digits by an independent
    /// incomplete beta function.
    const TABLE: [(f64, f64, f64, f64); 9] = [
        (1.0, 6.313_751_515, 12.706_204_736, 63.656_741_163),
        (2.0, 2.919_985_580, 4.302_652_730, 9.924_843_201),
        (5.0, 2.015_048_373, 2.570_581_836, 4.032_142_984),
        (9.0, 1.833_112_933, 2.262_157_163, 3.249_835_542),
        (29.0, 1.699_127_027, 2.045_229_642, 2.756_385_904),
        (63.0, 1.669_402_222, 1.998_340_543, 2.656_145_025),
        (1000.0, 1.646_378_817, 1.962_339_081, 2.580_754_698),
        (1001.0, 1.646_377_292, 1.962_336_705, 2.580_749_769),
        (f64::INFINITY, 1.644_853_627, 1.959_963_985, 2.575_829_304),
    ];

    #[test]
    fn quantiles_are_those_of_the_table_to_nine_decimals() {
        for (df, at_95, at_975, at_995) in TABLE {
            for (p, want) in [(0.95, at_95), (0.975, at_975), (0.995, at_995)] {
                let got = t_quantile(p, df).unwrap();
                assert!((got - want).abs() < 1.5e-9, "t({p}, {df}): {got}, not {want}");
                assert!((t_quantile(1.0 - p, df).unwrap() + got).abs() < 1.5e-9);
            }
        }
        assert_eq!(t_quantile(0.5, 3.0), Some(0.0));
    }

    #[test]
    fn quantiles_are_whole_billionths() {
        let t = t_quantile(0.975, 9.0).unwrap();
        assert_eq!(t, 2.262_157_163);
    }

    #[test]
    fn no_argument_makes_it_hang_or_panic() {
        for df in [1e-3, 0.3, 1.0, 999.0, 1e9, f64::MAX] {
            for p in [1e-300, 0.3, 0.499_999, 0.500_001, 1.0 - 1e-16] {
                let _ = t_quantile(p, df);
            }
        }
        for (p, df) in [(0.0, 5.0), (1.0, 5.0), (f64::NAN, 5.0), (0.5, 0.0)] {
            assert_eq!(t_quantile(p, df), None);
        }
        assert_eq!(t_quantile(0.9, f64::NAN), None);
    }

    #[test]
    fn intervals_follow_their_formulas() {
        let (low, high) = interval(10.0, 3.0, 9, 0.95).unwrap();
        assert!((high - 12.306_004_135).abs() < 1e-8 && (low + high - 20.0).abs() < 1e-12);
        let (low, high) = prediction_interval(10.0, 3.0, 10, 0.95).unwrap();
        let half_width = 2.262_157_163 * 3.0 * 1.1_f64.sqrt();
        assert!((high - 10.0 - half_width).abs() < 1e-12);
        assert!((10.0 - low - half_width).abs() < 1e-12);
    }

    #[test]
    fn without_spread_an_interval_is_a_point() {
        assert_eq!(interval(0.1, 0.0, 5, 0.95), Some((0.1, 0.1)));
        assert_eq!(prediction_interval(0.1, 0.0, 5, 0.95), Some((0.1, 0.1)));
    }

    #[test]
    fn bad_arguments_have_no_interval() {
        assert_eq!(interval(1.0, 1.0, 1, 0.95), None);
        assert_eq!(interval(1.0, 1.0, 0, 0.95), None);
        assert_eq!(interval(1.0, -1.0, 5, 0.95), None);
        assert_eq!(interval(1.0, 1.0, 5, 1.0), None);
        assert_eq!(prediction_interval(f64::NAN, 1.0, 5, 0.95), None);
    }
}
