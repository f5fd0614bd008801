//! Finagle's and tower's budget: retries as a share of what happened in the last seconds, with a reserve.
//!
//! Source: Finagle `RetryBudget.scala` (util `TokenBucket`, `WindowedAdder`), tower 0.5.3
//! `src/retry/budget/tps_budget.rs`. A withdrawal is a negative entry of the window, so it expires like a
//! deposit: in a total outage the reserve is there again after each window.

use serde::{Deserialize, Serialize};

use super::Range;
use crate::client::{Scope, SlidingCounts};
use crate::units::{Span, Time};

/// Finagle, tower: `ratio` retries per deposit of the last `window`, which moves in `slices`, and
/// `reserve_per_s` retries per second without any; a retry that was taken expires with the window
/// like a deposit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RecentRatio {
    /// Retries per deposit, above 0, at most 1; Finagle and tower 0.2.
    #[cfg_attr(feature = "schema", schemars(range(min = 1e-6, max = 1.0)))]
    pub ratio: f64,
    /// The window, "10s" in Finagle and tower.
    pub window: Span,
    /// In how many slices it moves, 1 to 1000.
    #[serde(default = "ten")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub slices: u32,
    /// Retries per second that are allowed without any deposit, 0 to 1,000,000; 10 in Finagle and tower.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e6)))]
    pub reserve_per_s: f64,
    /// What deposits.
    pub deposit: Deposit,
    /// In how many whole parts a deposit is counted: 1000 in Finagle, 1 in tower. A retry takes
    /// parts / ratio, cut to a whole number. 1 to 1,000,000.
    #[serde(default = "thousand")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000000)))]
    pub parts: u32,
    /// Who shares it.
    pub scope: Scope,
}

/// What deposits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Deposit {
    /// Every call into the layer.
    Call,
    /// Every success.
    Success,
}

fn ten() -> u32 {
    10
}

fn thousand() -> u32 {
    1_000
}

impl RecentRatio {
    pub(super) fn ranges(&self) -> Vec<Range> {
        vec![
            ("ratio", self.ratio, 1e-6, 1.0),
            ("window", self.window.seconds(), 1e-9, 1e9),
            ("slices", self.slices.into(), 1.0, 1_000.0),
            ("reserve_per_s", self.reserve_per_s, 0.0, 1e6),
            ("parts", self.parts.into(), 1.0, 1e6),
        ]
    }
}

/// Kinds of entry.
const DEPOSITS: usize = 0;
const WITHDRAWALS: usize = 1;

/// The entries of the last seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent {
    deposit: Deposit,
    parts: u64,
    cost: u64,
    reserve: u64,
    window: SlidingCounts,
}

impl Recent {
    pub(super) fn new(rule: &RecentRatio) -> Recent {
        // The quotient of numbers such as 1000 / 0.2 must not fall below the whole number that is meant.
        let cost = (f64::from(rule.parts) / rule.ratio * (1.0 + 1e-12)) as u64;
        let reserve = rule.reserve_per_s * rule.window.seconds() * cost as f64;
        Recent {
            deposit: rule.deposit,
            parts: rule.parts.into(),
            cost,
            reserve: (reserve + 0.5) as u64,
            window: SlidingCounts::new(rule.window, rule.slices),
        }
    }

    pub(super) fn on_call(&mut self, now: Time) {
        if self.deposit == Deposit::Call {
            self.window.add(now, DEPOSITS, self.parts);
        }
    }

    pub(super) fn on_success(&mut self, now: Time) {
        if self.deposit == Deposit::Success {
            self.window.add(now, DEPOSITS, self.parts);
        }
    }

    pub(super) fn withdraw(&mut self, now: Time) -> Option<u64> {
        let [deposits, withdrawals] = self.window.sums(now);
        if deposits + self.reserve < withdrawals + self.cost {
            return None;
        }
        self.window.add(now, WITHDRAWALS, self.cost);
        Some(self.cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recent(ratio: f64, parts: u32, reserve_per_s: f64) -> Recent {
        Recent::new(&RecentRatio {
            ratio,
            window: Span::from_seconds(10),
            slices: 10,
            reserve_per_s,
            deposit: Deposit::Success,
            parts,
            scope: Scope::Client,
        })
    }

    const S: Time = 1_000_000_000;

    fn retries(recent: &mut Recent, now: Time) -> usize {
        (0..10_000).filter(|_| recent.withdraw(now).is_some()).count()
    }

    /// Finagle in a total outage: 10 per second in reserve are 100 per 10 s, and again when they expire.
    #[test]
    fn the_reserve_comes_back_after_each_window() {
        let mut finagle = recent(0.2, 1_000, 10.0);
        assert_eq!(retries(&mut finagle, 0), 100);
        assert_eq!(retries(&mut finagle, 10 * S - 1), 0);
        assert_eq!(retries(&mut finagle, 10 * S), 100);
    }

    #[test]
    fn a_fifth_of_the_successes_may_be_retries() {
        let mut finagle = recent(0.2, 1_000, 0.0);
        (0..1_000).for_each(|n| finagle.on_success(n * S / 1_000));
        assert_eq!(retries(&mut finagle, S), 200);
        finagle.on_call(S);
        assert_eq!(retries(&mut finagle, S), 0);
    }

    /// A share of 0.3: tower's whole deposits make it 1 in 3, Finagle's thousandths 1 in 3.333.
    #[test]
    fn whole_parts_round_the_ratio() {
        for (parts, expected) in [(1, 333), (1_000, 300)] {
            let mut budget = recent(0.3, parts, 0.0);
            (0..1_000).for_each(|_| budget.on_success(0));
            assert_eq!(retries(&mut budget, 0), expected, "{parts}");
        }
    }
}
