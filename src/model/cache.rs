//! The answer cache: work for what it lacks fills it.

use super::Observer;
use super::provider::Draws;
use super::simulation::Simulation;
use crate::engine::Pending;

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// The work of the attempt sent at `step` is done.
    #[inline]
    pub(super) fn fill_cache(&mut self, request: u32, step: u32) {
        let provider = self.provider_of(step);
        if self.providers[provider].cache.is_none() {
            return;
        }
        let now = self.events.now();
        let in_time = self.awaited(request, step) && !self.late_at_the_limit(request);
        let awaited = in_time || self.has_repeats(request, step);
        let (g, place) = self.split(request);
        let Draws { streams, number, .. } = self.groups[g].draws(place, step);
        if let Some(cache) = &mut self.providers[provider].cache {
            cache.fill(now, &streams, number, (request, step), awaited);
        }
    }

    /// The work of the attempt sent at `step` comes to nothing.
    pub(super) fn forget_miss(&mut self, request: u32, step: u32) {
        let provider = self.provider_of(step);
        if let Some(cache) = &mut self.providers[provider].cache {
            cache.forget((request, step));
        }
    }
}
