//! Runs of the model on sets of pending events, and what they cost.

use std::cell::RefCell;

use retrylab::engine::{Heap, Key, Pending, Wheel};
use retrylab::metrics::Recorder;
use retrylab::model::{self, Plan};
use retrylab::rng::Streams;
use retrylab::scenario::Scenario;
use retrylab::units::Time;

use crate::clock::cpu_time;

thread_local! {
    /// The keys of the last run on [`Recording`], in their order.
    static KEYS: RefCell<Vec<Key>> = const { RefCell::new(Vec::new()) };
}

/// Notes which events come.
struct Recording(Heap);

impl Pending for Recording {
    fn with_capacity(capacity: usize) -> Recording {
        KEYS.with_borrow_mut(Vec::clear);
        Recording(Heap::with_capacity(capacity))
    }

    fn push(&mut self, key: Key) {
        self.0.push(key);
    }

    fn pop_before(&mut self, end: Time) -> Option<Key> {
        let key = self.0.pop_before(end)?;
        KEYS.with_borrow_mut(|keys| keys.push(key));
        Some(key)
    }
}

/// Gives the events that were noted, without looking for the first one.
struct Replay {
    keys: std::vec::IntoIter<Key>,
}

impl Pending for Replay {
    fn with_capacity(_: usize) -> Replay {
        Replay { keys: KEYS.take().into_iter() }
    }

    #[inline]
    fn push(&mut self, _: Key) {}

    #[inline]
    fn pop_before(&mut self, _: Time) -> Option<Key> {
        self.keys.next()
    }

    #[inline]
    fn soon(&self) -> &[Key] {
        // In the wrong order, which does not matter to what is read ahead.
        let soon = self.keys.as_slice();
        &soon[..soon.len().min(16)]
    }
}

/// CPU seconds of one replication, and its events.
fn run<P: Pending>((scenario, plan): &(Scenario, Plan), replication: u32) -> (f64, u64) {
    let start = cpu_time();
    let mut recorder = Recorder::new(scenario.watch());
    let report = model::run_on::<P, _>(plan, Streams::new(42, replication), &mut recorder);
    (((cpu_time() - start).as_secs_f64()), report.expect("the storm runs").events)
}

/// CPU seconds of the same replications, by set of pending events.
#[derive(Clone, Copy, Default)]
pub struct Costs {
    pub events: u64,
    pub wheel: f64,
    pub heap: f64,
    /// With no set at all: the events are known.
    pub replay: f64,
    /// Sorting the keys of all events.
    pub sort: f64,
}

impl Costs {
    /// Seconds per event.
    pub fn per_event(&self) -> f64 {
        self.wheel / self.events as f64
    }
}

/// Runs so many replications in turn on each.
pub fn costs(storm: &(Scenario, Plan), replications: u32) -> Costs {
    let mut sum = Costs::default();
    for replication in 0..replications {
        let (wheel, events) = run::<Wheel>(storm, replication);
        sum.events += events;
        sum.wheel += wheel;
        sum.heap += run::<Heap>(storm, replication).0;
        run::<Recording>(storm, replication);
        let mut keys = KEYS.with_borrow(Clone::clone);
        sum.replay += run::<Replay>(storm, replication).0;
        shuffle(&mut keys);
        let start = cpu_time();
        keys.sort_unstable();
        sum.sort += (cpu_time() - start).as_secs_f64();
        assert!(keys.is_sorted());
    }
    sum
}

/// Fisher and Yates, as Durstenfeld 1964 has it.
fn shuffle(keys: &mut [Key]) {
    let mut stream = Streams::new(42, 0).stream(retrylab::rng::Purpose::Rank, 0, 0);
    for last in (1..keys.len()).rev() {
        keys.swap(last, stream.below(last as u64 + 1) as usize);
    }
}
