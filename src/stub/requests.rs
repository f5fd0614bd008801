//! Which request an attempt belongs to.
//!
//! A request that is named (`x-retrylab-request`, `idempotency-key`) is known by its name. Otherwise the
//! SDK's count tells: 0 is a new request, n the n-th retry of the request of this client with this body that
//! has waited longest. A client that does not count goes on with a request of the same body that has failed.

use std::collections::{BTreeMap, VecDeque};

use crate::model::RequestId;

/// Most requests that are remembered; beyond it the oldest are forgotten, so that a later attempt of theirs is taken
/// for a new request.
const MOST: usize = 100_000;

/// What identifies the requests of one client that look alike.
pub type Alike = (usize, u32, u64);

/// A request that may go on.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: RequestId,
    attempts: u32,
    failed: bool,
    named: bool,
}

/// Requests that may go on.
#[derive(Debug, Default)]
pub struct Requests {
    known: BTreeMap<Alike, VecDeque<Known>>,
    of: BTreeMap<RequestId, Alike>,
}

impl Requests {
    /// The request that an attempt goes on with, and its attempts so far; None when it is a new one.
    pub fn find(&self, alike: Alike, named: bool, count: Option<u32>) -> Option<(RequestId, u32)> {
        let known = self.known.get(&alike)?;
        let found = match (named, count) {
            (true, _) => known.front(),
            (false, Some(0)) => None,
            (false, Some(count)) => known
                .iter()
                .find(|k| k.failed && k.attempts == count)
                .or_else(|| known.iter().find(|k| k.attempts == count)),
            (false, None) => known.iter().find(|k| k.failed),
        };
        found.map(|known| (known.id, known.attempts))
    }

    /// An attempt of a request is sent, after so many before.
    pub fn sent(&mut self, id: RequestId, alike: Alike, named: bool, before: u32) {
        self.over(id);
        if self.of.len() >= MOST
            && let Some((oldest, _)) = self.of.first_key_value()
        {
            self.over(*oldest);
        }
        self.of.insert(id, alike);
        let known = Known { id, attempts: before + 1, failed: false, named };
        self.known.entry(alike).or_default().push_back(known);
    }

    /// The attempt of a request has failed.
    pub fn failed(&mut self, id: RequestId) {
        let known = self.of.get(&id).and_then(|alike| self.known.get_mut(alike));
        if let Some(known) = known.and_then(|known| known.iter_mut().find(|k| k.id == id)) {
            known.failed = true;
        }
    }

    /// A request is answered: only one that has a name may come again.
    pub fn answered(&mut self, id: RequestId) {
        let known = self.of.get(&id).and_then(|alike| self.known.get(alike));
        if !known.is_some_and(|known| known.iter().any(|k| k.id == id && k.named)) {
            self.over(id);
        }
    }

    /// A request is forgotten.
    fn over(&mut self, id: RequestId) {
        let Some(alike) = self.of.remove(&id) else { return };
        if let Some(known) = self.known.get_mut(&alike) {
            known.retain(|k| k.id != id);
            if known.is_empty() {
                self.known.remove(&alike);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> RequestId {
        RequestId { group: 0, number }
    }

    #[test]
    fn an_attempt_finds_its_request() {
        let mut requests = Requests::default();
        let alike = (0, 7, 99);
        requests.sent(id(0), alike, false, 0);
        assert_eq!(requests.find(alike, false, Some(0)), None, "a new one");
        assert_eq!(requests.find(alike, false, None), None, "the other is under way");
        assert_eq!(requests.find(alike, false, Some(1)), Some((id(0), 1)), "after a timeout");
        requests.sent(id(1), alike, false, 0);
        requests.failed(id(1));
        assert_eq!(requests.find(alike, false, Some(1)), Some((id(1), 1)), "it has failed");
        assert_eq!(requests.find(alike, false, None), Some((id(1), 1)));
        requests.sent(id(1), alike, false, 1);
        assert_eq!(requests.find(alike, false, Some(2)), Some((id(1), 2)));
        requests.answered(id(1));
        assert_eq!(requests.find(alike, false, Some(2)), None);
        assert_eq!(requests.find((0, 8, 99), false, Some(1)), None, "another client");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut requests = Requests::default();
        for number in 0..MOST as u32 + 5 {
            requests.sent(id(number), (0, number, 1), false, 0);
        }
        assert_eq!((requests.of.len(), requests.known.len()), (MOST, MOST));
        assert_eq!(requests.find((0, 4, 1), true, None), None);
        assert!(requests.find((0, 5, 1), true, None).is_some());
    }
}
