//! An attempt at the provider: accepted, admitted or refused, served.

use super::provider::Refusal;
use super::simulation::Simulation;
use super::wire::Word;
use super::{Moment, Observer, Refuser, Service};
use crate::answer::Failure;
use crate::client::ReplyAtTimeout;
use crate::engine::{Class, Pending};
use crate::server::{BillingRule, Caller, Job, Place, Tokens};
use crate::units::Time;

impl<'a, O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'a, O, P, BITS, PLAIN>
{
    /// Attempt number `number` of a request reaches the provider; `limit` is when its client
    /// stops waiting, if that is still to be scheduled.
    #[inline]
    pub(super) fn reach(&mut self, request: u32, step: u32, number: u32, limit: Time) {
        let now = self.events.now();
        let (g, _) = self.split(request);
        let provider = self.provider_of(step);
        self.observer.attempt(now, (g, provider), number);
        self.tell_of(request, Moment::Arrived { step, number, provider });
        match self.providers[provider].connect(now) {
            None => {
                self.books(request).reset += 1;
                let (by, failure) = (Refuser::Connections, Failure::Reset);
                self.tell_of(request, Moment::Refused { step, by, failure });
                self.say(request, step, Word::Failure(Failure::Reset));
            }
            Some(at) if at > now => {
                self.books(request).in_backlog += 1;
                self.tell_of(request, Moment::InBacklog { step, until: at });
                self.schedule(limit, Class::Timeout, request, step);
                // Beyond the horizon it stays in the backlog.
                self.schedule(at, Class::Accept, request, step);
            }
            Some(_) => self.accept(request, step, number, limit),
        }
    }

    pub(super) fn on_accept(&mut self, request: u32, step: u32) {
        self.books(request).in_backlog -= 1;
        if !self.awaited(request, step) {
            self.books(request).gone_before_accept += 1;
            return self.tell_of(request, Moment::GoneBeforeAccept { step });
        }
        let later = self.flight(request).map_or(0, |flight| flight.sent_after(step));
        let number = self.state(request).attempts - later;
        self.accept(request, step, number, Time::MAX);
    }

    /// The provider takes an attempt in hand; `limit` is when its client stops waiting, if that
    /// is still to be scheduled.
    pub(super) fn accept(&mut self, request: u32, step: u32, number: u32, limit: Time) {
        let now = self.events.now();
        self.observer.present(now, self.present() + 1);
        let (g, place) = self.split(request);
        let limit = match self.groups[g].layers[0].limits_connecting() {
            true => self.end_connecting(request, step, limit),
            false => limit,
        };
        let provider = self.provider_of(step);
        let draws = self.groups[g].draws(place, step);
        let struck = self.providers[provider].strikes(now, number, draws);
        if !PLAIN && struck.is_none() && self.is_repeat(request, step, limit) {
            return;
        }
        let group = &self.groups[g];
        let priority = group.plan.priority;
        let who = Caller { group: g, client: group.client(place) };
        let tokens = || group.plan.tokens(draws.number, &group.streams);
        let asked = &mut self.providers[provider];
        let refusal = struck.or_else(|| asked.has_no_room(now, who, priority, tokens));
        if let Some(refusal) = refusal {
            let books = &mut self.groups[g].ledger;
            let (count, by, failure) = match refusal {
                Refusal::Silence => {
                    books.unanswered += 1;
                    self.tell_of(request, Moment::Swallowed { step });
                    return self.schedule(limit, Class::Timeout, request, step);
                }
                Refusal::Fault(failure) => (&mut books.refused_by_fault, Refuser::Fault, failure),
                Refusal::Operator(failure) => {
                    (&mut books.refused_by_operator, Refuser::Operator, failure)
                }
                Refusal::Limit(kind, failure) => {
                    (&mut books.refused_by_limit[kind as usize], Refuser::Limit(kind), failure)
                }
                Refusal::Load(failure) => (&mut books.refused_by_load, Refuser::Load, failure),
            };
            *count += 1;
            self.tell_of(request, Moment::Refused { step, by, failure });
            return self.say(request, step, Word::Failure(failure));
        }
        let job = Job { request, step, attempt: number, priority, admitted: now };
        self.take_in(job);
        self.schedule(limit, Class::Timeout, request, step);
        match self.providers[provider].admission.admit(job) {
            Place::Served => self.serve(job),
            Place::Queued => {}
            Place::Displaced(oldest) => self.drop_work(oldest),
            Place::Refused => debug_assert!(false, "a place was promised"),
        }
    }

    /// The limit of time until an attempt is accepted has ended: when its client stops waiting, if
    /// that is still to be scheduled.
    fn end_connecting(&mut self, request: u32, step: u32, limit: Time) -> Time {
        if !self.awaited(request, step) {
            return limit;
        }
        let (g, place) = self.split(request);
        self.groups[g].layers[0].end_connecting(place);
        let now_until = self.limit_from(request, 0);
        if limit < Time::MAX {
            return now_until;
        }
        // The old limit was scheduled, so that the new one has to be, whatever the provider says;
        // under the step of the last hedge.
        let last = self.state(request).step;
        self.schedule(now_until, Class::Timeout, request, last);
        Time::MAX
    }

    /// The provider has finished an attempt, whether or not anyone still waits for it.
    pub(super) fn on_completion(&mut self, request: u32, step: u32) {
        let now = self.events.now();
        self.books(request).on_completed(now);
        let broken = if PLAIN { None } else { self.broken(request, step) };
        let error = match broken {
            Some(_) => None,
            None if PLAIN => self.error(request, step),
            None => self.error(request, step).or_else(|| self.write_row(request, step)),
        };
        if O::HEARS_MOMENTS {
            let broken = if broken.is_some() { Service::Broken } else { Service::Answer };
            let end = error.map_or(broken, Service::Error);
            self.tell_of(request, Moment::Served { step, end });
        }
        // Whoever is next in line finds the answer.
        match broken.is_none() && error.is_none() {
            _ if PLAIN => {}
            true => self.fill_cache(request, step),
            false => self.come_to_nothing(request, step),
        }
        let provider = self.provider_of(step);
        self.providers[provider].admission.leave();
        self.fill_places(provider);
        self.observer.present(now, self.present());
        if let Some(broken) = broken {
            return self.on_break(request, step, broken);
        }
        if let Some(failure) = error {
            self.let_go(request, step, 0);
            self.books(request).failed += 1;
            return self.tell_all(request, step, failure);
        }
        let spent = self.spent(request, step);
        self.let_go(request, step, spent.output);
        let free = self.rule_of_billing(step) == BillingRule::FreeErrors;
        if !free || self.awaited(request, step) || self.is_kept(request, step) {
            self.bill(request, step, spent);
        }
        match PLAIN {
            true => self.deliver(request, step, Some(spent)),
            false => self.answer_all(request, step),
        }
    }

    /// The error that the attempt sent at `step` ends with. Whoever has gone meanwhile does not
    /// learn of it, and nothing is billed.
    fn error(&self, request: u32, step: u32) -> Option<Failure<'a>> {
        let provider = self.provider_of(step);
        if self.plan.providers[provider].faults.is_empty() {
            return None;
        }
        let (g, place) = self.split(request);
        self.providers[provider].error(self.events.now(), self.groups[g].draws(place, step))
    }

    /// True when the reply comes at the very instant of a timeout that counts it as late.
    pub(super) fn late_at_the_limit(&self, request: u32) -> bool {
        let now = self.events.now();
        let (_, place) = self.split(request);
        self.layers(request).iter().any(|layer| {
            layer.expiry(place) == now && layer.rule.reply_at_timeout == ReplyAtTimeout::Late
        })
    }

    pub(super) fn tokens(&self, request: u32) -> Tokens {
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        group.plan.tokens(group.number(place), &group.streams)
    }
}
