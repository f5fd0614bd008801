//! The workload as the event loop needs it.

use std::sync::Arc;

use super::live::Outside;
use crate::dist::Sampler;
use crate::rng::{Purpose, Streams};
use crate::server::Tokens;
use crate::units::{Span, Time};
use crate::workload::{Agents, Burst, Curve, Poisson, Trace};

/// The kinds of workload, ready to run.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// One request per client.
    Burst(Burst),
    /// A stream until an instant.
    Poisson {
        /// The stream.
        stream: Poisson,
        /// Requests come before this instant.
        until: Time,
    },
    /// A stream whose rate changes, until an instant.
    Curve {
        /// The rate by time.
        curve: Curve,
        /// Requests come before this instant.
        until: Time,
    },
    /// Clients that draw from a queue of this many jobs.
    ClosedLoop {
        /// Jobs in the queue.
        jobs: u32,
    },
    /// Clients that work on so many tasks of several calls.
    Agents {
        /// What a task is.
        rule: Agents,
        /// All tasks together.
        tasks: u32,
    },
    /// Recorded arrivals.
    Trace(Arc<Trace>),
    /// Whoever comes from outside the run; see [`super::Live`].
    Outside(Arc<Outside>),
}

impl Arrivals {
    /// Requests that certainly come, as far as it is known before the run.
    pub(super) fn known(&self, clients: u32) -> u32 {
        match self {
            Arrivals::Burst(_) => clients,
            Arrivals::Poisson { .. } | Arrivals::Curve { .. } | Arrivals::Outside(_) => 0,
            Arrivals::ClosedLoop { jobs } => *jobs,
            Arrivals::Agents { rule, tasks } => tasks.saturating_mul(rule.calls()),
            Arrivals::Trace(trace) => trace.rows.len() as u32,
        }
    }

    /// Requests to expect before `horizon`.
    pub fn expected(&self, clients: u32, horizon: Span) -> f64 {
        match self {
            Arrivals::Poisson { stream, .. } => stream.expected(horizon),
            Arrivals::Curve { curve, until } => curve.expected((*until).min(horizon.nanos())),
            Arrivals::Agents { rule, tasks } => f64::from(*tasks) * f64::from(rule.calls()),
            _ => self.known(clients).into(),
        }
    }

    /// When `request` comes, given the instant of the one before it; None when there is none,
    /// or when it does not come by the clock.
    pub fn next(&self, request: u32, previous: Time, streams: &Streams) -> Option<Time> {
        match self {
            Arrivals::Poisson { stream, until } => {
                Some(stream.next(previous, request, streams)).filter(|at| at < until)
            }
            Arrivals::Curve { curve, until } => {
                Some(curve.next(previous, request, streams)).filter(|at| at < until)
            }
            Arrivals::Trace(trace) => trace.rows.get(request as usize).map(|row| row.at),
            Arrivals::Burst(_)
            | Arrivals::ClosedLoop { .. }
            | Arrivals::Agents { .. }
            | Arrivals::Outside(_) => None,
        }
    }

    /// The tokens of `request`.
    pub(super) fn tokens(
        &self,
        request: u32,
        input: &Sampler,
        output: &Sampler,
        streams: &Streams,
    ) -> Tokens {
        match self {
            Arrivals::Trace(trace) => {
                let arrival = trace.rows[request as usize];
                return Tokens {
                    input: arrival.input_tokens.into(),
                    cached: 0,
                    output: arrival.output_tokens.into(),
                };
            }
            Arrivals::Outside(outside) => return outside.guest(request).tokens,
            _ => {}
        }
        let draw = |sampler: &Sampler, which| {
            sampler.sample(streams.stream(Purpose::Tokens, request, which))
        };
        Tokens { input: draw(input, 0), cached: 0, output: draw(output, 1) }
    }
}
