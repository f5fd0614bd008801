//! A Poisson stream of requests.

use serde::{Deserialize, Serialize};

use crate::dist::Sampler;
use crate::rng::{Purpose, Streams};
use crate::units::{NANOS_PER_SECOND, Rate, Span, Time};

/// Independent exponential gaps between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Demand: new requests per unit of time.
    pub rate: Rate,
    /// No request comes at or after this instant; the horizon by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

impl Poisson {
    /// The instant of `request`, given that of the one before it.
    pub fn next(&self, previous: Time, request: u32, streams: &Streams) -> Time {
        let mean = self.rate.period() as f64 / self.rate.events() as f64;
        let gap = Sampler::Exponential { mean, most: Span::LONGEST.nanos() };
        previous.saturating_add(gap.sample(streams.stream(Purpose::Arrival, request, 0)))
    }

    /// Expected number of requests until `horizon`.
    pub fn expected(&self, horizon: Span) -> f64 {
        let span = self.duration.map_or(horizon, |d| d.min(horizon));
        self.rate.hertz() * (span.nanos() as f64 / NANOS_PER_SECOND as f64)
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        self.rate
            .is_zero()
            .then(|| ("rate", "a rate of 0 brings no request; write a rate above 0/s".to_owned()))
    }
}
