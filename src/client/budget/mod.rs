//! Retry budgets: how many retries may be sent, whatever the policy wants.
//!
//! Backoff changes when retries are sent, not how many (Brooker 2022, "What is backoff for?",
//! <https://brooker.co.za/blog/2022/08/11/backoff.html>); a budget bounds their number. A
//! [`Vault`] is the state of one. Tokens are counted in millionths, as integers.

mod active;
mod bucket;
mod quota;
mod recent;
mod throttling;

pub use active::{Active, ActiveBase, ActiveRetries, PermitTaken};
pub use bucket::{Ratio, TokenBucket};
pub use quota::RetryQuota;
pub use recent::{Deposit, RecentRatio};
pub use throttling::RetryThrottling;

use serde::{Deserialize, Serialize};

use super::Scope;
use crate::answer::Failure;
use crate::units::Time;
use bucket::Bucket;
use quota::Quota;
use recent::Recent;
use throttling::Throttling;

/// One token in the integer unit of a vault.
const TOKEN: u64 = 1_000_000;

/// A number of tokens in the integer unit, rounded to the nearest.
fn units(tokens: f64) -> u64 {
    (tokens * TOKEN as f64 + 0.5) as u64
}

/// A retry budget; a retry that it refuses gives the call up. It counts the retries of its own
/// layer. At one instant failures are handled in the order of the requests' ranks, and each sees
/// what those before it have left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// Retries as a share of calls into the layer (Google SRE book, chapter 21: 10 %).
    Ratio(Ratio),
    /// A bucket refilled by successes (Brooker 2022).
    TokenBucket(TokenBucket),
    /// gRPC's retryThrottling.
    RetryThrottling(RetryThrottling),
    /// Envoy's limit on retries that are active at once.
    ActiveRetries(ActiveRetries),
    /// The AWS SDKs' retry quota.
    RetryQuota(RetryQuota),
    /// Finagle's and tower's share of the last seconds, with a reserve.
    RecentRatio(RecentRatio),
}

/// A key, its value, the least and the most that are accepted.
type Range = (&'static str, f64, f64, f64);

impl Budget {
    /// Who shares it.
    pub fn scope(&self) -> Scope {
        match self {
            Budget::Ratio(rule) => rule.scope,
            Budget::TokenBucket(rule) => rule.scope,
            Budget::RetryThrottling(rule) => rule.scope,
            Budget::ActiveRetries(rule) => rule.scope,
            Budget::RetryQuota(rule) => rule.scope,
            Budget::RecentRatio(rule) => rule.scope,
        }
    }

    /// A full vault by this rule.
    pub fn vault(&self) -> Vault {
        match self {
            Budget::Ratio(rule) => Vault::Bucket(Bucket::of_ratio(rule)),
            Budget::TokenBucket(rule) => Vault::Bucket(Bucket::of_tokens(rule)),
            Budget::RetryThrottling(rule) => Vault::Throttling(Throttling::new(rule)),
            Budget::ActiveRetries(rule) => Vault::Active(Active::new(rule)),
            Budget::RetryQuota(rule) => Vault::Quota(Quota::new(rule)),
            Budget::RecentRatio(rule) => Vault::Recent(Recent::new(rule)),
        }
    }

    /// True when it counts what is under way, so that it must learn of every beginning and end.
    pub fn counts_active(&self) -> bool {
        matches!(self, Budget::ActiveRetries(_))
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let ranges: Vec<Range> = match self {
            Budget::Ratio(rule) => rule.ranges(),
            Budget::TokenBucket(rule) => rule.ranges(),
            Budget::RetryThrottling(rule) => rule.ranges(),
            Budget::ActiveRetries(rule) => rule.ranges(),
            Budget::RetryQuota(rule) => rule.ranges(),
            Budget::RecentRatio(rule) => rule.ranges(),
        };
        let bad = ranges.into_iter().find(|(_, value, min, max)| !(*min..=*max).contains(value));
        bad.map(|(key, value, min, max)| {
            (key, format!("{key} = {value} is out of range; write {min} to {max}"))
        })
    }
}

/// The state of one budget.
#[derive(Clone, Debug)]
pub enum Vault {
    /// A bucket of tokens.
    Bucket(Bucket),
    /// gRPC's count of tokens.
    Throttling(Throttling),
    /// What is under way.
    Active(Active),
    /// A bucket with costs by failure, and refunds.
    Quota(Quota),
    /// A window of deposits and withdrawals.
    Recent(Recent),
}

/// What a call of a layer that counts what is under way has under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The call itself.
    pub call: bool,
    /// An attempt.
    pub attempt: bool,
    /// A retry: waiting or under way.
    pub retry: bool,
}

impl Vault {
    /// A call enters the layer.
    #[inline]
    pub fn on_call(&mut self, now: Time) {
        match self {
            Vault::Bucket(bucket) => bucket.on_call(),
            Vault::Recent(recent) => recent.on_call(now),
            Vault::Throttling(_) | Vault::Active(_) | Vault::Quota(_) => {}
        }
    }

    /// A call succeeded; `taken` is what its last retry took, 0 when it had none.
    #[inline]
    pub fn on_success(&mut self, now: Time, taken: u64) {
        match self {
            Vault::Bucket(bucket) => bucket.on_success(),
            Vault::Throttling(throttling) => throttling.on_success(),
            Vault::Quota(quota) => quota.on_success(taken),
            Vault::Recent(recent) => recent.on_success(now),
            Vault::Active(_) => {}
        }
    }

    /// An attempt failed in a way that is retried, whether or not attempts are left.
    #[inline]
    pub fn on_failure(&mut self) {
        if let Vault::Throttling(throttling) = self {
            throttling.on_failure();
        }
    }

    /// Takes the price of one retry after `failure`, and says what it was; None when there is too
    /// little.
    #[inline]
    pub fn withdraw(&mut self, now: Time, failure: &Failure<'_>, held: &mut Held) -> Option<u64> {
        match self {
            Vault::Bucket(bucket) => bucket.withdraw(),
            Vault::Throttling(throttling) => throttling.allows().then_some(0),
            Vault::Active(active) => active.decide(held).then_some(0),
            Vault::Quota(quota) => quota.withdraw(failure),
            Vault::Recent(recent) => recent.withdraw(now),
        }
    }

    /// What is under way, for a budget that counts it.
    pub fn active(&mut self) -> Option<&mut Active> {
        match self {
            Vault::Active(active) => Some(active),
            _ => None,
        }
    }

    /// Calls, attempts and retries under way, for a budget that counts them.
    pub fn active_counts(&self) -> Option<[u32; 3]> {
        match self {
            Vault::Active(active) => Some(active.counts()),
            _ => None,
        }
    }

    /// Conservation: what it should hold is what it holds.
    pub fn balances(&self) -> bool {
        match self {
            Vault::Bucket(bucket) => bucket.balances(),
            Vault::Throttling(throttling) => throttling.balances(),
            Vault::Quota(quota) => quota.balances(),
            // What is under way is checked against the requests.
            Vault::Active(_) | Vault::Recent(_) => true,
        }
    }
}
