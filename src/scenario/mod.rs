//! The scenario document: TOML in, a checked [`Scenario`] out.
//!
//! ```text
//! text ─► table ─► --set ─► presets ─► typed ─► checked ─► [`Plan`]
//! ```
//! Errors name the file, line and key, what was found and what is allowed.

mod assumptions;
mod document;
mod parts;
mod print;
mod problem;
mod set;
mod size;

pub use assumptions::assumptions;
pub use document::{Document, typed};
pub use print::{canonical, digest, marked};
pub use problem::{MAX_REPLICATIONS, Step, locate, suggest};
pub use size::{MemoryLimit, parse_bytes};

use serde::{Deserialize, Serialize};

use crate::client::Layer;
use crate::dist::{Count, Distribution};
use crate::error::{Error, Result};
use crate::metrics::Watch;
use crate::model::{Arrivals, Plan, ProviderPlan};
use crate::server::{Backlog, Billing, CancelledWork, Fault, Limits, Queue, Service};
use crate::units::Span;
use crate::workload::{Workload, read_trace};
use std::path::Path;
use std::sync::Arc;

/// A complete scenario: every default filled in, every preset resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of the format; 1.
    #[serde(default = "format_1")]
    pub format: u32,
    /// One line for tables and plots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where requests come from.
    pub workload: Workload,
    /// What a request asks for.
    #[serde(default)]
    pub request: Request,
    /// What the provider does.
    #[serde(default)]
    pub provider: Provider,
    /// What clients do about failures.
    #[serde(default)]
    pub client: Client,
    /// How it is measured.
    #[serde(default)]
    pub measure: Measure,
}

fn format_1() -> u32 {
    1
}

/// Tokens of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Prompt tokens.
    pub input_tokens: Distribution<Count>,
    /// Tokens of the answer.
    pub output_tokens: Distribution<Count>,
}

impl Default for Request {
    fn default() -> Request {
        let none = Distribution::Constant(Count::ZERO);
        Request { input_tokens: none, output_tokens: none }
    }
}

/// The provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Provider {
    /// Attempts in service at once; without it, unlimited. 0 is a total outage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Waiting places in front of service; without it, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// What becomes of work whose client has gone.
    pub cancelled_work: CancelledWork,
    /// Status when no place is free.
    pub overload_status: u16,
    /// Service time.
    pub service: Service,
    /// Listen backlog; without it, no connection is ever reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<Backlog>,
    /// Rate limits.
    pub limits: Limits,
    /// What is billed, and its price.
    pub billing: Billing,
    /// Faults on a timeline.
    pub faults: Vec<Fault>,
}

impl Default for Provider {
    fn default() -> Provider {
        Provider {
            concurrency: None,
            queue: None,
            cancelled_work: CancelledWork::default(),
            overload_status: 529,
            service: Service::default(),
            backlog: None,
            limits: Limits::default(),
            billing: Billing::default(),
            faults: Vec::new(),
        }
    }
}

/// The client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Client {
    /// Its layers, innermost first; none means a single attempt.
    pub layers: Vec<Layer>,
}

/// How a scenario is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Window of load peaks and load curves.
    pub window: Span,
    /// Nothing happens at or after this instant.
    pub horizon: Span,
    /// Replications, unless the command line says otherwise.
    pub replications: u32,
    /// How many retries of a request are watched one by one (`retry_1_peak_bin`, …), 0 to 64.
    pub per_retry: u32,
    /// Most events at one instant before the run is taken for a livelock; by default 1,000,000
    /// and 100 per client or job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_per_instant: Option<u64>,
}

impl Default for Measure {
    fn default() -> Measure {
        Measure {
            window: Span::from_nanos(100_000_000),
            horizon: Span::from_seconds(600),
            replications: 20,
            per_retry: 0,
            events_per_instant: None,
        }
    }
}

impl Scenario {
    /// The scenario made ready to run; `folder` is where a trace's path starts.
    pub fn plan(&self, folder: &Path) -> Result<Plan> {
        Ok(Plan {
            clients: self.workload.clients,
            arrivals: self.arrivals(folder)?,
            input_tokens: self.request.input_tokens.sampler(),
            output_tokens: self.request.output_tokens.sampler(),
            layers: self.layers(),
            provider: self.provider_plan(),
            horizon: self.measure.horizon.nanos(),
            events_per_instant: self.events_per_instant(),
        })
    }

    fn events_per_instant(&self) -> u64 {
        let jobs = self.workload.closed_loop.map_or(0, |closed| closed.jobs);
        let requests = u64::from(self.workload.clients.max(jobs));
        self.measure.events_per_instant.unwrap_or(1_000_000 + 100 * requests)
    }

    fn arrivals(&self, folder: &Path) -> Result<Arrivals> {
        let workload = &self.workload;
        let horizon = self.measure.horizon;
        if let Some(stream) = workload.poisson {
            let until = stream.duration.map_or(horizon, |d| d.min(horizon)).nanos();
            return Ok(Arrivals::Poisson { stream, until });
        }
        if let Some(closed) = workload.closed_loop {
            return Ok(Arrivals::ClosedLoop { jobs: closed.jobs });
        }
        if let Some(file) = &workload.trace {
            let trace = read_trace(file, folder).map_err(|e| Error::Input(e.to_string()))?;
            return Ok(Arrivals::Trace(Arc::new(trace)));
        }
        Ok(Arrivals::Burst(workload.burst.unwrap_or_default()))
    }

    /// The layers; a client without any makes a single attempt.
    fn layers(&self) -> Vec<Layer> {
        if self.client.layers.is_empty() {
            vec![Layer::single_attempt()]
        } else {
            self.client.layers.clone()
        }
    }

    fn provider_plan(&self) -> ProviderPlan {
        let provider = &self.provider;
        ProviderPlan {
            concurrency: provider.concurrency,
            queue: provider.queue,
            cancelled_work: provider.cancelled_work,
            overload_status: provider.overload_status,
            backlog: provider.backlog,
            request_limit: provider.limits.requests,
            service: provider.service.sampler(),
            faults: provider.faults.clone(),
        }
    }

    /// What is watched.
    pub fn watch(&self) -> Watch {
        Watch { window: self.measure.window.nanos(), per_retry: self.measure.per_retry }
    }

    /// Attempts per window that the provider can serve: at full concurrency and mean service
    /// time, and at most the request limit. None when neither bounds it.
    pub fn capacity_per_window(&self, plan: &Plan) -> Option<f64> {
        let window = self.measure.window.seconds();
        let output = match &plan.arrivals {
            Arrivals::Trace(trace) => {
                let sum: u64 = trace.iter().map(|arrival| u64::from(arrival.output_tokens)).sum();
                sum as f64 / trace.len() as f64
            }
            _ => self.request.output_tokens.mean(),
        };
        let mean = self.provider.service.mean_s(output);
        let places = self.provider.concurrency.filter(|_| mean > 0.0);
        let service = places.map(|places| f64::from(places) / mean);
        let limit = self.provider.limits.requests.map(|l| l.rate.hertz());
        [service, limit].into_iter().flatten().reduce(f64::min).map(|rate| rate * window)
    }
}
