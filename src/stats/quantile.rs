//! Quantiles as order statistics: always a value that was measured.
//!
//! The whole program uses this one definition (nearest rank), so a p99 in one table can be
//! held against a p99 in another. Source: R. J. Hyndman and Y. Fan, "Sample Quantiles in
//! Statistical Packages", The American Statistician 50 (1996), definition 1,
//! <https://doi.org/10.1080/00031305.1996.10473566>.

/// The `⌈q·n⌉`-th smallest of `sorted` (the smallest for `q = 0`).
///
/// The slice must be ascending. `None` when it is empty or `q` is outside 0..=1. A product
/// `q·n` within a few rounding errors of a whole number counts as that number: 0.07 of 100
/// is rank 7, although `0.07 * 100.0` is slightly more in `f64`.
pub fn nearest_rank<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let exact = q * sorted.len() as f64;
    let whole = exact.round();
    let rank =
        if (exact - whole).abs() <= 4.0 * f64::EPSILON * exact { whole } else { exact.ceil() };
    let index = (rank as usize).max(1) - 1;
    sorted.get(index).copied()
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

    #[test]
    fn what_has_no_quantile_gives_none() {
        assert_eq!(nearest_rank::<u64>(&[], 0.5), None);
        assert_eq!(nearest_rank(&[1.0], f64::NAN), None);
        assert_eq!(nearest_rank(&[1.0], 1.1), None);
        assert_eq!(nearest_rank(&[1.0], -0.1), None);
    }
}
