//! The state of a run and its loop: take the next event, handle it, check the books at the end.
//!
//! What an event does is told in `birth`, `call`, `attempt` and `failure`.

use super::layers::LayerState;
use super::ledger::{Ledger, Seen};
use super::provider::Provider;
use super::{Arrivals, Observer, Plan, Report, RunError};
use crate::engine::{Class, EventList, Fingerprint, Key};
use crate::rng::{Ranks, Streams};
use crate::units::{Time, seconds};

/// Where a request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// It does not exist yet.
    #[default]
    Unborn,
    /// It waits for a permit of this layer.
    Waiting(u8),
    /// It has the permit of this layer and goes on at this instant.
    Granted(u8),
    /// It sleeps before the next attempt of this layer.
    Backoff(u8),
    /// An attempt is at the provider, or on its way through the backlog.
    InFlight,
    /// It has its outcome.
    Resolved,
}

impl Phase {
    /// True when a request exists and has no outcome.
    fn is_open(self) -> bool {
        !matches!(self, Phase::Unborn | Phase::Resolved)
    }

    /// True when a request holds a permit of layer `l`, if that has a semaphore.
    fn holds_permit(self, l: usize) -> bool {
        match self {
            Phase::Unborn | Phase::Resolved => false,
            Phase::Waiting(at) | Phase::Backoff(at) => l > usize::from(at),
            Phase::Granted(at) => l >= usize::from(at),
            Phase::InFlight => true,
        }
    }
}

/// What every request has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Counts its changes of phase; an event with another step is stale.
    pub(super) step: u32,
    /// Attempts sent.
    pub(super) attempts: u32,
    pub(super) phase: Phase,
}

/// Requests by place. `created` and `worker` exist only where they differ from what the workload
/// tells.
#[derive(Default)]
pub(super) struct Requests {
    pub(super) states: Vec<State>,
    pub(super) created: Vec<Time>,
    pub(super) worker: Vec<u32>,
}

/// A run. A request is named by its place in the columns; see [`Ranks`] for its number.
pub(super) struct Simulation<'a, O> {
    pub(super) plan: &'a Plan,
    pub(super) streams: Streams,
    pub(super) ranks: Ranks,
    pub(super) events: EventList,
    pub(super) handled: u64,
    /// When something last happened; events of requests that had moved on do not count.
    pub(super) last_change: Time,
    pub(super) fingerprint: Fingerprint,
    pub(super) requests: Requests,
    /// The next request of a stream or queue, and the instant of the last one.
    pub(super) next_request: u32,
    pub(super) last_arrival: Time,
    pub(super) layers: Vec<LayerState<'a>>,
    pub(super) provider: Provider<'a>,
    pub(super) ledger: Ledger,
    pub(super) observer: &'a mut O,
    pub(super) too_many_steps: bool,
}

impl<'a, O: Observer> Simulation<'a, O> {
    pub(super) fn new(plan: &'a Plan, streams: Streams, observer: &'a mut O) -> Simulation<'a, O> {
        let known = plan.arrivals.known(plan.clients);
        let layer = |rule| LayerState::new(rule, plan.clients, known);
        let mut simulation = Simulation {
            plan,
            streams,
            ranks: match plan.arrivals {
                Arrivals::Burst(_) => Ranks::herd(&streams, plan.clients),
                _ => Ranks::stream(&streams),
            },
            events: EventList::with_capacity(known as usize),
            handled: 0,
            last_change: 0,
            fingerprint: Fingerprint::default(),
            requests: Requests::default(),
            next_request: 0,
            last_arrival: 0,
            layers: plan.layers.iter().map(layer).collect(),
            provider: Provider::new(&plan.provider),
            ledger: Ledger::default(),
            observer,
            too_many_steps: false,
        };
        simulation.grow_to(known as usize);
        simulation
    }

    pub(super) fn run(mut self) -> Result<Report, RunError> {
        self.start();
        while let Some(key) = self.events.pop_before(self.plan.horizon) {
            self.handled += 1;
            let (time, rest) = key.halves();
            self.fingerprint.add(time);
            self.fingerprint.add(rest);
            self.handle(key);
            self.check_progress()?;
        }
        self.finish()
    }

    fn check_progress(&self) -> Result<(), RunError> {
        if self.too_many_steps {
            return Err(RunError::TooManySteps);
        }
        let events = self.events.at_this_instant();
        if events > self.plan.events_per_instant {
            let at_s = seconds(self.events.now()).to_string();
            return Err(RunError::Livelock { events, at_s });
        }
        Ok(())
    }

    /// One event. The provider's happen whatever the client does; the client's are stale and
    /// mean nothing once their request has moved on.
    #[inline]
    fn handle(&mut self, key: Key) {
        if key.class() == Class::Refill {
            return self.on_refill();
        }
        let request = self.ranks.place(key.rank());
        let step = key.step();
        let current = self.state(request).step == step;
        match key.class() {
            Class::Completion if self.hand_out(request, step) => self.on_completion(request, step),
            Class::Accept => self.on_accept(request, step),
            Class::Attempt if current => self.on_wake(request),
            Class::Timeout if current => self.on_timeout(request),
            Class::Completion | Class::Attempt | Class::Timeout | Class::Refill => return,
        }
        self.last_change = self.events.now();
    }

    #[inline]
    pub(super) fn state(&self, request: u32) -> State {
        self.requests.states[request as usize]
    }

    /// The number that random streams follow.
    #[inline]
    pub(super) fn number(&self, request: u32) -> u32 {
        self.ranks.number(request)
    }

    pub(super) fn created(&self, request: u32) -> Time {
        match &self.plan.arrivals {
            Arrivals::Burst(burst) => burst.arrival(self.number(request), &self.streams),
            Arrivals::Trace(trace) => trace[request as usize].at,
            _ => self.requests.created[request as usize],
        }
    }

    #[inline]
    pub(super) fn client(&self, request: u32) -> u32 {
        match self.plan.arrivals {
            Arrivals::Burst(_) => request,
            Arrivals::ClosedLoop { .. } => self.requests.worker[request as usize],
            _ => request % self.plan.clients,
        }
    }

    /// Moves a request to `phase`; all its pending events but completions become stale.
    #[inline]
    pub(super) fn advance(&mut self, request: u32, phase: Phase) -> u32 {
        let state = &mut self.requests.states[request as usize];
        if state.step == Key::MAX_STEP {
            self.too_many_steps = true;
            return state.step;
        }
        state.step += 1;
        state.phase = phase;
        state.step
    }

    /// Adds an event unless it would pass the horizon.
    #[inline]
    pub(super) fn schedule(&mut self, at: Time, class: Class, request: u32, step: u32) {
        if at < self.plan.horizon {
            self.events.push(Key::new(at, class, self.ranks.rank(request), step));
        }
    }

    fn finish(mut self) -> Result<Report, RunError> {
        let states = &self.requests.states;
        let seen = Seen {
            open: states.iter().filter(|state| state.phase.is_open()).count() as u64,
            waiting: self.provider.admission.waiting() as u64,
            busy: self.provider.admission.busy().into(),
        };
        let left = seen.open + seen.waiting + seen.busy > 0;
        let end = if left { self.plan.horizon } else { self.last_change };
        self.ledger.layers = self.layers.iter().map(|layer| layer.count).collect();
        self.ledger.close(end, seen)?;
        self.check_client_laws(end)?;
        Ok(Report {
            ledger: self.ledger,
            fingerprint: self.fingerprint.value(),
            events: self.handled,
            end,
        })
    }

    /// The laws that concern layers and limits.
    fn check_client_laws(&self, end: Time) -> Result<(), RunError> {
        let law = |holds: bool, law, found: &str| {
            if holds { Ok(()) } else { Err(RunError::Law { law, found: found.to_owned() }) }
        };
        for (l, layer) in self.layers.iter().enumerate().filter(|(_, l)| l.rule.semaphore.is_some())
        {
            let holds = |state: &&State| state.phase.holds_permit(l);
            let held = self.requests.states.iter().filter(holds).count() as u64;
            law(held == layer.permits_out(), "I14: permits out are permits held", "they are not")?;
        }
        law(
            self.layers.iter().all(LayerState::budgets_balance),
            "I6: budgets are conserved",
            "a budget does not balance",
        )?;
        law(
            self.provider.admission.within_limits(),
            "I15: queue and service stay within limits",
            "a limit is exceeded",
        )?;
        let sent: u64 = self.requests.states.iter().map(|state| u64::from(state.attempts)).sum();
        law(
            sent == self.ledger.attempts,
            "I7: attempts of requests add up to attempts",
            "they do not",
        )?;
        let bounded = |layer: &LayerState| {
            layer.count.attempts <= layer.count.calls.saturating_mul(layer.rule.max_attempts.into())
        };
        law(
            self.layers.iter().all(bounded),
            "I7: a call makes at most max_attempts",
            "one made more",
        )?;
        let places = self.plan.provider.concurrency.map_or(u128::MAX, u128::from);
        let capacity = places.saturating_mul(u128::from(end));
        law(
            self.ledger.busy <= capacity,
            "I5: busy time is at most places times time",
            "it is more",
        )?;
        Ok(())
    }
}
