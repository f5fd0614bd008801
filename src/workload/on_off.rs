//! A stream that comes in turns.

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::units::{Rate, Span};

/// Poisson arrivals at one rate and at another in turn, beginning with `on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Rate while it is on.
    pub rate: Rate,
    /// Rate while it is off.
    #[serde(default = "nothing")]
    pub off_rate: Rate,
    /// How long it is on, above 0s.
    pub on: Span,
    /// How long it is off, above 0s.
    pub off: Span,
    /// No request comes at or after this instant; the horizon by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

fn nothing() -> Rate {
    Rate::per_second(0)
}

impl OnOff {
    /// The rate by time.
    pub fn curve(&self) -> Curve {
        let on = (self.on, self.rate, self.rate);
        Curve::again(&[on, (self.off, self.off_rate, self.off_rate)])
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.rate.is_zero() {
            let text = "a rate of 0 brings no request while it is on; write a rate above 0/s";
            return Some(("rate", text.to_owned()));
        }
        let spans = [("on", self.on), ("off", self.off)];
        let (key, _) = spans.into_iter().find(|(_, span)| *span == Span::ZERO)?;
        let text = format!("{key} = 0s is no turn; write a span above 0s, or use poisson");
        Some((key, text))
    }
}
