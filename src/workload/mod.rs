//! Where requests come from.
//!
//! | workload | requests | client of request i |
//! | --- | --- | --- |
//! | `burst` | one per client, at one instant or spread over a span | i |
//! | `poisson` | a Poisson stream | i mod clients |
//! | `closed_loop` | each client takes the next job when its last one is over | whoever takes it |
//! | `trace` | as recorded | i mod clients |

mod burst;
mod closed_loop;
mod poisson;
mod trace;

pub use burst::Burst;
pub use closed_loop::ClosedLoop;
pub use poisson::Poisson;
pub(crate) use trace::read_plain_file;
pub use trace::{Arrival, Trace, TraceError, TraceFile, read as read_trace};

use serde::{Deserialize, Serialize};

/// The workload as a scenario states it: exactly one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Clients; workers in a closed loop.
    #[serde(default = "one")]
    pub clients: u32,
    /// All clients at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// A Poisson stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<Poisson>,
    /// Workers that draw from a queue of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_loop: Option<ClosedLoop>,
    /// Recorded arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceFile>,
}

fn one() -> u32 {
    1
}

impl Workload {
    /// What is wrong with the parameters: the path below `workload` and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let kinds = [
            ("burst", self.burst.is_some()),
            ("poisson", self.poisson.is_some()),
            ("closed_loop", self.closed_loop.is_some()),
            ("trace", self.trace.is_some()),
        ];
        let chosen: Vec<&str> = kinds.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        let all = "burst, poisson, closed_loop, trace";
        if chosen.is_empty() {
            return Some((vec![], format!("the workload has no kind; write one of {all}")));
        }
        if chosen.len() > 1 {
            let text = format!(
                "the workload has {} kinds ({}); keep one of {all}",
                chosen.len(),
                chosen.join(", ")
            );
            return Some((vec![], text));
        }
        if self.clients == 0 {
            return Some((vec!["clients"], "0 clients send nothing; write 1 or more".to_owned()));
        }
        if self.closed_loop.is_some_and(|closed| closed.jobs == 0) {
            let text = "0 jobs are no work; write 1 or more".to_owned();
            return Some((vec!["closed_loop", "jobs"], text));
        }
        let (key, text) = self.poisson.as_ref().and_then(Poisson::problem)?;
        Some((vec!["poisson", key], text))
    }
}
