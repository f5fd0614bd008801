//! All clients at one instant: the thundering herd.

use serde::{Deserialize, Serialize};

use crate::rng::{Purpose, Streams};
use crate::units::{Span, Time};

/// One request per client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// When the first request comes.
    #[serde(default)]
    pub at: Span,
    /// Requests are spread uniformly over [at, at + spread); 0s: all at one instant.
    #[serde(default)]
    pub spread: Span,
}

impl Burst {
    /// When `request` comes.
    pub fn arrival(&self, request: u32, streams: &Streams) -> Time {
        if self.spread == Span::ZERO {
            return self.at.nanos();
        }
        let mut stream = streams.stream(Purpose::Arrival, request, 0);
        self.at.nanos() + stream.below(self.spread.nanos())
    }
}
