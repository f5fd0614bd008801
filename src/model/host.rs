//! What an attempt needs before it is sent: a connection, and the CPU of its process.

use super::simulation::{Phase, Simulation};
use super::{GroupPlan, Moment, Observer, group};
use crate::client::Semaphore;
use crate::engine::{Class, Pending};
use crate::host::{Host, PoolScope, Process, TimeoutStarts};
use crate::units::Time;

/// The host of a group.
pub(super) struct HostState<'a> {
    rule: &'a Host,
    /// Connection pools, by client or by process, or one.
    pools: Vec<Semaphore>,
    processes: Vec<Process>,
    /// By place: when the attempt under way came here.
    since: Vec<Time>,
}

impl<'a> HostState<'a> {
    pub(super) fn new(rule: &'a Host, plan: &GroupPlan) -> HostState<'a> {
        let pools = rule.connections.map_or(vec![], |connections| {
            let count = match connections.scope {
                PoolScope::Client => plan.clients,
                PoolScope::Process => rule.processes,
                PoolScope::Group => 1,
            };
            vec![Semaphore::new(connections.limit); count as usize]
        });
        let processes = vec![Process::default(); rule.processes as usize];
        HostState { rule, pools, processes, since: Vec::new() }
    }

    /// Makes room for requests up to `len`.
    pub(super) fn grow_to(&mut self, len: usize) {
        self.since.resize(len, 0);
    }

    /// The pool of a client that has this place and this number.
    fn pool(&mut self, client: u32, number: u32) -> Option<&mut Semaphore> {
        let index = match self.rule.connections?.scope {
            PoolScope::Client => client,
            PoolScope::Process => number % self.rule.processes,
            PoolScope::Group => 0,
        };
        self.pools.get_mut(index as usize)
    }

    /// The process of the client that has this number.
    fn process(&mut self, number: u32) -> &mut Process {
        &mut self.processes[(number % self.rule.processes) as usize]
    }

    /// Connections that are held by someone.
    pub(super) fn connections_out(&self) -> u64 {
        let limit = self.rule.connections.map_or(0, |connections| connections.limit);
        self.pools.iter().map(|pool| u64::from(limit - pool.free())).sum()
    }

    /// True when requests hold connections.
    pub(super) fn has_pools(&self) -> bool {
        !self.pools.is_empty()
    }

    fn timeout_starts(&self) -> TimeoutStarts {
        self.rule.timeout_starts
    }
}

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// All layers have let an attempt through: it is sent as soon as its host lets it.
    #[inline]
    pub(super) fn depart(&mut self, request: u32) {
        let (g, _) = self.split(request);
        if PLAIN || self.groups[g].host.is_none() {
            return self.send(request);
        }
        self.ask_host(request);
    }

    fn ask_host(&mut self, request: u32) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        let (client, number) = (group.client(place), group.client_number(place));
        let Some(host) = &mut group.host else { return };
        host.since[place as usize] = now;
        if host.timeout_starts() == TimeoutStarts::AtSend {
            group.layers[0].set_expiry(place, Time::MAX);
        }
        if host.pool(client, number).is_none_or(Semaphore::try_acquire) {
            return self.use_process(request);
        }
        let step = self.advance(request, Phase::Dialing);
        self.tell_of(request, Moment::WaitsForConnection);
        let limit = self.limit_from(request, 0);
        let host = self.groups[g].host.as_mut();
        if let Some(pool) = host.and_then(|host| host.pool(client, number)) {
            pool.wait(request, step, limit);
        }
        self.schedule(limit, Class::Timeout, request, step);
    }

    /// A request that has a connection needs its process before it can send.
    pub(super) fn use_process(&mut self, request: u32) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let limit = self.limit_from(request, 0);
        let group = &mut self.groups[g];
        let number = group.client_number(place);
        let Some(host) = &mut group.host else { return };
        let cost = host.rule.cpu_per_attempt.nanos();
        let done = match cost {
            0 => Some(now),
            _ => host.process(number).turn(now, cost, limit),
        };
        if done == Some(now) {
            return self.send_from_host(request);
        }
        let step = self.advance(request, Phase::Sending);
        self.tell_of(request, Moment::WaitsForProcess);
        match done.filter(|done| *done < limit) {
            Some(done) => self.schedule(done, Class::Attempt, request, step),
            None => self.schedule(limit, Class::Timeout, request, step),
        }
    }

    /// When the process of a request will have read what comes now; None when that takes no time.
    #[inline]
    pub(super) fn time_to_read(&mut self, request: u32) -> Option<Time> {
        let (g, place) = self.split(request);
        let cost = self.groups[g].host.as_ref()?.rule.cpu_per_answer.nanos();
        if cost == 0 {
            return None;
        }
        let now = self.events.now();
        let group = &mut self.groups[g];
        let number = group.client_number(place);
        group.host.as_mut()?.process(number).turn(now, cost, Time::MAX)
    }

    /// An attempt leaves its host.
    pub(super) fn send_from_host(&mut self, request: u32) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        if let Some(host) = &group.host {
            self.observer.left_host(now, g, now - host.since[place as usize]);
            let layer = &mut group.layers[0];
            if host.timeout_starts() == TimeoutStarts::AtSend
                && let Some(timeout) = layer.timeout()
            {
                layer.set_expiry(place, now.saturating_add(timeout));
            }
        }
        self.send(request);
    }

    /// The innermost attempt of a request is over: its connection, if it has one, is free for
    /// whoever is next in line.
    #[inline]
    pub(super) fn close_connection(&mut self, request: u32) {
        let (g, _) = self.split(request);
        if !PLAIN && self.groups[g].host.is_some() && self.state(request).phase.holds_connection() {
            self.hand_connection_on(request);
        }
    }

    fn hand_connection_on(&mut self, request: u32) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        let (client, number) = (group.client(place), group.client_number(place));
        let states = &group.requests.states;
        let still_waits = |waiter: u32, step| {
            let (_, place) = group::split::<BITS>(waiter);
            states[place as usize].step == step
        };
        let pool = group.host.as_mut().and_then(|host| host.pool(client, number));
        if let Some(next) = pool.and_then(|pool| pool.release(now, still_waits)) {
            let step = self.advance(next, Phase::Connected);
            self.tell_of(next, Moment::GotConnection);
            self.schedule(now, Class::Attempt, next, step);
        }
    }
}
