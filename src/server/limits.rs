//! Request limits.
//!
//! A token bucket refilled continuously: the rule that the Claude API documents for its rate
//! limits (<https://platform.claude.com/docs/en/api/rate-limits>). Kept in integers, so that
//! over [0, T] it admits at most burst + rate·T exactly.

use serde::{Deserialize, Serialize};

use crate::units::{NANOS_PER_SECOND, Rate, Span};

/// The limits of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Limit on requests; beyond it the answer is 429.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestLimit>,
}

/// A token bucket over attempts. A refused attempt takes nothing from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestLimit {
    /// Refill, continuous.
    pub rate: Rate,
    /// Most attempts it can let through at once; it starts full.
    pub burst: u32,
    /// How the Retry-After of a 429 is computed.
    #[serde(default)]
    pub retry_after: RetryAfterHeader,
}

/// How Retry-After is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryAfterHeader {
    /// Time until this attempt would fit, rounded up to whole seconds.
    #[default]
    Seconds,
    /// The same to the nanosecond, as `retry-after-ms` gives it.
    Exact,
    /// No header.
    Absent,
}

/// The state of one bucket. Its unit is 1/period of a token, so refilling is exact.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    limit: RequestLimit,
    level: u128,
    at: u64,
}

impl Bucket {
    /// A full bucket.
    pub fn new(limit: RequestLimit) -> Bucket {
        Bucket { limit, level: Bucket::full(&limit), at: 0 }
    }

    fn full(limit: &RequestLimit) -> u128 {
        u128::from(limit.burst) * u128::from(limit.rate.period())
    }

    /// Lets an attempt through at `now`, or says what its Retry-After is.
    #[inline]
    pub fn take(&mut self, now: u64) -> Result<(), Option<Span>> {
        let rate = self.limit.rate;
        let refill = u128::from(now - self.at) * u128::from(rate.events());
        self.level = (self.level + refill).min(Bucket::full(&self.limit));
        self.at = now;
        let price = u128::from(rate.period());
        if self.level >= price {
            self.level -= price;
            return Ok(());
        }
        Err(self.retry_after(price - self.level))
    }

    fn retry_after(&self, missing: u128) -> Option<Span> {
        // A bucket that never refills, or never holds a whole token, has no time to name.
        if self.limit.rate.is_zero() || self.limit.burst == 0 {
            return None;
        }
        let exact = missing.div_ceil(u128::from(self.limit.rate.events())) as u64;
        match self.limit.retry_after {
            RetryAfterHeader::Absent => None,
            RetryAfterHeader::Exact => Some(Span::from_nanos(exact)),
            RetryAfterHeader::Seconds => Some(Span::from_seconds(exact.div_ceil(NANOS_PER_SECOND))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(rate: &str, burst: u32, retry_after: RetryAfterHeader) -> Bucket {
        Bucket::new(RequestLimit { rate: rate.parse().unwrap(), burst, retry_after })
    }

    /// T25: saturated, it admits exactly floor(B + r·T) over [0, T].
    #[test]
    fn a_saturated_bucket_admits_burst_and_rate_times_time() {
        for (rate, burst, seconds, expected) in [
            ("10/s", 5, 10, 105),
            ("1000/min", 1, 60, 1_001),
            ("0.3/s", 2, 10, 5),
            ("7/s", 0, 10, 0),
        ] {
            let mut bucket = bucket(rate, burst, RetryAfterHeader::Seconds);
            let step = 1_000_000;
            let ticks = seconds * NANOS_PER_SECOND / step;
            let admitted = (0..=ticks).filter(|i| bucket.take(i * step).is_ok()).count();
            assert_eq!(admitted, expected, "{rate} {burst}");
        }
    }

    #[test]
    fn retry_after_is_the_time_until_it_fits() {
        let mut exact = bucket("2/s", 1, RetryAfterHeader::Exact);
        assert_eq!(exact.take(0), Ok(()));
        let wait = exact.take(100_000_000).unwrap_err().unwrap();
        assert_eq!(wait, Span::from_nanos(400_000_000));
        assert!(exact.take(100_000_000 + wait.nanos() - 1).is_err());
        assert!(exact.take(100_000_000 + wait.nanos()).is_ok());

        let mut seconds = bucket("2/s", 1, RetryAfterHeader::Seconds);
        let _ = seconds.take(0);
        assert_eq!(seconds.take(0), Err(Some(Span::from_seconds(1))));
        let mut never = bucket("0/s", 1, RetryAfterHeader::Seconds);
        let _ = never.take(0);
        assert_eq!(never.take(0), Err(None));
    }
}
