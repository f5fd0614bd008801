//! Adaptive throttling: a client that sees the provider refuse sends less, by chance.
//!
//! Source: Google SRE book, chapter 21, "Handling Overload": an attempt is refused locally with the probability
//! max(0, (requests − K · accepts) / (requests + 1)), where requests counts those refused locally too, over the last
//! two minutes. So about K attempts are sent for each that is accepted, and some always get through to
//! find out when the provider is back.

use serde::{Deserialize, Serialize};

use super::{RetryOn, Scope, SlidingCounts};
use crate::units::{Span, Time};

/// A client that the provider refuses sends less: an attempt is not sent with probability max(0,
/// (requests - k·accepted) / (requests + 1)), counted over `window`, those not sent included
/// (Google SRE book, chapter 21).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThrottleRule {
    /// Attempts that are sent for each accepted one; 1 to 1000.
    #[serde(default = "two")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 1000.0)))]
    pub k: f64,
    /// The time that is looked back.
    #[serde(default = "two_minutes")]
    pub window: Span,
    /// In how many slices it moves, 1 to 1000.
    #[serde(default = "twelve")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub slices: u32,
    /// Which failures are refusals of the provider, written like `retry_on`; without it those that
    /// the layer retries. Everything else is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<RetryOn>,
    /// Who shares it.
    pub scope: Scope,
}

fn two() -> f64 {
    2.0
}

fn two_minutes() -> Span {
    Span::from_seconds(120)
}

fn twelve() -> u32 {
    12
}

impl ThrottleRule {
    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if !(1.0..=1_000.0).contains(&self.k) {
            return Some(("k", format!("k = {} is out of range; write 1 to 1000", self.k)));
        }
        if self.window == Span::ZERO {
            return Some(("window", "a window of 0s holds nothing; write more".to_owned()));
        }
        if !(1..=1_000).contains(&self.slices) {
            let text = format!("slices = {} is out of range; write 1 to 1000", self.slices);
            return Some(("slices", text));
        }
        None
    }
}

/// Kinds of entry.
const REQUESTS: usize = 0;
const ACCEPTS: usize = 1;

/// The state of one throttle.
#[derive(Clone, Debug)]
pub struct Throttle {
    window: SlidingCounts,
}

impl Throttle {
    /// A throttle that has seen nothing.
    pub fn new(rule: &ThrottleRule) -> Throttle {
        Throttle { window: SlidingCounts::new(rule.window, rule.slices) }
    }

    /// Whether an attempt may be sent at `now`; `draw` is uniform on [0, 1).
    pub fn admit(&mut self, rule: &ThrottleRule, now: Time, draw: f64) -> bool {
        let [requests, accepts] = self.window.sums(now).map(|count| count as f64);
        self.window.add(now, REQUESTS, 1);
        draw * (requests + 1.0) >= requests - rule.k * accepts
    }

    /// The provider has accepted an attempt.
    pub fn accepted(&mut self, now: Time) {
        self.window.add(now, ACCEPTS, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    fn rule(k: f64) -> ThrottleRule {
        ThrottleRule { k, window: two_minutes(), slices: twelve(), on: None, scope: Scope::Fleet }
    }

    /// With nothing accepted, the attempt after r requests is sent with probability 1 / (r + 1): of n
    /// requests the harmonic number H(n) are.
    #[test]
    fn without_accepts_a_harmonic_number_is_sent() {
        let (n, runs) = (1_000_u32, 2_000_u32);
        let sent: u32 = (0..runs)
            .map(|run| {
                let mut throttle = Throttle::new(&rule(2.0));
                let mut sent = 0;
                for request in 0..n {
                    let draw = Streams::new(9, run).throttle(0, request, 0).unit();
                    sent += u32::from(throttle.admit(&rule(2.0), 0, draw));
                }
                sent
            })
            .sum();
        let harmonic: f64 = (1..=n).map(|r| 1.0 / f64::from(r)).sum();
        // Of independent draws: variance below H(n).
        let error = (harmonic / f64::from(runs)).sqrt();
        let mean = f64::from(sent) / f64::from(runs);
        assert!((mean - harmonic).abs() < 4.0 * error, "{mean} ± {error} for {harmonic}");
    }

    #[test]
    fn as_long_as_half_is_accepted_nothing_is_refused() {
        let mut throttle = Throttle::new(&rule(2.0));
        for _ in 0..1_000 {
            assert!(throttle.admit(&rule(2.0), 0, 0.0));
            throttle.accepted(0);
            assert!(throttle.admit(&rule(2.0), 0, 0.0));
        }
        // Two requests more than twice the accepts: refused by the smallest draw.
        assert!(throttle.admit(&rule(2.0), 0, 0.0));
        assert!(!throttle.admit(&rule(2.0), 0, 0.0));
        // Two minutes later all is forgotten.
        assert!(throttle.admit(&rule(2.0), 130_000_000_000, 0.0));
    }
}
