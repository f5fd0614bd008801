//! The event handlers: everything that can happen to a request.

use super::layers::LayerState;
use super::ledger::Ledger;
use super::provider::{Provider, Refusal};
use super::{Observer, Plan, Report, RunError};
use crate::answer::{Failure, Outcome, Reason};
use crate::client::{ReplyAtTimeout, Told};
use crate::engine::{Class, EventList, Fingerprint, Key};
use crate::model::Arrivals;
use crate::rng::{Ranks, Streams};
use crate::server::{Job, Place, Tokens};
use crate::units::{Time, seconds};

/// Where a request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
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

/// Requests, one column per property. `created` and `worker` exist only where they differ from
/// what the workload tells.
#[derive(Default)]
struct Requests {
    phase: Vec<Phase>,
    step: Vec<u32>,
    attempts: Vec<u32>,
    created: Vec<Time>,
    worker: Vec<u32>,
}

pub(super) struct Simulation<'a, O> {
    plan: &'a Plan,
    streams: Streams,
    ranks: Ranks,
    events: EventList,
    handled: u64,
    /// When something last happened; events of requests that had moved on do not count.
    last_change: Time,
    fingerprint: Fingerprint,
    requests: Requests,
    /// The next request of a stream or queue, and the instant of the last one.
    next_request: u32,
    last_arrival: Time,
    layers: Vec<LayerState<'a>>,
    provider: Provider<'a>,
    ledger: Ledger,
    observer: &'a mut O,
    too_many_steps: bool,
}

impl<'a, O: Observer> Simulation<'a, O> {
    pub(super) fn new(plan: &'a Plan, streams: Streams, observer: &'a mut O) -> Simulation<'a, O> {
        let known = plan.arrivals.known(plan.clients);
        let layer = |rule| LayerState::new(rule, plan.clients, known);
        let mut simulation = Simulation {
            plan,
            streams,
            ranks: Ranks::new(&streams),
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
        let request = self.ranks.entity(key.rank());
        let step = key.step();
        let current = self.requests.step[request as usize] == step;
        match key.class() {
            Class::Completion => self.on_completion(request, step),
            Class::Accept => self.on_accept(request, step),
            Class::Attempt if current => self.on_wake(request),
            Class::Timeout if current => self.on_timeout(request),
            Class::Attempt | Class::Timeout => return,
        }
        self.last_change = self.events.now();
    }

    // ----- arrivals -------------------------------------------------------------------------

    fn start(&mut self) {
        match &self.plan.arrivals {
            Arrivals::Burst(burst) => {
                for request in 0..self.plan.clients {
                    let at = burst.arrival(request, &self.streams);
                    self.schedule(at, Class::Attempt, request, 0);
                }
            }
            Arrivals::ClosedLoop { jobs } => {
                let first = self.plan.clients.min(*jobs);
                self.next_request = first;
                for request in 0..first {
                    self.requests.worker[request as usize] = request;
                    self.schedule(0, Class::Attempt, request, 0);
                }
            }
            Arrivals::Poisson { .. } | Arrivals::Trace(_) => self.schedule_next_arrival(),
        }
    }

    /// Schedules the next request of a stream, and with it all others of the same instant, so
    /// that their order is that of their ranks.
    fn schedule_next_arrival(&mut self) {
        let mut instant = None;
        while let Some(at) =
            self.plan.arrivals.next(self.next_request, self.last_arrival, &self.streams)
            && instant.is_none_or(|same| same == at)
        {
            instant = Some(at);
            self.last_arrival = at;
            self.grow_to(self.next_request as usize + 1);
            self.schedule(at, Class::Attempt, self.next_request, 0);
            self.next_request += 1;
        }
    }

    fn grow_to(&mut self, len: usize) {
        if self.requests.phase.len() >= len {
            return;
        }
        self.requests.phase.resize(len, Phase::Unborn);
        self.requests.step.resize(len, 0);
        self.requests.attempts.resize(len, 0);
        match self.plan.arrivals {
            Arrivals::ClosedLoop { .. } => {
                self.requests.worker.resize(len, 0);
                self.requests.created.resize(len, 0);
            }
            Arrivals::Poisson { .. } => self.requests.created.resize(len, 0),
            Arrivals::Burst(_) | Arrivals::Trace(_) => {}
        }
        self.layers.iter_mut().for_each(|layer| layer.grow_to(len));
    }

    fn create(&mut self, request: u32) {
        let now = self.events.now();
        self.ledger.created += 1;
        if let Some(created) = self.requests.created.get_mut(request as usize) {
            *created = now;
        }
        let last_scheduled = request + 1 == self.next_request;
        if last_scheduled && !matches!(self.plan.arrivals, Arrivals::ClosedLoop { .. }) {
            self.schedule_next_arrival();
        }
        self.enter(request, self.layers.len());
    }

    fn created(&self, request: u32) -> Time {
        match &self.plan.arrivals {
            Arrivals::Burst(burst) => burst.arrival(request, &self.streams),
            Arrivals::Trace(trace) => trace[request as usize].at,
            _ => self.requests.created[request as usize],
        }
    }

    #[inline]
    fn client(&self, request: u32) -> u32 {
        match self.plan.arrivals {
            Arrivals::Burst(_) => request,
            Arrivals::ClosedLoop { .. } => self.requests.worker[request as usize],
            _ => request % self.plan.clients,
        }
    }

    // ----- into the layers ------------------------------------------------------------------

    /// Enters the layers below `above`, outermost first, and sends when all let it through.
    fn enter(&mut self, request: u32, above: usize) {
        let now = self.events.now();
        let client = self.client(request);
        for l in (0..above).rev() {
            self.layers[l].enter(now, request, client);
            if !self.acquire(request, l) {
                return;
            }
            self.layers[l].start_attempt(now, request);
        }
        self.send(request);
    }

    /// Goes on at layer `l`, whose permit is held.
    fn proceed(&mut self, request: u32, l: usize) {
        self.layers[l].start_attempt(self.events.now(), request);
        self.enter(request, l);
    }

    /// Takes a permit of layer `l`, or gets in line for one.
    fn acquire(&mut self, request: u32, l: usize) -> bool {
        let client = self.client(request);
        let Some(semaphore) = self.layers[l].semaphore(client) else { return true };
        if semaphore.try_acquire() {
            return true;
        }
        let step = self.advance(request, Phase::Waiting(l as u8));
        if let Some(semaphore) = self.layers[l].semaphore(client) {
            semaphore.wait(request, step);
        }
        let limit = self.earliest_limit(request, l).min(self.layers[l].deadline(request));
        self.schedule(limit, Class::Timeout, request, step);
        false
    }

    /// Gives the permit of layer `l` back; who is next in line goes on at this instant.
    fn release(&mut self, request: u32, l: usize) {
        let client = self.client(request);
        let steps = &self.requests.step;
        let still_waits = |waiter: u32, step| steps[waiter as usize] == step;
        let next = self.layers[l].semaphore(client).and_then(|s| s.release(still_waits));
        if let Some(next) = next {
            let step = self.advance(next, Phase::Granted(l as u8));
            self.schedule(self.events.now(), Class::Attempt, next, step);
        }
    }

    // ----- attempts -------------------------------------------------------------------------

    fn send(&mut self, request: u32) {
        let now = self.events.now();
        let number = self.requests.attempts[request as usize] + 1;
        self.requests.attempts[request as usize] = number;
        let step = self.advance(request, Phase::InFlight);
        self.ledger.attempts += 1;
        self.ledger.first_attempts += u64::from(number == 1);
        self.observer.attempt(now, number);
        let limit = self.earliest_limit(request, 0).min(self.own_limit(request, 0));
        match self.provider.connect(now) {
            None => {
                self.ledger.reset += 1;
                self.fail(request, 0, Failure::Reset);
            }
            Some(at) if at > now => {
                self.ledger.in_backlog += 1;
                self.schedule(limit, Class::Timeout, request, step);
                // Beyond the horizon it stays in the backlog.
                self.schedule(at, Class::Accept, request, step);
            }
            Some(_) => self.accept(request, step, limit),
        }
    }

    fn on_accept(&mut self, request: u32, step: u32) {
        self.ledger.in_backlog -= 1;
        if self.requests.step[request as usize] != step {
            self.ledger.gone_before_accept += 1;
            return;
        }
        self.accept(request, step, Time::MAX);
    }

    /// The provider takes an attempt in hand; `limit` is when its client stops waiting, if that
    /// is still to be scheduled.
    fn accept(&mut self, request: u32, step: u32, limit: Time) {
        let now = self.events.now();
        self.observer.present(now, self.present() + 1);
        if let Some(refusal) = self.provider.refusal(now) {
            let (count, failure) = match refusal {
                Refusal::Fault(failure) => (&mut self.ledger.refused_by_fault, failure),
                Refusal::Limit(failure) => (&mut self.ledger.refused_by_limit, failure),
                Refusal::Load(failure) => (&mut self.ledger.refused_by_load, failure),
            };
            *count += 1;
            return self.fail(request, 0, failure);
        }
        let attempt = self.requests.attempts[request as usize];
        let output = || self.tokens(request).output;
        let service = self.provider.service(&self.streams, request, attempt, output);
        let job = Job { request, step, admitted: now, service };
        self.ledger.on_admitted(now);
        self.schedule(limit, Class::Timeout, request, step);
        if self.provider.admission.admit(job) == Place::Served {
            self.serve(job);
        }
    }

    fn serve(&mut self, job: Job) {
        let now = self.events.now();
        self.ledger.on_started(now, job.service);
        self.observer.started(now, now - job.admitted);
        self.schedule(now.saturating_add(job.service), Class::Completion, job.request, job.step);
    }

    /// The provider has finished an attempt, whether or not anyone still waits for it.
    fn on_completion(&mut self, request: u32, step: u32) {
        let now = self.events.now();
        self.ledger.on_completed(now);
        if let Some(next) = self.provider.admission.finish() {
            self.serve(next);
        }
        self.observer.present(now, self.present());
        let awaited = self.requests.step[request as usize] == step;
        let delivered = awaited && !self.late_at_the_limit(request);
        self.observer.billed(now, self.tokens(request), delivered);
        if !delivered {
            self.ledger.late += 1;
            return;
        }
        self.ledger.delivered += 1;
        self.ledger.succeeded += 1;
        let client = self.client(request);
        for l in 0..self.layers.len() {
            if let Some(vault) = self.layers[l].vault(client) {
                vault.on_success();
            }
            self.release(request, l);
        }
        self.resolve(request, Outcome::Succeeded);
    }

    /// True when the reply comes at the very instant of a timeout that counts it as late.
    fn late_at_the_limit(&self, request: u32) -> bool {
        let now = self.events.now();
        self.layers.iter().any(|layer| {
            layer.expiry(request) == now && layer.rule.reply_at_timeout == ReplyAtTimeout::Late
        })
    }

    fn tokens(&self, request: u32) -> Tokens {
        let Plan { arrivals, input_tokens, output_tokens, .. } = self.plan;
        arrivals.tokens(request, input_tokens, output_tokens, &self.streams)
    }

    fn present(&self) -> u32 {
        self.provider.admission.busy() + self.provider.admission.waiting() as u32
    }

    // ----- waking up and limits of time -----------------------------------------------------

    fn on_wake(&mut self, request: u32) {
        match self.requests.phase[request as usize] {
            Phase::Unborn => self.create(request),
            Phase::Granted(l) => self.proceed(request, l.into()),
            Phase::Backoff(l) => {
                if self.acquire(request, l.into()) {
                    self.proceed(request, l.into());
                }
            }
            Phase::Waiting(_) | Phase::InFlight | Phase::Resolved => {}
        }
    }

    /// A limit of time is reached: the outermost layer whose limit it is sees a timeout.
    fn on_timeout(&mut self, request: u32) {
        let now = self.events.now();
        let held = self.held_from(request);
        // Layer `calling` has a call under way, layers from `held` on an attempt as well; what
        // layers further inside remember is over.
        let calling = match self.requests.phase[request as usize] {
            Phase::Waiting(l) | Phase::Backoff(l) => usize::from(l),
            _ => held,
        };
        for l in (calling..self.layers.len()).rev() {
            if self.layers[l].deadline(request) <= now {
                self.release_held(request, held, l + 1);
                return self.give_up(request, l, Failure::Timeout, Reason::Deadline);
            }
            if l >= held && self.layers[l].expiry(request) <= now {
                self.release_held(request, held, l + 1);
                return self.decide(request, l, Failure::Timeout);
            }
        }
    }

    /// The first limit of time of the layers outside `l` that bounds what `l` does.
    fn earliest_limit(&self, request: u32, l: usize) -> Time {
        (l + 1..self.layers.len()).map(|o| self.own_limit(request, o)).min().unwrap_or(Time::MAX)
    }

    #[inline]
    fn own_limit(&self, request: u32, l: usize) -> Time {
        self.layers[l].deadline(request).min(self.layers[l].expiry(request))
    }

    /// The innermost layer whose permit the request holds.
    fn held_from(&self, request: u32) -> usize {
        match self.requests.phase[request as usize] {
            Phase::Waiting(l) | Phase::Backoff(l) => usize::from(l) + 1,
            Phase::Granted(l) => l.into(),
            _ => 0,
        }
    }

    fn release_held(&mut self, request: u32, from: usize, to: usize) {
        for l in from..to {
            self.release(request, l);
        }
    }

    // ----- failures -------------------------------------------------------------------------

    /// The attempt under way has failed: layer `l` gives its permit back and decides.
    fn fail(&mut self, request: u32, l: usize, failure: Failure) {
        self.release(request, l);
        self.decide(request, l, failure);
    }

    /// Layer `l` has seen `failure`: it retries, or the failure becomes that of the layer around.
    fn decide(&mut self, request: u32, l: usize, failure: Failure) {
        match self.next_wait(request, l, &failure) {
            Ok(wait) => self.sleep(request, l, wait),
            Err(reason) => self.give_up(request, l, failure, reason),
        }
    }

    /// How long layer `l` waits before its next attempt, or why there is none.
    fn next_wait(&mut self, request: u32, l: usize, failure: &Failure) -> Result<u64, Reason> {
        let now = self.events.now();
        let client = self.client(request);
        let total = self.requests.attempts[request as usize];
        let layer = &mut self.layers[l];
        if !layer.rule.retry_on.retries(failure) {
            return Err(Reason::NotRetryable);
        }
        let made = layer.attempts(request);
        if made >= layer.rule.max_attempts {
            return Err(Reason::Attempts);
        }
        let header = match failure {
            Failure::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        let wait = match layer.rule.retry_after.told(header) {
            Told::Stop => return Err(Reason::NotRetryable),
            Told::Wait(wait) => wait,
            Told::Nothing => {
                let stream = self.streams.backoff(l as u32, request, total);
                let n = made.saturating_sub(1);
                let wait = layer.rule.backoff.wait(n, layer.previous_wait(request), stream);
                debug_assert!(
                    within(layer.rule.backoff.bounds(n), wait),
                    "I8: a wait out of bounds"
                );
                layer.remember_wait(request, wait);
                wait
            }
        };
        if now.saturating_add(wait) >= layer.deadline(request) {
            return Err(Reason::Deadline);
        }
        if layer.vault(client).is_some_and(|vault| !vault.withdraw()) {
            self.observer.budget_refused(now);
            return Err(Reason::Budget);
        }
        Ok(wait)
    }

    /// Sleeps until the next attempt of layer `l`, or until a layer outside runs out of time.
    fn sleep(&mut self, request: u32, l: usize, wait: u64) {
        let wake = self.events.now().saturating_add(wait);
        let step = self.advance(request, Phase::Backoff(l as u8));
        let limit = self.earliest_limit(request, l);
        if limit < wake {
            self.schedule(limit, Class::Timeout, request, step);
        } else {
            self.schedule(wake, Class::Attempt, request, step);
        }
    }

    /// Layer `l` gives up; the layer around it decides next.
    fn give_up(&mut self, request: u32, l: usize, failure: Failure, reason: Reason) {
        let outer = l + 1;
        if outer == self.layers.len() {
            self.ledger.on_gave_up(reason);
            return self.resolve(request, Outcome::GaveUp(reason));
        }
        self.release(request, outer);
        if self.layers[outer].rule.max_attempts == 1 {
            // It never retries, so the reason of the layer inside says more than its own.
            return self.give_up(request, outer, failure, reason);
        }
        self.decide(request, outer, failure);
    }

    fn resolve(&mut self, request: u32, outcome: Outcome) {
        let now = self.events.now();
        self.advance(request, Phase::Resolved);
        self.observer.resolved(now, self.created(request), outcome);
        if let Arrivals::ClosedLoop { jobs } = self.plan.arrivals
            && self.next_request < jobs
        {
            let job = self.next_request;
            self.next_request += 1;
            self.requests.worker[job as usize] = self.requests.worker[request as usize];
            self.schedule(now, Class::Attempt, job, 0);
        }
    }

    // ----- events ---------------------------------------------------------------------------

    /// Moves a request to `phase`; all its pending events but completions become stale.
    #[inline]
    fn advance(&mut self, request: u32, phase: Phase) -> u32 {
        let step = &mut self.requests.step[request as usize];
        if *step == Key::MAX_STEP {
            self.too_many_steps = true;
            return *step;
        }
        *step += 1;
        self.requests.phase[request as usize] = phase;
        *step
    }

    /// Adds an event unless it would pass the horizon.
    #[inline]
    fn schedule(&mut self, at: Time, class: Class, request: u32, step: u32) {
        if at < self.plan.horizon {
            self.events.push(Key::new(at, class, self.ranks.rank(request), step));
        }
    }

    fn finish(mut self) -> Result<Report, RunError> {
        let left = self.ledger.started > self.ledger.completed
            || self.ledger.created > self.ledger.succeeded + self.ledger.gave_up_total();
        let end = if left { self.plan.horizon } else { self.last_change };
        self.ledger.layers = self.layers.iter().map(|layer| layer.count).collect();
        self.ledger.close(end)?;
        let law = |holds: bool, law, found: &str| {
            if holds { Ok(()) } else { Err(RunError::Law { law, found: found.to_owned() }) }
        };
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
        let sent: u64 = self.requests.attempts.iter().map(|&n| u64::from(n)).sum();
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
        Ok(Report {
            ledger: self.ledger,
            fingerprint: self.fingerprint.value(),
            events: self.handled,
            end,
        })
    }
}

fn within((least, most): (u64, u64), wait: u64) -> bool {
    (least..=most).contains(&wait)
}
