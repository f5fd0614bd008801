//! Pacing: attempts that wait for their turn, and what a pace learns of their ends.

use super::group;
use super::guard::End;
use super::simulation::{Phase, Simulation};
use super::{Moment, Observer};
use crate::answer::{Failure, Gate};
use crate::client::{Pace, Sign};
use crate::engine::{Class, Pending};

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// Takes a token for an attempt of layer `l`, or gets in line for one, or fails.
    #[inline]
    pub(super) fn keep_pace(&mut self, request: u32, l: usize) -> bool {
        if PLAIN || self.layers(request)[l].pacer.is_none() {
            return true;
        }
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        let (Some(slot), Some(rule)) = (group.layers[l].pacer, &group.layers[l].rule.pace) else {
            return true;
        };
        if self.shared.pacers.get_mut(slot, || group.client(place)).try_take(now) {
            return true;
        }
        if rule.refuses() {
            group.layers[l].try_attempt(place);
            group.layers[l].count.pace_refused += 1;
            self.tell_of(request, Moment::HeldBack { layer: l, gate: Gate::Pace });
            self.fail(request, l, Failure::NotSent(Gate::Pace));
            return false;
        }
        let step = self.advance(request, Phase::Pacing(l as u8));
        self.tell_of(request, Moment::WaitsForTurn { layer: l });
        let limit = self.earliest_limit(request, l).min(self.layers(request)[l].deadline(place));
        self.schedule(limit, Class::Timeout, request, step);
        let group = &self.groups[g];
        self.shared.pacers.get_mut(slot, || group.client(place)).wait(request, step, now, limit);
        self.serve_line(request, l);
        false
    }

    /// The request is woken in its line of layer `l`; true when it is its turn.
    pub(super) fn take_turn(&mut self, request: u32, l: usize) -> bool {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        let Some(slot) = group.layers[l].pacer else { return true };
        let pacer = self.shared.pacers.get_mut(slot, || group.client(place));
        let since = pacer.take_turn(request, now);
        if let Some(since) = since {
            let count = &mut group.layers[l].count;
            count.pace_waited += 1;
            count.pace_wait += now - since;
            self.tell_of(request, Moment::GotTurn { layer: l });
        }
        self.serve_line(request, l);
        since.is_some()
    }

    /// Sees to it that who is first in the line that a request of layer `l` stands in is woken.
    pub(super) fn serve_line(&mut self, request: u32, l: usize) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let groups = &self.groups;
        let Some(slot) = groups[g].layers[l].pacer else { return };
        let state = |waiter: u32| {
            let (g, place) = group::split::<BITS>(waiter);
            groups[g].requests.states[place as usize]
        };
        let pacer = self.shared.pacers.get_mut(slot, || groups[g].client(place));
        let next = pacer.next(now, |waiter, step| state(waiter).step == step);
        if let Some((first, ready)) = next {
            let step = self.state(first).step;
            self.schedule(ready, Class::Attempt, first, step);
        }
    }

    /// Tells the pace of layer `l` how an attempt has ended.
    #[inline]
    pub(super) fn tell_pace(&mut self, request: u32, l: usize, end: End<'_>) {
        if !self.layers(request)[l].rule.pace.as_ref().is_some_and(Pace::learns) {
            return;
        }
        let sign = match end {
            End::Abandoned | End::Failed(Failure::NotSent(_)) => return,
            End::Answered => Sign::Answered,
            End::Failed(failure) if failure.status_code() == 429 => Sign::Throttled,
            End::Failed(_) => Sign::Failed,
        };
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        let Some(slot) = group.layers[l].pacer else { return };
        self.shared.pacers.get_mut(slot, || group.client(place)).learn(sign, now);
        self.serve_line(request, l);
    }
}
