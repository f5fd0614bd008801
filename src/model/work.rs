//! Admitted work: it waits, starts, and is finished, dropped or taken back.

use std::collections::BTreeMap;

use super::provider::Provider;
use super::simulation::Simulation;
use super::{Moment, Observer};
use crate::answer::Failure;
use crate::engine::{Class, Key, Pending};
use crate::server::{BillingRule, Caller, CancelledWork, Job, Tokens, output_so_far};
use crate::units::Time;

/// Where a piece of admitted work is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    admitted: Time,
    /// When its service started and when it ends; None while it waits.
    service: Option<(Time, Time)>,
}

/// Work that may be taken back, by request and step. It exists only where a provider takes work
/// back: elsewhere what is admitted is finished.
pub(super) type InHand = BTreeMap<(u32, u32), Stay>;

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// True when somebody still waits for the attempt that `request` sent at `step`.
    #[inline]
    pub(super) fn awaited(&self, request: u32, step: u32) -> bool {
        let (g, place) = self.split(request);
        match self.groups[g].requests.flights.get(place as usize) {
            Some(flight) if !PLAIN => flight.has(step),
            _ => self.state(request).step == step,
        }
    }

    /// Work is admitted, and waits or is served from now on.
    #[inline]
    pub(super) fn take_in(&mut self, job: Job) {
        self.books(job.request).on_admitted(job.admitted);
        self.tell_of(job.request, Moment::Admitted { step: job.step });
        if PLAIN {
            return;
        }
        let provider = self.provider_of(job.step);
        if let Some(in_hand) = &mut self.providers[provider].in_hand {
            let stay = Stay { admitted: job.admitted, service: None };
            in_hand.insert((job.request, job.step), stay);
        }
        self.note_key(job);
    }

    /// Service of `job` starts.
    #[inline]
    pub(super) fn serve(&mut self, job: Job) {
        let now = self.events.now();
        let (g, place) = self.split(job.request);
        let group = &self.groups[g];
        let draws = group.draws(place, job.step);
        let tokens = || group.plan.tokens(draws.number, &group.streams);
        let broken = if PLAIN { None } else { self.broken(job.request, job.step) };
        let provider = self.provider_of(job.step);
        let asked = &mut self.providers[provider];
        let hit = match &mut asked.cache {
            Some(cache) if !PLAIN => {
                cache.look_up(now, &draws.streams, draws.number, (job.request, job.step))
            }
            _ => None,
        };
        let ends = asked.end_of_service(now, job.attempt, draws, hit, broken, tokens);
        if !PLAIN {
            self.read_row(job.request, job.step);
        }
        self.groups[g].ledger.on_started(now, ends - now);
        self.groups[g].ledger.cache_hits += u64::from(hit.is_some());
        self.observer.started(now, (g, provider), now - job.admitted);
        let hit = hit.is_some();
        self.tell_of(job.request, Moment::Started { step: job.step, hit, until: ends });
        self.schedule(ends, Class::Completion, job.request, job.step);
        if !PLAIN {
            self.note_start(job, ends);
        }
    }

    /// What may have to be known of service that starts now and ends at `ends`.
    fn note_start(&mut self, job: Job, ends: Time) {
        let now = self.events.now();
        let (g, place) = self.split(job.request);
        let provider = self.provider_of(job.step);
        if let Some(in_hand) = &mut self.providers[provider].in_hand
            && let Some(stay) = in_hand.get_mut(&(job.request, job.step))
        {
            stay.service = Some((now, ends));
        }
        if let Some(prompts) = &mut self.providers[provider].prompts {
            prompts.on_start(now, job.request, job.step);
        }
        if self.groups[g].streams_to(place) {
            self.send_head(job.request, job.step);
        }
    }

    /// Work leaves the provider; false when it had been taken back before.
    #[inline]
    pub(super) fn hand_out(&mut self, request: u32, step: u32) -> bool {
        let provider = self.provider_of(step);
        let in_hand = self.providers[provider].in_hand.as_mut();
        PLAIN || in_hand.is_none_or(|in_hand| in_hand.remove(&(request, step)).is_some())
    }

    /// Free places of a provider are taken from its line.
    #[inline]
    pub(super) fn fill_places(&mut self, provider: usize) {
        while let Some(job) = self.providers[provider].admission.next_job() {
            let waited = self.events.now() - job.admitted;
            let line = self.plan.providers[provider].queue.map(|queue| queue.line());
            if line.is_some_and(|l| l.drops(waited, self.awaited(job.request, job.step))) {
                self.drop_work(job);
                continue;
            }
            self.providers[provider].admission.occupy();
            self.serve(job);
        }
    }

    /// Waiting work is not done; its client is told, if it still waits.
    pub(super) fn drop_work(&mut self, job: Job) {
        let now = self.events.now();
        self.books(job.request).on_dropped(now);
        self.tell_of(job.request, Moment::Dropped { step: job.step });
        self.last_change = now;
        self.hand_out(job.request, job.step);
        self.let_go(job.request, job.step, 0);
        let status = self.plan.providers[self.provider_of(job.step)].overload_status;
        self.tell_all(job.request, job.step, Failure::status(status));
    }

    /// The client of the attempt sent at `step` goes away: a provider that notices stops working
    /// on it.
    pub(super) fn hang_up(&mut self, request: u32, step: u32) {
        if PLAIN {
            return;
        }
        let provider = self.provider_of(step);
        let goes_on = self.goes_on_for_others(request, step);
        if goes_on || self.plan.providers[provider].cancelled_work == CancelledWork::Computed {
            return;
        }
        let now = self.events.now();
        let in_hand = self.providers[provider].in_hand.as_mut();
        // In the backlog it is not work yet.
        let Some(stay) = in_hand.and_then(|in_hand| in_hand.remove(&(request, step))) else {
            return;
        };
        self.forget_key(request, step);
        let in_service = stay.service.is_some();
        self.tell_of(request, Moment::TakenBack { step, in_service });
        match stay.service {
            None => {
                let priority = self.groups[self.split(request).0].plan.priority;
                let line = &mut self.providers[provider].admission;
                let found = line.withdraw(priority, (request, step), stay.admitted);
                debug_assert!(found.is_some(), "waiting work is in the line");
                self.books(request).on_removed(now);
                self.let_go(request, step, 0);
            }
            Some((started, ends)) => {
                self.books(request).on_stopped(now, ends - now);
                // A client may go at the very instant at which its turn has come.
                let output = self.output_so_far(request, step, started, ends);
                self.let_go(request, step, output);
                if now > started {
                    self.bill_stopped(request, step, started, ends);
                }
                self.come_to_nothing(request, step);
                self.providers[provider].admission.leave();
                self.refill_after_this_instant(provider);
            }
        }
        self.observer.present(now, self.present());
    }

    /// Whoever waits takes the free places once all events of this instant are over.
    fn refill_after_this_instant(&mut self, provider: usize) {
        if !self.providers[provider].refill_pending {
            self.providers[provider].refill_pending = true;
            self.events.push(Key::new(self.events.now(), Class::Refill, provider as u32, 0));
        }
    }

    pub(super) fn on_refill(&mut self, provider: usize) {
        self.providers[provider].refill_pending = false;
        self.fill_places(provider);
    }

    /// Waiting work is lost with its provider; its client sees the connection break.
    pub(super) fn lose_waiting(&mut self, job: Job) {
        let now = self.events.now();
        self.books(job.request).on_lost_waiting(now);
        self.tell_of(job.request, Moment::Lost { step: job.step, in_service: false });
        self.break_off(job.request, job.step);
    }

    /// The same for work in service.
    pub(super) fn lose_served(&mut self, request: u32, step: u32) {
        let now = self.events.now();
        let provider = self.provider_of(step);
        let stay = self.providers[provider].in_hand.as_ref().and_then(|h| h.get(&(request, step)));
        let Some((_, ends)) = stay.and_then(|stay| stay.service) else { return };
        self.books(request).on_lost_served(now, ends - now);
        self.tell_of(request, Moment::Lost { step, in_service: true });
        self.come_to_nothing(request, step);
        self.providers[provider].admission.leave();
        self.break_off(request, step);
    }

    fn break_off(&mut self, request: u32, step: u32) {
        self.hand_out(request, step);
        self.let_go(request, step, 0);
        self.last_change = self.events.now();
        self.tell_all(request, step, Failure::Reset);
    }

    /// The attempt sent at `step`, which the limits have let through, is over after `output` tokens
    /// of its answer.
    #[inline]
    pub(super) fn let_go(&mut self, request: u32, step: u32, output: u64) {
        let provider = self.provider_of(step);
        if self.providers[provider].limiter.is_some() {
            let (group, place) = self.split(request);
            let who = Caller { group, client: self.groups[group].client(place) };
            self.providers[provider].let_go(self.events.now(), who, output);
        }
    }

    /// The tokens that the attempt sent at `step` is billed for when its answer is complete.
    #[inline]
    pub(super) fn spent(&self, request: u32, step: u32) -> Tokens {
        let tokens = self.tokens(request);
        if PLAIN {
            return tokens;
        }
        let prompts = self.providers[self.provider_of(step)].prompts.as_ref();
        let found = prompts.is_some_and(|p| p.found(request, self.works_for(request, step)));
        Tokens { cached: if found { tokens.input } else { 0 }, ..tokens }
    }

    /// Tokens that have come so far of an answer whose service started at `started` and would have
    /// ended at `ends`.
    fn output_so_far(&self, request: u32, step: u32, started: Time, ends: Time) -> u64 {
        let tokens = self.tokens(request);
        let provider = self.provider_of(step);
        let lag = self.plan.providers[provider].billing.cancel_lag.map_or(0, |lag| lag.nanos());
        let elapsed = (self.events.now() - started).saturating_add(lag);
        let first = self.providers[provider].first_token(|| tokens.input);
        // An answer that would have broken off has only a part.
        let part = self.broken(request, step).map_or(1.0, |broken| broken.part.unwrap_or(0.0));
        let output = (tokens.output as f64 * part) as u64;
        output_so_far(output, elapsed, first, ends - started)
    }

    /// Service that is stopped because its client has gone is billed as the rule says.
    fn bill_stopped(&mut self, request: u32, step: u32, started: Time, ends: Time) {
        let spent = self.spent(request, step);
        match self.rule_of_billing(step) {
            BillingRule::Strict => self.bill(request, step, spent),
            BillingRule::CancelAware => {
                let output = self.output_so_far(request, step, started, ends);
                self.bill(request, step, Tokens { output, ..spent });
            }
            BillingRule::FreeErrors => {}
        }
    }

    /// What the provider of the attempt sent at `step` bills.
    pub(super) fn rule_of_billing(&self, step: u32) -> BillingRule {
        self.plan.providers[self.provider_of(step)].billing.rule
    }

    /// `tokens` are billed for the attempt that `request` sent at `step`.
    #[inline]
    pub(super) fn bill(&mut self, request: u32, step: u32, tokens: Tokens) {
        let (g, _) = self.split(request);
        let provider = self.provider_of(step);
        self.providers[provider].bill(tokens);
        self.observer.billed(self.events.now(), (g, provider), tokens);
        self.tell_of(request, Moment::Billed { step, tokens });
    }

    /// Requests and steps of the work that a provider has in service, if it may be taken back.
    pub(super) fn served(&self, provider: usize) -> Vec<(u32, u32)> {
        let in_hand = self.providers[provider].in_hand.iter().flatten();
        in_hand.filter(|(_, stay)| stay.service.is_some()).map(|(key, _)| *key).collect()
    }

    /// Attempts at all providers.
    #[inline]
    pub(super) fn present(&self) -> u32 {
        match PLAIN {
            true => self.providers[0].present(),
            false => self.providers.iter().map(Provider::present).sum(),
        }
    }
}
