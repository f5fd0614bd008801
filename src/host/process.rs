//! The processes in which clients run: a few hundred clients in one event loop are not a few
//! hundred machines.

use serde::{Deserialize, Serialize};

use super::Connections;
use crate::units::{Span, Time};

/// Where clients run. An attempt that all layers have let through needs a connection, then the
/// process of its client, and then goes through the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Processes, at least 1; client i runs in process i mod `processes`. 200 clients in one
    /// process are not 200 machines: `cpu_per_attempt` takes their sends apart.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub processes: u32,
    /// Time that an attempt keeps its process busy before it is sent, one after the other in the
    /// order in which they ask; first attempts and retries alike. An attempt that would get its
    /// turn only when its time is over takes none.
    pub cpu_per_attempt: Span,
    /// Time that an answer or an error keeps the process busy before its client knows it, in the
    /// same line: when 200 clients start at once, the first answer is read after all of them have
    /// sent. Limits of time go on meanwhile.
    pub cpu_per_answer: Span,
    /// Connection pool; without it, there is always a connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// Whether waiting for a connection and the process counts towards the timeout of the innermost
    /// layer. Outer timeouts and deadlines count it always.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
