//! Requests with an idempotency key: what repeats attach to, and effects that happen twice.

use super::simulation::Simulation;
use super::wire::Word;
use super::{GroupPlan, Moment, Observer};
use crate::answer::Failure;
use crate::engine::{Class, Pending};
use crate::server::{Job, Keys, Repeat};
use crate::units::Time;

impl GroupPlan {
    /// True when its requests have a key.
    pub(super) fn sends_key(&self) -> bool {
        self.idempotency_key == Some(true)
    }
}

impl<'a, O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'a, O, P, BITS, PLAIN>
{
    /// The keys that matter to the attempt sent at `step`.
    fn keys(&mut self, request: u32, step: u32) -> Option<&mut Keys> {
        let (g, _) = self.split(request);
        let provider = self.provider_of(step);
        self.providers[provider].keys.as_mut().filter(|_| self.groups[g].plan.sends_key())
    }

    /// True when an attempt repeats what is under way or done: then it waits, until `limit`, or is
    /// answered.
    pub(super) fn is_repeat(&mut self, request: u32, step: u32, limit: Time) -> bool {
        let now = self.events.now();
        let Some(keys) = self.keys(request, step) else { return false };
        let repeat = keys.arrive(now, request, step);
        if repeat == Repeat::New {
            return false;
        }
        self.books(request).attached += 1;
        self.tell_of(request, Moment::Attached { step, answered: repeat == Repeat::Answered });
        self.schedule(limit, Class::Timeout, request, step);
        if repeat == Repeat::Answered {
            self.books(request).replayed += 1;
            self.send_answer(request, step);
        }
        true
    }

    /// Work is admitted, and its key with it.
    #[inline]
    pub(super) fn note_key(&mut self, job: Job) {
        if let Some(keys) = self.keys(job.request, job.step) {
            keys.admit(job.request, job.step);
        }
    }

    /// True when the answer to the attempt sent at `step` is kept for repeats.
    pub(super) fn is_kept(&mut self, request: u32, step: u32) -> bool {
        self.keys(request, step).is_some()
    }

    /// True when repeats wait for the work of the attempt sent at `step`.
    pub(super) fn has_repeats(&mut self, request: u32, step: u32) -> bool {
        self.keys(request, step).is_some_and(|keys| keys.has_attached(request))
    }

    /// True when the work of the attempt sent at `step` goes on though its client goes away.
    pub(super) fn goes_on_for_others(&mut self, request: u32, step: u32) -> bool {
        self.keys(request, step).is_some_and(|keys| keys.hang_up(request, step))
    }

    /// The work of the attempt sent at `step` is given up, and nobody waits for it.
    pub(super) fn forget_key(&mut self, request: u32, step: u32) {
        if let Some(keys) = self.keys(request, step) {
            keys.forget(request);
        }
    }

    /// The step of the attempt whose work answers that of `step`.
    pub(super) fn works_for(&self, request: u32, step: u32) -> u32 {
        let keys = self.providers[self.provider_of(step)].keys.as_ref();
        keys.map_or(step, |keys| keys.works_for(request, step))
    }

    /// The work of the attempt sent at `step` is done: its good answer sets out to all who wait.
    #[inline]
    pub(super) fn answer_all(&mut self, request: u32, step: u32) {
        let (g, _) = self.split(request);
        if self.groups[g].plan.idempotency_key.is_none() {
            return self.send_answer(request, step);
        }
        let before = std::mem::replace(&mut self.state_mut(request).done, true);
        self.books(request).repeated_effects += u64::from(before);
        let now = self.events.now();
        let attached = self.keys(request, step).map(|keys| keys.finish(now, request));
        self.send_answer(request, step);
        for step in attached.into_iter().flatten() {
            self.books(request).replayed += 1;
            self.send_answer(request, step);
        }
    }

    /// The work of the attempt sent at `step` comes to nothing: all who wait learn of it.
    pub(super) fn tell_all(&mut self, request: u32, step: u32, failure: Failure<'a>) {
        if PLAIN {
            return self.say(request, step, Word::Failure(failure));
        }
        let attached = self.keys(request, step).map(|keys| keys.forget(request));
        self.say(request, step, Word::Failure(failure));
        for step in attached.into_iter().flatten() {
            self.say(request, step, Word::Failure(failure));
        }
    }
}
