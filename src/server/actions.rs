//! What operators do in an incident, on the same timeline as faults.
//!
//! Without them an incident cannot be replayed: DynamoDB's metadata service in 2015 came back when
//! its requests were paused and capacity was added (<https://aws.amazon.com/message/5467D2/>),
//! Spotify's in 2013 when connections were refused (<https://labs.spotify.com/2013/06/04/incident-management-at-spotify/>).

use serde::{Deserialize, Serialize};

use super::faults::{backwards, covers, no_error, no_share};
use super::limits::{Kind as LimitKind, RateLimit};
use crate::rng::Streams;
use crate::units::{Rate, Span, Time};

/// One action, written as a table with one key that names its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// No attempt is let in for a while.
    Pause(Pause),
    /// A growing share of attempts is let in.
    Ramp(Ramp),
    /// Connections are reset for a while.
    CutOff(CutOff),
    /// The provider has another number of places from now on.
    Concurrency(SetConcurrency),
    /// A limit has another rate from now on.
    Limit(SetLimit),
    /// The timeout of a client layer changes.
    Timeout(SetTimeout),
}

/// During [from, to) no attempt is let in; admitted work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Its start.
    pub from: Span,
    /// Its end.
    pub to: Span,
    /// What becomes of arrivals.
    #[serde(default)]
    pub arrivals: PausedArrivals,
    /// The status of a refusal, 400 to 599.
    #[serde(default = "unavailable")]
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: u16,
}

/// What a pause does with arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PausedArrivals {
    /// They are refused at once.
    #[default]
    Refused,
    /// They are held until the pause ends, and then arrive all at once.
    Held,
}

/// During [from, to) a share of attempts is let in that goes evenly from `start` to `end`, drawn
/// anew for each attempt; the others are refused at once. After it all are let in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "ShareRamp"))]
pub struct Ramp {
    /// Its start.
    pub from: Span,
    /// Its end.
    pub to: Span,
    /// Share let in at the start, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub start: f64,
    /// Share let in at the end, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub end: f64,
    /// The status of a refusal, 400 to 599.
    #[serde(default = "unavailable")]
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: u16,
}

/// During [from, to) connections are reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CutOff {
    /// Its start.
    pub from: Span,
    /// Its end.
    pub to: Span,
}

/// From `at` on the provider has this many places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetConcurrency {
    /// When.
    pub at: Span,
    /// Places.
    pub places: u32,
}

/// From `at` on a limit has another rate, and another burst if one is written. What a bucket holds
/// stays, as far as it has room; what a window has let through stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetLimit {
    /// When.
    pub at: Span,
    /// Which limit; one on attempts or tokens per time.
    pub of: LimitKind,
    /// The new rate.
    pub rate: Rate,
    /// The new burst of a bucket; the old one without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u64>,
}

impl SetLimit {
    /// The limit as it is then.
    pub fn changed(&self, limit: &RateLimit) -> RateLimit {
        RateLimit { rate: self.rate, burst: self.burst.or(limit.burst), ..*limit }
    }
}

/// Attempts of the client's layer that start at or after `at` have this timeout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetTimeout {
    /// When.
    pub at: Span,
    /// The name of the layer.
    pub layer: String,
    /// The new limit of one attempt.
    pub timeout: Span,
}

fn unavailable() -> u16 {
    503
}

impl Action {
    /// Until when a connection that is taken up at `now` is held.
    #[inline]
    pub fn holds_until(&self, now: Time) -> Option<Time> {
        match self {
            Action::Pause(pause) if pause.arrivals == PausedArrivals::Held => {
                pause.covers(now).then_some(pause.to.nanos())
            }
            _ => None,
        }
    }

    /// The status with which this action, number `action` of the scenario, refuses the attempt
    /// that `request` sent at `step`.
    #[inline]
    pub fn refuses(
        &self,
        now: Time,
        (action, request, step): (u32, u32, u32),
        streams: &Streams,
    ) -> Option<u16> {
        match self {
            Action::Pause(pause) => pause.covers(now).then_some(pause.status),
            Action::Ramp(ramp) => {
                let share = ramp.share(now)?;
                let drawn = streams.action(action, request, step).unit();
                (drawn >= share).then_some(ramp.status)
            }
            _ => None,
        }
    }

    /// True when connections are refused at `now`.
    #[inline]
    pub fn cuts_off(&self, now: Time) -> bool {
        matches!(self, Action::CutOff(cut) if covers(Some(cut.from), Some(cut.to), now))
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        match self {
            Action::Pause(pause) => {
                no_error(pause.status).or_else(|| backwards(pause.from, Some(pause.to)))
            }
            Action::Ramp(ramp) => no_error(ramp.status)
                .or_else(|| no_share(ramp.start).map(|(_, text)| ("start", text)))
                .or_else(|| no_share(ramp.end).map(|(_, text)| ("end", text)))
                .or_else(|| backwards(ramp.from, Some(ramp.to))),
            Action::CutOff(cut) => backwards(cut.from, Some(cut.to)),
            Action::Timeout(set) if set.timeout == Span::ZERO => {
                Some(("timeout", "a timeout of 0s fails every attempt; write more".to_owned()))
            }
            Action::Concurrency(_) | Action::Limit(_) | Action::Timeout(_) => None,
        }
    }
}

impl Pause {
    fn covers(&self, now: Time) -> bool {
        covers(Some(self.from), Some(self.to), now)
    }
}

impl Ramp {
    /// The share that is let in at `now`; None when all are.
    fn share(&self, now: Time) -> Option<f64> {
        let on = covers(Some(self.from), Some(self.to), now);
        let gone = now.saturating_sub(self.from.nanos()) as f64;
        let whole = (self.to.nanos() - self.from.nanos().min(self.to.nanos())) as f64;
        on.then(|| self.start + (self.end - self.start) * (gone / whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_lets_in_its_share() {
        let (from, to) = (Span::from_nanos(1_000), Span::from_nanos(2_000));
        let ramp = Ramp { from, to, start: 0.25, end: 0.75, status: 503 };
        let shares = [999, 1_000, 1_250, 1_500, 2_000].map(|at| ramp.share(at));
        assert_eq!(shares, [None, Some(0.25), Some(0.375), Some(0.5), None]);
        let streams = Streams::new(1, 0);
        let refused = |r: &u32| Action::Ramp(ramp).refuses(1_250, (0, *r, 1), &streams).is_some();
        let count = (0..100_000).filter(refused).count() as f64;
        // 62,500 expected, standard deviation 153.1.
        assert!((count - 62_500.0).abs() < 4.0 * 153.1, "{count}");
    }

    #[test]
    fn a_pause_refuses_or_holds() {
        let (from, to) = (Span::from_nanos(10), Span::from_nanos(20));
        let streams = Streams::new(1, 0);
        let pause = |arrivals| Action::Pause(Pause { from, to, arrivals, status: 503 });
        let refused = pause(PausedArrivals::Refused);
        assert_eq!(refused.refuses(10, (0, 0, 1), &streams), Some(503));
        assert_eq!(refused.refuses(20, (0, 0, 1), &streams), None);
        assert_eq!(refused.holds_until(15), None);
        let held = pause(PausedArrivals::Held);
        assert_eq!(
            [9, 10, 19, 20].map(|at| held.holds_until(at)),
            [None, Some(20), Some(20), None]
        );
    }
}
