//! Attempts beside each other: hedges, and what becomes of those that lose.

use super::simulation::Simulation;
use super::{Moment, Observer};
use crate::answer::Failure;
use crate::client::Flight;
use crate::engine::{Class, Pending};
use crate::units::Time;

impl<'a, O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'a, O, P, BITS, PLAIN>
{
    /// The attempts that a request has in flight, where its innermost layer hedges.
    #[inline]
    pub(super) fn flight(&mut self, request: u32) -> Option<&mut Flight> {
        let (g, place) = self.split(request);
        self.groups[g].requests.flights.get_mut(place as usize)
    }

    /// The first attempt of a flight has been sent at `step`.
    #[inline]
    pub(super) fn start_flight(&mut self, request: u32, step: u32) {
        if PLAIN {
            return;
        }
        if let Some(flight) = self.flight(request) {
            *flight = Flight::of(step);
            self.plan_hedge(request, step);
        }
    }

    /// The next hedge is due when the attempt sent at `step` has not ended by then.
    fn plan_hedge(&mut self, request: u32, step: u32) {
        let Some(hedge) = self.layers(request)[0].rule.hedge else { return };
        if self.flight(request).is_some_and(|flight| flight.hedges() < hedge.max) {
            let due = self.events.now().saturating_add(hedge.after.nanos());
            self.schedule(due, Class::Attempt, request, step);
        }
    }

    /// A hedge is due: it is sent, unless the budget has nothing left.
    pub(super) fn hedge(&mut self, request: u32) {
        if !self.pay_for_hedge(request) {
            self.books(request).hedges_refused += 1;
            return self.tell_of(request, Moment::HedgeRefused);
        }
        let state = self.state_mut(request);
        state.attempts += 1;
        let number = state.attempts;
        let step = self.take_off_to_provider(request);
        if let Some(flight) = self.flight(request) {
            flight.add(step);
        }
        let books = self.books(request);
        books.attempts += 1;
        books.hedges += 1;
        let provider = self.provider_of(step);
        self.tell_of(request, Moment::Sent { step, number, provider, hedge: true });
        self.plan_hedge(request, step);
        // The limits of time are those of the first attempt, under the new step.
        self.schedule(self.limit_from(request, 0), Class::Timeout, request, step);
        self.travel(request, step, number, Time::MAX);
    }

    fn pay_for_hedge(&mut self, request: u32) -> bool {
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        let Some(slot) = group.layers[0].hedge_vault else { return true };
        let vault = self.shared.vaults.get_mut(slot, || group.client(place));
        let now = self.events.now();
        vault.withdraw(now, &Failure::Timeout, &mut Default::default()).is_some()
    }

    /// The attempt sent at `step` has failed: the innermost layer decides when no other is in
    /// flight beside it.
    #[inline]
    pub(super) fn attempt_failed(&mut self, request: u32, step: u32, failure: Failure<'a>) {
        self.tell_of(request, Moment::AttemptFailed { step, failure });
        if PLAIN || self.flight(request).is_none_or(|flight| flight.remove(step)) {
            self.fail(request, 0, failure);
        }
    }

    /// The attempt sent at `step` is answered: the others have lost.
    pub(super) fn land(&mut self, request: u32, step: u32) {
        if PLAIN {
            return;
        }
        let Some(flight) = self.flight(request) else { return };
        let first = flight.is_first(step);
        let _ = flight.remove(step);
        self.books(request).hedges_won += u64::from(!first);
        self.hang_up_all(request);
    }

    /// The client goes away from all that it has in flight.
    pub(super) fn hang_up_all(&mut self, request: u32) {
        if PLAIN {
            return;
        }
        let (g, place) = self.split(request);
        match self.groups[g].requests.flights.get_mut(place as usize) {
            None => self.hang_up(request, self.state(request).step),
            Some(flight) => flight.take().for_each(|step| self.hang_up(request, step)),
        }
    }
}
