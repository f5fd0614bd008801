//! Envoy's retry budget: a limit on the retries that are active at once.
//!
//! Source: `source/common/upstream/resource_manager_impl.h` of Envoy: a retry is let through while the
//! active ones are fewer than max(budget_percent · (active + pending requests), min_retry_concurrency). What
//! counts when is disputed (issue 30205, envoy-mobile pull request 811), so it is stated: when a retry takes
//! its permit, and what the budget is a share of.

use serde::{Deserialize, Serialize};

use super::{Held, Range};
use crate::client::Scope;

/// Envoy: a retry is sent while the active ones are fewer than max(`ratio` · base, `floor`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ActiveRetries {
    /// Active retries as a share of the base, 0 to 1; Envoy's `budget_percent`, 0.2 there.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub ratio: f64,
    /// Retries that are let through whatever the base; Envoy's `min_retry_concurrency`.
    #[serde(default = "three")]
    pub floor: u32,
    /// From when on a retry is active, to its end or until it is cut off.
    #[serde(default)]
    pub taken_at: PermitTaken,
    /// What the budget is a share of.
    #[serde(default)]
    pub base: ActiveBase,
    /// Whether ratio · base is cut to a whole number, as in Envoy.
    #[serde(default = "yes")]
    pub whole: bool,
    /// Who shares it.
    pub scope: Scope,
}

/// From when on a retry is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PermitTaken {
    /// From its decision on: also while it waits in its backoff.
    #[default]
    Decision,
    /// From when it is sent.
    Send,
}

/// What the budget is a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ActiveBase {
    /// Attempts of the layer that are under way; the one that has just failed is not.
    #[default]
    Attempts,
    /// Calls into the layer that are not over, also those in their backoff.
    Calls,
}

fn three() -> u32 {
    3
}

fn yes() -> bool {
    true
}

impl ActiveRetries {
    pub(super) fn ranges(&self) -> Vec<Range> {
        vec![("ratio", self.ratio, 0.0, 1.0)]
    }
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Active {
    rule: ActiveRetries,
    calls: u32,
    attempts: u32,
    retries: u32,
}

impl Active {
    pub(super) fn new(rule: &ActiveRetries) -> Active {
        Active { rule: *rule, calls: 0, attempts: 0, retries: 0 }
    }

    /// Whether one more retry may be; it is active from now on, unless permits are taken at its send.
    pub(super) fn decide(&mut self, held: &mut Held) -> bool {
        let ActiveRetries { ratio, floor, taken_at, base, whole, .. } = self.rule;
        let base = match base {
            ActiveBase::Attempts => self.attempts,
            ActiveBase::Calls => self.calls,
        };
        let share = ratio * f64::from(base);
        let share = if whole { share.floor() } else { share };
        let allowed = f64::from(self.retries) < share.max(floor.into());
        if allowed && taken_at == PermitTaken::Decision {
            self.retries += 1;
            held.retry = true;
        }
        allowed
    }

    /// A call enters the layer.
    pub fn start_call(&mut self, held: &mut Held) {
        *held = Held { call: true, ..Held::default() };
        self.calls += 1;
    }

    /// An attempt is sent, the so many-th of its call.
    pub fn start_attempt(&mut self, held: &mut Held, number: u32) {
        held.attempt = true;
        self.attempts += 1;
        if number > 1 && !held.retry {
            held.retry = true;
            self.retries += 1;
        }
    }

    /// The attempt under way, if there is one, has ended, and with it the retry.
    pub fn end_attempt(&mut self, held: &mut Held) {
        self.attempts -= u32::from(std::mem::take(&mut held.attempt));
        self.retries -= u32::from(std::mem::take(&mut held.retry));
    }

    /// The call has ended, and all that it had.
    pub fn end_call(&mut self, held: &mut Held) {
        self.end_attempt(held);
        self.calls -= u32::from(std::mem::take(&mut held.call));
    }

    /// Calls, attempts and retries under way.
    pub fn counts(&self) -> [u32; 3] {
        [self.calls, self.attempts, self.retries]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(ratio: f64) -> ActiveRetries {
        let (taken_at, base) = (PermitTaken::Decision, ActiveBase::Attempts);
        ActiveRetries { ratio, floor: 0, taken_at, base, whole: false, scope: Scope::Fleet }
    }

    /// Retries allowed when `n` attempts fail one after the other.
    fn allowed(rule: ActiveRetries, n: usize) -> usize {
        let mut active = Active::new(&rule);
        let mut calls = vec![Held::default(); n];
        for held in &mut calls {
            active.start_call(held);
            active.start_attempt(held, 1);
        }
        let mut allowed = 0;
        for held in &mut calls {
            active.end_attempt(held);
            if active.decide(held) {
                allowed += 1;
            } else {
                active.end_call(held);
            }
        }
        let retries = if rule.taken_at == PermitTaken::Decision { allowed } else { 0 };
        assert_eq!(active.counts(), [allowed as u32, 0, retries as u32]);
        calls.iter_mut().for_each(|held| active.end_call(held));
        assert_eq!(active.counts(), [0; 3]);
        allowed
    }

    /// envoy-mobile pull request 811: the base shrinks while the budget is needed, to half of it.
    #[test]
    fn a_base_of_attempts_shrinks_as_they_fail() {
        assert_eq!(allowed(rule(1.0), 6), 3);
        assert_eq!(allowed(rule(1.0), 1_000), 500);
        assert_eq!(allowed(rule(0.5), 6), 2);
        assert_eq!(allowed(rule(0.2), 6), 1);
        assert_eq!(allowed(ActiveRetries { floor: 3, ..rule(0.2) }, 6), 3);
        // 1.2 k < 201 retries of 1,000; Envoy's whole numbers make it one less.
        assert_eq!(allowed(rule(0.2), 1_000), 167);
        assert_eq!(allowed(ActiveRetries { whole: true, ..rule(0.2) }, 1_000), 166);
    }

    /// envoy issue 30205: a base that stays lets 20 % through, permits taken at the send let all.
    #[test]
    fn a_base_of_calls_stays() {
        let calls = ActiveRetries { base: ActiveBase::Calls, floor: 3, ..rule(0.2) };
        assert_eq!(allowed(calls, 1_000), 200);
        assert_eq!(allowed(ActiveRetries { taken_at: PermitTaken::Send, ..calls }, 1_000), 1_000);
        // From Envoy's documentation: 5 for 25 active requests, the floor of 3 for 2.
        for (base, retries) in [(25, 5), (2, 2)] {
            assert_eq!(allowed(calls, base), retries);
        }
    }
}
