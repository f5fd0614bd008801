//! What a layer's budget learns of calls, attempts and failures.

use super::Observer;
use super::simulation::Simulation;
use crate::answer::Failure;
use crate::client::Held;
use crate::engine::Pending;

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// A call enters layer `l`.
    pub(super) fn deposit_of_call(&mut self, request: u32, l: usize) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        if let Some(slot) = self.groups[g].layers[l].hedge_vault {
            let group = &self.groups[g];
            self.shared.vaults.get_mut(slot, || group.client(place)).on_call(now);
        }
        let Some(vault) = self.vault(request, l) else { return };
        vault.on_call(now);
        let layer = &mut self.groups[g].layers[l];
        layer.set_taken(place, 0);
        if layer.counts_active() {
            self.with_active(request, l, |active, held| active.start_call(held));
        }
    }

    /// A request has succeeded, and with it its call into layer `l`.
    pub(super) fn deposit_of_success(&mut self, request: u32, l: usize) {
        let now = self.events.now();
        let (_, place) = self.split(request);
        let taken = self.layers(request)[l].taken(place);
        if let Some(vault) = self.vault(request, l) {
            vault.on_success(now, taken);
        }
    }

    /// An attempt of layer `l` has failed in a way that the layer retries.
    pub(super) fn note_failure(&mut self, request: u32, l: usize, failure: &Failure<'_>) {
        if matches!(failure, Failure::NotSent(_)) {
            return;
        }
        if let Some(vault) = self.vault(request, l) {
            vault.on_failure();
        }
    }

    /// Takes what a retry of layer `l` after `failure` costs; false when the budget has too little.
    pub(super) fn withdraw(&mut self, request: u32, l: usize, failure: &Failure<'_>) -> bool {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let mut held = self.layers(request)[l].held(place);
        let Some(vault) = self.vault(request, l) else { return true };
        let taken = vault.withdraw(now, failure, &mut held);
        let layer = &mut self.groups[g].layers[l];
        layer.set_held(place, held);
        if let Some(taken) = taken {
            layer.set_taken(place, taken);
        }
        taken.is_some()
    }

    /// An attempt of layer `l`, the so many-th of its call, starts.
    #[inline]
    pub(super) fn activate(&mut self, request: u32, l: usize) {
        if self.layers(request)[l].counts_active() {
            let (_, place) = self.split(request);
            let number = self.layers(request)[l].attempts(place);
            self.with_active(request, l, |active, held| active.start_attempt(held, number));
        }
    }

    /// The attempt of layer `l` under way has ended, or its whole call.
    #[inline]
    pub(super) fn deactivate(&mut self, request: u32, l: usize, call: bool) {
        if self.layers(request)[l].counts_active() {
            self.with_active(request, l, |active, held| match call {
                true => active.end_call(held),
                false => active.end_attempt(held),
            });
        }
    }

    fn with_active(
        &mut self,
        request: u32,
        l: usize,
        change: impl FnOnce(&mut crate::client::Active, &mut Held),
    ) {
        let (g, place) = self.split(request);
        let mut held = self.layers(request)[l].held(place);
        if let Some(active) = self.vault(request, l).and_then(|vault| vault.active()) {
            change(active, &mut held);
        }
        self.groups[g].layers[l].set_held(place, held);
    }

    /// True when what budgets count as under way is what requests have under way.
    pub(super) fn active_adds_up(&self) -> bool {
        let vaults = self.shared.vaults.all();
        let mut found = vec![[0; 3]; vaults.len()];
        for (group, layer) in
            self.groups.iter().flat_map(|group| group.layers.iter().map(move |l| (group, l)))
        {
            let Some(slot) = layer.vault.filter(|_| layer.counts_active()) else { continue };
            for (place, held) in layer.all_held() {
                let sums = &mut found[slot.index(|| group.client(place))];
                sums[0] += u32::from(held.call);
                sums[1] += u32::from(held.attempt);
                sums[2] += u32::from(held.retry);
            }
        }
        vaults
            .iter()
            .zip(found)
            .all(|(vault, found)| vault.active_counts().is_none_or(|c| c == found))
    }
}
