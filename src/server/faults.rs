//! Faults on a timeline.

use serde::{Deserialize, Serialize};

use crate::answer::{Failure, Hint, Rejection, Statement};
use crate::rng::Streams;
use crate::units::Span;

/// One fault, written as a table with one key that names its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Every attempt is refused with a status for a while.
    Outage(Outage),
    /// Some attempts take another service time.
    Slow(Slow),
    /// Some attempts end in an error after their service.
    Error(ErrorRate),
}

/// A total outage during [from, to). Work in service at its start finishes and is billed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// Its start.
    pub from: Span,
    /// Its end; without it the outage lasts for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
    /// The status of every answer, 400 to 599.
    pub status: u16,
    /// What an answer says beside its status: headers, error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Statement>,
    /// Only this many attempts of a request are refused; without it all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// Some attempts are served in `service` instead of the usual time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// How many, 0 to 1.
    pub share: f64,
    /// What the share is of.
    pub of: Share,
    /// Their service time.
    pub service: Span,
}

/// Each attempt ends with `status` instead of an answer, with probability `share`, after its whole
/// service and without being billed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRate {
    /// How many, 0 to 1.
    pub share: f64,
    /// The status, 400 to 599.
    pub status: u16,
}

/// What a share of slow attempts is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Exactly this share of requests, evenly spread (every n-th), each on its first attempt only.
    Requests,
    /// Each attempt with this probability, independently.
    Attempts,
}

impl Outage {
    /// True when the outage is on at `now`.
    #[inline]
    pub fn covers(&self, now: u64) -> bool {
        self.from.nanos() <= now && self.to.is_none_or(|to| now < to.nanos())
    }

    /// True when attempt number `attempt` (1 is the first) of a request is refused at `now`.
    #[inline]
    pub fn refuses(&self, now: u64, attempt: u32) -> bool {
        self.covers(now) && self.attempts.is_none_or(|most| attempt <= most)
    }

    /// What a refused attempt is answered.
    pub fn failure(&self) -> Failure<'_> {
        let hint = self.answer.as_ref().map_or(Hint::None, Hint::Stated);
        Failure::Status(Rejection { status: self.status, hint })
    }
}

impl Slow {
    /// True when this fault, number `fault` of the provider, slows `attempt` (1 is the first) of
    /// `request`.
    pub fn hits(&self, fault: u32, request: u32, attempt: u32, streams: &Streams) -> bool {
        match self.of {
            Share::Requests => {
                let marks = |n: f64| (n * self.share + 1e-9).floor();
                let request = f64::from(request);
                attempt == 1 && marks(request + 1.0) > marks(request)
            }
            Share::Attempts => streams.fault(fault, request, attempt).unit() < self.share,
        }
    }
}

impl ErrorRate {
    /// True when this fault, number `fault` of the provider, strikes `attempt` of `request`.
    pub fn hits(&self, fault: u32, request: u32, attempt: u32, streams: &Streams) -> bool {
        streams.fault(fault, request, attempt).unit() < self.share
    }
}

impl Fault {
    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        match self {
            Fault::Outage(outage) => {
                let backwards = outage.to.filter(|to| *to < outage.from).map(|to| {
                    let from = outage.from;
                    (
                        "to",
                        format!(
                            "the outage ends at {to}, before it starts at {from}; swap from and to"
                        ),
                    )
                });
                no_error(outage.status).or(backwards)
            }
            Fault::Slow(slow) => no_share(slow.share),
            Fault::Error(error) => no_error(error.status).or_else(|| no_share(error.share)),
        }
    }
}

fn no_error(status: u16) -> Option<(&'static str, String)> {
    let good = (400..=599).contains(&status);
    (!good).then(|| ("status", format!("the status {status} is not an error; write 400 to 599")))
}

fn no_share(share: f64) -> Option<(&'static str, String)> {
    let good = (0.0..=1.0).contains(&share);
    (!good).then(|| ("share", format!("the share {share} is out of range; write 0 to 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_half_open() {
        let s = Span::from_seconds;
        let outage =
            Outage { from: s(1), to: Some(s(2)), status: 503, answer: None, attempts: None };
        let at = |ns| outage.covers(ns);
        let second = 1_000_000_000;
        assert_eq!(
            [at(second - 1), at(second), at(2 * second - 1), at(2 * second)],
            [false, true, true, false]
        );
        assert!(Outage { to: None, ..outage }.covers(u64::MAX));
    }

    #[test]
    fn a_share_of_requests_is_exact() {
        let streams = Streams::new(1, 0);
        for (share, of_thousand) in [(0.08, 80), (0.15, 150), (0.0, 0), (1.0, 1_000), (0.333, 333)]
        {
            let slow = Slow { share, of: Share::Requests, service: Span::ZERO };
            let hit = (0..1_000).filter(|&r| slow.hits(0, r, 1, &streams)).count();
            assert_eq!(hit, of_thousand, "{share}");
            assert!(!(0..1_000).any(|r| slow.hits(0, r, 2, &streams)));
        }
    }

    #[test]
    fn two_faults_strike_independently() {
        let slow = Slow { share: 0.5, of: Share::Attempts, service: Span::ZERO };
        let streams = Streams::new(1, 0);
        let both = |r: &u32| slow.hits(0, *r, 1, &streams) && slow.hits(1, *r, 1, &streams);
        let hit = (0..100_000).filter(both).count() as f64;
        // 25,000 expected, standard deviation 137.
        assert!((hit - 25_000.0).abs() < 4.0 * 137.0, "{hit}");
    }

    #[test]
    fn a_share_of_attempts_is_a_probability() {
        let slow = Slow { share: 0.08, of: Share::Attempts, service: Span::ZERO };
        let streams = Streams::new(1, 0);
        let hit = (0..100_000).filter(|&r| slow.hits(0, r, 2, &streams)).count() as f64;
        // 8,000 expected, standard deviation 85.8.
        assert!((hit - 8_000.0).abs() < 4.0 * 85.8, "{hit}");
    }
}
