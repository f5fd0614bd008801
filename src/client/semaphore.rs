//! Semaphores: how many calls may be under way at once.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Scope;
use crate::units::Time;

/// Calls under way at once; first come, first served, waiting as long as deadlines and outer
/// timeouts let it (waiting counts). A permit is held during the call into the inner layer and
/// given back during the layer's own backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SemaphoreSpec {
    /// Calls that may be under way at once, at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub permits: u32,
    /// Who shares it.
    pub scope: Scope,
}

/// The state of one semaphore. A waiter is a request, its step when it began to wait, and when
/// it stops waiting.
#[derive(Clone, Debug)]
pub struct Semaphore {
    free: u32,
    waiters: VecDeque<(u32, u32, Time)>,
}

impl Semaphore {
    /// A semaphore with all its permits.
    pub fn new(permits: u32) -> Semaphore {
        Semaphore { free: permits, waiters: VecDeque::new() }
    }

    /// Permits that nobody holds.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Takes a permit; false when none is free.
    #[inline]
    pub fn try_acquire(&mut self) -> bool {
        if self.free == 0 {
            return false;
        }
        self.free -= 1;
        true
    }

    /// Puts a request at the end of the line, where it stays before `until`.
    pub fn wait(&mut self, request: u32, step: u32, until: Time) {
        self.waiters.push_back((request, step, until));
    }

    /// Gives a permit back at `now`. Returns the first waiter that still waits, who now holds it;
    /// `still_waits` tells whether the request has not changed its state since.
    ///
    /// A permit at the very instant when a waiter's time is over comes too late. Otherwise a herd
    /// that runs out of time together would hand one permit around and send as one.
    #[inline]
    pub fn release(&mut self, now: Time, still_waits: impl Fn(u32, u32) -> bool) -> Option<u32> {
        while let Some((request, step, until)) = self.waiters.pop_front() {
            if now < until && still_waits(request, step) {
                return Some(request);
            }
        }
        self.free += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_go_to_waiters_in_order_and_pass_over_those_who_left() {
        let mut semaphore = Semaphore::new(1);
        assert!(semaphore.try_acquire());
        assert!(!semaphore.try_acquire());
        [(7, 99), (8, 99), (6, 5), (9, 6)]
            .into_iter()
            .for_each(|(r, until)| semaphore.wait(r, 0, until));
        let left_7 = |request, _| request != 7;
        assert_eq!(semaphore.release(4, left_7), Some(8));
        assert_eq!(semaphore.release(5, left_7), Some(9));
        assert_eq!(semaphore.release(5, left_7), None);
        assert!(semaphore.try_acquire());
    }
}
