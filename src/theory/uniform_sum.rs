//! When the retries of one client come, if waits do not depend on each other.
//!
//! The m-th retry comes at `T_m = Σ_{j<m} (l_j + U(0, a_j))`: a sum of independent
//! uniform waits. Its distribution function is, with `L = Σ l_j` and `(y)₊ = max(y, 0)`,
//!
//! ```text
//! F_m(t) = 1 / (m! Π a_j) · Σ_{S ⊆ {0..m-1}} (−1)^|S| · (t − L − Σ_{j∈S} a_j)₊^m
//! ```
//!
//! Sources: E. G. Olds, "A note on the convolution of uniform distributions", Annals of
//! Mathematical Statistics 23 (1952), 282–285;
//! D. M. Bradley and R. C. Gupta, "On the distribution of the sum of n non-identically
//! distributed uniform random variables", Annals of the Institute of Statistical
//! Mathematics 54 (2002), <https://arxiv.org/abs/math/0411298>.
//!
//! **How rounding is kept out.** The terms of the sum alternate and may exceed the
//! result by many powers of ten. So (1) they are added in double-double arithmetic;
//! (2) the upper half is taken from the symmetry `F(t) = 1 − F(mirror image of t)`;
//! (3) bin edges are whole nanoseconds, `i·w` as integers, so the edge 0.3 s is the double
//! nearest to 0.3 and not `3 · 0.1`; (4) a retry time without any randomness is compared
//! with the edges in nanoseconds too. Against exact rationals
//! the error of `F` is below 1e-15 up to 12 retries and 1e-14 for 14; for
//! [`MAX_RANDOM_WAITS`] doublings without a cap it is 2e-8, with a cap of 30 bases 1e-15.

use super::double_double::DoubleDouble;

/// More random waits than this give `NaN`: the sum has `2^m` terms.
pub const MAX_RANDOM_WAITS: usize = 16;

/// One wait before a retry: at least `least_s`, plus a uniform part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The part that is certain, in seconds, ≥ 0.
    pub least_s: f64,
    /// Width of the uniform part, in seconds, ≥ 0; zero makes the wait deterministic.
    pub spread_s: f64,
}

/// Waits `U(0, v_j)` with `v_j = min(cap, base·2^j)`, for retries `j = 0..n_retries`.
///
/// Times in seconds; an infinite cap is none. Source of the name and the formula: M. Brooker, "Exponential
/// Backoff And Jitter", <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>.
pub fn full_jitter(base_s: f64, cap_s: f64, n_retries: usize) -> Vec<Wait> {
    schedule(base_s, cap_s, n_retries, 0.0)
}

/// Waits `v_j/2 + U(0, v_j/2)` with `v_j = min(cap, base·2^j)`; seconds.
///
/// Source: as for [`full_jitter`].
pub fn equal_jitter(base_s: f64, cap_s: f64, n_retries: usize) -> Vec<Wait> {
    schedule(base_s, cap_s, n_retries, 0.5)
}

/// Waits `v_j · U(3/4, 1)` with `v_j = min(cap, base·2^j)`; seconds.
///
/// The rule of the OpenAI and Anthropic client libraries (base 0.5 s, cap 8 s there):
/// <https://github.com/openai/openai-python/blob/main/src/openai/_base_client.py>.
pub fn sdk_jitter(base_s: f64, cap_s: f64, n_retries: usize) -> Vec<Wait> {
    schedule(base_s, cap_s, n_retries, 0.75)
}

/// Waits of exactly `v_j = min(cap, base·2^j)`; seconds.
pub fn no_jitter(base_s: f64, cap_s: f64, n_retries: usize) -> Vec<Wait> {
    schedule(base_s, cap_s, n_retries, 1.0)
}

/// Doubling waits of which the share `certain` is fixed and the rest uniform.
fn schedule(base_s: f64, cap_s: f64, n_retries: usize, certain: f64) -> Vec<Wait> {
    let mut uncapped_s = base_s;
    let mut waits = Vec::with_capacity(n_retries);
    for _ in 0..n_retries {
        let nominal_s = uncapped_s.min(cap_s);
        waits.push(Wait { least_s: certain * nominal_s, spread_s: (1.0 - certain) * nominal_s });
        uncapped_s *= 2.0;
    }
    waits
}

/// Mean of the sum of `waits`, in seconds: `Σ (l_j + a_j/2)`.
pub fn mean(waits: &[Wait]) -> f64 {
    waits.iter().map(|w| w.least_s + w.spread_s / 2.0).sum()
}

/// Probability that the sum of `waits` is at most `t_s` seconds.
///
/// The formula and its source are at the top of the module. Without a random wait it is a
/// step from 0 to 1 at `Σ l_j` (no wait at all: at zero). `NaN` when a time is negative or
/// not finite, `t_s` is `NaN`, or more than [`MAX_RANDOM_WAITS`] waits are random. Meant
/// for spreads between a nanosecond and 1e9 s: their powers must fit in an `f64`.
pub fn cdf(waits: &[Wait], t_s: f64) -> f64 {
    if t_s.is_nan() || !all_valid(waits) {
        return f64::NAN;
    }
    let over_least_s = t_s - total_least_s(waits);
    let spreads = random_spreads(waits);
    if spreads.is_empty() {
        return if over_least_s >= 0.0 { 1.0 } else { 0.0 };
    }
    if spreads.len() > MAX_RANDOM_WAITS {
        return f64::NAN;
    }
    uniform_sum_cdf(&spreads, over_least_s)
}

/// Expected number of retries in the bin `[i·w, (i+1)·w)`, summed over all retries.
///
/// `clients · Σ_{m=1..R} [F_m((i+1)w) − F_m(i·w)]`, where every one of `clients` clients
/// fails at time zero and at each of the `R = waits_by_retry.len()` retries, and `F_m` is
/// the distribution of the sum of the first `m` waits. The window is taken to whole
/// nanoseconds. Bins are half-open: a wait that certainly ends on an edge is counted in
/// the bin that starts there. `NaN` as for [`cdf`], and for a window below half a
/// nanosecond.
pub fn expected_bin(waits_by_retry: &[Wait], clients: f64, window_s: f64, bin_index: u64) -> f64 {
    let window_ns = whole_ns(window_s);
    if window_ns == 0 || !all_valid(waits_by_retry) {
        return f64::NAN;
    }
    let per_client: f64 = (1..=waits_by_retry.len())
        .map(|m| share_in_bin(&waits_by_retry[..m], window_ns, bin_index))
        .sum();
    clients * per_client
}

/// Probability that the sum of `waits` falls into one bin.
fn share_in_bin(waits: &[Wait], window_ns: u64, bin_index: u64) -> f64 {
    if waits.iter().all(|w| w.spread_s == 0.0) {
        let bin = whole_ns(total_least_s(waits)) / window_ns;
        return if bin == bin_index { 1.0 } else { 0.0 };
    }
    let start_s = edge_s(window_ns, bin_index);
    let end_s = edge_s(window_ns, bin_index.saturating_add(1));
    // Rounding may leave a trace below zero; clamp lets `NaN` through.
    (cdf(waits, end_s) - cdf(waits, start_s)).clamp(0.0, 1.0)
}

/// The double nearest to `bin_index · window`, in seconds.
fn edge_s(window_ns: u64, bin_index: u64) -> f64 {
    bin_index.saturating_mul(window_ns) as f64 / 1e9
}

/// Seconds to the nearest whole nanosecond; zero for what is negative or `NaN`.
fn whole_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn all_valid(waits: &[Wait]) -> bool {
    let valid = |s: f64| s.is_finite() && s >= 0.0;
    waits.iter().all(|w| valid(w.least_s) && valid(w.spread_s))
}

fn total_least_s(waits: &[Wait]) -> f64 {
    waits.iter().map(|w| w.least_s).sum()
}

fn random_spreads(waits: &[Wait]) -> Vec<f64> {
    let spreads = waits.iter().map(|w| w.spread_s);
    spreads.filter(|&a| a > 0.0).collect()
}

/// `P(Σ U(0, a_j) ≤ x)` for at least one spread, all above zero.
fn uniform_sum_cdf(spreads: &[f64], x: f64) -> f64 {
    let total: f64 = spreads.iter().sum();
    if x <= 0.0 {
        0.0
    } else if x >= total {
        1.0
    } else if x > total / 2.0 {
        // Symmetric about its mean: the lower half has fewer and smaller terms.
        1.0 - lower_half_cdf(spreads, total - x)
    } else {
        lower_half_cdf(spreads, x)
    }
}

fn lower_half_cdf(spreads: &[f64], x: f64) -> f64 {
    let scale =
        spreads.iter().enumerate().fold(1.0, |product, (j, a)| product * a * (j + 1) as f64);
    let sum = alternating_sum(spreads, DoubleDouble::from(x), spreads.len());
    (sum.to_f64() / scale).clamp(0.0, 1.0)
}

/// `Σ_S (−1)^|S| (x − Σ_S a_j)₊^power` over the subsets of `spreads`.
///
/// Subsets with and without the first spread are two smaller sums of the same kind;
/// once nothing is left of `x`, all further terms are zero.
fn alternating_sum(spreads: &[f64], x: DoubleDouble, power: usize) -> DoubleDouble {
    if !x.is_positive() {
        return DoubleDouble::ZERO;
    }
    match spreads.split_first() {
        None => x.power(power),
        Some((&first, rest)) => {
            alternating_sum(rest, x, power)
                - alternating_sum(rest, x - DoubleDouble::from(first), power)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENTS: f64 = 1000.0;
    const WINDOW_S: f64 = 0.1;

    fn bin(waits: &[Wait], index: u64) -> f64 {
        expected_bin(waits, CLIENTS, WINDOW_S, index)
    }

    fn assert_bins(waits: &[Wait], first: u64, expected: &[f64], tolerance: f64) {
        for (index, want) in (first..).zip(expected) {
            let got = bin(waits, index);
            assert!((got - want).abs() <= tolerance, "bin {index}: {got} instead of {want}");
        }
    }

    #[test]
    fn three_uniforms_have_the_published_distribution() {
        let waits = full_jitter(1.0, 30.0, 3);
        for (t, want) in [
            (0.0, 0.0),
            (1.0, 1.0 / 48.0),
            (2.0, 7.0 / 48.0),
            (3.5, 0.5),
            (5.0, 41.0 / 48.0),
            (7.0, 1.0),
        ] {
            assert!((cdf(&waits, t) - want).abs() < 1e-15, "F({t})");
        }
    }

    #[test]
    fn full_jitter_fills_the_first_bins_as_published() {
        let waits = full_jitter(1.0, 30.0, 4);
        let printed = [
            102.521, 107.647, 112.900, 118.282, 123.795, 129.440, 135.218, 141.131, 147.181,
            153.370, 57.177,
        ];
        assert_bins(&waits, 0, &printed, 5.001e-4);
        assert_bins(&waits, 9, &[785_253.0 / 5120.0], 1e-9);
    }

    #[test]
    fn equal_jitter_is_flat_between_half_and_whole_base() {
        let waits = equal_jitter(1.0, 30.0, 4);
        assert_bins(&waits, 0, &[0.0; 5], 1e-9);
        assert_bins(&waits, 5, &[200.0; 5], 1e-9);
        assert_bins(&waits, 15, &[10.0, 30.0, 50.0, 70.0, 90.0], 1e-9);
        assert_bins(&waits, 20, &[100.0; 5], 1e-9);
    }

    #[test]
    fn sdk_jitter_puts_four_fifths_into_one_bin() {
        let waits = sdk_jitter(0.5, 8.0, 4);
        assert_bins(&waits, 3, &[200.0, 800.0, 0.0], 1e-9);
        assert_bins(&waits, 11, &[90.0, 360.0, 390.0, 160.0], 1e-9);
        assert_bins(&waits, 30, &[200.0, 195.5], 1e-9);
    }

    #[test]
    fn without_jitter_all_clients_share_the_bin_that_starts_at_the_wait() {
        let waits = no_jitter(1.0, 30.0, 4);
        for index in 0..200 {
            let hit = [10, 30, 70, 150].contains(&index);
            assert_eq!(bin(&waits, index), if hit { CLIENTS } else { 0.0 });
        }
        // In doubles 0.1 + 0.2 + 0.4 and 7 · 0.1 lie on different sides of 0.7.
        let tenths = no_jitter(0.1, 30.0, 3);
        assert_bins(&tenths, 0, &[0., 1e3, 0., 1e3, 0., 0., 0., 1e3, 0.], 0.0);
    }

    #[test]
    fn every_retry_falls_into_some_bin() {
        for waits in [
            full_jitter(1.0, 30.0, 4),
            equal_jitter(1.0, 30.0, 4),
            sdk_jitter(0.5, 8.0, 4),
            no_jitter(1.0, 30.0, 4),
        ] {
            let total: f64 = (0..=150).map(|index| bin(&waits, index)).sum();
            assert!((total - 4000.0).abs() < 1e-8, "{total}");
        }
    }

    #[test]
    fn the_fourth_retry_comes_at_the_published_mean() {
        assert_eq!(mean(&full_jitter(1.0, 30.0, 4)), 7.5);
        assert_eq!(mean(&equal_jitter(1.0, 30.0, 4)), 11.25);
        assert_eq!(mean(&sdk_jitter(0.5, 8.0, 4)), 6.5625);
        assert_eq!(mean(&no_jitter(1.0, 30.0, 4)), 15.0);
    }

    #[test]
    fn the_first_three_waves_peak_at_the_end_of_the_first() {
        // Density just below t = b, from a window so small that it is a derivative.
        let waits = full_jitter(1.0, 30.0, 3);
        let window_s = 1e-6;
        let density = expected_bin(&waits, 1.0, window_s, 999_999) / window_s;
        assert!((density - 1.5625).abs() < 1e-5, "{density}");
    }

    #[test]
    fn many_retries_stay_a_distribution_function() {
        for waits in [full_jitter(1.0, 1e9, 12), full_jitter(1.0, 30.0, 12)] {
            let middle = mean(&waits);
            assert!((cdf(&waits, middle) - 0.5).abs() < 1e-12);
            // Just under the middle the mirrored half is not used, just above it is.
            let below = cdf(&waits, middle * (1.0 - 1e-9));
            let above = cdf(&waits, middle * (1.0 + 1e-9));
            assert!(below <= above && above - below < 1e-8);
            let steps: Vec<f64> =
                (0..=64).map(|i| cdf(&waits, middle / 32.0 * f64::from(i))).collect();
            assert!(steps.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }

    #[test]
    fn a_deterministic_wait_only_shifts() {
        let fixed = Wait { least_s: 2.0, spread_s: 0.0 };
        let random = Wait { least_s: 0.5, spread_s: 1.0 };
        assert_eq!(cdf(&[fixed, random], 3.0), 0.5);
        assert_eq!(cdf(&[random, fixed], 2.5), 0.0);
        assert_eq!(cdf(&[fixed], 2.0), 1.0);
        assert_eq!(cdf(&[fixed], 1.999), 0.0);
        assert_eq!(cdf(&[], 0.0), 1.0);
    }

    #[test]
    fn bad_arguments_give_nan() {
        let bad = Wait { least_s: 0.0, spread_s: -1.0 };
        assert!(cdf(&[bad], 1.0).is_nan());
        assert!(cdf(&[], f64::NAN).is_nan());
        assert!(cdf(&full_jitter(1.0, 30.0, 17), 1.0).is_nan());
        assert!(expected_bin(&full_jitter(1.0, 30.0, 1), 1.0, 0.0, 0).is_nan());
        assert!(expected_bin(&full_jitter(1.0, 30.0, 1), 1.0, f64::NAN, 0).is_nan());
    }
}
