//! Deterministic cases in whole numbers: a herd at one server, a saturated token bucket.
//!
//! Times are whole nanoseconds, so a test can ask for equality.

/// What happens when a reply and its timeout fall on the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The reply counts: a success at exactly the timeout.
    ReplyWins,
    /// The timeout counts: the reply is late.
    TimeoutWins,
}

/// D/D/1 herd: when the `k`-th of many simultaneous requests is done, `k·s`.
///
/// All arrive at time zero at one server that takes `service_ns` for each; `k = 1` is the
/// first, `k = 0` gives the start. Stops at `u64::MAX` instead of overflowing. Follows
/// from the definition; no queueing theory is needed.
pub fn completion_ns(k: u64, service_ns: u64) -> u64 {
    k.saturating_mul(service_ns)
}

/// D/D/1 herd: how many of `clients` requests are done by the timeout, without retries.
///
/// `⌊τ/s⌋`, one less if τ is a multiple of `s` and the timeout wins the tie, and never
/// more than `clients`. A service of zero is done at time zero, which is a tie only with a
/// timeout of zero.
pub fn successes_by_timeout(clients: u64, service_ns: u64, timeout_ns: u64, tie: Tie) -> u64 {
    let last_useful_ns = match tie {
        Tie::ReplyWins => Some(timeout_ns),
        Tie::TimeoutWins => timeout_ns.checked_sub(1),
    };
    let in_time = last_useful_ns.map_or(0, |t| t.checked_div(service_ns).unwrap_or(u64::MAX));
    in_time.min(clients)
}

/// A bucket of at most `burst` tokens, full at time zero, filled with `tokens` every
/// `per_ns` nanoseconds, evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Size `B` and content at time zero, in tokens.
    pub burst: u64,
    /// Tokens added in `per_ns`: together the rate `r`.
    pub tokens: u64,
    /// Length of the period of the rate, in nanoseconds, ≥ 1.
    pub per_ns: u64,
}

impl TokenBucket {
    /// Requests admitted in the closed interval `[0, T]` when saturated: `⌊B + r·T⌋`.
    ///
    /// Each admission takes one token. Saturated means that no token is ever turned away
    /// by a full bucket and one request is waiting whenever a whole token is there, for
    /// instance arrivals at every nanosecond. Otherwise the value is an upper bound. `None`
    /// when `per_ns` is zero or the count passes `u64`. Source: J. S. Turner, "New
    /// directions in communications", IEEE Communications Magazine 24 (1986),
    /// <https://doi.org/10.1109/MCOM.1986.1092946> (leaky bucket as a meter).
    pub fn admitted_when_saturated(&self, horizon_ns: u64) -> Option<u64> {
        let earned = u128::from(self.tokens) * u128::from(horizon_ns);
        let refilled = earned.checked_div(u128::from(self.per_ns))?;
        u64::try_from(refilled).ok()?.checked_add(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_herd_is_done_one_service_after_another() {
        assert_eq!(completion_ns(1, 3 * MS), 3 * MS);
        assert_eq!(completion_ns(1000, 3 * MS), 3000 * MS);
        assert_eq!(completion_ns(0, 3 * MS), 0);
        assert_eq!(completion_ns(u64::MAX, 2), u64::MAX);
    }

    #[test]
    fn a_tie_at_the_timeout_costs_one_success() {
        let done = |timeout_ns, tie| successes_by_timeout(1000, 30, timeout_ns, tie);
        assert_eq!(done(300, Tie::ReplyWins), 10);
        assert_eq!(done(300, Tie::TimeoutWins), 9);
        assert_eq!(done(301, Tie::TimeoutWins), 10);
        assert_eq!(done(299, Tie::ReplyWins), 9);
        assert_eq!(done(u64::MAX, Tie::ReplyWins), 1000);
    }

    #[test]
    fn zero_times_are_defined() {
        assert_eq!(successes_by_timeout(5, 0, 0, Tie::ReplyWins), 5);
        assert_eq!(successes_by_timeout(5, 0, 0, Tie::TimeoutWins), 0);
        assert_eq!(successes_by_timeout(5, 0, 1, Tie::TimeoutWins), 5);
        assert_eq!(successes_by_timeout(5, 7, 0, Tie::ReplyWins), 0);
    }

    #[test]
    fn successes_agree_with_the_completion_times() {
        for timeout_ns in 0..100 {
            let by_reply = (1..=8).filter(|&k| completion_ns(k, 7) <= timeout_ns);
            let by_timeout = (1..=8).filter(|&k| completion_ns(k, 7) < timeout_ns);
            let formula = |tie| successes_by_timeout(8, 7, timeout_ns, tie);
            assert_eq!(formula(Tie::ReplyWins), by_reply.count() as u64);
            assert_eq!(formula(Tie::TimeoutWins), by_timeout.count() as u64);
        }
    }

    #[test]
    fn a_saturated_bucket_admits_burst_plus_rate() {
        let bucket = TokenBucket { burst: 10, tokens: 3, per_ns: 1000 };
        assert_eq!(bucket.admitted_when_saturated(0), Some(10));
        assert_eq!(bucket.admitted_when_saturated(333), Some(10));
        assert_eq!(bucket.admitted_when_saturated(334), Some(11));
        assert_eq!(bucket.admitted_when_saturated(1000), Some(13));
    }

    #[test]
    fn counting_token_by_token_gives_the_same() {
        // Content in thousandths of a token; an arrival at every nanosecond.
        let bucket = TokenBucket { burst: 4, tokens: 7, per_ns: 1000 };
        let (mut content, mut admitted) = (4 * 1000, 0);
        for now_ns in 0..=5000 {
            // The burst is taken one by one, so a little refill could be lost at the
            // brim; a herd at time zero takes it all at once.
            while content >= 1000 {
                content -= 1000;
                admitted += 1;
            }
            assert_eq!(bucket.admitted_when_saturated(now_ns), Some(admitted));
            content += 7;
        }
    }

    #[test]
    fn impossible_buckets_give_none() {
        let never = TokenBucket { burst: 1, tokens: 1, per_ns: 0 };
        assert_eq!(never.admitted_when_saturated(5), None);
        let endless = TokenBucket { burst: 1, tokens: u64::MAX, per_ns: 1 };
        assert_eq!(endless.admitted_when_saturated(1), None);
    }
}
