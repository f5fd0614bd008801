//! Changes at given instants: places that go missing and come back, and what operators do.

use super::Observer;
use super::provider::{Draws, ProviderPlan};
use super::simulation::Simulation;
use crate::engine::{Class, Key, Pending};
use crate::server::{Action, Capacity, Fault, Work};
use crate::units::{Span, Time};

/// What changes at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// The number of places.
    Places,
    /// What the cache holds; the number of the fault.
    Cache(usize),
    /// A limit or a timeout; the number of the action.
    By(usize),
}

/// All changes in the order in which they happen, with the number of their provider; at one instant
/// as they are written, faults first.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline(Vec<(Time, usize, Change)>);

impl Timeline {
    pub(super) fn of(providers: &[ProviderPlan]) -> Timeline {
        let mut all = Vec::new();
        for (number, provider) in providers.iter().enumerate() {
            let changes = Timeline::of_one(&provider.faults, &provider.actions).into_iter();
            all.extend(changes.map(|(at, change)| (at, number, change)));
        }
        all.sort_by_key(|(at, ..)| *at);
        Timeline(all)
    }

    fn of_one(faults: &[Fault], actions: &[Action]) -> Vec<(Time, Change)> {
        let mut changes = Vec::new();
        for (index, fault) in faults.iter().enumerate() {
            match fault {
                Fault::Capacity(capacity) => {
                    let instants = [Some(capacity.from), capacity.to].into_iter().flatten();
                    changes.extend(instants.map(|at: Span| (at.nanos(), Change::Places)));
                }
                Fault::CacheLoss(loss) => changes.push((loss.at.nanos(), Change::Cache(index))),
                _ => {}
            }
        }
        for (index, action) in actions.iter().enumerate() {
            match action {
                Action::Concurrency(set) => changes.push((set.at.nanos(), Change::Places)),
                Action::Limit(set) => changes.push((set.at.nanos(), Change::By(index))),
                Action::Timeout(set) => changes.push((set.at.nanos(), Change::By(index))),
                Action::Pause(_) | Action::Ramp(_) | Action::CutOff(_) => {}
            }
        }
        changes
    }
}

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    pub(super) fn schedule_timeline(&mut self) {
        for (index, (at, ..)) in self.timeline.0.iter().enumerate() {
            if *at < self.plan.horizon {
                self.events.push(Key::new(*at, Class::Timeline, index as u32, 0));
            }
        }
    }

    pub(super) fn on_timeline(&mut self, index: u32) {
        let (_, provider, change) = self.timeline.0[index as usize];
        match change {
            Change::Places => self.change_places(provider),
            Change::Cache(fault) => self.lose_entries(provider, fault),
            Change::By(action) => self.act(provider, action),
        }
    }

    fn act(&mut self, provider: usize, action: usize) {
        match &self.plan.providers[provider].actions[action] {
            Action::Limit(set) => {
                if let Some(limiter) = &mut self.providers[provider].limiter {
                    limiter.change(set.at.nanos(), set.of, |limit| set.changed(limit));
                }
            }
            Action::Timeout(set) => {
                let layers = self.groups.iter_mut().flat_map(|group| &mut group.layers);
                let named = layers.filter(|layer| layer.rule.name == set.layer);
                named.for_each(|layer| layer.set_timeout(set.timeout));
            }
            _ => {}
        }
    }

    fn lose_entries(&mut self, provider: usize, fault: usize) {
        let fault = &self.plan.providers[provider].faults[fault];
        if let (Fault::CacheLoss(loss), Some(cache)) = (fault, &mut self.providers[provider].cache)
        {
            cache.lose(loss.part);
        }
    }

    fn change_places(&mut self, provider: usize) {
        let now = self.events.now();
        let plan = &self.plan.providers[provider];
        self.providers[provider].admission.set_places(plan.places_at(now));
        for (index, fault) in plan.faults.iter().enumerate() {
            if let Fault::Capacity(capacity) = fault
                && capacity.from.nanos() == now
                && capacity.covers(now)
            {
                self.lose(provider, index as u32, capacity);
            }
        }
        self.fill_places(provider);
    }

    /// Work is lost with the places that fault number `fault` takes away.
    fn lose(&mut self, provider: usize, fault: u32, capacity: &Capacity) {
        if capacity.waiting == Work::Lost {
            while let Some(job) = self.providers[provider].admission.turn_away() {
                self.lose_waiting(job);
            }
        }
        if capacity.in_service == Work::Lost {
            let lot = |(request, step): (u32, u32)| {
                let (g, place) = self.split(request);
                let Draws { streams, number, step } = self.groups[g].draws(place, step);
                streams.fault(fault, number, step).bits()
            };
            let mut served = self.served(provider);
            served.sort_by_cached_key(|key| (lot(*key), *key));
            let excess = self.providers[provider].admission.excess() as usize;
            for (request, step) in served.into_iter().take(excess) {
                self.lose_served(request, step);
            }
        }
    }
}
