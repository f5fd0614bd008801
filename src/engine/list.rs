//! The list of pending events and the clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Key;
use crate::units::Time;

/// Pending events, the least key first, and the clock that follows them.
///
/// Cancelling is lazy: the caller knows by the step whether a popped event still means anything.
#[derive(Debug, Default)]
pub struct EventList {
    heap: BinaryHeap<Reverse<Key>>,
    now: Time,
    at_this_instant: u64,
}

impl EventList {
    /// An empty list at time 0, with room for `capacity` events.
    pub fn with_capacity(capacity: usize) -> EventList {
        EventList { heap: BinaryHeap::with_capacity(capacity), now: 0, at_this_instant: 0 }
    }

    /// The current instant.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many events have happened at the current instant.
    #[inline]
    pub fn at_this_instant(&self) -> u64 {
        self.at_this_instant
    }

    /// Adds an event at or after the current instant.
    #[inline]
    pub fn push(&mut self, key: Key) {
        debug_assert!(key.time() >= self.now, "an event in the past");
        self.heap.push(Reverse(key));
    }

    /// Takes the next event before `end` and moves the clock to it.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Key> {
        if self.heap.peek()?.0.time() >= end {
            return None;
        }
        let Reverse(key) = self.heap.pop()?;
        if key.time() == self.now {
            self.at_this_instant += 1;
        } else {
            self.now = key.time();
            self.at_this_instant = 1;
        }
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Class;
    use proptest::prelude::*;

    proptest! {
        /// The oracle is a sorted vector: any insertion order gives the same order out.
        #[test]
        fn pops_in_key_order(parts in prop::collection::vec((0u64..50, 0u32..50, 0u32..4), 0..200)) {
            let mut keys: Vec<Key> =
                parts.iter().map(|&(t, rank, step)| Key::new(t, Class::Attempt, rank, step)).collect();
            let mut list = EventList::with_capacity(0);
            keys.iter().for_each(|&key| list.push(key));
            keys.sort();
            let popped: Vec<Key> = std::iter::from_fn(|| list.pop_before(u64::MAX)).collect();
            prop_assert_eq!(popped, keys);
        }
    }

    #[test]
    fn events_at_the_end_stay_and_events_of_one_instant_are_counted() {
        let mut list = EventList::with_capacity(4);
        for (time, rank) in [(5, 0), (5, 1), (7, 0), (9, 0)] {
            list.push(Key::new(time, Class::Attempt, rank, 0));
        }
        assert_eq!(list.pop_before(9).map(Key::time), Some(5));
        assert_eq!(list.pop_before(9).map(Key::time), Some(5));
        assert_eq!(list.at_this_instant(), 2);
        assert_eq!(list.pop_before(9).map(Key::time), Some(7));
        assert_eq!((list.now(), list.at_this_instant()), (7, 1));
        assert_eq!(list.pop_before(9), None);
    }
}
