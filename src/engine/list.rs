//! The list of pending events and the clock.

use super::{Key, Pending, Wheel};
use crate::units::Time;

/// Pending events, the least key first, and the clock that follows them.
///
/// Cancelling is lazy: the caller knows by the step whether a popped event still means anything.
#[derive(Debug)]
pub struct EventList<P = Wheel> {
    pending: P,
    now: Time,
    at_this_instant: u64,
}

impl<P: Pending> EventList<P> {
    /// An empty list at time 0, with room for `capacity` events.
    pub fn with_capacity(capacity: usize) -> EventList<P> {
        EventList { pending: P::with_capacity(capacity), now: 0, at_this_instant: 0 }
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
        self.pending.push(key);
    }

    /// Takes the next event before `end` and moves the clock to it.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Key> {
        let key = self.pending.pop_before(end)?;
        if key.time() == self.now {
            self.at_this_instant += 1;
        } else {
            self.now = key.time();
            self.at_this_instant = 1;
        }
        Some(key)
    }

    /// When the next event happens.
    pub fn next_time(&self) -> Option<Time> {
        self.pending.next_time()
    }

    /// Some events that are likely to come soon, the first of them last.
    #[inline]
    pub fn soon(&self) -> &[Key] {
        self.pending.soon()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Class;

    #[test]
    fn events_at_the_end_stay_and_events_of_one_instant_are_counted() {
        let mut list = EventList::<Wheel>::with_capacity(4);
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
