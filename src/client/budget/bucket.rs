//! A bucket of tokens: a retry withdraws, and either every call into the layer or every success
//! deposits.

use serde::{Deserialize, Serialize};

use super::{Range, units};
use crate::client::Scope;

/// Every call into the layer deposits `of_requests` of a retry; at most `burst` are saved up, and
/// there at first: a herd of any size has `burst` retries at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// Retries per call into the layer in the long run, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub of_requests: f64,
    /// Retries that can be saved up, and are there at first; 0 to 1e9.
    #[serde(default = "ten")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub burst: f64,
    /// Who shares it.
    pub scope: Scope,
}

/// A bucket that is full at first; every success deposits `refill_per_success`, a retry takes
/// `cost`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TokenBucket {
    /// Most tokens it holds; it starts full. 0 to 1e9.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub capacity: f64,
    /// Tokens that a success puts in, 0 to 1e9.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub refill_per_success: f64,
    /// Tokens that a retry takes, 0 to 1e9.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub cost: f64,
    /// Who shares it.
    pub scope: Scope,
}

fn one() -> f64 {
    1.0
}

fn ten() -> f64 {
    10.0
}

impl Ratio {
    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        super::Budget::Ratio(*self).problem()
    }

    pub(super) fn ranges(&self) -> Vec<Range> {
        vec![("of_requests", self.of_requests, 0.0, 1.0), ("burst", self.burst, 0.0, 1e9)]
    }
}

impl TokenBucket {
    pub(super) fn ranges(&self) -> Vec<Range> {
        vec![
            ("capacity", self.capacity, 0.0, 1e9),
            ("refill_per_success", self.refill_per_success, 0.0, 1e9),
            ("cost", self.cost, 0.0, 1e9),
        ]
    }
}

/// The state of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    capacity: u64,
    per_call: u64,
    per_success: u64,
    cost: u64,
    balance: u64,
    deposited: u128,
    overflowed: u128,
    withdrawn: u128,
}

impl Bucket {
    pub(super) fn of_ratio(rule: &Ratio) -> Bucket {
        let per_call = units(rule.of_requests);
        Bucket { per_call, cost: units(1.0), ..Bucket::full(rule.burst) }
    }

    pub(super) fn of_tokens(rule: &TokenBucket) -> Bucket {
        let per_success = units(rule.refill_per_success);
        Bucket { per_success, cost: units(rule.cost), ..Bucket::full(rule.capacity) }
    }

    pub(super) fn full(capacity: f64) -> Bucket {
        let capacity = units(capacity);
        Bucket { capacity, balance: capacity, ..Bucket::default() }
    }

    #[inline]
    pub(super) fn on_call(&mut self) {
        self.deposit(self.per_call);
    }

    #[inline]
    pub(super) fn on_success(&mut self) {
        self.deposit(self.per_success);
    }

    #[inline]
    pub(super) fn withdraw(&mut self) -> Option<u64> {
        self.take(self.cost)
    }

    /// Takes so much, if it is there.
    #[inline]
    pub(super) fn take(&mut self, cost: u64) -> Option<u64> {
        if self.balance < cost {
            return None;
        }
        self.balance -= cost;
        self.withdrawn += u128::from(cost);
        Some(cost)
    }

    pub(super) fn deposit(&mut self, units: u64) {
        let stored = units.min(self.capacity - self.balance);
        self.balance += stored;
        self.deposited += u128::from(units);
        self.overflowed += u128::from(units - stored);
    }

    /// The start + deposits - overflow - withdrawals is what is left.
    pub(super) fn balances(&self) -> bool {
        u128::from(self.capacity) + self.deposited
            == u128::from(self.balance) + self.overflowed + self.withdrawn
            && self.balance <= self.capacity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_lets_its_share_through() {
        let rule = Ratio { of_requests: 0.1, burst: 10.0, scope: Scope::Fleet };
        let mut bucket = Bucket::of_ratio(&rule);
        let mut sent = 0;
        for _ in 0..1_000 {
            bucket.on_call();
            sent += u32::from(bucket.withdraw().is_some());
        }
        // Ten at the start and one in ten of 1,000; the first deposit finds the bucket full.
        assert_eq!(sent, 109);
        assert!(bucket.balances());
    }

    #[test]
    fn a_token_bucket_is_refilled_by_successes_only() {
        let rule =
            TokenBucket { capacity: 2.0, refill_per_success: 0.5, cost: 1.0, scope: Scope::Fleet };
        let mut bucket = Bucket::of_tokens(&rule);
        bucket.on_call();
        assert_eq!([(); 3].map(|()| bucket.withdraw().is_some()), [true, true, false]);
        bucket.on_success();
        assert!(bucket.withdraw().is_none());
        bucket.on_success();
        assert!(bucket.withdraw().is_some());
        assert!(bucket.balances());
    }
}
