//! What a run tells those who watch it.

use super::{Moment, Who};
use crate::answer::{Failure, Outcome};
use crate::server::Tokens;
use crate::units::Time;

/// The numbers of the group and of the provider that something happens between.
pub type Side = (usize, usize);

/// Everything that can be heard, said once: for observers, for two that hear the same, and for those
/// of whatever kind.
macro_rules! heard {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*);)*) => {
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

            $($(#[$doc])* #[inline] fn $name(&mut self, $($arg: $type),*) { let _ = ($($arg),*); })*
        }

        /// Two that hear the same.
        impl<A: Observer, B: Observer> Observer for (A, B) {
            const HEARS_MOMENTS: bool = A::HEARS_MOMENTS || B::HEARS_MOMENTS;

            #[inline(always)]
            fn moment(&mut self, now: Time, who: impl Fn() -> Who, moment: Moment<'_>) {
                self.0.moment(now, &who, moment);
                self.1.moment(now, &who, moment);
            }

            $(#[inline] fn $name(&mut self, $($arg: $type),*) {
                self.0.$name($($arg),*);
                self.1.$name($($arg),*);
            })*
        }

        /// An [`Observer`] of a kind that the model is not compiled for: every observer is one.
        pub trait Watcher {
            /// See [`Observer::moment`].
            fn hear_moment(&mut self, now: Time, who: Who, moment: Moment<'_>);

            $($(#[$doc])* fn $name(&mut self, $($arg: $type),*);)*
        }

        impl<O: Observer> Watcher for O {
            fn hear_moment(&mut self, now: Time, who: Who, moment: Moment<'_>) {
                Observer::moment(self, now, || who, moment);
            }

            $(fn $name(&mut self, $($arg: $type),*) { Observer::$name(self, $($arg),*); })*
        }

        impl Observer for Anyone<'_> {
            const HEARS_MOMENTS: bool = true;

            #[inline]
            fn moment(&mut self, now: Time, who: impl Fn() -> Who, moment: Moment<'_>) {
                self.0.hear_moment(now, who(), moment);
            }

            $(fn $name(&mut self, $($arg: $type),*) { Watcher::$name(self.0, $($arg),*); })*
        }
    };
}

/// Whoever watches. The model is compiled for each of its observers; those that nobody waits for share
/// this one.
pub(super) struct Anyone<'a>(pub(super) &'a mut dyn Watcher);

heard! {
    /// A request is created.
    fn created(now: Time, group: usize);
    /// An attempt is sent, `waited` nanoseconds after its innermost layer let it through; only
    /// where a host can make it wait.
    fn left_host(now: Time, group: usize, waited: u64);
    /// Attempt number `number` (1 is the first) of a request arrives at the provider.
    fn attempt(now: Time, side: Side, number: u32);
    /// `present` attempts are at all providers, one that is being refused included.
    fn present(now: Time, present: u32);
    /// Service of an attempt starts after `waited` nanoseconds in the queue.
    fn started(now: Time, side: Side, waited: u64);
    /// `tokens` are billed.
    fn billed(now: Time, side: Side, tokens: Tokens);
    /// The one good answer of a request is delivered; its `tokens` have been billed before.
    fn delivered(now: Time, side: Side, tokens: Tokens);
    /// A request sleeps for `wait` nanoseconds before retry number `retry` (1 is the first).
    fn sleeps(now: Time, group: usize, retry: u32, wait: u64);
    /// A request created at `created` has its outcome.
    fn resolved(now: Time, group: usize, created: Time, outcome: Outcome);
    /// A task that was begun at `started` is over; `spent` are the tokens of all its answers.
    fn task_over(now: Time, group: usize, started: Time, completed: bool, spent: Tokens);
    /// A request is given up because of `failure`, its last one.
    fn gave_up(now: Time, group: usize, failure: &Failure<'_>);
    /// A layer wants to retry and its budget refuses.
    fn budget_refused(now: Time, group: usize);
}
