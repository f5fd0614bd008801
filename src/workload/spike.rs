//! A stream with one spike.

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::units::{Rate, Span};

/// Poisson arrivals at one rate, and at a higher one in [from, to).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Spike {
    /// Rate before and after.
    pub rate: Rate,
    /// Rate during the spike, above `rate`.
    pub peak: Rate,
    /// When the spike begins.
    pub from: Span,
    /// When it is over, after `from`.
    pub to: Span,
    /// No request comes at or after this instant; the horizon by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

impl Spike {
    /// The rate by time.
    pub fn curve(&self) -> Curve {
        let length = Span::from_nanos(self.to.nanos().saturating_sub(self.from.nanos()));
        let before = (self.from, self.rate, self.rate);
        Curve::then(&[before, (length, self.peak, self.peak)], self.rate)
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let Spike { rate, peak, from, to, .. } = self;
        if peak.hertz() <= rate.hertz() {
            let text =
                format!("a peak of {peak} is not above the rate of {rate}; write a higher peak");
            return Some(("peak", text));
        }
        (to <= from).then(|| {
            (
                "to",
                format!(
                    "the spike is over at {to}, not after it begins at {from}; write a later end"
                ),
            )
        })
    }
}
