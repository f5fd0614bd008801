//! Faults on a timeline.
//!
//! | fault | strikes |
//! | --- | --- |
//! | `refuse_connections` | before anything is said: the connection is reset |
//! | `outage` | on arrival: every attempt, with a status or with silence |
//! | `error` | on arrival or after the service: a share of attempts |
//! | `slow` | when service starts: a share of attempts takes another time |
//! | `slow_down` | all service that is under way |
//! | `capacity` | the places, and what is in them |
//! | `cache_loss` | the answer cache |
//! | `stream_error` | during service: a share of streamed answers breaks off |

mod cache_loss;
mod capacity;
mod error;
mod outage;
mod slow;
mod slow_down;
mod stream;

pub use cache_loss::CacheLoss;
pub use capacity::{Capacity, Work};
pub use error::{ErrorRate, Strikes};
pub use outage::Outage;
pub use slow::{Share, Slow};
pub use slow_down::{Pace, SlowDown};
pub use stream::{Break, How, StreamError, When};

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// One fault, written as a table with one key that names its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Every attempt is refused, or never answered, for a while.
    Outage(Outage),
    /// Some attempts take another service time.
    Slow(Slow),
    /// All service takes longer for a while.
    SlowDown(SlowDown),
    /// Some attempts end in an error.
    Error(ErrorRate),
    /// Places are missing for a while.
    Capacity(Capacity),
    /// A part of the answer cache is lost.
    CacheLoss(CacheLoss),
    /// Every connection is reset for a while.
    RefuseConnections(Refuse),
    /// Some streamed answers break off.
    StreamError(StreamError),
}

/// Connections are reset during [from, to).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refuse {
    /// Its start.
    pub from: Span,
    /// Its end; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
}

impl Refuse {
    /// True when connections are reset at `now`.
    #[inline]
    pub fn covers(&self, now: u64) -> bool {
        covers(Some(self.from), self.to, now)
    }
}

/// True when `now` lies in [from, to).
#[inline]
pub(super) fn covers(from: Option<Span>, to: Option<Span>, now: u64) -> bool {
    from.is_none_or(|from| from.nanos() <= now) && to.is_none_or(|to| now < to.nanos())
}

impl Fault {
    /// The first instant at which it strikes, and the first at which it no longer does.
    pub fn period(&self) -> (Span, Option<Span>) {
        match self {
            Fault::Outage(fault) => (fault.from, fault.to),
            Fault::Slow(fault) => (fault.from.unwrap_or_default(), fault.to),
            Fault::SlowDown(fault) => (fault.from, fault.to),
            Fault::Error(fault) => (fault.from.unwrap_or_default(), fault.to),
            Fault::Capacity(fault) => (fault.from, fault.to),
            Fault::RefuseConnections(fault) => (fault.from, fault.to),
            Fault::CacheLoss(fault) => (fault.at, Some(fault.at)),
            Fault::StreamError(_) => (Span::ZERO, None),
        }
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let (from, to) = self.period();
        let own = match self {
            Fault::Outage(outage) => outage.problem(),
            Fault::Slow(slow) => no_share(slow.share),
            Fault::SlowDown(slow_down) => slow_down.problem(),
            Fault::Error(error) => no_error(error.status).or_else(|| no_share(error.share)),
            Fault::StreamError(stream) => stream.problem(),
            Fault::CacheLoss(loss) => loss.problem(),
            Fault::Capacity(_) | Fault::RefuseConnections(_) => None,
        };
        own.or_else(|| backwards(from, to))
    }
}

/// A period that ends before it starts.
pub(super) fn backwards(from: Span, to: Option<Span>) -> Option<(&'static str, String)> {
    let to = to.filter(|to| *to < from)?;
    Some(("to", format!("it ends at {to}, before it starts at {from}; swap from and to")))
}

pub(super) fn no_error(status: u16) -> Option<(&'static str, String)> {
    let good = (400..=599).contains(&status);
    (!good).then(|| ("status", format!("the status {status} is not an error; write 400 to 599")))
}

pub(super) fn no_share(share: f64) -> Option<(&'static str, String)> {
    let good = (0.0..=1.0).contains(&share);
    (!good).then(|| ("share", format!("the share {share} is out of range; write 0 to 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_half_open() {
        let second = 1_000_000_000;
        let refuse = Refuse { from: Span::from_seconds(1), to: Some(Span::from_seconds(2)) };
        let at = |ns| refuse.covers(ns);
        assert_eq!(
            [at(second - 1), at(second), at(2 * second - 1), at(2 * second)],
            [false, true, true, false]
        );
        assert!(Refuse { to: None, ..refuse }.covers(u64::MAX));
        assert!(covers(None, None, 0));
    }
}
