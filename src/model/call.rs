//! The way of a request through the layers: permits, waking up, limits of time.

use std::ops::Range;

use super::group;
use super::guard::End;
use super::pool::Slot;
use super::simulation::{Phase, Simulation};
use super::{Moment, Observer};
use crate::answer::{Failure, Reason};
use crate::engine::{Class, Pending};
use crate::units::Time;

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// Enters the layers below `above`, outermost first, and sends when all let it through.
    pub(super) fn enter(&mut self, request: u32, above: usize) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        for l in (0..above).rev() {
            let layer = &mut self.groups[g].layers[l];
            layer.enter(now, place);
            let guarded = layer.guarded;
            self.tell_of(request, Moment::CallBegins { layer: l });
            let goes_on = (!guarded || self.admit_call(request, l))
                && self.acquire(request, l)
                && self.start_attempt(request, l);
            if !goes_on {
                return;
            }
        }
        self.depart(request);
    }

    /// Goes on at layer `l`, whose permit is held.
    pub(super) fn proceed(&mut self, request: u32, l: usize) {
        if self.start_attempt(request, l) {
            self.enter(request, l);
        }
    }

    /// Starts an attempt of layer `l`, unless it has to wait for its turn or is refused: then what
    /// follows has happened.
    #[inline]
    fn start_attempt(&mut self, request: u32, l: usize) -> bool {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let layer = &mut self.groups[g].layers[l];
        if layer.guarded {
            return self.keep_pace(request, l) && self.begin_attempt(request, l);
        }
        layer.try_attempt(place);
        layer.start_attempt(now, place);
        true
    }

    /// The same, when it is its turn.
    fn begin_attempt(&mut self, request: u32, l: usize) -> bool {
        let now = self.events.now();
        let (g, place) = self.split(request);
        self.groups[g].layers[l].try_attempt(place);
        if !self.admit_attempt(request, l) {
            return false;
        }
        self.groups[g].layers[l].start_attempt(now, place);
        self.activate(request, l);
        true
    }

    /// Takes a permit of layer `l`, or gets in line for one.
    #[inline(always)]
    pub(super) fn acquire(&mut self, request: u32, l: usize) -> bool {
        let Some(semaphore) = self.semaphore(request, l) else { return true };
        if !semaphore.try_acquire() {
            return self.get_in_line(request, l);
        }
        self.tell_of(request, Moment::GotPermit { layer: l });
        true
    }

    /// Waits for a permit of layer `l`.
    fn get_in_line(&mut self, request: u32, l: usize) -> bool {
        let step = self.advance(request, Phase::Waiting(l as u8));
        self.tell_of(request, Moment::WaitsForPermit { layer: l });
        let (_, place) = self.split(request);
        let limit = self.earliest_limit(request, l).min(self.layers(request)[l].deadline(place));
        if let Some(semaphore) = self.semaphore(request, l) {
            semaphore.wait(request, step, limit);
        }
        self.schedule(limit, Class::Timeout, request, step);
        false
    }

    /// Gives the permit of layer `l` back; who is next in line goes on at this instant.
    #[inline(always)]
    pub(super) fn release(&mut self, request: u32, l: usize) {
        if let Some(slot) = self.layers(request)[l].semaphore {
            self.tell_of(request, Moment::GaveBackPermit { layer: l });
            self.hand_on(request, slot);
        }
    }

    fn hand_on(&mut self, request: u32, slot: Slot) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let groups = &self.groups;
        let state = |waiter: u32| {
            let (g, place) = group::split::<BITS>(waiter);
            groups[g].requests.states[place as usize]
        };
        let semaphore = self.shared.semaphores.get_mut(slot, || groups[g].client(place));
        let next = semaphore.release(now, |waiter, step| state(waiter).step == step);
        // The next one may be of another group, where the layer has another number.
        if let Some(next) = next
            && let Phase::Waiting(l) = state(next).phase
        {
            let step = self.advance(next, Phase::Granted(l));
            self.tell_of(next, Moment::GotPermit { layer: l.into() });
            self.schedule(now, Class::Attempt, next, step);
        }
    }

    pub(super) fn on_wake(&mut self, request: u32) {
        match self.state(request).phase {
            Phase::Unborn => self.create(request),
            Phase::Granted(l) => self.proceed(request, l.into()),
            Phase::Pacing(l) => {
                let l = usize::from(l);
                if self.take_turn(request, l) && self.begin_attempt(request, l) {
                    self.enter(request, l);
                }
            }
            Phase::Backoff(l) => {
                let (g, place) = self.split(request);
                if let Some(failure) = self.groups[g].layers[usize::from(l)].take_parting(place) {
                    return self.give_up(request, l.into(), failure, Reason::Attempts);
                }
                if self.acquire(request, l.into()) {
                    self.proceed(request, l.into());
                }
            }
            Phase::Connected => self.use_process(request),
            Phase::Sending => self.send_from_host(request),
            Phase::InFlight => self.hedge(request),
            Phase::Waiting(_)
            | Phase::Dialing
            | Phase::Streaming
            | Phase::Hung(_)
            | Phase::Resolved => {}
        }
    }

    /// A limit of time is reached: the outermost layer whose limit it is sees a timeout.
    pub(super) fn on_timeout(&mut self, request: u32) {
        let now = self.events.now();
        let state = self.state(request);
        if matches!(state.phase, Phase::InFlight | Phase::Streaming) {
            self.hang_up_all(request);
        }
        let (_, place) = self.split(request);
        let held = self.held_from(request);
        // Layer `calling` has a call under way, layers from `held` on a permit, and those from
        // `running` on an attempt; what layers further inside remember is over.
        let (calling, running) = match self.state(request).phase {
            Phase::Waiting(l) | Phase::Backoff(l) => (usize::from(l), held),
            Phase::Granted(_) | Phase::Pacing(_) => (held, held + 1),
            _ => (held, held),
        };
        let paced = match self.state(request).phase {
            Phase::Pacing(l) => Some(usize::from(l)),
            _ => None,
        };
        for l in (calling..self.layers(request).len()).rev() {
            let is_deadline = self.layers(request)[l].deadline(place) <= now;
            if !is_deadline && (l < running || self.layers(request)[l].expiry(place) > now) {
                continue;
            }
            let failure = if is_deadline { Failure::Timeout } else { self.timed_out(request, l) };
            self.tell_of(request, Moment::TimedOut { layer: l, deadline: is_deadline });
            self.abandon(request, calling..l, held);
            if l >= running {
                self.attempt_over(request, l, End::Failed(&failure));
            } else if l >= held {
                self.attempt_over(request, l, End::Abandoned);
            }
            match is_deadline {
                true => self.give_up(request, l, failure, Reason::Deadline),
                false => self.decide(request, l, failure),
            }
            break;
        }
        // Who leaves a line makes room for who comes next.
        if let Some(l) = paced {
            self.serve_line(request, l);
        }
    }

    /// A layer outside has run out of time: the calls into these layers are over, and so are the attempts of
    /// those from `held` on.
    fn abandon(&mut self, request: u32, layers: Range<usize>, held: usize) {
        for l in layers {
            if l >= held {
                self.attempt_over(request, l, End::Abandoned);
            }
            self.call_over(request, l, End::Abandoned);
        }
    }

    /// The first limit of time of the layers outside `l` that bounds what `l` does.
    #[inline]
    pub(super) fn earliest_limit(&self, request: u32, l: usize) -> Time {
        let (g, place) = self.split(request);
        let mut first = Time::MAX;
        for layer in self.groups[g].layers.after(l) {
            first = first.min(layer.deadline(place)).min(layer.expiry(place));
        }
        first
    }

    /// The first limit of time of layer `l` and those around it.
    #[inline(always)]
    pub(super) fn limit_from(&self, request: u32, l: usize) -> Time {
        let (g, place) = self.split(request);
        let layer = &self.groups[g].layers[l];
        layer.deadline(place).min(layer.expiry(place)).min(self.earliest_limit(request, l))
    }

    /// The innermost layer whose permit the request holds.
    pub(super) fn held_from(&self, request: u32) -> usize {
        match self.state(request).phase {
            Phase::Waiting(l) | Phase::Backoff(l) => usize::from(l) + 1,
            Phase::Granted(l) | Phase::Pacing(l) => l.into(),
            _ => 0,
        }
    }
}
