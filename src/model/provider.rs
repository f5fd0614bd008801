//! The provider: the parts of [`crate::server`] in the order in which an attempt meets them.

use super::work::InHand;
use crate::answer::{Failure, Rejection};
use crate::rng::Streams;
use crate::server::{
    AcceptQueue, Action, Admission, AnswerCache, Backlog, Billing, Break, Caller, CancelledWork,
    Denied, Entries, ErrorRate, Fault, Idempotency, Keys, LimitKind, Limiter, Limits, Pace, Price,
    PromptCache, Queue, Row, Rows, ServiceSampler, Strikes, Tokens,
};
use crate::units::{LONGEST, Time};

/// A provider made ready to run.
#[derive(Clone, Debug)]
pub struct ProviderPlan {
    /// Places in service; None is unlimited.
    pub concurrency: Option<u32>,
    /// The queue in front of them.
    pub queue: Option<Queue>,
    /// What becomes of work whose client has gone.
    pub cancelled_work: CancelledWork,
    /// Status of a refusal for want of a place.
    pub overload_status: u16,
    /// The listen backlog.
    pub backlog: Option<Backlog>,
    /// What is made of idempotency keys.
    pub idempotency: Option<Idempotency>,
    /// The limits.
    pub limits: Limits,
    /// What is billed, and its price.
    pub billing: Billing,
    /// Service times.
    pub service: ServiceSampler,
    /// How many times as long service takes when all places are busy at its start.
    pub slower_when_full: Option<f64>,
    /// The answer cache.
    pub cache: Option<AnswerCache>,
    /// The rows that work reads and writes.
    pub row: Option<Row>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// What operators do.
    pub actions: Vec<Action>,
}

/// The state of a provider.
pub(super) struct Provider<'a> {
    plan: &'a ProviderPlan,
    /// Nothing but limits and the want of a place can refuse an attempt.
    calm: bool,
    backlog: Option<AcceptQueue>,
    pub(super) limiter: Option<Limiter<'a>>,
    pace: Option<Pace>,
    price: Option<Price>,
    pub(super) prompts: Option<PromptCache>,
    pub(super) keys: Option<Keys>,
    pub(super) cache: Option<Entries>,
    pub(super) rows: Option<Rows>,
    pub(super) admission: Admission,
    pub(super) in_hand: Option<InHand>,
    /// True when free places are to be taken from the line at the end of this instant.
    pub(super) refill_pending: bool,
}

/// Why an attempt is not admitted.
pub(super) enum Refusal<'a> {
    Fault(Failure<'a>),
    /// It is accepted and never answered.
    Silence,
    Operator(Failure<'a>),
    Limit(LimitKind, Failure<'a>),
    Load(Failure<'a>),
}

/// The random numbers of an attempt: the streams, its request's number, and the step at which it
/// was sent.
#[derive(Clone, Copy)]
pub(super) struct Draws {
    pub(super) streams: Streams,
    pub(super) number: u32,
    pub(super) step: u32,
}

impl ProviderPlan {
    /// True when it finishes what it admits, and remembers nothing of it.
    pub(super) fn is_plain(&self) -> bool {
        let remembers = self.idempotency.is_some()
            || self.cache.is_some()
            || self.row.is_some()
            || self.billing.cache_lifetime.is_some();
        let breaks = |fault: &Fault| matches!(fault, Fault::StreamError(_));
        !remembers && !self.takes_back() && !self.faults.iter().any(breaks)
    }

    /// True when work may not be finished that has been admitted.
    fn takes_back(&self) -> bool {
        let loses = |fault: &Fault| matches!(fault, Fault::Capacity(c) if c.loses());
        self.cancelled_work == CancelledWork::Removed || self.faults.iter().any(loses)
    }

    /// The places that there are from `now` on; None is unlimited.
    pub(super) fn places_at(&self, now: Time) -> Option<u32> {
        let set = |action: &Action| match action {
            Action::Concurrency(set) if set.at.nanos() <= now => Some((set.at, set.places)),
            _ => None,
        };
        // Of several the last one holds, at one instant the one written last.
        let stated = self.actions.iter().filter_map(set).max_by_key(|(at, _)| *at);
        let base = stated.map_or(self.concurrency, |(_, places)| Some(places));
        let left = self.faults.iter().filter_map(|fault| match fault {
            Fault::Capacity(c) if c.covers(now) => Some(c.concurrency),
            _ => None,
        });
        left.chain(base).min()
    }
}

impl<'a> Provider<'a> {
    /// A provider that nobody has called; `clients` are those of each group,
    /// who are in so many `classes`.
    pub(super) fn new(plan: &'a ProviderPlan, clients: &[u32], classes: usize) -> Provider<'a> {
        Provider {
            plan,
            calm: plan.faults.is_empty() && plan.actions.is_empty() && plan.backlog.is_none(),
            backlog: plan.backlog.map(AcceptQueue::new),
            limiter: Limiter::new(&plan.limits, clients),
            pace: Pace::of(&plan.faults),
            admission: Admission::new(plan.concurrency, plan.queue, classes),
            price: plan.billing.price(),
            prompts: plan.billing.cache_lifetime.map(PromptCache::new),
            keys: plan.idempotency.map(Keys::new),
            cache: plan.cache.map(Entries::new),
            rows: plan.row.map(Rows::new),
            in_hand: plan.takes_back().then(InHand::new),
            refill_pending: false,
        }
    }

    /// Attempts that are here.
    #[inline]
    pub(super) fn present(&self) -> u32 {
        self.admission.busy() + self.admission.waiting() as u32
    }

    /// When a connection made now is accepted; None when it is reset.
    #[inline]
    pub(super) fn connect(&mut self, now: Time) -> Option<Time> {
        if self.calm { Some(now) } else { self.connection(now) }
    }

    fn connection(&mut self, now: Time) -> Option<Time> {
        let ProviderPlan { faults, actions, .. } = self.plan;
        let refuses = |fault: &Fault| matches!(fault, Fault::RefuseConnections(r) if r.covers(now));
        if faults.iter().any(refuses) || actions.iter().any(|action| action.cuts_off(now)) {
            return None;
        }
        let mut at = match &mut self.backlog {
            None => now,
            Some(queue) => queue.connect(now)?,
        };
        // One pause may follow another.
        while let Some(end) = actions.iter().find_map(|action| action.holds_until(at)) {
            at = end;
        }
        Some(at)
    }

    /// Whether a fault or an operator refuses attempt number `attempt` of a request, accepted now.
    #[inline]
    pub(super) fn strikes(&self, now: Time, attempt: u32, draws: Draws) -> Option<Refusal<'a>> {
        if self.calm { None } else { self.struck(now, attempt, draws) }
    }

    fn struck(&self, now: Time, attempt: u32, draws: Draws) -> Option<Refusal<'a>> {
        let plan = self.plan;
        for (index, fault) in plan.faults.iter().enumerate() {
            match fault {
                Fault::Outage(outage) if outage.strikes(now, attempt) => {
                    return Some(outage.failure().map_or(Refusal::Silence, Refusal::Fault));
                }
                Fault::Error(error) if draws.strikes(error, Strikes::OnArrival, now, index) => {
                    return Some(Refusal::Fault(Failure::status(error.status)));
                }
                _ => {}
            }
        }
        for (index, action) in plan.actions.iter().enumerate() {
            let address = (index as u32, draws.number, draws.step);
            if let Some(status) = action.refuses(now, address, &draws.streams) {
                return Some(Refusal::Operator(Failure::status(status)));
            }
        }
        None
    }

    /// Whether a limit or the want of a place refuses an attempt that comes now.
    #[inline]
    pub(super) fn has_no_room(
        &mut self,
        now: Time,
        who: Caller,
        priority: u8,
        tokens: impl FnOnce() -> Tokens,
    ) -> Option<Refusal<'a>> {
        let plan = self.plan;
        if let Some(limiter) = &mut self.limiter
            && let Err(Denied { kind, hint }) = limiter.admit(now, who, tokens)
        {
            return Some(Refusal::Limit(kind, Failure::Status(Rejection { status: 429, hint })));
        }
        if self.admission.has_place(priority) {
            return None;
        }
        self.let_go(now, who, 0);
        Some(Refusal::Load(Failure::status(plan.overload_status)))
    }

    /// An attempt that the limits have let through is over, after `output` tokens of its answer.
    #[inline]
    pub(super) fn let_go(&mut self, now: Time, who: Caller, output: u64) {
        if let Some(limiter) = &mut self.limiter {
            limiter.release(now, who, output);
        }
    }

    /// `tokens` are billed.
    #[inline]
    pub(super) fn bill(&mut self, tokens: Tokens) {
        if let (Some(limiter), Some(price)) = (&mut self.limiter, self.price) {
            limiter.bill(price.of(tokens));
        }
    }

    /// When the service of an attempt ends that starts now; `hit` is its length where the cache
    /// holds its answer.
    #[inline]
    pub(super) fn end_of_service(
        &self,
        now: Time,
        attempt: u32,
        draws: Draws,
        hit: Option<Time>,
        broken: Option<Break>,
        tokens: impl Fn() -> Tokens,
    ) -> Time {
        let Draws { streams, number, .. } = draws;
        let slow = self.plan.faults.iter().enumerate().find_map(|(index, fault)| match fault {
            Fault::Slow(slow) if slow.hits(now, (index as u32, number, attempt), &streams) => {
                Some(slow.service.nanos())
            }
            _ => None,
        });
        let busy = self.admission.busy();
        let service = slow.unwrap_or_else(|| {
            let sample = || self.plan.service.sample(&streams, number, attempt, busy, &tokens);
            let usual = hit.unwrap_or_else(sample);
            self.under_load(usual, busy)
        });
        let service = broken.map_or(service, |broken| {
            let first = self.first_token(|| tokens().input).min(service);
            first + ((service - first) as f64 * broken.part.unwrap_or(0.0)) as u64
        });
        match &self.pace {
            None => now.saturating_add(service),
            Some(pace) => pace.end(now, service),
        }
    }

    /// `usual` as it is when `busy` places are taken.
    fn under_load(&self, usual: u64, busy: u32) -> u64 {
        let plan = self.plan;
        let (Some(factor), Some(places)) = (plan.slower_when_full, plan.concurrency) else {
            return usual;
        };
        // In millionths, so that times stay integers.
        let more = ((factor - 1.0) * 1e6 + 0.5) as u128;
        let others = u128::from(busy.min(places).saturating_sub(1));
        let whole = u128::from(places.saturating_sub(1).max(1)) * 1_000_000;
        let longer = u128::from(usual) + u128::from(usual) * more * others / whole;
        longer.min(u128::from(LONGEST)) as u64
    }

    /// Time to first token, of a prompt of so many tokens.
    pub(super) fn first_token(&self, input: impl FnOnce() -> u64) -> u64 {
        self.plan.service.first(input)
    }

    /// Where the streamed answer to an attempt breaks off, if it does.
    pub(super) fn broken(&self, draws: Draws, tokens: impl Fn() -> u64) -> Option<Break> {
        let Draws { streams, number, step } = draws;
        self.plan.faults.iter().enumerate().find_map(|(index, fault)| match fault {
            Fault::StreamError(error) => {
                error.strikes((index as u32, number, step), &streams, &tokens)
            }
            _ => None,
        })
    }

    /// The error that an attempt ends with after its service, if it does.
    #[inline]
    pub(super) fn error(&self, now: Time, draws: Draws) -> Option<Failure<'a>> {
        self.plan.faults.iter().enumerate().find_map(|(index, fault)| match fault {
            Fault::Error(error) if draws.strikes(error, Strikes::AfterService, now, index) => {
                Some(Failure::status(error.status))
            }
            _ => None,
        })
    }
}

impl Draws {
    fn strikes(self, error: &ErrorRate, point: Strikes, now: Time, fault: usize) -> bool {
        error.hits(point, now, (fault as u32, self.number, self.step), &self.streams)
    }
}
