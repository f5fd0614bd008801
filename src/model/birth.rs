//! How requests come into being, and what their end brings about.

use super::simulation::{Phase, Simulation, State};
use super::{Arrivals, Observer};
use crate::answer::Outcome;
use crate::engine::Class;

impl<O: Observer> Simulation<'_, O> {
    pub(super) fn start(&mut self) {
        match &self.plan.arrivals {
            Arrivals::Burst(burst) => {
                for request in 0..self.plan.clients {
                    let at = burst.arrival(self.number(request), &self.streams);
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
    pub(super) fn schedule_next_arrival(&mut self) {
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

    pub(super) fn grow_to(&mut self, len: usize) {
        if self.requests.states.len() >= len {
            return;
        }
        self.requests.states.resize(len, State::default());
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

    pub(super) fn create(&mut self, request: u32) {
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

    pub(super) fn resolve(&mut self, request: u32, outcome: Outcome) {
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
}
