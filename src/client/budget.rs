//! Retry budgets: how many retries may be sent, whatever the policy wants.
//!
//! Backoff changes when retries are sent, not how many (Brooker 2022, "What is backoff for?",
//! <https://brooker.co.za/blog/2022/08/11/backoff.html>); a budget bounds their number. Both
//! kinds are a bucket of tokens: a retry withdraws, and either every call into the layer or
//! every success deposits. Tokens are counted in millionths, as integers.

use serde::{Deserialize, Serialize};

use super::Scope;

/// One token in the integer unit of the bucket.
const TOKEN: u64 = 1_000_000;

/// A retry budget as a scenario states it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// Retries as a share of calls into the layer (Google SRE book, chapter 21: 10 %).
    Ratio(Ratio),
    /// A bucket refilled by successes (Brooker 2022; AWS SDKs).
    TokenBucket(TokenBucket),
}

/// A budget of retries per call into the layer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// Retries per call into the layer in the long run, 0 to 1.
    pub of_requests: f64,
    /// Retries that can be saved up; the budget starts with them. 10 by default.
    #[serde(default = "ten")]
    pub burst: f64,
    /// Who shares it.
    pub scope: Scope,
}

/// A budget refilled by successes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBucket {
    /// Most tokens it holds; it starts full.
    pub capacity: f64,
    /// Tokens that a success puts in.
    pub refill_per_success: f64,
    /// Tokens that a retry takes; 1 by default.
    #[serde(default = "one")]
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

impl Budget {
    /// Who shares it.
    pub fn scope(&self) -> Scope {
        match self {
            Budget::Ratio(r) => r.scope,
            Budget::TokenBucket(b) => b.scope,
        }
    }

    /// A full vault by this rule.
    pub fn vault(&self) -> Vault {
        let (capacity, per_request, per_success, cost) = match self {
            Budget::Ratio(r) => (r.burst, r.of_requests, 0.0, 1.0),
            Budget::TokenBucket(b) => (b.capacity, 0.0, b.refill_per_success, b.cost),
        };
        let units = |tokens: f64| (tokens * TOKEN as f64 + 0.5) as u64;
        Vault {
            capacity: units(capacity),
            per_request: units(per_request),
            per_success: units(per_success),
            cost: units(cost),
            balance: units(capacity),
            ..Vault::default()
        }
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let fields: &[(&'static str, f64, f64, f64)] = match self {
            Budget::Ratio(r) => {
                &[("of_requests", r.of_requests, 0.0, 1.0), ("burst", r.burst, 0.0, 1e9)]
            }
            Budget::TokenBucket(b) => &[
                ("capacity", b.capacity, 0.0, 1e9),
                ("refill_per_success", b.refill_per_success, 0.0, 1e9),
                ("cost", b.cost, 0.0, 1e9),
            ],
        };
        let bad = fields.iter().find(|(_, value, min, max)| !(*min..=*max).contains(value));
        bad.map(|(key, value, min, max)| {
            (*key, format!("{key} = {value} is out of range; write {min} to {max}"))
        })
    }
}

/// The state of one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vault {
    capacity: u64,
    per_request: u64,
    per_success: u64,
    cost: u64,
    balance: u64,
    deposited: u128,
    overflowed: u128,
    withdrawn: u128,
}

impl Vault {
    /// A call enters the layer.
    #[inline]
    pub fn on_request(&mut self) {
        self.deposit(self.per_request);
    }

    /// A request succeeded.
    #[inline]
    pub fn on_success(&mut self) {
        self.deposit(self.per_success);
    }

    /// Takes the price of one retry; false when there is too little.
    #[inline]
    pub fn withdraw(&mut self) -> bool {
        if self.balance < self.cost {
            return false;
        }
        self.balance -= self.cost;
        self.withdrawn += u128::from(self.cost);
        true
    }

    fn deposit(&mut self, units: u64) {
        let stored = units.min(self.capacity - self.balance);
        self.balance += stored;
        self.deposited += u128::from(units);
        self.overflowed += u128::from(units - stored);
    }

    /// Conservation: the start + deposits - overflow - withdrawals is what is left.
    pub fn balances(&self) -> bool {
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
        let mut vault = Budget::Ratio(rule).vault();
        let mut sent = 0;
        for _ in 0..1_000 {
            vault.on_request();
            sent += u32::from(vault.withdraw());
        }
        // Ten at the start and one in ten of 1,000; the first deposit finds the bucket full.
        assert_eq!(sent, 109);
        assert!(vault.balances());
    }

    #[test]
    fn a_token_bucket_is_refilled_by_successes_only() {
        let rule =
            TokenBucket { capacity: 2.0, refill_per_success: 0.5, cost: 1.0, scope: Scope::Fleet };
        let mut vault = Budget::TokenBucket(rule).vault();
        vault.on_request();
        assert_eq!([(); 3].map(|()| vault.withdraw()), [true, true, false]);
        vault.on_success();
        assert!(!vault.withdraw());
        vault.on_success();
        assert!(vault.withdraw());
        assert!(vault.balances());
    }

    #[test]
    fn bad_parameters_are_named() {
        let rule = |of_requests| Ratio { of_requests, burst: 10.0, scope: Scope::Fleet };
        assert!(Budget::Ratio(rule(f64::NAN)).problem().is_some());
        assert!(Budget::Ratio(rule(-0.1)).problem().is_some());
        assert!(Budget::Ratio(rule(0.1)).problem().is_none());
    }
}
