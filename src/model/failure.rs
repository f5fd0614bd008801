//! What follows from a failure: a retry, or the failure of the layer around.

use super::guard::End;
use super::layers::LayerState;
use super::simulation::{Phase, Simulation};
use super::{Moment, Observer};
use crate::answer::{Failure, Outcome, Reason};
use crate::client::{After, Told};
use crate::engine::{Class, Pending};
use crate::rng::Stream;
use crate::units::Time;

impl<'a, O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'a, O, P, BITS, PLAIN>
{
    /// The attempt under way has failed: layer `l` gives its permit back and decides.
    #[inline]
    pub(super) fn fail(&mut self, request: u32, l: usize, failure: Failure<'a>) {
        self.attempt_over(request, l, End::Failed(&failure));
        self.decide(request, l, failure);
    }

    /// Layer `l` has seen `failure`: it retries, or the failure becomes that of the layer around.
    #[inline]
    pub(super) fn decide(&mut self, request: u32, l: usize, failure: Failure<'a>) {
        self.decide_after(request, l, failure, None);
    }

    /// The same, when a layer inside has given up for this reason after retries of its own.
    fn decide_after(
        &mut self,
        request: u32,
        l: usize,
        failure: Failure<'a>,
        exhausted: Option<Reason>,
    ) {
        match self.next_wait(request, l, &failure, exhausted) {
            Ok(wait) => self.sleep(request, l, wait),
            Err(Reason::Attempts) if self.layers(request)[l].rule.wait_after_last => {
                self.wait_after_last(request, l, failure);
            }
            Err(reason) => self.give_up(request, l, failure, reason),
        }
    }

    /// How long layer `l` waits before its next attempt, or why there is none.
    fn next_wait(
        &mut self,
        request: u32,
        l: usize,
        failure: &Failure<'_>,
        exhausted: Option<Reason>,
    ) -> Result<u64, Reason> {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let outer_limit = self.earliest_limit(request, l);
        let rule = self.groups[g].layers[l].rule;
        if !rule.retry_on.retries(failure) {
            return Err(match failure {
                Failure::NotSent(gate) => Reason::from(*gate),
                _ => Reason::NotRetryable,
            });
        }
        if let Some(reason) = exhausted
            && !rule.retry_on.exhausted
        {
            return Err(reason);
        }
        self.note_failure(request, l, failure);
        if self.groups[g].layers[l].attempts(place) >= rule.max_attempts {
            return Err(Reason::Attempts);
        }
        let wait = self.chosen_wait(request, l, failure)?;
        if now.saturating_add(wait) >= self.groups[g].layers[l].deadline(place) {
            return Err(Reason::Deadline);
        }
        // A retry that an outer limit of time forestalls takes nothing.
        let forestalled = outer_limit <= now.saturating_add(wait);
        if forestalled && rule.inherit_deadline {
            return Err(Reason::Deadline);
        }
        if !forestalled && !self.withdraw(request, l, failure) {
            self.observer.budget_refused(now, g);
            return Err(Reason::Budget);
        }
        Ok(wait)
    }

    /// Layer `l` sleeps once more before it gives up, unless its deadline or what the server asks for
    /// forbids it.
    #[cold]
    fn wait_after_last(&mut self, request: u32, l: usize, failure: Failure<'a>) {
        let (g, place) = self.split(request);
        let wait = self.chosen_wait(request, l, &failure);
        let wake = self.events.now().saturating_add(wait.unwrap_or(Time::MAX));
        let layer = &mut self.groups[g].layers[l];
        if wake >= layer.deadline(place) {
            return self.give_up(request, l, failure, Reason::Attempts);
        }
        layer.set_parting(place, Some(failure));
        // It is no wait before a retry, so nobody hears of it.
        self.rest(request, l, wake - self.events.now());
    }

    /// The wait that the server asks for, or else that of the layer's own schedule.
    #[inline(always)]
    fn chosen_wait(
        &mut self,
        request: u32,
        l: usize,
        failure: &Failure<'_>,
    ) -> Result<u64, Reason> {
        let (g, place) = self.split(request);
        let step = self.state(request).step;
        let group = &mut self.groups[g];
        let stream = group.streams.backoff(l as u32, group.number(place), step);
        let now = self.events.now();
        let layer = &mut group.layers[l];
        let told = match failure {
            Failure::Status(answer) => layer.rule.retry_after.told(answer, now, &stream),
            Failure::Reset | Failure::Timeout | Failure::Stream { .. } | Failure::NotSent(_) => {
                Told::Nothing
            }
        };
        let chosen = match told {
            Told::Stop => Err(Reason::NotRetryable),
            Told::Wait(wait) => Ok(wait),
            Told::Nothing => Ok(own_wait(layer, place, failure.status_code(), stream)),
            Told::Within { wait, window } => {
                let own = own_wait(layer, place, failure.status_code(), stream);
                Ok(wait.clamp(own, own.saturating_add(window)))
            }
        };
        if let Ok(wait) = chosen {
            self.tell_of(request, Moment::Chose { layer: l, wait, told });
        }
        chosen
    }

    /// Sleeps until the next attempt of layer `l`, or until a layer outside runs out of time.
    pub(super) fn sleep(&mut self, request: u32, l: usize, wait: u64) {
        if self.rest(request, l, wait) {
            let (g, _) = self.split(request);
            let retry = self.state(request).attempts;
            self.observer.sleeps(self.events.now(), g, retry, wait);
        }
    }

    /// Layer `l` does nothing for so long; false when a layer outside runs out of time before.
    #[inline(always)]
    fn rest(&mut self, request: u32, l: usize, wait: u64) -> bool {
        let wake = self.events.now().saturating_add(wait);
        let step = self.advance(request, Phase::Backoff(l as u8));
        if O::HEARS_MOMENTS {
            let attempts = self.layers(request)[l].attempts(self.split(request).1);
            self.tell_of(request, Moment::Sleeps { layer: l, attempts, wait });
        }
        let limit = self.earliest_limit(request, l);
        let wakes = wake < limit;
        let (at, class) = if wakes { (wake, Class::Attempt) } else { (limit, Class::Timeout) };
        self.schedule(at, class, request, step);
        wakes
    }

    /// Layer `l` gives up; the layer around it decides next.
    pub(super) fn give_up(&mut self, request: u32, l: usize, failure: Failure<'a>, reason: Reason) {
        self.tell_of(request, Moment::GivesUp { layer: l, reason, failure });
        self.call_over(request, l, End::Failed(&failure));
        let outer = l + 1;
        if outer == self.layers(request).len() {
            let (g, _) = self.split(request);
            self.observer.gave_up(self.events.now(), g, &failure);
            if failure == (Failure::Stream { delivered: true }) {
                self.books(request).partial += 1;
                return self.resolve(request, Outcome::Partial);
            }
            self.books(request).on_gave_up(reason);
            return self.resolve(request, Outcome::GaveUp(reason));
        }
        self.attempt_over(request, outer, End::Failed(&failure));
        if self.layers(request)[outer].rule.max_attempts == 1 {
            // It never retries, so the reason of the layer inside says more than its own.
            return self.give_up(request, outer, failure, reason);
        }
        self.decide_after(request, outer, failure, self.exhausted(request, l, reason));
    }

    /// The reason, when it is that layer `l` or one inside it has no more retries.
    fn exhausted(&self, request: u32, l: usize, reason: Reason) -> Option<Reason> {
        let spent = matches!(reason, Reason::Attempts | Reason::Budget | Reason::Deadline);
        let retries = |layer: &LayerState<'_>| layer.rule.max_attempts > 1;
        (spent && self.layers(request).iter().take(l + 1).any(retries)).then_some(reason)
    }
}

/// The next wait by the layer's own schedule.
#[inline]
fn own_wait(layer: &mut LayerState<'_>, place: u32, status: u16, stream: Stream) -> u64 {
    let n = layer.attempts(place).saturating_sub(1);
    let backoff = &layer.rule.backoff;
    let wait = backoff.wait(After { n, status }, layer.memory(place), stream);
    debug_assert!(within(backoff.bounds(n), wait), "I8: a wait out of bounds");
    wait
}

fn within((least, most): (u64, u64), wait: u64) -> bool {
    (least..=most).contains(&wait)
}
