//! The AWS SDKs' retry quota: retries cost by the kind of failure, and successes give back.
//!
//! Source: botocore 1.40.0 and 1.44.8 `botocore/retries/quota.py` and `standard.py`;
//! aws-smithy-runtime 1.16.2 `client/retries/token_bucket.rs`. A success after a retry gives back what the last
//! retry took, and a success at the first attempt gives a little.

use serde::{Deserialize, Serialize};

use super::bucket::Bucket;
use super::{Range, units};
use crate::answer::Failure;
use crate::client::Scope;

/// AWS SDKs: a retry takes `cost`, or the cost of its kind of failure; a success after a retry
/// gives back what the last one took, one without a retry `first_success`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RetryQuota {
    /// Most tokens, 500 in all SDKs; it starts full. 0 to 1e9.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub capacity: f64,
    /// Tokens that a retry takes, unless a key below says otherwise; 0 to 1e9.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub cost: f64,
    /// After a 429; `cost` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub throttled_cost: Option<f64>,
    /// After a status of 500 and above; `cost` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub server_error_cost: Option<f64>,
    /// After a limit of time was reached; `cost` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub timeout_cost: Option<f64>,
    /// After a connection was reset, or a stream broke off; `cost` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub reset_cost: Option<f64>,
    /// Tokens that a success at the first attempt gives.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub first_success: f64,
    /// Who shares it; in the SDKs the calls of one client object.
    pub scope: Scope,
}

fn one() -> f64 {
    1.0
}

impl RetryQuota {
    pub(super) fn ranges(&self) -> Vec<Range> {
        let cost = |key, cost: Option<f64>| (key, cost.unwrap_or(0.0), 0.0, 1e9);
        vec![
            ("capacity", self.capacity, 0.0, 1e9),
            ("cost", self.cost, 0.0, 1e9),
            cost("throttled_cost", self.throttled_cost),
            cost("server_error_cost", self.server_error_cost),
            cost("timeout_cost", self.timeout_cost),
            cost("reset_cost", self.reset_cost),
            ("first_success", self.first_success, 0.0, 1e9),
        ]
    }

    fn cost_of(&self, failure: &Failure<'_>) -> f64 {
        let special = match failure {
            Failure::Status(answer) if answer.status == 429 => self.throttled_cost,
            Failure::Status(answer) if answer.status >= 500 => self.server_error_cost,
            Failure::Timeout => self.timeout_cost,
            Failure::Reset | Failure::Stream { .. } => self.reset_cost,
            Failure::Status(_) | Failure::NotSent(_) => None,
        };
        special.unwrap_or(self.cost)
    }
}

/// The tokens of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    rule: RetryQuota,
    bucket: Bucket,
}

impl Quota {
    pub(super) fn new(rule: &RetryQuota) -> Quota {
        Quota { rule: *rule, bucket: Bucket::full(rule.capacity) }
    }

    pub(super) fn withdraw(&mut self, failure: &Failure<'_>) -> Option<u64> {
        self.bucket.take(units(self.rule.cost_of(failure)))
    }

    /// A success; `taken` is what the last retry of the call took, 0 when it had none.
    pub(super) fn on_success(&mut self, taken: u64) {
        let first = units(self.rule.first_success);
        self.bucket.deposit(if taken > 0 { taken } else { first });
    }

    pub(super) fn balances(&self) -> bool {
        self.bucket.balances()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(more: &str) -> Quota {
        let text = format!("capacity = 500\n{more}\nscope = \"client\"");
        Quota::new(&toml::from_str(&text).unwrap())
    }

    fn retries(quota: &mut Quota, failure: &Failure<'_>) -> usize {
        (0..1_000).filter(|_| quota.withdraw(failure).is_some()).count()
    }

    /// botocore 1.40.0: 100 retries, 50 after timeouts. botocore 1.44.8: 100 after throttling and 35 others.
    #[test]
    fn five_hundred_tokens_last_as_recorded() {
        let (throttled, broken) = (Failure::status(429), Failure::status(503));
        let classic = "cost = 5\ntimeout_cost = 10";
        assert_eq!(retries(&mut quota(classic), &throttled), 100);
        assert_eq!(retries(&mut quota(classic), &broken), 100);
        assert_eq!(retries(&mut quota(classic), &Failure::Timeout), 50);
        let new = "cost = 14\nthrottled_cost = 5";
        assert_eq!(retries(&mut quota(new), &throttled), 100);
        assert_eq!(retries(&mut quota(new), &broken), 35);
    }

    #[test]
    fn a_success_gives_back_the_last_amount_or_one() {
        let mut quota = quota("cost = 14\nthrottled_cost = 5");
        let first = quota.withdraw(&Failure::Reset).unwrap();
        let second = quota.withdraw(&Failure::status(429)).unwrap();
        assert_eq!((first, second), (units(14.0), units(5.0)));
        quota.on_success(second);
        assert_eq!(retries(&mut quota, &Failure::status(429)), (500 - 14) / 5);
        // One token is left of 486 - 485; four more make a retry.
        (0..3).for_each(|_| quota.on_success(0));
        assert_eq!(retries(&mut quota, &Failure::status(429)), 0);
        quota.on_success(0);
        assert_eq!(retries(&mut quota, &Failure::status(429)), 1);
        assert!(quota.balances());
    }
}
