//! The state of the client's layers, one column per part in use.

use super::ledger::LayerCount;
use crate::client::{Layer, Scope, Semaphore, Vault};
use crate::units::Time;

/// One layer: its rule and, per request, what it remembers of the call under way.
pub(super) struct LayerState<'a> {
    pub(super) rule: &'a Layer,
    pub(super) count: LayerCount,
    attempts: Column<u32>,
    previous_wait: Option<Column<u64>>,
    deadline: Option<Column<Time>>,
    expiry: Option<Column<Time>>,
    semaphores: Vec<Semaphore>,
    vaults: Vec<Vault>,
}

/// Values by request; grows as requests come.
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
    fn get(&self, request: u32) -> T {
        self.0[request as usize]
    }

    #[inline]
    fn set(&mut self, request: u32, value: T) {
        self.0[request as usize] = value;
    }
}

impl<'a> LayerState<'a> {
    pub(super) fn new(rule: &'a Layer, clients: u32, requests: u32) -> LayerState<'a> {
        let n = requests as usize;
        let copies = |scope| if scope == Scope::Client { clients as usize } else { 1 };
        LayerState {
            rule,
            count: LayerCount::default(),
            attempts: Column::with_capacity(n),
            previous_wait: rule.backoff.remembers().then(|| Column::with_capacity(n)),
            deadline: rule.deadline.map(|_| Column::with_capacity(n)),
            expiry: rule.timeout.map(|_| Column::with_capacity(n)),
            semaphores: rule
                .semaphore
                .map_or(vec![], |s| vec![Semaphore::new(s.permits); copies(s.scope)]),
            vaults: rule.budget.map_or(vec![], |b| vec![b.vault(); copies(b.scope())]),
        }
    }

    /// Makes room for requests up to `len`.
    pub(super) fn grow_to(&mut self, len: usize) {
        self.attempts.grow_to(len);
        let optional = [&mut self.previous_wait, &mut self.deadline, &mut self.expiry];
        optional.into_iter().flatten().for_each(|column| column.grow_to(len));
    }

    /// A call of `request` enters the layer.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, request: u32, client: u32) {
        self.count.calls += 1;
        self.attempts.set(request, 0);
        if let Some(column) = &mut self.previous_wait {
            column.set(request, 0);
        }
        if let (Some(column), Some(deadline)) = (&mut self.deadline, self.rule.deadline) {
            column.set(request, now.saturating_add(deadline.nanos()));
        }
        if let Some(vault) = self.vault(client) {
            vault.on_request();
        }
    }

    /// An attempt of the layer starts.
    #[inline]
    pub(super) fn start_attempt(&mut self, now: Time, request: u32) {
        self.count.attempts += 1;
        self.attempts.set(request, self.attempts.get(request) + 1);
        if let (Some(column), Some(timeout)) = (&mut self.expiry, self.rule.timeout) {
            column.set(request, now.saturating_add(timeout.nanos()));
        }
    }

    /// Attempts made in the call under way.
    #[inline]
    pub(super) fn attempts(&self, request: u32) -> u32 {
        self.attempts.get(request)
    }

    /// The last wait of the call under way, 0 before the first.
    #[inline]
    pub(super) fn previous_wait(&self, request: u32) -> u64 {
        self.previous_wait.as_ref().map_or(0, |column| column.get(request))
    }

    #[inline]
    pub(super) fn remember_wait(&mut self, request: u32, wait: u64) {
        if let Some(column) = &mut self.previous_wait {
            column.set(request, wait);
        }
    }

    /// When the call must be over.
    #[inline]
    pub(super) fn deadline(&self, request: u32) -> Time {
        self.deadline.as_ref().map_or(Time::MAX, |column| column.get(request))
    }

    /// When the attempt under way must be over.
    #[inline]
    pub(super) fn expiry(&self, request: u32) -> Time {
        self.expiry.as_ref().map_or(Time::MAX, |column| column.get(request))
    }

    /// The semaphore that holds for `client`.
    #[inline]
    pub(super) fn semaphore(&mut self, client: u32) -> Option<&mut Semaphore> {
        let shared = self.semaphores.len() == 1;
        self.semaphores.get_mut(if shared { 0 } else { client as usize })
    }

    /// The budget that holds for `client`.
    #[inline]
    pub(super) fn vault(&mut self, client: u32) -> Option<&mut Vault> {
        let shared = self.vaults.len() == 1;
        self.vaults.get_mut(if shared { 0 } else { client as usize })
    }

    /// Permits that are held by someone.
    pub(super) fn permits_out(&self) -> u64 {
        let all = self.rule.semaphore.map_or(0, |s| u64::from(s.permits));
        self.semaphores.iter().map(|semaphore| all - u64::from(semaphore.free())).sum()
    }

    /// True when every budget is conserved.
    pub(super) fn budgets_balance(&self) -> bool {
        self.vaults.iter().all(Vault::balances)
    }
}
