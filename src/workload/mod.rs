//! Where requests come from.
//!
//! | workload | requests | client of request i |
//! | --- | --- | --- |
//! | `burst` | one per client, at one instant or spread over a span | i |
//! | `poisson`, `ramp`, `on_off`, `spike` | a Poisson stream, whose rate may change with time | i mod clients |
//! | `renewal` | a stream with another law of gaps, whose rate may change in steps | i mod clients |
//! | `closed_loop` | each client takes the next job when its last one is over | whoever takes it |
//! | `agents` | calls of tasks; each client takes the next task when its last one is over | whoever takes it |
//! | `trace` | as recorded | i mod clients |
//!
//! Where request i belongs to client i mod clients, `shares` can give clients unequal parts.

mod agents;
mod burst;
mod closed_loop;
mod curve;
mod gaps;
mod on_off;
mod poisson;
mod ramp;
mod renewal;
mod shares;
mod spike;
mod trace;

pub mod log;

pub use agents::Agents;
pub use burst::Burst;
pub use closed_loop::ClosedLoop;
pub use curve::Curve;
pub use gaps::{GapSampler, Gaps, Shape};
pub use on_off::OnOff;
pub use poisson::Poisson;
pub use ramp::Ramp;
pub use renewal::Renewal;
pub use shares::{LognormalWeights, Population, Shares, Zipf};
pub use spike::Spike;
pub(crate) use trace::read_plain_file;
pub use trace::{Arrival, Empty, Trace, TraceError, TraceFile, read as read_trace};

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// Where the requests of a group come from: exactly one kind, and its clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Clients; workers of a closed loop. At least 1.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub clients: u32,
    /// Unequal clients of a stream or a trace: a request belongs to a client at random. Without it,
    /// requests belong to all clients in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<Shares>,
    /// One request per client, all of them at once or nearly so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// A Poisson stream of requests; request i belongs to client i mod `clients`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<Poisson>,
    /// A Poisson stream that grows, or dies down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Ramp>,
    /// A Poisson stream that comes in turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_off: Option<OnOff>,
    /// A Poisson stream with one spike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spike: Option<Spike>,
    /// A stream whose gaps have a law of their own, more regular or burstier than a Poisson stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<Renewal>,
    /// Workers that draw from a queue of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_loop: Option<ClosedLoop>,
    /// Tasks of several calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Agents>,
    /// Recorded arrivals, with tokens of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceFile>,
}

fn one() -> u32 {
    1
}

impl Workload {
    /// The kinds by name.
    pub const KINDS: [&str; 9] = [
        "burst",
        "poisson",
        "ramp",
        "on_off",
        "spike",
        "renewal",
        "closed_loop",
        "agents",
        "trace",
    ];

    /// The rate by time, and its duration, of a stream whose rate changes.
    pub fn curve(&self) -> Option<(Curve, Option<Span>)> {
        let ramp = self.ramp.map(|ramp| (ramp.curve(), ramp.duration));
        ramp.or_else(|| self.on_off.map(|wave| (wave.curve(), wave.duration)))
            .or_else(|| self.spike.map(|spike| (spike.curve(), spike.duration)))
            .or_else(|| self.renewal.as_ref().map(|stream| (stream.curve(), stream.duration)))
    }

    fn shares_problem(&self, shares: Shares) -> Option<(Vec<&'static str>, String)> {
        if self.burst.is_some() || self.closed_loop.is_some() || self.agents.is_some() {
            let text = "in a burst, in a closed loop and among agents every client has requests of its own; leave shares out, or write poisson, ramp, on_off, spike, renewal or trace";
            return Some((vec!["shares"], text.to_owned()));
        }
        let (below, text) = shares.problem()?;
        Some(([&["shares"], &below[..]].concat(), text))
    }

    /// What is wrong with the parameters: the path below `workload` and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let kinds = [
            ("burst", self.burst.is_some()),
            ("poisson", self.poisson.is_some()),
            ("ramp", self.ramp.is_some()),
            ("on_off", self.on_off.is_some()),
            ("spike", self.spike.is_some()),
            ("renewal", self.renewal.is_some()),
            ("closed_loop", self.closed_loop.is_some()),
            ("agents", self.agents.is_some()),
            ("trace", self.trace.is_some()),
        ];
        let chosen: Vec<&str> = kinds.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        let all = Workload::KINDS.join(", ");
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
        if let Some(problem) = self.shares.and_then(|shares| self.shares_problem(shares)) {
            return Some(problem);
        }
        let of_kind = |kind, problem: Option<(&'static str, String)>| {
            problem.map(|(key, text)| (vec![kind, key], text))
        };
        of_kind("poisson", self.poisson.as_ref().and_then(Poisson::problem))
            .or_else(|| of_kind("ramp", self.ramp.as_ref().and_then(Ramp::problem)))
            .or_else(|| of_kind("on_off", self.on_off.as_ref().and_then(OnOff::problem)))
            .or_else(|| of_kind("spike", self.spike.as_ref().and_then(Spike::problem)))
            .or_else(|| of_kind("renewal", self.renewal.as_ref().and_then(Renewal::problem)))
            .or_else(|| of_kind("agents", self.agents.as_ref().and_then(Agents::problem)))
    }
}
