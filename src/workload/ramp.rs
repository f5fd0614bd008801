//! A stream that grows, or dies down.

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::units::{Rate, Span};

/// Poisson arrivals whose rate goes in a straight line from one value to another, and stays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// Rate at t = 0.
    pub from: Rate,
    /// Rate from `over` on.
    pub to: Rate,
    /// How long the way takes, above 0s.
    pub over: Span,
    /// No request comes at or after this instant; the horizon by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

impl Ramp {
    /// The rate by time.
    pub fn curve(&self) -> Curve {
        Curve::then(&[(self.over, self.from, self.to)], self.to)
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.from.is_zero() && self.to.is_zero() {
            let text = "a ramp from 0 to 0 brings no request; write a rate above 0/s";
            return Some(("to", text.to_owned()));
        }
        (self.over == Span::ZERO).then(|| {
            ("over", "a ramp takes some time; write over above 0s, or use poisson".to_owned())
        })
    }
}
