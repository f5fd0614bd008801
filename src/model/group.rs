//! A group of clients at work.

use super::few::Few;
use super::host::HostState;
use super::layers::LayerState;
use super::ledger::Ledger;
use super::provider::Draws;
use super::simulation::{Phase, State};
use super::tasks::Tasks;
use super::wire::Wire;
use super::{Arrivals, GroupPlan};
use crate::client::Flight;
use crate::rng::{self, Ranks, Streams};
use crate::units::Time;
use crate::workload::Population;

/// Group and place of a request whose name has so many bits for its group.
#[inline]
pub(super) fn split<const BITS: u32>(request: u32) -> (usize, u32) {
    ((request & ((1 << BITS) - 1)) as usize, request >> BITS)
}

/// The name of the request at `place` of `group`.
#[inline]
pub(super) fn join<const BITS: u32>(group: usize, place: u32) -> u32 {
    place << BITS | group as u32
}

/// Requests by place. `created` and `worker`, its client, exist only where they differ from what
/// the workload tells.
#[derive(Default)]
pub(super) struct Requests {
    pub(super) states: Vec<State>,
    pub(super) created: Vec<Time>,
    pub(super) worker: Vec<u32>,
    /// What is in flight, where the innermost layer hedges.
    pub(super) flights: Vec<Flight>,
}

/// A group: its requests, its random numbers, its layers and its books.
pub(super) struct Group<'a> {
    pub(super) plan: &'a GroupPlan,
    pub(super) streams: Streams,
    pub(super) ranks: Ranks,
    pub(super) requests: Requests,
    /// The next request of a stream or queue, and the instant of the last one.
    pub(super) next_request: u32,
    pub(super) last_arrival: Time,
    /// Its clients, if they are unequal.
    population: Option<Population>,
    /// Its tasks, if it has agents.
    pub(super) tasks: Option<Tasks>,
    pub(super) layers: Few<LayerState<'a>>,
    /// Where its clients run, if that makes attempts wait.
    pub(super) host: Option<HostState<'a>>,
    /// What is under way between clients and provider, if that takes time.
    pub(super) wire: Option<Wire<'a>>,
    pub(super) ledger: Ledger,
}

impl<'a> Group<'a> {
    pub(super) fn new(
        plan: &'a GroupPlan,
        streams: &Streams,
        layers: Few<LayerState<'a>>,
    ) -> Group<'a> {
        let streams = plan.name.as_ref().map_or(*streams, |name| streams.of_group(name));
        let ranks = match (&plan.name, &plan.arrivals) {
            (Some(_), _) | (None, Arrivals::Outside(_)) => Ranks::member(&streams),
            (None, Arrivals::Burst(_)) => Ranks::Herd,
            (None, _) => Ranks::stream(&streams),
        };
        let mut group = Group {
            plan,
            streams,
            ranks,
            requests: Requests::default(),
            next_request: 0,
            last_arrival: 0,
            population: plan.shares.map(|law| Population::new(law, plan.clients, &streams)),
            tasks: match plan.arrivals {
                Arrivals::Agents { rule, tasks } => Some(Tasks::new(rule, tasks)),
                _ => None,
            },
            layers,
            host: plan.host.as_ref().map(|host| HostState::new(host, plan)),
            wire: Wire::of(plan),
            ledger: Ledger::default(),
        };
        group.grow_to(plan.known() as usize);
        if let Ranks::Herd = group.ranks {
            let states = group.requests.states.iter_mut();
            let numbers = rng::shuffled(&group.streams, plan.clients);
            states.zip(numbers).for_each(|(state, number)| state.number = number);
        }
        group
    }

    /// Makes room for requests up to `len`.
    pub(super) fn grow_to(&mut self, len: usize) {
        if self.requests.states.len() >= len {
            return;
        }
        let unborn = |number| State { number, ..State::default() };
        let new = self.requests.states.len() as u32..len as u32;
        self.requests.states.extend(new.map(unborn));
        if self.layers[0].rule.hedge.is_some() {
            self.requests.flights.resize(len, Flight::default());
        }
        match self.plan.arrivals {
            Arrivals::ClosedLoop { .. } | Arrivals::Agents { .. } => {
                self.requests.worker.resize(len, 0);
                self.requests.created.resize(len, 0);
            }
            Arrivals::Poisson { .. } | Arrivals::Curve { .. } | Arrivals::Outside(_) => {
                self.requests.created.resize(len, 0)
            }
            Arrivals::Burst(_) | Arrivals::Trace(_) => {}
        }
        if let Some(population) = &self.population {
            let drawn = self.requests.worker.len() as u32..len as u32;
            let client = |place| population.client(place, &self.streams);
            self.requests.worker.extend(drawn.map(client));
        }
        self.layers.iter_mut().for_each(|layer| layer.grow_to(len));
        if let Some(host) = &mut self.host {
            host.grow_to(len);
        }
        if let Some(wire) = &mut self.wire {
            wire.grow_to(len);
        }
    }

    /// The number that random streams follow.
    #[inline]
    pub(super) fn number(&self, place: u32) -> u32 {
        self.requests.states[place as usize].number
    }

    /// The random numbers of the attempt that the request at `place` sent at `step`.
    #[inline]
    pub(super) fn draws(&self, place: u32, step: u32) -> Draws {
        Draws { streams: self.streams, number: self.number(place), step }
    }

    /// Reads what an event of the request at `place` needs; what it gives means nothing.
    #[inline]
    pub(super) fn touch(&self, place: u32) -> u32 {
        let at = place as usize;
        let state = self.requests.states.get(at).map_or(0, |state| state.step);
        self.layers.iter().fold(state, |read, layer| read ^ layer.touch(at))
    }

    pub(super) fn created(&self, place: u32) -> Time {
        match &self.plan.arrivals {
            Arrivals::Burst(burst) => burst.arrival(self.number(place), &self.streams),
            Arrivals::Trace(trace) => trace.arrival(place, &self.streams),
            _ => self.requests.created[place as usize],
        }
    }

    /// Whether the answer to the request at `place` is streamed.
    pub(super) fn streams_to(&self, place: u32) -> bool {
        match &self.plan.arrivals {
            Arrivals::Outside(outside) => outside.guest(place).stream,
            _ => self.plan.stream,
        }
    }

    #[inline]
    pub(super) fn client(&self, place: u32) -> u32 {
        match &self.plan.arrivals {
            Arrivals::Burst(_) => place,
            Arrivals::ClosedLoop { .. } | Arrivals::Agents { .. } => {
                self.requests.worker[place as usize]
            }
            Arrivals::Outside(outside) => outside.guest(place).client,
            _ if self.population.is_some() => self.requests.worker[place as usize],
            _ => place % self.plan.clients,
        }
    }

    /// The number of the client of the request at `place`, that random streams follow.
    pub(super) fn client_number(&self, place: u32) -> u32 {
        match self.plan.arrivals {
            Arrivals::Burst(_) => self.number(place),
            _ => self.client(place),
        }
    }

    /// The number of the provider that the attempt of the request at `place` goes to, of so many:
    /// each attempt of the layer that falls back takes the next one, in a circle.
    pub(super) fn aim(&self, place: u32, providers: usize) -> u32 {
        if let Arrivals::Outside(outside) = &self.plan.arrivals {
            return outside.guest(place).provider;
        }
        let layer = self.layers.iter().find(|layer| layer.rule.fallback);
        layer.map_or(0, |layer| layer.attempts(place).saturating_sub(1) % providers as u32)
    }

    /// Requests that exist and have no outcome.
    pub(super) fn open(&self) -> u64 {
        self.requests.states.iter().filter(|state| state.phase.is_open()).count() as u64
    }

    /// Requests that hold a permit of layer `l`, if that has a semaphore.
    pub(super) fn holders(&self, l: usize) -> u64 {
        let holds = |state: &&State| state.phase.holds_permit(l);
        self.requests.states.iter().filter(holds).count() as u64
    }

    /// True when the connections that pools miss are those that requests hold.
    pub(super) fn connections_add_up(&self) -> bool {
        let holds = |state: &&State| state.phase.holds_connection();
        let held = || self.requests.states.iter().filter(holds).count() as u64;
        let pooled = self.host.as_ref().filter(|host| host.has_pools());
        pooled.is_none_or(|host| host.connections_out() == held())
    }

    /// Attempts as the requests count them.
    pub(super) fn sent(&self) -> u64 {
        self.requests.states.iter().map(|state| u64::from(state.attempts)).sum()
    }
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
            Phase::Granted(at) | Phase::Pacing(at) => l >= usize::from(at),
            _ => true,
        }
    }

    /// True when a request holds a connection, if its host limits them.
    pub(super) fn holds_connection(self) -> bool {
        matches!(
            self,
            Phase::Connected | Phase::Sending | Phase::InFlight | Phase::Streaming | Phase::Hung(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_again() {
        assert_eq!(split::<0>(join::<0>(0, u32::MAX)), (0, u32::MAX));
        const BITS: u32 = GroupPlan::NUMBER_BITS;
        let last = GroupPlan::MOST_REQUESTS - 1;
        for (group, place) in [(0, 0), (0, last), (63, 0), (63, last), (5, 77)] {
            assert_eq!(split::<BITS>(join::<BITS>(group, place)), (group, place));
        }
    }
}
