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

    /// Something happens to a request.
    fn moment(&mut self, _now: Time, _who: Who, _moment: Moment<'_>) {}
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
