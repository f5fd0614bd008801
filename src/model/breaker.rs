//! The breakers of layers: what they let through, and how it ended.

use super::guard::End;
use super::simulation::Simulation;
use super::{Moment, Observer};
use crate::client::{Breaker, Counts, Scope, Ticket};
use crate::engine::Pending;
use crate::rng::{Purpose, Stream};

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// Asks the breaker of layer `l`, if it has one that counts these.
    #[inline]
    pub(super) fn admitted(&mut self, request: u32, l: usize, counts: Counts) -> bool {
        if PLAIN || self.layers(request)[l].rule.breaker.is_none() {
            return true;
        }
        self.ask(request, l, counts)
    }

    fn ask(&mut self, request: u32, l: usize, counts: Counts) -> bool {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        let client = group.client(place);
        let aim = group.aim(place, self.providers.len());
        let layer = &mut group.layers[l];
        let (Some(slot), Some(rule)) = (layer.breaker(aim), &layer.rule.breaker) else {
            return true;
        };
        if rule.counts != counts {
            return true;
        }
        // An attempt is asked for before it is counted.
        let first = layer.attempts(place) <= 1;
        let ticket = self.shared.breakers.get_mut(slot, || client).admit(rule, now, first);
        match ticket {
            Some(ticket) => layer.set_ticket(place, ticket),
            None => layer.count.breaker_refused += 1,
        }
        ticket.is_some()
    }

    /// Tells the breaker of layer `l` how what it let through has ended, if it counts these.
    #[inline]
    pub(super) fn settle(&mut self, request: u32, l: usize, counts: Counts, end: End<'_>) {
        if PLAIN {
            return;
        }
        let (g, place) = self.split(request);
        let layer = &mut self.groups[g].layers[l];
        if layer.rule.breaker.as_ref().is_some_and(|rule| rule.counts == counts) {
            let ticket = layer.take_ticket(place);
            if ticket != 0 {
                self.tell(request, l, ticket, end);
            }
        }
    }

    fn tell(&mut self, request: u32, l: usize, ticket: Ticket, end: End<'_>) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        let layer = &group.layers[l];
        let aim = group.aim(place, self.providers.len());
        let (Some(slot), Some(rule)) = (layer.breaker(aim), &layer.rule.breaker) else { return };
        let breaker = self.shared.breakers.get_mut(slot, || group.client(place));
        let failed = match end {
            End::Abandoned => return breaker.forget(ticket),
            End::Answered => false,
            End::Failed(failure) => layer.rule.breaker_counts().retries(failure),
        };
        let stream = |opening: u32| -> Stream {
            let (streams, entity) = match rule.scope {
                Scope::Fleet => (&self.streams, 0),
                Scope::Group => (&group.streams, 0),
                Scope::Client => (&group.streams, group.client_number(place)),
            };
            let streams = streams.of_breakers(&layer.rule.name);
            streams.stream(Purpose::Breaker, entity, opening)
        };
        let opened = breaker.report(rule, now, ticket, failed, stream);
        if let Some(until) = opened {
            let count = &mut self.groups[g].layers[l].count;
            count.breaker_openings += 1;
            count.breaker_open += until.min(self.plan.horizon) - now;
            self.tell_of(request, Moment::BreakerOpens { layer: l, until });
        }
    }

    /// True when the probes that half-open breakers have under way are those of requests.
    pub(super) fn probes_add_up(&self) -> bool {
        let breakers = self.shared.breakers.all();
        let mut held = vec![0; breakers.len()];
        for (group, layer) in
            self.groups.iter().flat_map(|group| group.layers.iter().map(move |l| (group, l)))
        {
            for (place, ticket) in layer.tickets() {
                let aim = group.aim(place, self.providers.len());
                let Some(slot) = layer.breaker(aim) else { continue };
                let index = slot.index(|| group.client(place));
                let is_probe = breakers[index].probes().is_some_and(|(probe, _)| probe == ticket);
                held[index] += u32::from(is_probe);
            }
        }
        let under_way = |breaker: &Breaker| breaker.probes().map_or(0, |(_, count)| count);
        breakers.iter().map(under_way).eq(held)
    }
}
