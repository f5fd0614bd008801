//! The scenario document: TOML in, a checked [`Scenario`] out.
//!
//! ```text
//! text ─► table ─► --set ─► presets ─► typed ─► checked ─► [`Plan`]
//! ```
//! Errors name the file, line and key, what was found and what is allowed.

mod assumptions;
mod document;
mod group;
mod measured;
mod parts;
mod print;
mod problem;
mod providers;
#[cfg(feature = "schema")]
mod schema;
mod set;
mod size;
mod trigger;

pub use assumptions::assumptions;
pub use document::{Document, typed};
pub use group::Group;
pub use print::{canonical, digest, marked};
pub use problem::{MAX_REPLICATIONS, Step, alike, locate, suggest};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use set::parse_value as setting_value;
pub use size::{MemoryLimit, parse_bytes};
pub use trigger::Trigger;

use serde::{Deserialize, Serialize};

use crate::client::Layer;
use crate::dist::{Count, Distribution};
use crate::error::{Error, Result};
use crate::host::{Host, Network};
use crate::metrics::{FlowWatch, Watch};
use crate::model::{Arrivals, GroupPlan, Plan, ProviderPlan};
use crate::server::{
    Action, AnswerCache, Backlog, Billing, CancelledWork, Fault, Idempotency, Limits, Queue, Row,
    Service,
};
use crate::units::Span;
use crate::workload::{Arrival, read_trace};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A complete scenario: every default filled in, every preset resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "group::File", into = "group::File")]
pub struct Scenario {
    /// Version of the format; 1.
    pub format: u32,
    /// One line for tables and plots.
    pub title: Option<String>,
    /// The groups of clients; one without a name in the short form.
    pub groups: Vec<Group>,
    /// What the provider does.
    pub provider: Provider,
    /// Providers that clients fall back to, in their order.
    pub fallback: Vec<Provider>,
    /// What sets off a collapse; without it, runs are not paired.
    pub trigger: Option<Trigger>,
    /// How it is measured.
    pub measure: Measure,
    /// What is expected of the means of metrics: the name, and a comparison such as `>= 0.999`.
    pub expect: BTreeMap<String, String>,
}

fn format_1() -> u32 {
    1
}

/// What requests ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Prompt tokens, at most 1e9. A trace brings its own.
    pub input_tokens: Distribution<Count>,
    /// Tokens of the answer, at most 1e9. A trace brings its own.
    pub output_tokens: Distribution<Count>,
    /// Whether answers are streamed. The head comes when service starts, the first token after
    /// `service.tokens.first` (at once with other kinds of service), the others evenly until the
    /// end. A request whose stream breaks off after the first token, and is not retried, is
    /// *partial*.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub stream: bool,
    /// Whether all attempts of a request have the same idempotency key, so that a provider with
    /// `idempotency` attaches a repeat to the work that is under way or done; not with streams.
    /// Either answer counts repeated effects (`repeated_effects`): work that was done for a request
    /// for which it had been done before. Without a word of it they are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<bool>,
}

impl Default for Request {
    fn default() -> Request {
        let none = || Distribution::Constant(Count::ZERO);
        let (input_tokens, output_tokens) = (none(), none());
        Request { input_tokens, output_tokens, stream: false, idempotency_key: None }
    }
}

/// What stands between attempts and their answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Provider {
    /// Its name in metrics: letters, digits, `-`, `_`. Every one that is fallen back to needs one;
    /// the first is "provider" without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Attempts in service at once; without it, unlimited. 0 is a total outage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Waiting places in front of service; without it, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// What becomes of work whose client has gone (a timeout, a deadline).
    pub cancelled_work: CancelledWork,
    /// Status of an answer when no place is free, 400 to 599.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub overload_status: u16,
    /// Service time of an attempt.
    pub service: Service,
    /// How many times as long service takes that starts when all places are busy, 1 to 1000; with
    /// fewer of them evenly less. Needs `concurrency`; without it, 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 1000.0)))]
    pub slower_when_full: Option<f64>,
    /// Connections that wait to be accepted; without it, no connection is ever reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<Backlog>,
    /// What is made of idempotency keys; without it they are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<Idempotency>,
    /// A cache of answers; without it, every answer is worked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<AnswerCache>,
    /// A row under optimistic concurrency that all work reads and writes; without it, work does not
    /// conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Row>,
    /// What it lets through; beyond it the answer is 429.
    pub limits: Limits,
    /// What is billed, and its price.
    pub billing: Billing,
    /// Faults on a timeline, each a table with one key that names its kind. At one instant faults
    /// and operators come first, in the order in which they are written.
    pub faults: Vec<Fault>,
    /// What operators do on the same timeline, each a table with one key that names its kind.
    pub actions: Vec<Action>,
}

impl Default for Provider {
    fn default() -> Provider {
        Provider {
            name: None,
            concurrency: None,
            queue: None,
            cancelled_work: CancelledWork::default(),
            overload_status: 529,
            service: Service::default(),
            slower_when_full: None,
            backlog: None,
            idempotency: None,
            cache: None,
            row: None,
            limits: Limits::default(),
            billing: Billing::default(),
            faults: Vec::new(),
            actions: Vec::new(),
        }
    }
}

impl Provider {
    /// Its name in metrics.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("provider")
    }

    /// The provider made ready to run.
    fn plan(&self) -> ProviderPlan {
        ProviderPlan {
            concurrency: self.concurrency,
            queue: self.queue,
            cancelled_work: self.cancelled_work,
            overload_status: self.overload_status,
            backlog: self.backlog,
            idempotency: self.idempotency,
            cache: self.cache,
            row: self.row,
            limits: self.limits.clone(),
            billing: self.billing.clone(),
            slower_when_full: self.slower_when_full,
            service: self.service.sampler(),
            faults: self.faults.clone(),
            actions: self.actions.clone(),
        }
    }
}

/// What clients do about failures, and where they run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Client {
    /// Its layers, innermost first; none means a single attempt.
    pub layers: Vec<Layer>,
    /// Where its clients run; without it, attempts never wait before they are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// The network to the provider; without it, attempts and answers take no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

/// How the scenario is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Window of load peaks, above 0s.
    pub window: Span,
    /// Window of load curves in windows.csv and pictures, a whole multiple of `window`; without it,
    /// the same. A long storm with short peaks has curves of a readable length by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Span>,
    /// Windows in which goodput (requests answered) is set against demand (requests created),
    /// counted back from the horizon. Without it they are watched only where there is a trigger or
    /// a ramp that comes back: each 1/100 of the horizon, the last 10 of them as the end of the
    /// run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Nothing happens at or after this instant; above 0s, at most 10,000,000 windows.
    pub horizon: Span,
    /// Replications, unless `--replications` says otherwise; 1 to 1,000,000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000000)))]
    pub replications: u32,
    /// How many retries of a request are watched one by one (`retry_1_peak_bin`, …), 0 to 64.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 64)))]
    pub per_retry: u32,
    /// More events than this at one instant are taken for a livelock; without it, 1,000,000 and 100
    /// per client or job. At least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub events_per_instant: Option<u64>,
}

/// Windows in which goodput is set against demand, counted back from the horizon; at most
/// 10,000,000 in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Their length, above 0s.
    pub window: Span,
    /// How many of them are the end of the run (`collapsed_at_end`, `goodput_at_end`, …), at least
    /// 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub last: u32,
}

impl Default for Measure {
    fn default() -> Measure {
        Measure {
            window: Span::from_nanos(100_000_000),
            curve: None,
            health: None,
            horizon: Span::from_seconds(600),
            replications: 20,
            per_retry: 0,
            events_per_instant: None,
        }
    }
}

impl Measure {
    /// Window of load curves.
    pub fn curve_window(&self) -> Span {
        self.curve.unwrap_or(self.window)
    }

    /// The windows of goodput and demand, as written; by default 100 in the horizon, of which the
    /// last 10 are the end of the run.
    pub fn health(&self) -> Health {
        let hundredth = Span::from_nanos(self.horizon.nanos().div_ceil(100).max(1));
        self.health.unwrap_or(Health { window: hundredth, last: 10 })
    }

    /// Windows of load peaks in one of load curves.
    pub fn windows_per_point(&self) -> usize {
        (self.curve_window().nanos() / self.window.nanos()) as usize
    }
}

impl Group {
    /// The group made ready to run.
    fn plan(&self, folder: &Path, horizon: Span) -> Result<GroupPlan> {
        Ok(GroupPlan {
            name: self.name.clone(),
            clients: self.workload.clients,
            arrivals: self.arrivals(folder, horizon)?,
            shares: self.workload.shares,
            input_tokens: self.request.input_tokens.sampler(),
            output_tokens: self.request.output_tokens.sampler(),
            stream: self.request.stream,
            idempotency_key: self.request.idempotency_key,
            priority: self.priority,
            layers: self.layers(folder)?,
            host: self.client.host.filter(|host| !host.is_idle()),
            path: self.client.network.as_ref().and_then(Network::path),
        })
    }

    fn arrivals(&self, folder: &Path, horizon: Span) -> Result<Arrivals> {
        let workload = &self.workload;
        if let Some(stream) = workload.poisson {
            let until = stream.duration.map_or(horizon, |d| d.min(horizon)).nanos();
            return Ok(Arrivals::Poisson { stream, until });
        }
        if let Some((curve, duration)) = workload.curve() {
            let until = duration.map_or(horizon, |d| d.min(horizon)).nanos();
            return Ok(Arrivals::Curve { curve, until });
        }
        if let Some(rule) = workload.agents {
            let tasks = rule.tasks.unwrap_or(workload.clients);
            return Ok(Arrivals::Agents { rule, tasks });
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
    fn layers(&self, folder: &Path) -> Result<Vec<Layer>> {
        if self.client.layers.is_empty() {
            return Ok(vec![Layer::single_attempt()]);
        }
        measured::with_measured_waits(&self.client.layers, folder)
    }

    /// Mean tokens of a prompt and of an answer.
    fn mean_tokens(&self, plan: &GroupPlan) -> (f64, f64) {
        let Arrivals::Trace(trace) = &plan.arrivals else {
            return (self.request.input_tokens.mean(), self.request.output_tokens.mean());
        };
        let mean = |tokens: fn(&Arrival) -> u32| {
            let sum: u64 = trace.rows.iter().map(|arrival| u64::from(tokens(arrival))).sum();
            sum as f64 / trace.rows.len() as f64
        };
        (mean(|arrival| arrival.input_tokens), mean(|arrival| arrival.output_tokens))
    }
}

impl Scenario {
    /// The traces it reads, "path hash" each; `folder` is where their paths start.
    pub fn trace_digests(&self, folder: &Path) -> Result<Vec<String>> {
        let files = self.groups.iter().filter_map(|group| group.workload.trace.as_ref());
        files
            .map(|trace| {
                let name = trace.file.display();
                let hash = trace.digest(folder);
                let hash = hash.map_err(|e| Error::Input(format!("{name}: {e}")))?;
                Ok(format!("{name} {hash:016x}"))
            })
            .collect()
    }

    /// The scenario made ready to run; `folder` is where a trace's path starts.
    pub fn plan(&self, folder: &Path) -> Result<Plan> {
        let group = |group: &Group| group.plan(folder, self.measure.horizon);
        Ok(Plan {
            groups: self.groups.iter().map(group).collect::<Result<_>>()?,
            providers: self.providers().map(Provider::plan).collect(),
            horizon: self.measure.horizon.nanos(),
            events_per_instant: self.events_per_instant(),
        })
    }

    fn events_per_instant(&self) -> u64 {
        let requests = |group: &Group| {
            let jobs = group.workload.closed_loop.map_or(0, |closed| closed.jobs);
            u64::from(group.workload.clients.max(jobs))
        };
        let all: u64 = self.groups.iter().map(requests).sum();
        self.measure.events_per_instant.unwrap_or(1_000_000 + 100 * all)
    }

    /// Clients of all groups.
    pub fn clients(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.workload.clients)).sum()
    }

    /// The provider, and those that clients fall back to.
    pub fn providers(&self) -> impl Iterator<Item = &Provider> {
        std::iter::once(&self.provider).chain(&self.fallback)
    }

    /// What is watched.
    pub fn watch(&self) -> Watch {
        let groups = if self.groups.len() > 1 { self.groups.len() } else { 0 };
        let fallbacks = self.fallback.len();
        Watch {
            window: self.measure.window.nanos(),
            flow: self.flow_watch(),
            per_retry: self.measure.per_retry,
            groups,
            providers: if fallbacks > 0 { 1 + fallbacks } else { 0 },
        }
    }

    /// How demand and goodput are watched; None where nobody asks for it.
    pub(crate) fn flow_watch(&self) -> Option<FlowWatch> {
        let Health { window, last } = self.measure.health();
        let turn = self.groups.iter().find_map(|group| group.workload.ramp?.turn());
        let watched = self.measure.health.is_some() || self.trigger.is_some() || turn.is_some();
        watched.then(|| FlowWatch {
            window: window.nanos(),
            last,
            horizon: self.measure.horizon.nanos(),
            trigger_over: self.trigger.as_ref().map(|trigger| trigger.to.nanos()),
            turn: turn.map(Span::nanos),
        })
    }

    /// Attempts per window that the provider can serve: at full concurrency and mean service
    /// time, and at most the request limit. None when neither bounds it, when there are several
    /// providers (who serves what is for the clients to decide), and with an answer cache (what
    /// it holds decides).
    pub fn capacity_per_window(&self, plan: &Plan) -> Option<f64> {
        if !self.fallback.is_empty() || self.provider.cache.is_some() {
            return None;
        }
        let window = self.measure.window.seconds();
        let full = self.provider.concurrency.unwrap_or(1);
        let mean = self.provider.service.mean_s(self.mean_tokens(plan), full)
            * self.provider.slower_when_full.unwrap_or(1.0);
        let places = self.provider.concurrency.filter(|_| mean > 0.0);
        let service = places.map(|places| f64::from(places) / mean);
        let limit = self.provider.limits.requests.as_ref().map(|l| l.rate.hertz());
        [service, limit].into_iter().flatten().reduce(f64::min).map(|rate| rate * window)
    }

    /// Mean tokens of a prompt and of an answer, over the requests that groups are expected to
    /// have.
    fn mean_tokens(&self, plan: &Plan) -> (f64, f64) {
        if let ([group], [plan]) = (&self.groups[..], &plan.groups[..]) {
            return group.mean_tokens(plan);
        }
        let pairs = || self.groups.iter().zip(&plan.groups);
        let requests =
            |plan: &GroupPlan| plan.arrivals.expected(plan.clients, self.measure.horizon);
        let all: f64 = pairs().map(|(_, plan)| requests(plan)).sum();
        let mean = |of: fn((f64, f64)) -> f64| {
            let part = |(group, plan): (&Group, &GroupPlan)| {
                of(group.mean_tokens(plan)) * requests(plan) / all
            };
            pairs().map(part).sum()
        };
        (mean(|(input, _)| input), mean(|(_, output)| output))
    }
}
