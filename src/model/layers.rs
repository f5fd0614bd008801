//! The state of the client's layers, one column per part in use.

use super::ledger::LayerCount;
use super::pool::{Pool, Slot};
use crate::answer::Failure;
use crate::client::{Breaker, Budget, Held, Layer, Pacer, Semaphore, Throttle, Ticket, Vault};
use crate::units::{Span, Time};

/// One layer: its rule and, per request, what it remembers of the call under way.
pub(super) struct LayerState<'a> {
    pub(super) rule: &'a Layer,
    pub(super) count: LayerCount,
    calls: Column<Call>,
    /// What the backoff remembers, this many values per request.
    memory: (usize, Column<u64>),
    deadline: Option<Column<Time>>,
    /// The limit of the attempt under way once the provider has accepted it, where that differs.
    accepted_expiry: Option<Column<Time>>,
    /// The limit of one attempt that starts now.
    timeout: Option<Span>,
    pub(super) semaphore: Option<Slot>,
    /// Whether anything but a semaphore stands between the layer and its attempts, or counts them. A
    /// plain layer asks once.
    pub(super) guarded: bool,
    /// Whether any of it learns how attempts and calls end.
    pub(super) watched: bool,
    pub(super) vault: Option<Slot>,
    /// Its breaker, or one for each provider where a layer around it falls back.
    breakers: Vec<Slot>,
    /// What the breaker let through, by request; 0 for nothing.
    ticket: Option<Column<Ticket>>,
    pub(super) throttle: Option<Slot>,
    pub(super) pacer: Option<Slot>,
    pub(super) hedge_vault: Option<Slot>,
    /// What the last retry of the call took from the budget, where that gives it back.
    taken: Option<Column<u64>>,
    /// What is under way, where the budget counts it.
    held: Option<Column<Held>>,
    /// The failure of the last attempt, where the layer sleeps once more after it.
    parting: Option<Column<Option<Failure<'a>>>>,
}

/// What every layer remembers of the call under way of a request: one piece of memory, for it is read
/// and written together.
#[derive(Clone, Copy, Default)]
struct Call {
    /// Attempts made.
    attempts: u32,
    /// How long before the end of time the attempt under way must be over, in halves, for that packs
    /// more closely; 0 is no limit.
    before_end: [u32; 2],
}

impl Call {
    /// When the attempt under way must be over.
    #[inline]
    fn expiry(self) -> Time {
        let [low, high] = self.before_end.map(u64::from);
        Time::MAX - (high << 32 | low)
    }

    #[inline]
    fn set_expiry(&mut self, expiry: Time) {
        let before_end = Time::MAX - expiry;
        self.before_end = [before_end as u32, (before_end >> 32) as u32];
    }
}

/// The parts of layers that clients share.
pub(super) struct Shared {
    pub(super) semaphores: Pool<Semaphore>,
    pub(super) vaults: Pool<Vault>,
    pub(super) breakers: Pool<Breaker>,
    pub(super) throttles: Pool<Throttle>,
    pub(super) pacers: Pool<Pacer>,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared {
            semaphores: Pool::new(),
            vaults: Pool::new(),
            breakers: Pool::new(),
            throttles: Pool::new(),
            pacers: Pool::new(),
        }
    }
}

/// Values by place of the request; grows as requests come.
#[derive(Default)]
struct Column<T>(Vec<T>);

impl<T: Copy + Default> Column<T> {
    fn with_capacity(capacity: usize) -> Column<T> {
        Column(Vec::with_capacity(capacity))
    }

    #[inline]
    fn grow_to(&mut self, len: usize) {
        if self.0.len() < len {
            self.0.resize(len, T::default());
        }
    }

    #[inline]
    fn get(&self, place: u32) -> T {
        self.0[place as usize]
    }

    #[inline]
    fn set(&mut self, place: u32, value: T) {
        self.0[place as usize] = value;
    }
}

impl<'a> LayerState<'a> {
    /// The state of a layer of a group with so many clients and, as far as known, requests, whose
    /// attempts go to so many providers by turns.
    pub(super) fn new(
        rule: &'a Layer,
        clients: u32,
        requests: u32,
        providers: usize,
        shared: &mut Shared,
    ) -> LayerState<'a> {
        let n = requests as usize;
        let semaphore = rule.semaphore.map(|s| {
            shared.semaphores.place(s.scope, &rule.name, clients, Semaphore::new(s.permits))
        });
        let vault = rule
            .budget
            .map(|budget| shared.vaults.place(budget.scope(), &rule.name, clients, budget.vault()));
        let memory = rule.backoff.memory();
        let breaker = |number: usize| {
            let breaker = rule.breaker.as_ref()?;
            // No layer has such a name.
            let name = format!("{}@{number}", rule.name);
            Some(shared.breakers.place(breaker.scope, &name, clients, Breaker::new(breaker)))
        };
        let breakers: Vec<Slot> = (0..providers).filter_map(breaker).collect();
        let throttle = rule
            .adaptive_throttle
            .as_ref()
            .map(|t| shared.throttles.place(t.scope, &rule.name, clients, Throttle::new(t)));
        let pacer = rule
            .pace
            .as_ref()
            .map(|p| shared.pacers.place(p.scope(), &rule.name, clients, Pacer::new(p)));
        let hedges = rule.hedge.and_then(|hedge| hedge.budget);
        let hedge_vault = hedges.map(|ratio| {
            // No layer can be called so.
            let name = format!("hedges of {}", rule.name);
            shared.vaults.place(ratio.scope, &name, clients, Budget::Ratio(ratio).vault())
        });
        let refunds = matches!(rule.budget, Some(Budget::RetryQuota(_)));
        let counts_active = rule.budget.is_some_and(|budget| budget.counts_active());
        LayerState {
            rule,
            count: LayerCount::default(),
            calls: Column::with_capacity(n),
            memory: (memory, Column::with_capacity(n * memory)),
            deadline: rule.deadline.map(|_| Column::with_capacity(n)),
            accepted_expiry: rule.connect_timeout.map(|_| Column::with_capacity(n)),
            timeout: rule.timeout,
            semaphore,
            guarded: rule.breaker.is_some()
                || [vault, throttle, pacer, hedge_vault].iter().any(Option::is_some),
            watched: rule.breaker.is_some()
                || counts_active
                || throttle.is_some()
                || pacer.is_some(),
            vault,
            ticket: rule.breaker.as_ref().map(|_| Column::with_capacity(n)),
            breakers,
            throttle,
            pacer,
            hedge_vault,
            taken: refunds.then(|| Column::with_capacity(n)),
            held: counts_active.then(|| Column::with_capacity(n)),
            parting: rule.wait_after_last.then(|| Column::with_capacity(n)),
        }
    }

    /// Makes room for requests up to `len`.
    pub(super) fn grow_to(&mut self, len: usize) {
        self.calls.grow_to(len);
        self.memory.1.grow_to(len * self.memory.0);
        let optional = [&mut self.deadline, &mut self.accepted_expiry];
        optional.into_iter().flatten().for_each(|column| column.grow_to(len));
        if let Some(column) = &mut self.ticket {
            column.grow_to(len);
        }
        if let Some(column) = &mut self.taken {
            column.grow_to(len);
        }
        if let Some(column) = &mut self.held {
            column.grow_to(len);
        }
        if let Some(column) = &mut self.parting {
            column.grow_to(len);
        }
    }

    /// Reads what it remembers of the request at place `at`; what it gives means nothing.
    #[inline]
    pub(super) fn touch(&self, at: usize) -> u32 {
        self.calls.0.get(at).map_or(0, |call| call.attempts)
    }

    /// A call of the request at `place` enters the layer.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, place: u32) {
        self.count.calls += 1;
        self.calls.0[place as usize].attempts = 0;
        if self.memory.0 > 0 {
            self.memory(place).fill(0);
        }
        self.set_parting(place, None);
        if let (Some(column), Some(deadline)) = (&mut self.deadline, self.rule.deadline) {
            column.set(place, now.saturating_add(deadline.nanos()));
        }
    }

    /// Attempts that start from now on have this timeout.
    pub(super) fn set_timeout(&mut self, timeout: Span) {
        self.timeout = Some(timeout);
    }

    /// An attempt of the layer is made, though its breaker may refuse it.
    #[inline]
    pub(super) fn try_attempt(&mut self, place: u32) {
        self.calls.0[place as usize].attempts += 1;
    }

    /// An attempt of the layer starts.
    #[inline]
    pub(super) fn start_attempt(&mut self, now: Time, place: u32) {
        self.count.attempts += 1;
        let timeout = self.timeout.map_or(Time::MAX, Span::nanos);
        self.set_expiry(place, now.saturating_add(timeout));
    }

    /// Attempts made in the call under way.
    #[inline]
    pub(super) fn attempts(&self, place: u32) -> u32 {
        self.calls.get(place).attempts
    }

    /// What the backoff remembers of the call under way.
    #[inline]
    pub(super) fn memory(&mut self, place: u32) -> &mut [u64] {
        let (values, column) = &mut self.memory;
        let first = place as usize * *values;
        &mut column.0[first..first + *values]
    }

    #[inline]
    pub(super) fn set_parting(&mut self, place: u32, failure: Option<Failure<'a>>) {
        if let Some(column) = &mut self.parting {
            column.set(place, failure);
        }
    }

    /// The failure after which the layer has slept once more, and gives up now.
    #[inline]
    pub(super) fn take_parting(&mut self, place: u32) -> Option<Failure<'a>> {
        self.parting.as_mut().and_then(|column| column.0[place as usize].take())
    }

    /// What the last retry of the call took from the budget; 0 for nothing.
    pub(super) fn taken(&self, place: u32) -> u64 {
        self.taken.as_ref().map_or(0, |column| column.get(place))
    }

    pub(super) fn set_taken(&mut self, place: u32, taken: u64) {
        if let Some(column) = &mut self.taken {
            column.set(place, taken);
        }
    }

    /// True when the budget counts what is under way.
    #[inline]
    pub(super) fn counts_active(&self) -> bool {
        self.held.is_some()
    }

    /// What the call has under way, as far as the budget counts it.
    pub(super) fn held(&self, place: u32) -> Held {
        self.held.as_ref().map_or(Held::default(), |column| column.get(place))
    }

    pub(super) fn set_held(&mut self, place: u32, held: Held) {
        if let Some(column) = &mut self.held {
            column.set(place, held);
        }
    }

    /// What all calls have under way, by place.
    pub(super) fn all_held(&self) -> impl Iterator<Item = (u32, Held)> {
        self.held.iter().flat_map(|column| (0..).zip(column.0.iter().copied()))
    }

    /// The breaker that holds for attempts to provider number `aim`.
    pub(super) fn breaker(&self, aim: u32) -> Option<Slot> {
        self.breakers.get(aim as usize).or(self.breakers.first()).copied()
    }

    pub(super) fn set_ticket(&mut self, place: u32, ticket: Ticket) {
        if let Some(column) = &mut self.ticket {
            column.set(place, ticket);
        }
    }

    /// Takes what the breaker let through; 0 for nothing.
    pub(super) fn take_ticket(&mut self, place: u32) -> Ticket {
        self.ticket.as_mut().map_or(0, |column| std::mem::take(&mut column.0[place as usize]))
    }

    /// What the breaker let through and has not ended, by place.
    pub(super) fn tickets(&self) -> impl Iterator<Item = (u32, Ticket)> {
        let all = self.ticket.iter().flat_map(|column| (0..).zip(column.0.iter().copied()));
        all.filter(|(_, ticket)| *ticket != 0)
    }

    /// When the call must be over.
    #[inline]
    pub(super) fn deadline(&self, place: u32) -> Time {
        self.deadline.as_ref().map_or(Time::MAX, |column| column.get(place))
    }

    /// The timeout of attempts that start now.
    pub(super) fn timeout(&self) -> Option<Time> {
        self.timeout.map(Span::nanos)
    }

    /// Puts the limit of the attempt under way off or on.
    pub(super) fn set_expiry(&mut self, place: u32, expiry: Time) {
        self.calls.0[place as usize].set_expiry(expiry);
    }

    /// The attempt sets out: until it is accepted it has the shorter of both limits.
    #[inline]
    pub(super) fn start_connecting(&mut self, now: Time, place: u32) {
        let expiry = self.expiry(place);
        let connect = (&mut self.accepted_expiry, self.rule.connect_timeout);
        if let (Some(column), Some(timeout)) = connect {
            column.set(place, expiry);
            self.set_expiry(place, expiry.min(now.saturating_add(timeout.nanos())));
        }
    }

    /// True when its attempts have a limit of their own until they are accepted.
    #[inline]
    pub(super) fn limits_connecting(&self) -> bool {
        self.accepted_expiry.is_some()
    }

    /// The attempt has been accepted.
    pub(super) fn end_connecting(&mut self, place: u32) {
        if let Some(column) = &self.accepted_expiry {
            self.set_expiry(place, column.get(place));
        }
    }

    /// When the attempt under way must be over.
    #[inline]
    pub(super) fn expiry(&self, place: u32) -> Time {
        self.calls.get(place).expiry()
    }
}
