//! The state of a run and its loop: take the next event, handle it, check the books at the end.
//!
//! What an event does is told in `birth`, `call`, `attempt` and `failure`.

use super::few::Few;
use super::group::{self, Group};
use super::layers::{LayerState, Shared};
use super::ledger::{LayerCount, Ledger};
use super::provider::Provider;
use super::timeline::Timeline;
use super::wire::Wire;
use super::{Observer, Plan, Report, RunError};
use crate::client::{Semaphore, Vault};
use crate::engine::{Class, EventList, Fingerprint, Key, Pending};
use crate::rng::{Ranks, Streams};
use crate::server::{Entries, Limiter, Rows};
use crate::units::{Time, seconds};

/// Where a request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// It does not exist yet.
    #[default]
    Unborn,
    /// It waits for a permit of this layer.
    Waiting(u8),
    /// It has the permit of this layer and goes on at this instant.
    Granted(u8),
    /// It has the permit of this layer, and waits for its turn in the layer's pace.
    Pacing(u8),
    /// It sleeps before the next attempt of this layer.
    Backoff(u8),
    /// All layers have let it through, and it waits for a connection.
    Dialing,
    /// It has been given a connection and goes on at this instant.
    Connected,
    /// It has a connection and waits for its process to send it.
    Sending,
    /// An attempt is on its way, at the provider, or in its backlog.
    InFlight,
    /// The head of a streamed answer has arrived.
    Streaming,
    /// A streamed answer has gone silent; true when a token had been delivered.
    Hung(bool),
    /// It has its outcome.
    Resolved,
}

/// What every request has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Counts its changes of phase; an event with another step is stale.
    pub(super) step: u32,
    /// Attempts sent.
    pub(super) attempts: u32,
    /// What its random numbers follow.
    pub(super) number: u32,
    pub(super) phase: Phase,
    /// Work for it has been done once, where that is counted.
    pub(super) done: bool,
}

/// A run. A request is named by its group in the lowest `BITS` bits and, above them, by its place
/// in the columns of the group: the one group without a name needs no bits.
///
/// A `PLAIN` run is one of [`Plan::is_plain`]: what it cannot have is left out by the compiler.
pub(super) struct Simulation<'a, O, P, const BITS: u32, const PLAIN: bool> {
    pub(super) plan: &'a Plan,
    /// The streams of the whole fleet.
    pub(super) streams: Streams,
    pub(super) events: EventList<P>,
    pub(super) handled: u64,
    /// When something last happened; events of requests that had moved on do not count.
    pub(super) last_change: Time,
    pub(super) fingerprint: Fingerprint,
    pub(super) groups: Few<Group<'a>>,
    pub(super) shared: Shared,
    pub(super) providers: Few<Provider<'a>>,
    /// The lowest bits of the step at which an attempt is sent name its provider.
    pub(super) provider_bits: u32,
    pub(super) timeline: Timeline,
    pub(super) observer: &'a mut O,
    pub(super) too_many_steps: bool,
    /// More requests than the fast memory holds are pending.
    crowded: bool,
    /// What [`Simulation::look_ahead`] has read, so that it is read.
    read: u32,
}

/// So many requests fit into the second cache of most machines.
const CROWD: u32 = 1 << 15;

/// Events that are looked at ahead of their turn. Memory serves about so many reads at once.
const AHEAD: u64 = 16;

impl<'a, O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'a, O, P, BITS, PLAIN>
{
    pub(super) fn new(
        plan: &'a Plan,
        streams: Streams,
        observer: &'a mut O,
    ) -> Result<Simulation<'a, O, P, BITS, PLAIN>, RunError> {
        let mut shared = Shared::new();
        let mut groups: Vec<Group> = Vec::with_capacity(plan.groups.len());
        for group in &plan.groups {
            let (clients, known) = (group.clients, group.known());
            let falls_back = group.layers.iter().position(|layer| layer.fallback);
            let layer = |(l, rule)| {
                let inside = falls_back.is_some_and(|outer| l < outer);
                let providers = if inside { plan.providers.len() } else { 1 };
                LayerState::new(rule, clients, known, providers, &mut shared)
            };
            let layers = Few::of(group.layers.iter().enumerate().map(layer));
            groups.push(Group::new(group, &streams, layers.ok_or(RunError::Incomplete)?));
        }
        let clients: Vec<u32> = plan.groups.iter().map(|group| group.clients).collect();
        let known: usize = plan.groups.iter().map(|group| group.known() as usize).sum();
        let last_class = plan.groups.iter().map(|group| group.priority).max();
        let classes = 1 + usize::from(last_class.unwrap_or(0));
        let providers = plan.providers.iter().map(|p| Provider::new(p, &clients, classes));
        Ok(Simulation {
            plan,
            streams,
            events: EventList::with_capacity(known),
            handled: 0,
            last_change: 0,
            fingerprint: Fingerprint::default(),
            groups: Few::of(groups).ok_or(RunError::Incomplete)?,
            shared,
            providers: Few::of(providers).ok_or(RunError::Incomplete)?,
            provider_bits: plan.providers.len().next_power_of_two().ilog2(),
            timeline: Timeline::of(&plan.providers),
            observer,
            too_many_steps: false,
            crowded: known > CROWD as usize,
            read: 0,
        })
    }

    pub(super) fn run(mut self) -> Result<Report, RunError> {
        self.schedule_timeline();
        self.start();
        while let Some(key) = self.events.pop_before(self.plan.horizon) {
            if self.crowded && self.handled.is_multiple_of(AHEAD) {
                self.look_ahead();
            }
            self.handled += 1;
            let (time, rest) = key.halves();
            self.fingerprint.add(time);
            self.fingerprint.add(rest);
            self.handle(key);
            self.check_progress()?;
        }
        self.finish()
    }

    /// Reads what the next events will need, all of it at once: one after the other they would wait for
    /// memory each. Nothing comes of it but that it is near.
    fn look_ahead(&mut self) {
        let soon = self.events.soon().iter().rev().take(AHEAD as usize);
        let touch = |read: u32, key: &Key| {
            let (g, place) = self.split(self.by_rank(key.rank()));
            read ^ self.groups[g].touch(place)
        };
        self.read = soon.fold(self.read, touch);
    }

    fn check_progress(&self) -> Result<(), RunError> {
        if self.too_many_steps {
            return Err(RunError::TooManySteps);
        }
        let events = self.events.at_this_instant();
        if events > self.plan.events_per_instant {
            let at_s = seconds(self.events.now()).to_string();
            return Err(RunError::Livelock { events, at_s });
        }
        Ok(())
    }

    /// One event. The provider's happen whatever the client does; the client's are stale and
    /// mean nothing once their request has moved on.
    #[inline]
    pub(super) fn handle(&mut self, key: Key) {
        let class = key.class();
        // What concerns no single request.
        if matches!(class, Class::Timeline | Class::Refill) {
            return match class {
                Class::Timeline => self.on_timeline(key.rank()),
                _ => self.on_refill(key.rank() as usize),
            };
        }
        let request = self.by_rank(key.rank());
        let step = key.step();
        let current = self.state(request).step == step;
        match class {
            Class::Completion if self.hand_out(request, step) => self.on_completion(request, step),
            Class::Accept => self.on_accept(request, step),
            Class::Arrival => self.on_arrival(request, step),
            Class::Head => self.on_head(request, step),
            Class::Answer => self.on_answer(request, step),
            Class::AnswerRead => self.on_answer_read(request, step),
            Class::Word if self.awaited(request, step) => self.on_word(request, step),
            Class::WordRead if current => self.on_word_read(request, step),
            Class::Attempt if current => self.on_wake(request),
            Class::Timeout if current && self.limit_stands(request) => self.on_timeout(request),
            _ => return,
        }
        self.last_change = self.events.now();
    }

    /// Group and place of a request; also group and rank in the group of a rank.
    #[inline(always)]
    pub(super) fn split(&self, request: u32) -> (usize, u32) {
        group::split::<BITS>(request)
    }

    #[inline]
    pub(super) fn join(group: usize, place: u32) -> u32 {
        group::join::<BITS>(group, place)
    }

    /// The rank of a request among all.
    #[inline]
    pub(super) fn rank(&self, request: u32) -> u32 {
        let (g, place) = self.split(request);
        match &self.groups[g].ranks {
            // One herd is laid out by rank.
            Ranks::Herd => request,
            ranks => Self::join(g, ranks.rank(place)),
        }
    }

    /// The request that has a rank.
    #[inline]
    fn by_rank(&self, rank: u32) -> u32 {
        let (g, of_group) = self.split(rank);
        match &self.groups[g].ranks {
            Ranks::Herd => rank,
            ranks => Self::join(g, ranks.place(of_group)),
        }
    }

    #[inline(always)]
    pub(super) fn state(&self, request: u32) -> State {
        let (g, place) = self.split(request);
        self.groups[g].requests.states[place as usize]
    }

    #[inline(always)]
    pub(super) fn state_mut(&mut self, request: u32) -> &mut State {
        let (g, place) = self.split(request);
        &mut self.groups[g].requests.states[place as usize]
    }

    /// The books of a request's group.
    #[inline(always)]
    pub(super) fn books(&mut self, request: u32) -> &mut Ledger {
        let (g, _) = self.split(request);
        &mut self.groups[g].ledger
    }

    /// The layers of a request's group.
    #[inline(always)]
    pub(super) fn layers(&self, request: u32) -> &Few<LayerState<'a>> {
        &self.groups[self.split(request).0].layers
    }

    /// The semaphore of layer `l` that holds for a request.
    #[inline(always)]
    pub(super) fn semaphore(&mut self, request: u32, l: usize) -> Option<&mut Semaphore> {
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        let slot = group.layers[l].semaphore?;
        Some(self.shared.semaphores.get_mut(slot, || group.client(place)))
    }

    /// The budget of layer `l` that holds for a request.
    #[inline(always)]
    pub(super) fn vault(&mut self, request: u32, l: usize) -> Option<&mut Vault> {
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        let slot = group.layers[l].vault?;
        Some(self.shared.vaults.get_mut(slot, || group.client(place)))
    }

    /// Moves a request to `phase`; all its pending events but completions become stale.
    #[inline]
    pub(super) fn advance(&mut self, request: u32, phase: Phase) -> u32 {
        let state = self.state_mut(request);
        if state.step == Key::MAX_STEP {
            self.too_many_steps = true;
            return Key::MAX_STEP;
        }
        state.step += 1;
        state.phase = phase;
        state.step
    }

    /// Puts a request in flight. The lowest bits of its step name the provider that the attempt
    /// goes to, so that whatever becomes of it later is that provider's.
    #[inline]
    pub(super) fn take_off_to_provider(&mut self, request: u32) -> u32 {
        let step = self.advance(request, Phase::InFlight);
        if PLAIN || self.provider_bits == 0 {
            return step;
        }
        let (g, place) = self.split(request);
        let missing = self.groups[g].aim(place, self.providers.len()).wrapping_sub(step);
        let step = step + (missing & ((1 << self.provider_bits) - 1));
        self.too_many_steps |= step > Key::MAX_STEP;
        let step = step.min(Key::MAX_STEP);
        self.state_mut(request).step = step;
        step
    }

    /// The number of the provider of the attempt sent at `step`.
    #[inline(always)]
    pub(super) fn provider_of(&self, step: u32) -> usize {
        if PLAIN { 0 } else { (step & ((1 << self.provider_bits) - 1)) as usize }
    }

    /// Adds an event unless it would pass the horizon.
    #[inline]
    pub(super) fn schedule(&mut self, at: Time, class: Class, request: u32, step: u32) {
        if at < self.plan.horizon {
            self.events.push(Key::new(at, class, self.rank(request), step));
        }
    }

    fn finish(mut self) -> Result<Report, RunError> {
        std::hint::black_box(self.read);
        let open: Vec<u64> = self.groups.iter().map(Group::open).collect();
        let admissions = || self.providers.iter().map(|provider| &provider.admission);
        let waiting = admissions().map(|admission| admission.waiting() as u64).sum::<u64>();
        let busy = admissions().map(|admission| u64::from(admission.busy())).sum::<u64>();
        let left = open.iter().sum::<u64>() + waiting + busy > 0;
        let end = if left { self.plan.horizon } else { self.last_change };
        for (group, open) in self.groups.iter_mut().zip(open) {
            group.ledger.layers = group.layers.iter().map(|layer| layer.count).collect();
            group.ledger.close(end, open)?;
        }
        let groups: Vec<Ledger> = self.groups.iter().map(|group| group.ledger.clone()).collect();
        let mut ledger = Ledger::sum(&groups);
        ledger.layers = self.count_by_layer();
        ledger.check(waiting, busy)?;
        self.check_client_laws(end)?;
        self.check_provider_laws(&ledger, end)?;
        Ok(Report {
            ledger,
            groups,
            fingerprint: self.fingerprint.value(),
            events: self.handled,
            end,
            cache_held: self.cache_held(end.max(self.events.now())),
        })
    }

    /// The share of the entries of all answer caches that is held.
    fn cache_held(&self, now: Time) -> Option<f64> {
        let caches = self.providers.iter().filter_map(|provider| provider.cache.as_ref());
        let count = |(held, all), cache: &Entries| {
            let (more, of) = cache.held(now);
            (held + more, all + of)
        };
        let (held, all) = caches.fold((0, 0), count);
        (all > 0).then(|| held as f64 / all as f64)
    }

    /// Calls and attempts by name of the layer, in the order of [`Plan::layer_names`].
    fn count_by_layer(&self) -> Vec<LayerCount> {
        let of = |name: &str| {
            let layers = self.groups.iter().flat_map(|group| &group.layers);
            let same = layers.filter(|layer| layer.rule.name == name);
            same.fold(LayerCount::default(), |sum, layer| sum.and(layer.count))
        };
        self.plan.layer_names().into_iter().map(of).collect()
    }

    /// The laws that concern layers and limits.
    fn check_client_laws(&self, end: Time) -> Result<(), RunError> {
        law(self.permits_add_up(), "I14: permits out are permits held", "they are not")?;
        law(
            self.shared.vaults.all().iter().all(Vault::balances),
            "I6: budgets are conserved",
            "a budget does not balance",
        )?;
        law(
            self.shared.pacers.all().iter().all(|pacer| pacer.within_its_rate(end)),
            "I6: a pace grants no more than its rate",
            "one did",
        )?;
        law(self.active_adds_up(), "I6: what budgets count is under way", "it is not")?;
        law(self.probes_add_up(), "I14: probes under way are those of requests", "they are not")?;
        law(
            self.groups.iter().all(|group| group.sent() == group.ledger.attempts),
            "I7: attempts of requests add up to attempts",
            "they do not",
        )?;
        law(
            self.groups.iter().all(Group::connections_add_up),
            "I14: connections out are connections held",
            "they are not",
        )?;
        law(
            self.groups.iter().all(|group| {
                group.ledger.on_the_way == group.wire.as_ref().map_or(0, Wire::on_the_way)
            }),
            "I3: attempts on the way are those in the network",
            "they are not",
        )?;
        let bounded = |layer: &LayerState| {
            layer.count.attempts <= layer.count.calls.saturating_mul(layer.rule.max_attempts.into())
        };
        law(
            self.groups.iter().flat_map(|group| &group.layers).all(bounded),
            "I7: a call makes at most max_attempts",
            "one made more",
        )?;
        Ok(())
    }

    /// The laws that concern providers.
    fn check_provider_laws(&self, ledger: &Ledger, end: Time) -> Result<(), RunError> {
        law(
            self.providers.iter().all(|provider| provider.admission.within_limits()),
            "I15: queue and service stay within limits",
            "a limit is exceeded",
        )?;
        let counts_who_is_there = |provider: &Provider<'_>| {
            let counted = provider.limiter.as_ref().and_then(Limiter::in_flight);
            counted.is_none_or(|n| n == u64::from(provider.present()))
        };
        law(
            self.providers.iter().all(counts_who_is_there),
            "I16: what the concurrency limit counts is at the provider",
            "it is not",
        )?;
        let misses_are_served = |provider: &Provider<'_>| {
            let misses = provider.cache.as_ref().map_or(0, Entries::misses);
            misses <= provider.admission.busy() as usize
        };
        law(
            self.providers.iter().all(misses_are_served),
            "I17: work for what the answer cache lacks is in service",
            "there is more of it",
        )?;
        let readers_are_served = |provider: &Provider<'_>| {
            let readers = provider.rows.as_ref().map_or(0, Rows::readers);
            readers <= provider.admission.busy() as usize
        };
        let writes: u64 =
            self.providers.iter().filter_map(|p| p.rows.as_ref()).map(Rows::written).sum();
        law(
            self.providers.iter().all(readers_are_served)
                && writes + ledger.failed <= ledger.completed
                && ledger.conflicts <= ledger.failed,
            "I18: writes of a row stand or conflict",
            "they do not add up",
        )?;
        let places = |provider: &Provider<'_>| {
            provider.admission.most_places().map_or(u128::MAX, u128::from)
        };
        let places = self.providers.iter().map(places).fold(0, u128::saturating_add);
        let capacity = places.saturating_mul(u128::from(end));
        law(ledger.busy <= capacity, "I5: busy time is at most places times time", "it is more")?;
        Ok(())
    }

    /// True when the permits that semaphores miss are those that requests hold, one group's or
    /// that of layers of several groups.
    fn permits_add_up(&self) -> bool {
        let layers = || {
            let numbers = |group: &Group| 0..group.layers.len();
            self.groups.iter().flat_map(move |group| numbers(group).map(move |l| (group, l)))
        };
        layers().all(|(group, l)| {
            let layer = &group.layers[l];
            let (Some(slot), Some(rule)) = (layer.semaphore, layer.rule.semaphore) else {
                return true;
            };
            let sharing = layers().filter(|(other, l)| other.layers[*l].semaphore == Some(slot));
            let held: u64 = sharing.map(|(other, l)| other.holders(l)).sum();
            let copies = self.shared.semaphores.copies(slot, group.plan.clients).iter();
            held == copies.map(|s| u64::from(rule.permits - s.free())).sum::<u64>()
        })
    }
}

/// A conservation law, and what was found where it does not hold.
fn law(holds: bool, law: &'static str, found: &str) -> Result<(), RunError> {
    if holds { Ok(()) } else { Err(RunError::Law { law, found: found.to_owned() }) }
}
