//! A stream that grows, or dies down.

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::units::{Rate, Span};

/// Poisson arrivals whose rate goes in a straight line from one value to another, and stays there or
/// goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "RateRamp"))]
pub struct Ramp {
    /// Rate at t = 0.
    pub from: Rate,
    /// Rate at `over`, and from then on without `back`.
    pub to: Rate,
    /// How long the way takes, above 0s.
    pub over: Span,
    /// How long the way back to `from` takes, right after `over`; the rate stays there then. Above 0s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<Span>,
    /// No request comes at or after this instant; the horizon by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

impl Ramp {
    /// The rate by time.
    pub fn curve(&self) -> Curve {
        let up = (self.over, self.from, self.to);
        match self.back {
            None => Curve::then(&[up], self.to),
            Some(back) => Curve::then(&[up, (back, self.to, self.from)], self.from),
        }
    }

    /// When its rate no longer changes.
    pub fn end(&self) -> Span {
        let back = self.back.unwrap_or(Span::ZERO);
        Span::from_nanos(self.over.nanos().saturating_add(back.nanos()))
    }

    /// When it turns back.
    pub fn turn(&self) -> Option<Span> {
        self.back.map(|_| self.over)
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.from.is_zero() && self.to.is_zero() {
            let text = "a ramp from 0 to 0 brings no request; write a rate above 0/s";
            return Some(("to", text.to_owned()));
        }
        if self.back == Some(Span::ZERO) {
            let text = "the way back takes some time; write back above 0s, or leave it out";
            return Some(("back", text.to_owned()));
        }
        (self.over == Span::ZERO).then(|| {
            ("over", "a ramp takes some time; write over above 0s, or use poisson".to_owned())
        })
    }
}
