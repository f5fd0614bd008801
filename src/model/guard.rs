//! What stands between a layer and its attempts, and learns how they end.

use super::simulation::Simulation;
use super::{Moment, Observer};
use crate::answer::{Failure, Gate, Reason};
use crate::client::Counts;
use crate::engine::Pending;

/// How an attempt of a layer, or a call into it, has ended.
#[derive(Clone, Copy)]
pub(super) enum End<'f> {
    /// With an answer.
    Answered,
    /// With a failure.
    Failed(&'f Failure<'f>),
    /// A layer outside has run out of time, which says nothing of this one.
    Abandoned,
}

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// Tells the budget of layer `l` of a call, and asks the breaker, if that watches calls; when it refuses, the
    /// layer gives up.
    pub(super) fn admit_call(&mut self, request: u32, l: usize) -> bool {
        self.deposit_of_call(request, l);
        let admitted = self.admitted(request, l, Counts::Calls);
        if !admitted {
            self.tell_of(request, Moment::HeldBack { layer: l, gate: Gate::Breaker });
            self.give_up(request, l, Failure::NotSent(Gate::Breaker), Reason::Breaker);
        }
        admitted
    }

    /// Asks the throttle and the breaker of layer `l`, if that watches attempts; when one refuses, the
    /// attempt has failed.
    pub(super) fn admit_attempt(&mut self, request: u32, l: usize) -> bool {
        if PLAIN {
            return true;
        }
        let refused = if !self.throttle_admits(request, l) {
            Gate::Throttle
        } else if !self.admitted(request, l, Counts::Attempts) {
            Gate::Breaker
        } else {
            return true;
        };
        self.tell_of(request, Moment::HeldBack { layer: l, gate: refused });
        self.fail(request, l, Failure::NotSent(refused));
        false
    }

    /// An attempt of layer `l` is over: its permit is free, and who counts learns how it ended.
    #[inline]
    pub(super) fn attempt_over(&mut self, request: u32, l: usize, end: End<'_>) {
        if l == 0 {
            self.close_connection(request);
        }
        self.release(request, l);
        if self.layers(request)[l].watched {
            self.tell_guards(request, l, end);
        }
    }

    fn tell_guards(&mut self, request: u32, l: usize, end: End<'_>) {
        self.deactivate(request, l, false);
        if PLAIN {
            return;
        }
        self.tell_throttle(request, l, end);
        self.tell_pace(request, l, end);
        self.settle(request, l, Counts::Attempts, end);
    }

    /// A call into layer `l` is over.
    #[inline]
    pub(super) fn call_over(&mut self, request: u32, l: usize, end: End<'_>) {
        if self.layers(request)[l].watched {
            self.deactivate(request, l, true);
            self.settle(request, l, Counts::Calls, end);
        }
    }

    #[inline]
    fn throttle_admits(&mut self, request: u32, l: usize) -> bool {
        let (g, place) = self.split(request);
        let step = self.state(request).step;
        let group = &mut self.groups[g];
        let (Some(slot), Some(rule)) =
            (group.layers[l].throttle, &group.layers[l].rule.adaptive_throttle)
        else {
            return true;
        };
        let draw = group.streams.throttle(l as u32, group.number(place), step).unit();
        let throttle = self.shared.throttles.get_mut(slot, || group.client(place));
        let admitted = throttle.admit(rule, self.events.now(), draw);
        group.layers[l].count.throttle_refused += u64::from(!admitted);
        admitted
    }

    /// Tells the throttle of layer `l` what the provider has accepted.
    #[inline]
    fn tell_throttle(&mut self, request: u32, l: usize, end: End<'_>) {
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        let Some(slot) = group.layers[l].throttle else { return };
        let accepted = match end {
            End::Answered => true,
            End::Abandoned | End::Failed(Failure::NotSent(_)) => false,
            End::Failed(failure) => !group.layers[l].rule.throttle_counts().retries(failure),
        };
        if accepted {
            let throttle = self.shared.throttles.get_mut(slot, || group.client(place));
            throttle.accepted(self.events.now());
        }
    }
}
