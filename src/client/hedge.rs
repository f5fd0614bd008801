//! Hedging: when an answer takes long, a second attempt is sent without taking the first one back.
//!
//! Source: Dean and Barroso, "The Tail at Scale", CACM 56(2), 2013. The first answer wins. What becomes of the
//! others is the provider's matter (`cancelled_work`): they are computed and billed, or stopped.

use serde::{Deserialize, Serialize};

use super::Ratio;
use crate::units::Span;

/// An attempt that has not ended `after` so long gets another one beside it, and that one too, up
/// to `max`; the first answer wins, and a failure counts only when nothing else is in flight. What
/// becomes of the others is the provider's matter (`cancelled_work`): computed and billed, or
/// stopped. Hedges share the permit, the timeout and the attempt of the one they stand beside, and
/// count as retries in peaks. Not for streams, nor on a `host` with limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hedge {
    /// How long an attempt takes before it gets another beside it; above 0s.
    pub after: Span,
    /// Most of them per attempt, each `after` the one before; 1 to 3.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 3)))]
    pub max: u32,
    /// A budget of hedges per call into the layer; without it, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Ratio>,
}

fn one() -> u32 {
    1
}

impl Hedge {
    /// Most hedges of one attempt.
    pub const MOST: usize = 3;

    /// What is wrong with the parameters: the path below `hedge` and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        if self.after == Span::ZERO {
            let text = "after = 0s doubles every attempt; write more";
            return Some((vec!["after"], text.to_owned()));
        }
        if !(1..=Hedge::MOST as u32).contains(&self.max) {
            let text = format!("max = {} is out of range; write 1 to {}", self.max, Hedge::MOST);
            return Some((vec!["max"], text));
        }
        let (key, text) = self.budget.as_ref()?.problem()?;
        Some((vec!["budget", key], text))
    }
}

/// The attempts that a request has in flight beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// The steps at which they were sent, the first attempt before its hedges; 0 for none.
    steps: [u32; 1 + Hedge::MOST],
    hedges: u8,
}

impl Flight {
    /// A single attempt, sent at `step`.
    pub fn of(step: u32) -> Flight {
        Flight { steps: [step, 0, 0, 0], hedges: 0 }
    }

    /// Hedges sent so far.
    pub fn hedges(&self) -> u32 {
        self.hedges.into()
    }

    /// One more is sent at `step`; at most [`Hedge::MOST`].
    pub fn add(&mut self, step: u32) {
        self.hedges += 1;
        self.steps[usize::from(self.hedges)] = step;
    }

    fn position(&self, step: u32) -> Option<usize> {
        self.steps.iter().position(|s| *s == step && step != 0)
    }

    /// True when that of `step` is in flight.
    #[inline]
    pub fn has(&self, step: u32) -> bool {
        self.position(step).is_some()
    }

    /// True when that of `step` is the first one in flight, no hedge.
    pub fn is_first(&self, step: u32) -> bool {
        self.position(step) == Some(0)
    }

    /// Hedges that were sent after that of `step`, which is in flight.
    pub fn sent_after(&self, step: u32) -> u32 {
        self.position(step).map_or(0, |position| self.hedges() - position as u32)
    }

    /// That of `step` has ended; true when none is left.
    pub fn remove(&mut self, step: u32) -> bool {
        if let Some(position) = self.position(step) {
            self.steps[position] = 0;
        }
        self.steps == [0; 1 + Hedge::MOST]
    }

    /// Takes all that are in flight.
    pub fn take(&mut self) -> impl Iterator<Item = u32> + use<> {
        std::mem::take(self).steps.into_iter().filter(|step| *step != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_ends_a_flight() {
        let mut flight = Flight::of(4);
        flight.add(6);
        flight.add(9);
        assert!(
            flight.has(4) && flight.has(6) && flight.has(9) && !flight.has(0) && !flight.has(5)
        );
        assert_eq!(flight.hedges(), 2);
        assert_eq!([4, 6, 9].map(|step| flight.sent_after(step)), [2, 1, 0]);
        assert!(flight.is_first(4) && !flight.is_first(6));
        assert!(!flight.remove(6) && !flight.remove(4) && !flight.has(4));
        assert!(!flight.is_first(4) && !flight.is_first(0));
        assert!(flight.remove(9));
        flight.add(11);
        assert_eq!(flight.take().collect::<Vec<_>>(), [11]);
        assert!(!flight.has(11));
    }
}
