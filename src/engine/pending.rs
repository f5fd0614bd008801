//! What a set of pending events has to do, and the plain one that the others are measured and
//! tested against.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Key;
use crate::units::Time;

/// A set of pending events that gives them back in the order of their keys. Nothing is added that
/// would come before what has been given back already.
pub trait Pending {
    /// An empty set with room for `capacity` events.
    fn with_capacity(capacity: usize) -> Self;

    /// Adds an event.
    fn push(&mut self, key: Key);

    /// Takes the first event, if it happens before `end`.
    fn pop_before(&mut self, end: Time) -> Option<Key>;

    /// When the first event happens; None also where that would take a search.
    fn next_time(&self) -> Option<Time> {
        None
    }

    /// Some events that are likely to come soon, the first of them last. What is done with them must
    /// not change the run.
    fn soon(&self) -> &[Key] {
        &[]
    }
}

/// The standard library's binary heap: the oracle.
#[derive(Debug, Default)]
pub struct Heap(BinaryHeap<Reverse<Key>>);

impl Pending for Heap {
    fn with_capacity(capacity: usize) -> Heap {
        Heap(BinaryHeap::with_capacity(capacity))
    }

    #[inline]
    fn push(&mut self, key: Key) {
        self.0.push(Reverse(key));
    }

    #[inline]
    fn pop_before(&mut self, end: Time) -> Option<Key> {
        match self.0.peek() {
            Some(Reverse(key)) if key.time() < end => self.0.pop().map(|Reverse(key)| key),
            _ => None,
        }
    }

    fn next_time(&self) -> Option<Time> {
        self.0.peek().map(|Reverse(key)| key.time())
    }
}
