//! How many attempts one request costs, and what that does to a server.
//!
//! In all formulas `p` is the probability that an attempt fails, independent of all
//! others, and `m` is the largest number of attempts, the first included.

/// Mean attempts per request, `1 + p + … + p^{m−1} = (1−p^m)/(1−p)`; `m` when `p = 1`.
///
/// `0 ≤ p ≤ 1`, otherwise `NaN`. Source: truncated geometric distribution; used this way
/// by M. Brooker, "What is Backoff For?", <https://brooker.co.za/blog/2022/08/11/backoff.html>.
/// No backoff appears in it: waiting does not lower the long-run load of an open system.
pub fn amplification(p: f64, max_attempts: u32) -> f64 {
    geometric(p, max_attempts).0
}

/// Share of requests that fail in all their attempts, `p^m`.
///
/// `0 ≤ p ≤ 1`, otherwise `NaN`.
pub fn failed_share(p: f64, max_attempts: u32) -> f64 {
    geometric(p, max_attempts).1
}

/// Attempts at the innermost server per request at the outermost layer, when all fail.
///
/// The product of the layers' `max_attempts`; `None` when it passes `u64`. Source:
/// "Addressing Cascading Failures", Google SRE book, chapter 22,
/// <https://sre.google/sre-book/addressing-cascading-failures/>.
pub fn layers_product(max_attempts: &[u64]) -> Option<u64> {
    let mut layers = max_attempts.iter();
    layers.try_fold(1_u64, |product, &attempts| product.checked_mul(attempts))
}

/// Largest amplification under a ratio budget filled by requests: `1 + β`.
///
/// Each request deposits `ratio` (≥ 0) retry permits and each retry withdraws one, so in
/// the long run retries are at most `ratio · requests`. Source: Finagle's `RetryBudget`,
/// <https://twitter.github.io/finagle/guide/Clients.html#retries>.
pub fn budget_bound_per_request(ratio: f64) -> f64 {
    if ratio >= 0.0 { 1.0 + ratio } else { f64::NAN }
}

/// Largest amplification under a ratio budget filled by successes: `1 + β·s`.
///
/// As [`budget_bound_per_request`], but only the share `success_share` (0..=1) of requests
/// that succeed makes a deposit: when everything fails the bound is 1 and retries stop.
/// Source: M. Brooker, "Fixing retries with token buckets and circuit breakers",
/// <https://brooker.co.za/blog/2022/02/28/retries.html>.
pub fn budget_bound_per_success(ratio: f64, success_share: f64) -> f64 {
    if (0.0..=1.0).contains(&success_share) {
        budget_bound_per_request(ratio * success_share)
    } else {
        f64::NAN
    }
}

/// Steady state of a single server whose failed attempts come back after a backoff.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryLoad {
    /// Attempts reaching the server per second, `Λ = λ(1−p^m)/(1−p)`.
    pub attempt_rate: f64,
    /// Mean number of attempts at the server, `L = Λ/(μ−Λ)`; infinite if `Λ ≥ μ`.
    pub mean_in_system: f64,
    /// Share of requests that fail for good, `p^m`.
    pub failed_share: f64,
    /// Mean number of requests waiting to retry, `Σ_{k=1}^{m−1} λ p^k E[D_k]`. The number
    /// is Poisson: its variance is the same.
    pub in_backoff: f64,
}

/// The product form of a first-come-first-served exponential server with retries.
///
/// Requests arrive as a Poisson process at `request_rate` λ (per second), the server works
/// at `service_rate` μ (per second), an attempt fails *after* its service with probability
/// `p`, and `mean_waits_s[k−1]` is the mean wait `E[D_k]` before retry `k` (seconds); a
/// request has `mean_waits_s.len() + 1` attempts. Only the means of the waits matter. When
/// `Λ ≥ μ` there is no steady state and `in_backoff` has no meaning. `NaN` for a `p`
/// outside 0..=1 or a rate below zero.
///
/// Source: F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, "Open, Closed, and Mixed
/// Networks of Queues with Different Classes of Customers", Journal of the ACM 22 (1975),
/// <https://doi.org/10.1145/321879.321887>: a queue and a delay station, with the attempt
/// number as the class.
pub fn product_form(
    request_rate: f64,
    service_rate: f64,
    p: f64,
    mean_waits_s: &[f64],
) -> RetryLoad {
    let max_attempts = u32::try_from(mean_waits_s.len() + 1).unwrap_or(u32::MAX);
    let possible = request_rate >= 0.0 && service_rate >= 0.0;
    let request_rate = if possible { request_rate } else { f64::NAN };
    let (attempts, failed_share) = geometric(p, max_attempts);
    let attempt_rate = request_rate * attempts;
    // Little's law wait by wait: the rate of those who enter it times its mean.
    let (mut entering_rate, mut in_backoff) = (request_rate, 0.0);
    for wait_s in mean_waits_s {
        entering_rate *= p;
        in_backoff += entering_rate * wait_s;
    }
    RetryLoad {
        attempt_rate,
        mean_in_system: mean_in_system(attempt_rate, service_rate),
        failed_share,
        in_backoff: if attempts.is_nan() { attempts } else { in_backoff },
    }
}

fn mean_in_system(arrival_rate: f64, service_rate: f64) -> f64 {
    if arrival_rate >= service_rate {
        f64::INFINITY
    } else {
        arrival_rate / (service_rate - arrival_rate)
    }
}

/// `1 + p + … + p^{m−1}` and `p^m`; `NaN` instead of an impossible probability.
///
/// By doubling along the bits of `m`, `S(2n) = S(n)·(1 + p^n)` and `S(n+1) = 1 + p·S(n)`:
/// nothing cancels near `p = 1`, and "unlimited" attempts cost no more than three.
fn geometric(p: f64, m: u32) -> (f64, f64) {
    if !(0.0..=1.0).contains(&p) {
        return (f64::NAN, f64::NAN);
    }
    let (mut sum, mut power) = (0.0, 1.0);
    for bit in (0..u32::BITS).rev() {
        sum *= 1.0 + power;
        power *= power;
        if m >> bit & 1 == 1 {
            sum = 1.0 + p * sum;
            power *= p;
        }
    }
    (sum, power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amplification_is_the_truncated_geometric_mean() {
        assert_eq!(amplification(0.5, 3), 1.75);
        assert_eq!(amplification(1.0, 7), 7.0);
        assert_eq!(amplification(0.0, 7), 1.0);
        assert_eq!(amplification(0.4, 0), 0.0);
        assert_eq!(amplification(1.0, u32::MAX), f64::from(u32::MAX));
        assert!((amplification(0.75, u32::MAX) - 4.0).abs() < 1e-14);
        let quotient = (1.0 - 0.9_f64 * 0.9 * 0.9 * 0.9) / 0.1;
        assert!((amplification(0.9, 4) - quotient).abs() < 1e-12);
    }

    #[test]
    fn failed_share_is_a_power() {
        assert_eq!(failed_share(0.5, 3), 0.125);
        assert_eq!(failed_share(1.0, 9), 1.0);
        assert_eq!(failed_share(0.0, 1), 0.0);
        assert_eq!(failed_share(0.3, 0), 1.0);
    }

    #[test]
    fn layers_multiply() {
        assert_eq!(layers_product(&[4, 4, 4]), Some(64));
        assert_eq!(layers_product(&[3, 3, 3]), Some(27));
        assert_eq!(layers_product(&[3, 3, 5]), Some(45));
        assert_eq!(layers_product(&[]), Some(1));
        assert_eq!(layers_product(&[u64::MAX, 2]), None);
    }

    #[test]
    fn budgets_bound_the_amplification() {
        assert_eq!(budget_bound_per_request(0.1), 1.1);
        assert_eq!(budget_bound_per_success(0.1, 1.0), 1.1);
        assert_eq!(budget_bound_per_success(0.1, 0.0), 1.0);
        assert!(budget_bound_per_request(-0.1).is_nan());
        assert!(budget_bound_per_success(0.1, 1.1).is_nan());
    }

    #[test]
    fn the_product_form_has_the_reference_values() {
        let exponential = product_form(0.4, 1.0, 0.5, &[20.0, 20.0]);
        assert!((exponential.attempt_rate - 0.7).abs() < 1e-15);
        assert!((exponential.mean_in_system - 7.0 / 3.0).abs() < 1e-14);
        assert_eq!(exponential.failed_share, 0.125);
        assert!((exponential.in_backoff - 6.0).abs() < 1e-14);
        // Full jitter U(0, 20), U(0, 40): other waits, the same server.
        let jittered = product_form(0.4, 1.0, 0.5, &[10.0, 20.0]);
        assert!((jittered.in_backoff - 4.0).abs() < 1e-14);
        assert_eq!(jittered.mean_in_system, exponential.mean_in_system);
    }

    #[test]
    fn without_retries_it_is_mm1() {
        let plain = product_form(0.8, 1.0, 0.3, &[]);
        assert_eq!(plain.attempt_rate, 0.8);
        assert_eq!(plain.in_backoff, 0.0);
        assert!((plain.mean_in_system - 4.0).abs() < 1e-14);
    }

    #[test]
    fn overload_and_bad_arguments_are_told_apart() {
        let storm = product_form(0.6, 1.0, 1.0, &[1.0]);
        assert_eq!(storm.mean_in_system, f64::INFINITY);
        assert!(amplification(1.1, 3).is_nan());
        assert!(failed_share(-0.1, 3).is_nan());
        let impossible = product_form(-1.0, 1.0, 0.5, &[1.0]);
        assert!(impossible.mean_in_system.is_nan() && impossible.in_backoff.is_nan());
    }
}
