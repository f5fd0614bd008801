//! What a run tells those who watch it.

use super::{Moment, Who};
use crate::answer::{Failure, Outcome};
use crate::server::Tokens;
use crate::units::Time;

/// The numbers of the group and of the provider that something happens between.
pub type Side = (usize, usize);

/// Hears of everything that a metric may be made of, in the order in which it happens.
///
/// `group` is the number of the request's group in the plan, a `side` that and the number of the
/// provider. Every method does nothing by default.
/// An observer cannot influence the run.
pub trait Observer {
    /// Whether it wants to hear of moments; a run that nobody tells stories of is compiled without them.
    const HEARS_MOMENTS: bool = false;

    /// Something happens to a request; whose moment it is, is found out if one asks.
    #[inline]
    fn moment(&mut self, _now: Time, _who: impl Fn() -> Who, _moment: Moment<'_>) {}
    /// A request is created.
    fn created(&mut self, _now: Time, _group: usize) {}
    /// An attempt is sent, `waited` nanoseconds after its innermost layer let it through; only
    /// where a host can make it wait.
    fn left_host(&mut self, _now: Time, _group: usize, _waited: u64) {}
    /// Attempt number `number` (1 is the first) of a request arrives at the provider.
    fn attempt(&mut self, _now: Time, _side: Side, _number: u32) {}
    /// `present` attempts are at all providers, one that is being refused included.
    fn present(&mut self, _now: Time, _present: u32) {}
    /// Service of an attempt starts after `waited` nanoseconds in the queue.
    fn started(&mut self, _now: Time, _side: Side, _waited: u64) {}
    /// `tokens` are billed.
    fn billed(&mut self, _now: Time, _side: Side, _tokens: Tokens) {}
    /// The one good answer of a request is delivered; its `tokens` have been billed before.
    fn delivered(&mut self, _now: Time, _side: Side, _tokens: Tokens) {}
    /// A request sleeps for `wait` nanoseconds before retry number `retry` (1 is the first).
    fn sleeps(&mut self, _now: Time, _group: usize, _retry: u32, _wait: u64) {}
    /// A request created at `created` has its outcome.
    fn resolved(&mut self, _now: Time, _group: usize, _created: Time, _outcome: Outcome) {}
    /// A task that was begun at `started` is over; `spent` are the tokens of all its answers.
    fn task_over(
        &mut self,
        _now: Time,
        _group: usize,
        _started: Time,
        _completed: bool,
        _spent: Tokens,
    ) {
    }
    /// A request is given up because of `failure`, its last one.
    fn gave_up(&mut self, _now: Time, _group: usize, _failure: &Failure<'_>) {}
    /// A layer wants to retry and its budget refuses.
    fn budget_refused(&mut self, _now: Time, _group: usize) {}
}

/// Two that hear the same.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const HEARS_MOMENTS: bool = A::HEARS_MOMENTS || B::HEARS_MOMENTS;

    #[inline(always)]
    fn moment(&mut self, now: Time, who: impl Fn() -> Who, moment: Moment<'_>) {
        self.0.moment(now, &who, moment);
        self.1.moment(now, &who, moment);
    }

    #[inline]
    fn created(&mut self, now: Time, group: usize) {
        self.0.created(now, group);
        self.1.created(now, group);
    }

    fn left_host(&mut self, now: Time, group: usize, waited: u64) {
        self.0.left_host(now, group, waited);
        self.1.left_host(now, group, waited);
    }

    #[inline]
    fn attempt(&mut self, now: Time, side: Side, number: u32) {
        self.0.attempt(now, side, number);
        self.1.attempt(now, side, number);
    }

    #[inline]
    fn present(&mut self, now: Time, present: u32) {
        self.0.present(now, present);
        self.1.present(now, present);
    }

    #[inline]
    fn started(&mut self, now: Time, side: Side, waited: u64) {
        self.0.started(now, side, waited);
        self.1.started(now, side, waited);
    }

    fn billed(&mut self, now: Time, side: Side, tokens: Tokens) {
        self.0.billed(now, side, tokens);
        self.1.billed(now, side, tokens);
    }

    fn delivered(&mut self, now: Time, side: Side, tokens: Tokens) {
        self.0.delivered(now, side, tokens);
        self.1.delivered(now, side, tokens);
    }

    #[inline]
    fn sleeps(&mut self, now: Time, group: usize, retry: u32, wait: u64) {
        self.0.sleeps(now, group, retry, wait);
        self.1.sleeps(now, group, retry, wait);
    }

    #[inline]
    fn resolved(&mut self, now: Time, group: usize, created: Time, outcome: Outcome) {
        self.0.resolved(now, group, created, outcome);
        self.1.resolved(now, group, created, outcome);
    }

    fn task_over(
        &mut self,
        now: Time,
        group: usize,
        started: Time,
        completed: bool,
        spent: Tokens,
    ) {
        self.0.task_over(now, group, started, completed, spent);
        self.1.task_over(now, group, started, completed, spent);
    }

    fn gave_up(&mut self, now: Time, group: usize, failure: &Failure<'_>) {
        self.0.gave_up(now, group, failure);
        self.1.gave_up(now, group, failure);
    }

    fn budget_refused(&mut self, now: Time, group: usize) {
        self.0.budget_refused(now, group);
        self.1.budget_refused(now, group);
    }
}
