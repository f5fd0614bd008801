//! Tails of the binomial distribution: how surprising so many successes in so many trials are.

use crate::math;

/// P(X ≥ k) for X binomial with `n` trials of probability `p`; 1 at k = 0, 0 above n.
///
/// Terms are summed from `k` away from the mean, each from the one before it, so that nothing
/// cancels and tails far below the precision of 1 − P are exact.
pub fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    if k > n || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    if (k as f64) <= n as f64 * p {
        // The other tail is the short one: failures are binomial as well.
        return (1.0 - upper_tail(n - k + 1, n, 1.0 - p)).max(0.0);
    }
    let odds = p / (1.0 - p);
    let mut term = math::exp(ln_probability(k, n, p));
    let mut sum = 0.0;
    for i in k..=n {
        sum += term;
        term *= (n - i) as f64 / (i + 1) as f64 * odds;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum.min(1.0)
}

/// P(X ≤ k).
pub fn lower_tail(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { upper_tail(n - k, n, 1.0 - p) }
}

/// ln P(X = k), for 0 < p < 1.
fn ln_probability(k: u64, n: u64, p: f64) -> f64 {
    let few = k.min(n - k);
    let choose: f64 = (0..few).map(|i| math::ln((n - i) as f64 / (i + 1) as f64)).sum();
    choose + k as f64 * math::ln(p) + (n - k) as f64 * math::ln_1p(-p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_are_counted_out() {
        // 10 fair coins: 1, 10, 45, 120, 210, 252, … of 1024.
        for (k, ways) in [(0, 1024), (1, 1023), (3, 968), (5, 638), (8, 56), (10, 1), (11, 0)] {
            let expected = f64::from(ways) / 1024.0;
            assert!((upper_tail(k, 10, 0.5) - expected).abs() < 1e-14, "{k}");
        }
        assert!((lower_tail(2, 10, 0.5) - 56.0 / 1024.0).abs() < 1e-14);
    }

    #[test]
    fn rare_events_keep_their_digits() {
        // (1/1000)^3 and 1 - (1 - 1e-6)^200.
        assert!((upper_tail(3, 3, 1e-3) / 1e-9 - 1.0).abs() < 1e-12);
        assert!((upper_tail(1, 200, 1e-6) / 1.999_801e-4 - 1.0).abs() < 1e-6);
        assert!((lower_tail(0, 200, 0.5) / 0.5f64.powi(200) - 1.0).abs() < 1e-10);
    }

    #[test]
    fn the_ends_are_certain() {
        assert_eq!((upper_tail(0, 5, 0.0), upper_tail(1, 5, 0.0)), (1.0, 0.0));
        assert_eq!((upper_tail(5, 5, 1.0), lower_tail(4, 5, 1.0)), (1.0, 0.0));
        assert_eq!(lower_tail(5, 5, 0.3), 1.0);
    }

    #[test]
    fn both_tails_and_the_point_between_add_up() {
        for n in [1, 7, 200, 5_000] {
            for p in [0.001, 0.3, 0.5, 0.9961] {
                for k in [0, n / 3, n / 2, n - 1] {
                    let sum = lower_tail(k, n, p) + upper_tail(k + 1, n, p);
                    assert!((sum - 1.0).abs() < 1e-11, "{k} of {n} at {p}: {sum}");
                }
            }
        }
    }
}
