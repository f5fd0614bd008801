//! The listen backlog: connections that wait to be accepted.
//!
//! A server takes connections from its accept queue one after the other. When more arrive than
//! the queue holds, the surplus is reset before any HTTP is spoken, so its clients see a broken
//! connection and no status. Python's `socketserver` asks for a queue of 5
//! (`request_queue_size`, Lib/socketserver.py).

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// Connections that wait to be accepted; beyond the limit they are reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Backlog {
    /// Connections that can wait, the one being accepted not counted.
    pub limit: u32,
    /// Time to accept one connection.
    pub accept: Span,
}

/// The state: when the accepter will be free.
#[derive(Clone, Copy, Debug)]
pub struct AcceptQueue {
    limit: u64,
    accept: u64,
    free_at: u64,
}

impl AcceptQueue {
    /// An empty queue.
    pub fn new(backlog: Backlog) -> AcceptQueue {
        AcceptQueue { limit: u64::from(backlog.limit), accept: backlog.accept.nanos(), free_at: 0 }
    }

    /// A connection arrives at `now`: when it is accepted, or None when it is reset.
    pub fn connect(&mut self, now: u64) -> Option<u64> {
        let work_left = self.free_at.saturating_sub(now);
        // One connection is being accepted while any work is left; the others wait.
        let waiting = work_left.div_ceil(self.accept.max(1)).saturating_sub(1);
        if work_left > 0 && waiting >= self.limit {
            return None;
        }
        self.free_at = now.max(self.free_at).saturating_add(self.accept);
        Some(self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surplus_of_a_burst_is_reset() {
        let accept = Span::from_nanos(10);
        let mut queue = AcceptQueue::new(Backlog { limit: 5, accept });
        let accepted: Vec<_> = (0..8).map(|_| queue.connect(0)).collect();
        let times = [10, 20, 30, 40, 50, 60].map(Some);
        assert_eq!(accepted[..6], times);
        assert_eq!(accepted[6..], [None, None]);
        assert_eq!(queue.connect(9), None);
        assert_eq!(queue.connect(10), Some(70));
        assert_eq!(queue.connect(1_000), Some(1_010));
    }

    #[test]
    fn an_instant_accepter_resets_nobody() {
        let mut queue = AcceptQueue::new(Backlog { limit: 0, accept: Span::ZERO });
        assert!((0..100).all(|_| queue.connect(5) == Some(5)));
    }
}
