//! Some attempts take another service time.

use serde::{Deserialize, Serialize};

use super::covers;
use crate::rng::Streams;
use crate::units::Span;

/// Some attempts are served in `service` instead of the usual time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// How many, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
    /// What the share is of.
    pub of: Share,
    /// Their service time.
    pub service: Span,
    /// Its start: of services that start; 0s without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Span>,
    /// Its end; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
}

/// What a share of slow attempts is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Exactly this share of requests, evenly spread (every n-th), each on its first attempt only.
    Requests,
    /// Each attempt with this probability, independently.
    Attempts,
}

impl Slow {
    /// True when this fault, number `fault` of the provider, slows `attempt` (1 is the first) of
    /// `request`, whose service starts at `now`.
    pub fn hits(
        &self,
        now: u64,
        (fault, request, attempt): (u32, u32, u32),
        streams: &Streams,
    ) -> bool {
        covers(self.from, self.to, now)
            && match self.of {
                Share::Requests => {
                    let marks = |n: f64| (n * self.share + 1e-9).floor();
                    let request = f64::from(request);
                    attempt == 1 && marks(request + 1.0) > marks(request)
                }
                Share::Attempts => streams.fault(fault, request, attempt).unit() < self.share,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(share: f64, of: Share) -> Slow {
        Slow { share, of, service: Span::ZERO, from: None, to: None }
    }

    #[test]
    fn a_share_of_requests_is_exact() {
        let streams = Streams::new(1, 0);
        for (share, of_thousand) in [(0.08, 80), (0.15, 150), (0.0, 0), (1.0, 1_000), (0.333, 333)]
        {
            let slow = slow(share, Share::Requests);
            let hit = (0..1_000).filter(|&r| slow.hits(0, (0, r, 1), &streams)).count();
            assert_eq!(hit, of_thousand, "{share}");
            assert!(!(0..1_000).any(|r| slow.hits(0, (0, r, 2), &streams)));
        }
    }

    #[test]
    fn two_faults_strike_independently() {
        let slow = slow(0.5, Share::Attempts);
        let streams = Streams::new(1, 0);
        let both =
            |r: &u32| slow.hits(0, (0, *r, 1), &streams) && slow.hits(0, (1, *r, 1), &streams);
        let hit = (0..100_000).filter(both).count() as f64;
        // 25,000 expected, standard deviation 137.
        assert!((hit - 25_000.0).abs() < 4.0 * 137.0, "{hit}");
    }

    #[test]
    fn a_share_of_attempts_is_a_probability() {
        let slow = slow(0.08, Share::Attempts);
        let streams = Streams::new(1, 0);
        let hit = (0..100_000).filter(|&r| slow.hits(0, (0, r, 2), &streams)).count() as f64;
        // 8,000 expected, standard deviation 85.8.
        assert!((hit - 8_000.0).abs() < 4.0 * 85.8, "{hit}");
    }
}
