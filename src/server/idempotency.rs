//! Idempotency keys: a repeat of a request attaches to the work that is under way or done.
//!
//! Without them a request whose client has given up waiting is done again by its retry, with a
//! second effect and a second bill. Rules and lifetime as Stripe documents them
//! (<https://docs.stripe.com/api/idempotent_requests>: keys are kept for at least 24 hours), but that
//! work which ends in an error is forgotten, so that a retry may succeed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::{Span, Time};

/// What a provider does with idempotency keys: a repeat with the key of a request that is waiting
/// or in service waits for the same answer, and gets it at once when it is done. It takes no place,
/// no limit and no bill. Work that fails is forgotten. Faults and operators come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Idempotency {
    /// How long an answer is remembered, from the end of its work.
    #[serde(default = "a_day")]
    pub lifetime: Span,
}

fn a_day() -> Span {
    Span::from_seconds(24 * 3600)
}

/// What has become of the request of a key.
#[derive(Clone, Debug)]
enum Work {
    /// The attempt of this step is waiting or in service; those of the others wait for it.
    UnderWay { step: u32, attached: Vec<u32> },
    /// The attempt of this step was answered.
    Done { step: u32, at: Time },
}

/// What becomes of an attempt that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It is no repeat, or of work that is forgotten.
    New,
    /// It waits for the work that is under way.
    Attached,
    /// The answer is there.
    Answered,
}

/// The keys that a provider knows, by request.
#[derive(Clone, Debug)]
pub struct Keys {
    lifetime: u64,
    known: BTreeMap<u32, Work>,
}

impl Keys {
    /// None is known.
    pub fn new(rule: Idempotency) -> Keys {
        Keys { lifetime: rule.lifetime.nanos(), known: BTreeMap::new() }
    }

    /// The attempt that `request` sent at `step` arrives.
    pub fn arrive(&mut self, now: Time, request: u32, step: u32) -> Repeat {
        match self.known.get_mut(&request) {
            Some(Work::UnderWay { attached, .. }) => {
                attached.push(step);
                Repeat::Attached
            }
            Some(Work::Done { at, .. }) if now - *at < self.lifetime => Repeat::Answered,
            Some(Work::Done { .. }) | None => Repeat::New,
        }
    }

    /// That attempt is admitted.
    pub fn admit(&mut self, request: u32, step: u32) {
        self.known.insert(request, Work::UnderWay { step, attached: Vec::new() });
    }

    /// The work for `request` is done; returns the steps of those who have waited for it.
    pub fn finish(&mut self, now: Time, request: u32) -> Vec<u32> {
        let Some(Work::UnderWay { step, attached }) = self.known.remove(&request) else {
            return Vec::new();
        };
        self.known.insert(request, Work::Done { step, at: now });
        attached
    }

    /// The work for `request` has failed; returns the steps of those who have waited for it.
    pub fn forget(&mut self, request: u32) -> Vec<u32> {
        match self.known.remove(&request) {
            Some(Work::UnderWay { attached, .. }) => attached,
            Some(Work::Done { .. }) | None => Vec::new(),
        }
    }

    /// The client of the attempt sent at `step` goes away; true when the work for its request goes
    /// on, because it is that of another attempt or another one waits for it.
    pub fn hang_up(&mut self, request: u32, step: u32) -> bool {
        let Some(Work::UnderWay { step: works, attached }) = self.known.get_mut(&request) else {
            return false;
        };
        attached.retain(|waiting| *waiting != step);
        *works != step || !attached.is_empty()
    }

    /// True when repeats wait for the work for `request`.
    pub fn has_attached(&self, request: u32) -> bool {
        let work = self.known.get(&request);
        matches!(work, Some(Work::UnderWay { attached, .. }) if !attached.is_empty())
    }

    /// The step of the attempt whose work answers that of `step`.
    pub fn works_for(&self, request: u32, step: u32) -> u32 {
        match self.known.get(&request) {
            Some(Work::UnderWay { step, .. } | Work::Done { step, .. }) => *step,
            None => step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::new(Idempotency { lifetime: Span::from_nanos(100) })
    }

    #[test]
    fn a_repeat_attaches_and_is_answered_until_the_answer_is_forgotten() {
        let mut keys = keys();
        assert_eq!(keys.arrive(0, 7, 1), Repeat::New);
        keys.admit(7, 1);
        assert_eq!(keys.arrive(5, 7, 3), Repeat::Attached);
        assert_eq!(keys.arrive(5, 8, 1), Repeat::New, "another request");
        assert_eq!(keys.works_for(7, 3), 1);
        assert_eq!(keys.finish(10, 7), [3]);
        assert_eq!([109, 110].map(|at| keys.arrive(at, 7, 5)), [Repeat::Answered, Repeat::New]);
    }

    #[test]
    fn failed_work_is_forgotten() {
        let mut keys = keys();
        keys.admit(7, 1);
        keys.arrive(5, 7, 3);
        assert_eq!(keys.forget(7), [3]);
        assert_eq!(keys.arrive(6, 7, 5), Repeat::New);
        assert!(keys.forget(7).is_empty());
    }

    #[test]
    fn work_goes_on_while_anybody_waits_for_it() {
        let mut keys = keys();
        keys.admit(7, 1);
        keys.arrive(5, 7, 3);
        assert!(keys.hang_up(7, 1), "the second one waits");
        assert!(keys.hang_up(7, 3), "it is the work of the first one");
        assert!(!keys.hang_up(7, 1), "nobody waits");
        assert!(!keys.hang_up(8, 1), "nothing is known");
    }
}
