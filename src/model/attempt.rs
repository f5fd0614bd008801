//! An attempt: sent, accepted, admitted or refused, served, answered.

use super::provider::Refusal;
use super::simulation::{Phase, Simulation};
use super::{Observer, Plan};
use crate::answer::{Failure, Outcome};
use crate::client::ReplyAtTimeout;
use crate::engine::Class;
use crate::server::{Job, Place, Tokens};
use crate::units::Time;

impl<'a, O: Observer> Simulation<'a, O> {
    pub(super) fn send(&mut self, request: u32) {
        let now = self.events.now();
        let state = &mut self.requests.states[request as usize];
        state.attempts += 1;
        let number = state.attempts;
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

    pub(super) fn on_accept(&mut self, request: u32, step: u32) {
        self.ledger.in_backlog -= 1;
        if self.state(request).step != step {
            self.ledger.gone_before_accept += 1;
            return;
        }
        self.accept(request, step, Time::MAX);
    }

    /// The provider takes an attempt in hand; `limit` is when its client stops waiting, if that
    /// is still to be scheduled.
    pub(super) fn accept(&mut self, request: u32, step: u32, limit: Time) {
        let now = self.events.now();
        self.observer.present(now, self.present() + 1);
        let attempt = self.state(request).attempts;
        if let Some(refusal) = self.provider.refusal(now, attempt) {
            let (count, failure) = match refusal {
                Refusal::Fault(failure) => (&mut self.ledger.refused_by_fault, failure),
                Refusal::Limit(failure) => (&mut self.ledger.refused_by_limit, failure),
                Refusal::Load(failure) => (&mut self.ledger.refused_by_load, failure),
            };
            *count += 1;
            return self.fail(request, 0, failure);
        }
        let job = Job { request, step, attempt, admitted: now };
        self.take_in(job);
        self.schedule(limit, Class::Timeout, request, step);
        match self.provider.admission.admit(job) {
            Place::Served => self.serve(job),
            Place::Queued => {}
            Place::Displaced(oldest) => self.drop_work(oldest),
            Place::Refused => debug_assert!(false, "a place was promised"),
        }
    }

    /// The provider has finished an attempt, whether or not anyone still waits for it.
    pub(super) fn on_completion(&mut self, request: u32, step: u32) {
        let now = self.events.now();
        self.ledger.on_completed(now);
        self.provider.admission.leave();
        self.fill_places();
        self.observer.present(now, self.present());
        let awaited = self.awaited(request, step);
        if let Some(failure) = self.error(request, step) {
            self.ledger.failed += 1;
            if awaited && !self.late_at_the_limit(request) {
                self.fail(request, 0, failure);
            }
            return;
        }
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

    /// The error that the attempt sent at `step` ends with. Whoever has gone meanwhile does not
    /// learn of it, and nothing is billed.
    fn error(&self, request: u32, step: u32) -> Option<Failure<'a>> {
        if self.plan.provider.faults.is_empty() {
            return None;
        }
        self.provider.error(&self.streams, self.number(request), step)
    }

    /// True when the reply comes at the very instant of a timeout that counts it as late.
    pub(super) fn late_at_the_limit(&self, request: u32) -> bool {
        let now = self.events.now();
        self.layers.iter().any(|layer| {
            layer.expiry(request) == now && layer.rule.reply_at_timeout == ReplyAtTimeout::Late
        })
    }

    pub(super) fn tokens(&self, request: u32) -> Tokens {
        let Plan { arrivals, input_tokens, output_tokens, .. } = self.plan;
        arrivals.tokens(self.number(request), input_tokens, output_tokens, &self.streams)
    }
}
