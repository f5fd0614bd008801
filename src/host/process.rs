//! The processes in which clients run: a few hundred clients in one event loop are not a few
//! hundred machines.

use serde::{Deserialize, Serialize};

use super::Connections;
use crate::units::{Span, Time};

/// Where the clients of a group run, as a scenario states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Processes, at least 1; client i runs in process i mod `processes`.
    pub processes: u32,
    /// Time that an attempt keeps its process busy before it is sent: building the request,
    /// serialising, encrypting. A process does this for one attempt after the other.
    pub cpu_per_attempt: Span,
    /// Time that an answer, good or bad, keeps the process busy before its client knows it; it
    /// stands in the same line.
    pub cpu_per_answer: Span,
    /// Limit of connections; without it, there is always one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// Whether waiting for a connection and for the process counts towards the timeout of the
    /// innermost layer.
    pub timeout_starts: TimeoutStarts,
}

impl Default for Host {
    fn default() -> Host {
        Host {
            processes: 1,
            cpu_per_attempt: Span::ZERO,
            cpu_per_answer: Span::ZERO,
            connections: None,
            timeout_starts: TimeoutStarts::default(),
        }
    }
}

/// When the timeout of the innermost layer starts. Outer layers and deadlines always count what
/// an attempt waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutStarts {
    /// With the attempt, before it waits.
    #[default]
    AtCall,
    /// When it is sent.
    AtSend,
}

impl Host {
    /// True when nothing ever waits here.
    pub fn is_idle(&self) -> bool {
        let cpu = self.cpu_per_attempt > Span::ZERO || self.cpu_per_answer > Span::ZERO;
        !cpu && self.connections.is_none()
    }

    /// What is wrong with the parameters: the path below the host and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        if self.processes == 0 {
            let text = "0 processes run nobody; write 1 or more";
            return Some((vec!["processes"], text.to_owned()));
        }
        let text = "with 0 connections nothing is ever sent; write 1 or more";
        let none = self.connections.is_some_and(|connections| connections.limit == 0);
        none.then(|| (vec!["connections", "limit"], text.to_owned()))
    }
}

/// The state of a process: when it is done with all that it has been given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    free_at: Time,
}

impl Process {
    /// Gives the process `cost` nanoseconds of work at `now`. Returns when that is done; None when
    /// its turn would come only at `until`, when nobody wants it any more.
    pub fn turn(&mut self, now: Time, cost: u64, until: Time) -> Option<Time> {
        let start = self.free_at.max(now);
        if start >= until {
            return None;
        }
        self.free_at = start.saturating_add(cost);
        Some(self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_does_one_thing_after_the_other() {
        let mut process = Process::default();
        assert_eq!(
            [5, 5, 6, 50].map(|now| process.turn(now, 10, 1_000)),
            [15, 25, 35, 60].map(Some)
        );
    }

    #[test]
    fn what_comes_too_late_takes_no_time() {
        let mut process = Process::default();
        assert_eq!(process.turn(0, 10, 10), Some(10));
        // Its turn comes at 10: too late for one, and just in time for the other.
        assert_eq!(process.turn(0, 10, 10), None);
        assert_eq!(process.turn(0, 10, 11), Some(20));
    }

    #[test]
    fn bad_parameters_are_named() {
        let connections = Some(Connections { limit: 0, scope: super::super::PoolScope::Client });
        let key = |host: Host| host.problem().map(|(path, _)| path);
        assert_eq!(key(Host { processes: 0, ..Host::default() }), Some(vec!["processes"]));
        let none = key(Host { connections, ..Host::default() });
        assert_eq!(none, Some(vec!["connections", "limit"]));
        assert_eq!(key(Host::default()), None);
        assert!(Host::default().is_idle());
    }
}
