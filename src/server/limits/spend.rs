//! A cap on spending: once it is reached nothing more is served, and waiting does not help.
//!
//! The Claude API answers 429 with `enforced_spend_limit_reached` and without Retry-After until
//! the first of the next month (<https://platform.claude.com/docs/en/api/rate-limits>).

use serde::{Deserialize, Serialize};

use crate::answer::Statement;

/// Once so many dollars have been billed nothing is let through until the horizon; its refusals
/// have no Retry-After.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpendCap {
    /// US dollars, 0 to 1e9; work that has begun when they are spent is finished and billed.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub usd: f64,
    /// What a refusal says beside its status 429.
    #[serde(default = "spent")]
    pub answer: Statement,
}

fn spent() -> Statement {
    let error_code = Some("enforced_spend_limit_reached".to_owned());
    Statement { error_code, ..Statement::default() }
}

/// Dollars are counted in 1e-12, so that sums are exact: a dollar per million tokens is a million
/// of them per token.
const PER_DOLLAR: f64 = 1e12;

impl SpendCap {
    /// The cap in 1e-12 dollars.
    pub(super) fn units(&self) -> u128 {
        (self.usd * PER_DOLLAR + 0.5) as u128
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let usd = self.usd;
        let good = (0.0..=1e9).contains(&usd);
        (!good).then(|| ("usd", format!("usd = {usd} is out of range; write 0 to 1e9 dollars")))
    }
}
