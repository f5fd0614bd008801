//! Quantiles as order statistics: always a value that was measured.
//!
//! The whole program uses this one definition (nearest rank), so a p99 in one table can be
//! held against a p99 in another. Source: R. J. Hyndman and Y. Fan, "Sample Quantiles in
//! Statistical Packages", The American Statistician 50 (1996), definition 1,
//! <https://doi.org/10.1080/00031305.1996.10473566>.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The `⌈q·n⌉`-th smallest of `sorted` (the smallest for `q = 0`).
///
/// The slice must be ascending. `None` when it is empty or `q` is outside 0..=1. A product
/// `q·n` within a few rounding errors of a whole number counts as that number: 0.07 of 100
/// is rank 7, although `0.07 * 100.0` is slightly more in `f64`.
pub fn nearest_rank<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    sorted.get(rank(q, sorted.len())? - 1).copied()
}

/// The rank, from 1, of the `q`-quantile of `n` ascending values: [`nearest_rank`] without the
/// values.
pub fn rank(q: f64, n: usize) -> Option<usize> {
    if n == 0 || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let exact = q * n as f64;
    let whole = exact.round();
    let rank =
        if (exact - whole).abs() <= 4.0 * f64::EPSILON * exact { whole } else { exact.ceil() };
    Some((rank as usize).max(1))
}

/// Ranks, from 1, of the two of `n` ascending values between which the `q`-quantile of their source lies,
/// with a confidence of at least `level`, whatever the distribution.
///
/// The number of values below the quantile is binomial; each tail gets at most half of the risk.
/// `None` when there are too few values for that, or `q` or `level` is not within 0 to 1. Source: G. J. Hahn and
/// W. Q. Meeker, "Statistical Intervals" (1991), section 5.2, <https://doi.org/10.1002/9780470316771>.
pub fn interval_ranks(n: usize, q: f64, level: f64) -> Option<(usize, usize)> {
    let valid = n > 0 && q > 0.0 && q < 1.0 && level > 0.0 && level < 1.0;
    let n = n as u64;
    let below = Binomial::new(q, n).ok().filter(|_| valid)?;
    let risk = (1.0 - level) / 2.0;
    // It is missed when fewer than `low`, or `high` and more, are below the quantile.
    let low = first(n, |rank| below.cdf(rank) > risk);
    let high = first(n, |rank| below.sf(rank) <= risk) + 1;
    (low >= 1 && high <= n).then_some((low as usize, high as usize))
}

/// The first of 0 to `n` that `holds`, or `n`, where all after it hold as well.
fn first(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut from, mut to) = (0, n);
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    from
}

/// The values at [`interval_ranks`] of `sorted`, which must be ascending.
pub fn interval<T: Copy>(sorted: &[T], q: f64, level: f64) -> Option<(T, T)> {
    let (low, high) = interval_ranks(sorted.len(), q, level)?;
    Some((*sorted.get(low - 1)?, *sorted.get(high - 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_one_to_hundred_are_themselves() {
        let numbers: Vec<u64> = (1..=100).collect();
        assert_eq!(nearest_rank(&numbers, 0.0), Some(1));
        assert_eq!(nearest_rank(&numbers, 0.99), Some(99));
        assert_eq!(nearest_rank(&numbers, 0.991), Some(100));
        for percent in 1..=100_u64 {
            let q = percent as f64 / 100.0;
            assert_eq!(nearest_rank(&numbers, q), Some(percent));
        }
    }

    #[test]
    fn the_median_of_an_even_count_is_the_lower_one() {
        assert_eq!(nearest_rank(&[10_u32, 20, 30, 40], 0.5), Some(20));
        assert_eq!(nearest_rank(&[10_u32, 20, 30], 0.5), Some(20));
        assert_eq!(nearest_rank(&[10_u32, 20, 30], 1.0), Some(30));
    }

    #[test]
    fn a_single_value_is_every_quantile() {
        for q in [0.0, 0.5, 1.0] {
            assert_eq!(nearest_rank(&[7_u64], q), Some(7));
            assert_eq!(nearest_rank(&[7.5], q), Some(7.5));
        }
    }

    #[test]
    fn ranks_are_exact_for_large_samples() {
        let numbers: Vec<u32> = (1..=1_000_000).collect();
        assert_eq!(nearest_rank(&numbers, 0.999), Some(999_000));
        assert_eq!(nearest_rank(&numbers, 0.999_000_1), Some(999_001));
        assert_eq!(nearest_rank(&numbers, 1e-9), Some(1));
    }

    /// W. J. Conover, "Practical Nonparametric Statistics": ranks for the median.
    #[test]
    fn intervals_of_a_median_have_the_ranks_of_the_sign_test() {
        for (n, low, high) in [(6_u32, 1, 6), (10, 2, 9), (20, 6, 15), (50, 18, 33), (100, 40, 61)]
        {
            let numbers: Vec<u32> = (1..=n).collect();
            assert_eq!(interval(&numbers, 0.5, 0.95), Some((low, high)), "{n}");
        }
        let few = [1, 2, 3, 4, 5];
        assert_eq!(interval(&few, 0.5, 0.95), None, "five values say too little");
    }

    #[test]
    fn a_tail_needs_many_values() {
        let numbers: Vec<u32> = (1..=1_000).collect();
        assert_eq!(interval(&numbers[..70], 0.95, 0.95), None);
        let (low, high) = interval(&numbers, 0.95, 0.95).unwrap();
        // 950 ± 1.96 · √47.5
        assert!(low.abs_diff(937) <= 1 && high.abs_diff(964) <= 1, "{low} {high}");
        assert_eq!(interval(&numbers, 1.0, 0.95), None);
        assert_eq!(interval::<u32>(&[], 0.5, 0.95), None);
    }

    #[test]
    fn what_has_no_quantile_gives_none() {
        assert_eq!(nearest_rank::<u64>(&[], 0.5), None);
        assert_eq!(nearest_rank(&[1.0], f64::NAN), None);
        assert_eq!(nearest_rank(&[1.0], 1.1), None);
        assert_eq!(nearest_rank(&[1.0], -0.1), None);
    }
}
