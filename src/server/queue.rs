//! The queue in front of the places, as a scenario states it.
//!
//! What a provider does with work that has waited too long decides whether it recovers from an
//! overload: work whose client has gone costs a place like any other, and nobody gets anything
//! for it. The remedies are known: a short queue, the newest first, and no work on what has
//! expired (Nichols and Jacobson, "Controlling queue delay", ACM Queue 2012; Maurer, "Fail at
//! scale", ACM Queue 2015, <https://queue.acm.org/detail.cfm?id=2839461>).

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// The waiting places in front of service, and the order in which work leaves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// First come, first served.
    Fifo(Line),
    /// Newest first.
    Lifo(Line),
}

/// What a queue holds and what it drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Waiting places; work in service is not counted. Without it the queue is unbounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// What happens to an arrival that finds all of them taken.
    #[serde(default)]
    pub when_full: WhenFull,
    /// Work that has waited longer than this is dropped when its turn comes; a client that still
    /// waits gets the overload status then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait: Option<Span>,
    /// Work whose client has gone is dropped when its turn comes.
    #[serde(default)]
    pub drop_gone: bool,
}

/// What a full queue does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It is answered with the overload status.
    #[default]
    Refuse,
    /// What has waited longest is answered with the overload status, and the arrival takes its
    /// place.
    DropOldest,
}

/// What becomes of work whose client has gone (a timeout, a deadline).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CancelledWork {
    /// Nobody notices: it keeps its place, is done and billed.
    #[default]
    Computed,
    /// It leaves the queue, or its service stops, at once; its place is free.
    Removed,
}

impl Queue {
    /// What it holds and drops.
    pub fn line(self) -> Line {
        match self {
            Queue::Fifo(line) | Queue::Lifo(line) => line,
        }
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(self) -> Option<(&'static str, String)> {
        let line = self.line();
        let endless = line.when_full == WhenFull::DropOldest && line.limit.is_none();
        endless.then(|| {
            let text = "a queue without limit is never full; write a limit, or leave when_full out";
            ("when_full", text.to_owned())
        })
    }
}

impl Line {
    /// True when work that has waited `waited` nanoseconds is dropped instead of started.
    #[inline]
    pub fn drops(&self, waited: u64, client_waits: bool) -> bool {
        self.max_wait.is_some_and(|most| waited > most.nanos()) || (self.drop_gone && !client_waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_dropped_for_its_age_or_its_client() {
        let second = Span::from_seconds(1);
        let ns = second.nanos();
        let plain = Line::default();
        assert!(!plain.drops(u64::MAX, false));
        let aged = Line { max_wait: Some(second), ..plain };
        assert_eq!([aged.drops(ns, false), aged.drops(ns + 1, true)], [false, true]);
        let careful = Line { drop_gone: true, ..plain };
        assert_eq!([careful.drops(ns, true), careful.drops(0, false)], [false, true]);
    }
}
