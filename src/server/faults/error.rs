//! A partial failure: a share of attempts ends in an error.

use serde::{Deserialize, Serialize};

use super::covers;
use crate::rng::Streams;
use crate::units::Span;

/// Each attempt ends with `status` instead of an answer, with probability `share`, and is not
/// billed. Instances that answer with errors at once attract more than their share of retries;
/// errors after the service cost a place for as long as an answer does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ErrorRate {
    /// The probability, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
    /// The status, 400 to 599.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: u16,
    /// When in the life of an attempt.
    #[serde(default)]
    pub strikes: Strikes,
    /// Its start: of arrivals, or of ends of service; 0s without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Span>,
    /// Its end; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
}

/// When in the life of an attempt an error strikes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strikes {
    /// At the end of its whole service.
    #[default]
    AfterService,
    /// When it arrives, before any limit counts it.
    OnArrival,
}

impl ErrorRate {
    /// True when this fault, number `fault` of the provider, strikes the attempt that `request`
    /// sent at `step`, being at the point `strikes` of its life `now`.
    #[inline]
    pub fn hits(
        &self,
        strikes: Strikes,
        now: u64,
        (fault, request, step): (u32, u32, u32),
        streams: &Streams,
    ) -> bool {
        self.strikes == strikes
            && covers(self.from, self.to, now)
            && streams.fault(fault, request, step).unit() < self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_probability_at_its_point_and_in_its_period() {
        let error = ErrorRate {
            share: 0.1,
            status: 500,
            strikes: Strikes::OnArrival,
            from: Some(Span::from_nanos(10)),
            to: Some(Span::from_nanos(20)),
        };
        let streams = Streams::new(1, 0);
        let hits = |strikes, now| {
            (0..100_000).filter(|&r| error.hits(strikes, now, (0, r, 1), &streams)).count() as f64
        };
        // 10,000 expected, standard deviation 94.9.
        assert!((hits(Strikes::OnArrival, 10) - 10_000.0).abs() < 4.0 * 94.9);
        assert_eq!(hits(Strikes::OnArrival, 9), 0.0);
        assert_eq!(hits(Strikes::OnArrival, 20), 0.0);
        assert_eq!(hits(Strikes::AfterService, 10), 0.0);
    }
}
