//! How requests come into being, and what their end brings about.

use super::simulation::{Phase, Simulation};
use super::{Arrivals, Moment, Observer};
use crate::answer::Outcome;
use crate::engine::{Class, Pending};

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    pub(super) fn start(&mut self) {
        (0..self.groups.len()).for_each(|g| self.start_group(g));
    }

    fn start_group(&mut self, g: usize) {
        let plan = self.groups[g].plan;
        match &plan.arrivals {
            Arrivals::Burst(burst) => {
                for place in 0..plan.clients {
                    let group = &self.groups[g];
                    let at = burst.arrival(group.number(place), &group.streams);
                    self.schedule(at, Class::Attempt, Self::join(g, place), 0);
                }
            }
            // Its rows do not come in their order.
            Arrivals::Trace(trace) if trace.spread > 0 => {
                let rows = trace.rows.len() as u32;
                self.groups[g].next_request = rows;
                for row in 0..rows {
                    let at = trace.arrival(row, &self.groups[g].streams);
                    self.schedule(at, Class::Attempt, Self::join(g, row), 0);
                }
            }
            Arrivals::Agents { .. } => {
                for client in 0..plan.clients {
                    self.begin_task(g, client);
                }
            }
            Arrivals::ClosedLoop { jobs } => {
                let first = plan.clients.min(*jobs);
                self.groups[g].next_request = first;
                for place in 0..first {
                    self.groups[g].requests.worker[place as usize] = place;
                    self.schedule(0, Class::Attempt, Self::join(g, place), 0);
                }
            }
            Arrivals::Poisson { .. } | Arrivals::Curve { .. } | Arrivals::Trace(_) => {
                self.schedule_next_arrival(g);
            }
            Arrivals::Outside(_) => {}
        }
    }

    /// Schedules the next request of a stream, and with it all others of the same instant, so
    /// that their order is that of their ranks.
    pub(super) fn schedule_next_arrival(&mut self, g: usize) {
        let mut instant = None;
        loop {
            let group = &mut self.groups[g];
            let place = group.next_request;
            let next = group.plan.arrivals.next(place, group.last_arrival, &group.streams);
            let Some(at) = next.filter(|at| instant.is_none_or(|same| same == *at)) else { return };
            instant = Some(at);
            group.last_arrival = at;
            group.next_request += 1;
            group.grow_to(place as usize + 1);
            self.schedule(at, Class::Attempt, Self::join(g, place), 0);
        }
    }

    pub(super) fn create(&mut self, request: u32) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        group.ledger.created += 1;
        self.observer.created(now, g);
        if let Some(created) = group.requests.created.get_mut(place as usize) {
            *created = now;
        }
        let layers = group.layers.len();
        self.tell_of(request, Moment::Created);
        let group = &self.groups[g];
        let last_scheduled = place + 1 == group.next_request;
        if last_scheduled && !matches!(group.plan.arrivals, Arrivals::ClosedLoop { .. }) {
            self.schedule_next_arrival(g);
        }
        self.enter(request, layers);
    }

    pub(super) fn resolve(&mut self, request: u32, outcome: Outcome) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        self.advance(request, Phase::Resolved);
        let group = &mut self.groups[g];
        self.observer.resolved(now, g, group.created(place), outcome);
        self.tell_of(request, Moment::Resolved { outcome });
        let group = &mut self.groups[g];
        if group.tasks.is_some() {
            return self.on_call_resolved(g, place, outcome);
        }
        if let Arrivals::ClosedLoop { jobs } = group.plan.arrivals
            && group.next_request < jobs
        {
            let job = group.next_request;
            group.next_request += 1;
            group.requests.worker[job as usize] = group.requests.worker[place as usize];
            self.schedule(now, Class::Attempt, Self::join(g, job), 0);
        }
    }
}
