//! Additive increase, multiplicative decrease.
//!
//! Source: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer
//! Networks", Computer Networks and ISDN Systems 17, 1989.

use serde::{Deserialize, Serialize};

use super::Sign;
use crate::client::Scope;
use crate::units::{Rate, Span, Time};

/// The rate is `start` at first; every success adds `increase` up to `max`, every 429 multiplies it
/// with `decrease`, not below `min`, and not again within `hold`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Aimd {
    /// The rate at first.
    pub start: Rate,
    /// The lowest rate, above 0.
    pub min: Rate,
    /// The highest rate.
    pub max: Rate,
    /// What a success adds to the rate, in attempts per second; 0 to 1e9.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub increase: f64,
    /// What a 429 multiplies the rate with, above 0, below 1.
    #[serde(default = "half")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0)))]
    pub decrease: f64,
    /// For so long after a decrease there is no other.
    #[serde(default)]
    pub hold: Span,
    /// Who shares it.
    pub scope: Scope,
}

fn half() -> f64 {
    0.5
}

impl Aimd {
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let Aimd { start, min, max, increase, decrease, .. } = *self;
        if min.hertz() > max.hertz() {
            return Some(("max", format!("max = {max} is below min = {min}; swap them")));
        }
        if !(min.hertz()..=max.hertz()).contains(&start.hertz()) {
            let text = format!("start = {start} is not between min = {min} and max = {max}");
            return Some(("start", text));
        }
        if !(0.0..=1e9).contains(&increase) {
            let text = format!("increase = {increase} is out of range; write 0 to 1e9");
            return Some(("increase", text));
        }
        let text =
            || format!("decrease = {decrease} is out of range; write a factor above 0, below 1");
        (!(decrease > 0.0 && decrease < 1.0)).then(|| ("decrease", text()))
    }
}

/// What an AIMD pace remembers.
#[derive(Clone, Debug)]
pub(super) struct AimdState {
    rule: Aimd,
    decreased_at: Option<Time>,
}

impl AimdState {
    pub(super) fn new(rule: Aimd) -> AimdState {
        AimdState { rule, decreased_at: None }
    }

    /// The rate after an attempt has ended, when it has been `rate`, in attempts per second.
    pub(super) fn learn(&mut self, sign: Sign, now: Time, rate: f64) -> f64 {
        let Aimd { min, max, increase, decrease, hold, .. } = self.rule;
        let held = self.decreased_at.is_some_and(|at| now < at.saturating_add(hold.nanos()));
        match sign {
            Sign::Answered => (rate + increase).min(max.hertz()),
            Sign::Throttled if !held => {
                self.decreased_at = Some(now);
                (rate * decrease).max(min.hertz())
            }
            Sign::Throttled | Sign::Failed => rate,
        }
    }
}
