//! The row that work reads when its service starts, and writes when it is done.

use super::Observer;
use super::simulation::Simulation;
use crate::answer::Failure;
use crate::engine::Pending;
use crate::server::Caller;

impl<'a, O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'a, O, P, BITS, PLAIN>
{
    /// Service of the attempt sent at `step` starts.
    #[inline]
    pub(super) fn read_row(&mut self, request: u32, step: u32) {
        let provider = self.provider_of(step);
        if self.plan.providers[provider].row.is_none() {
            return;
        }
        let who = self.caller(request);
        if let Some(rows) = &mut self.providers[provider].rows {
            rows.read(who, (request, step));
        }
    }

    /// The work of the attempt sent at `step` is done, whether or not its client still waits: what it
    /// ends with when its write does not stand.
    #[inline]
    pub(super) fn write_row(&mut self, request: u32, step: u32) -> Option<Failure<'a>> {
        let provider = self.provider_of(step);
        let rule = self.plan.providers[provider].row?;
        let who = self.caller(request);
        let rows = self.providers[provider].rows.as_mut()?;
        if rows.write(who, (request, step)) {
            return None;
        }
        self.books(request).conflicts += 1;
        Some(Failure::status(rule.status))
    }

    /// The work of the attempt sent at `step` comes to nothing: what it has read, or missed in the
    /// cache, is forgotten.
    pub(super) fn come_to_nothing(&mut self, request: u32, step: u32) {
        let provider = self.provider_of(step);
        if let Some(rows) = &mut self.providers[provider].rows {
            rows.forget((request, step));
        }
        self.forget_miss(request, step);
    }

    fn caller(&self, request: u32) -> Caller {
        let (group, place) = self.split(request);
        Caller { group, client: self.groups[group].client(place) }
    }
}
