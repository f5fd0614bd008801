//! The glue: the life of a request from its creation to its one outcome.
//!
//! ```text
//! workload ─► request ─► [layer … [layer: semaphore, attempt, classify, budget, backoff]] ─► provider
//!                                          ▲                                                    │
//!                                          └── answer, reset or timeout ◄───────────────────────┘
//! ```
//! [`run`] drives the pure parts of [`crate::client`] and [`crate::server`] by events and tells an
//! [`Observer`] what happens. At the end it checks the conservation laws of the [`Ledger`].

mod arrivals;
mod attempt;
mod birth;
mod breaker;
mod budget;
mod cache;
mod call;
mod failure;
mod few;
mod group;
mod guard;
mod hedge;
mod host;
mod layers;
mod ledger;
mod live;
mod moment;
mod observer;
mod pace;
mod pool;
mod provider;
mod repeat;
mod row;
mod simulation;
mod stream;
mod tasks;
mod timeline;
mod wire;
mod work;

pub use arrivals::Arrivals;
pub use ledger::{LayerCount, Ledger};
pub use live::{Guest, Live, Outside, RequestId};
pub use moment::{Moment, Refuser, Service, Who};
pub use observer::{Observer, Side, Watcher};
pub use provider::ProviderPlan;

use crate::client::Layer;
use crate::dist::Sampler;
use crate::engine::{Heap, Pending, Wheel};
use crate::host::{Host, Path};
use crate::rng::{Ranks, Streams};
use crate::server::Tokens;
use crate::units::Time;
use crate::workload::Shares;
use observer::Anyone;
use simulation::Simulation;

/// A scenario made ready to run; shared by all replications.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The groups of clients, at least one.
    pub groups: Vec<GroupPlan>,
    /// The providers, at least one: first the one that clients use, then those they fall back to.
    pub providers: Vec<ProviderPlan>,
    /// No event happens at or after this instant.
    pub horizon: Time,
    /// Most events at one instant before the run is taken for a livelock.
    pub events_per_instant: u64,
}

impl Plan {
    /// True when clients without a host or a network between send attempts one by one to one provider that
    /// finishes what it admits and remembers nothing of it. Most storms are so, and run faster.
    fn is_plain(&self) -> bool {
        let ([group], [provider]) = (self.groups.as_slice(), self.providers.as_slice()) else {
            return false;
        };
        group.is_plain() && provider.is_plain()
    }

    /// The names of all layers in order of appearance, each once: what groups call alike is one.
    pub fn layer_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for layer in self.groups.iter().flat_map(|group| &group.layers) {
            if !names.contains(&layer.name.as_str()) {
                names.push(&layer.name);
            }
        }
        names
    }
}

/// A group of clients made ready to run.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Its name; random numbers follow it. A scenario without groups is one without a name.
    pub name: Option<String>,
    /// Number of clients.
    pub clients: u32,
    /// The workload.
    pub arrivals: Arrivals,
    /// Unequal clients.
    pub shares: Option<Shares>,
    /// Prompt tokens of a request, unless a trace gives them.
    pub input_tokens: Sampler,
    /// Tokens of an answer, unless a trace gives them.
    pub output_tokens: Sampler,
    /// Whether answers are streamed.
    pub stream: bool,
    /// Whether its requests have an idempotency key; None when effects are not counted.
    pub idempotency_key: Option<bool>,
    /// Its class in the provider's queue; 0 goes before 1.
    pub priority: u8,
    /// Layers of the client, innermost first.
    pub layers: Vec<Layer>,
    /// Where its clients run; None never makes an attempt wait.
    pub host: Option<Host>,
    /// The network between its clients and the provider; None takes no time and loses nothing.
    pub path: Option<Path>,
}

impl GroupPlan {
    /// Bits that the number of a group takes in the name of a request.
    const NUMBER_BITS: u32 = 32 - Ranks::MEMBER_BITS;

    /// Most groups.
    pub const MOST: usize = 1 << GroupPlan::NUMBER_BITS;

    /// Most requests of a group that has a name.
    pub const MOST_REQUESTS: u32 = 1 << Ranks::MEMBER_BITS;

    fn is_plain(&self) -> bool {
        let on_its_own = self.name.is_none() && self.host.is_none() && self.path.is_none();
        let watched = self.stream || self.idempotency_key.is_some();
        on_its_own && !watched && self.layers.iter().all(Layer::is_plain)
    }

    /// Requests that certainly come, as far as it is known before the run.
    fn known(&self) -> u32 {
        self.arrivals.known(self.clients)
    }

    /// The tokens of request number `request`.
    pub fn tokens(&self, request: u32, streams: &Streams) -> Tokens {
        self.arrivals.tokens(request, &self.input_tokens, &self.output_tokens, streams)
    }
}

/// What a finished run leaves behind, apart from what its observer has seen.
#[derive(Clone, Debug)]
pub struct Report {
    /// Counts that obey conservation laws, all groups together.
    pub ledger: Ledger,
    /// The same by group.
    pub groups: Vec<Ledger>,
    /// Hash of all events.
    pub fingerprint: u64,
    /// Events handled.
    pub events: u64,
    /// When the run ended: its last event, or the horizon when work was left.
    pub end: Time,
    /// The share of the entries of answer caches that was held then; None without caches.
    pub cache_held: Option<f64>,
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Time stands still.
    #[error(
        "{events} events at t = {at_s} s without time moving on: a zero-time livelock (a backoff of 0 against an answer that takes no time?); \
         lower max_attempts, add a backoff, or raise measure.events_per_instant"
    )]
    Livelock {
        /// Events so far at this instant.
        events: u64,
        /// The instant in seconds, as text.
        at_s: String,
    },
    /// A request changed its state more often than an event key can count.
    #[error(
        "a request changed its state more than 16 million times; lower max_attempts of its layers or the horizon"
    )]
    TooManySteps,
    /// There is nobody who could send, or nobody who could answer.
    #[error("the plan has no group, a group without a layer, or no provider; give it one of each")]
    Incomplete,
    /// A bug of ours: a conservation law does not hold.
    #[error(
        "conservation law {law} does not hold: {found}; this is a bug, please report it with the seed"
    )]
    Law {
        /// The law.
        law: &'static str,
        /// The counts.
        found: String,
    },
}

/// Runs `plan` once with `streams`, telling `observer` what happens. The model is compiled anew for
/// every kind of observer: for those who make many runs.
pub fn run<O: Observer>(
    plan: &Plan,
    streams: Streams,
    observer: &mut O,
) -> Result<Report, RunError> {
    run_on::<Wheel, O>(plan, streams, observer)
}

/// The same for one run that somebody looks at closely.
pub fn watch(plan: &Plan, streams: Streams, watcher: &mut dyn Watcher) -> Result<Report, RunError> {
    run(plan, streams, &mut Anyone(watcher))
}

/// The same on a heap, with nothing left out that a plain run does without; nothing depends on it.
pub fn watch_in_full(
    plan: &Plan,
    streams: Streams,
    watcher: &mut dyn Watcher,
) -> Result<Report, RunError> {
    run_in_full::<Heap, _>(plan, streams, &mut Anyone(watcher))
}

/// The same as [`run`] on any set of pending events; the result does not depend on it.
pub fn run_on<P: Pending, O: Observer>(
    plan: &Plan,
    streams: Streams,
    observer: &mut O,
) -> Result<Report, RunError> {
    match plan.is_plain() {
        true => Simulation::<_, P, 0, true>::new(plan, streams, observer)?.run(),
        false => run_in_full::<P, O>(plan, streams, observer),
    }
}

fn run_in_full<P: Pending, O: Observer>(
    plan: &Plan,
    streams: Streams,
    observer: &mut O,
) -> Result<Report, RunError> {
    if plan.groups.iter().any(|group| group.name.is_some()) {
        const BITS: u32 = GroupPlan::NUMBER_BITS;
        Simulation::<_, P, BITS, false>::new(plan, streams, observer)?.run()
    } else {
        Simulation::<_, P, 0, false>::new(plan, streams, observer)?.run()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::scenario::Document;

    /// A storm with one more part: a table of its own, a line of the provider, or one of the layer.
    fn is_plain(table: &str, provider: &str, layer: &str) -> bool {
        let text = format!(
            "[workload]\nclients = 4\nburst = {{}}\n{table}\n[provider]\nconcurrency = 2\n{provider}\n\
             [[client.layers]]\nname = \"sdk\"\nmax_attempts = 3\nbackoff = {{ full_jitter = {{ base = \"1s\", cap = \"8s\" }} }}\n{layer}\n"
        );
        let document = Document::parse("part", text, PathBuf::new()).unwrap();
        let scenario =
            document.scenario().unwrap_or_else(|e| panic!("{provider}{layer}{table}: {e}"));
        scenario.plan(document.folder()).unwrap().is_plain()
    }

    /// Whatever a plain run leaves out has to be here.
    #[test]
    fn a_part_that_is_left_out_makes_a_run_not_plain() {
        for provider in [
            "queue = { fifo = { limit = 2 } }\ncancelled_work = \"removed\"",
            "idempotency = { lifetime = \"1min\" }",
            "cache = { entries = 10, hit = \"1ms\" }",
            "row = { status = 409 }",
            "billing = { price = \"claude-sonnet-4\", cache_lifetime = \"5min\" }",
            "faults = [{ capacity = { from = \"1s\", to = \"2s\", concurrency = 1, in_service = \"lost\" } }]",
        ] {
            assert!(!is_plain("", provider, ""), "{provider}");
        }
        for layer in [
            "breaker = { consecutive = { failures = 5 }, open = \"5s\", scope = \"client\" }",
            "adaptive_throttle = { scope = \"client\" }",
            "pace = { fixed = { rate = \"10/s\", burst = 5, scope = \"client\" } }",
            "hedge = { after = \"1s\" }",
        ] {
            assert!(!is_plain("", "", layer), "{layer}");
        }
        for table in [
            "[client.host]\ncpu_per_attempt = \"1ms\"",
            "[client.host]\nconnections = { limit = 2, scope = \"process\" }",
            "[client.network]\nloss = 0.5",
            "[request]\nstream = true",
            "[request]\nidempotency_key = true",
        ] {
            assert!(!is_plain(table, "", ""), "{table}");
        }
        assert!(!is_plain("[[fallback]]\nname = \"other\"", "", "fallback = true"));
    }

    #[test]
    fn most_storms_are_plain() {
        for (provider, layer) in [
            ("", ""),
            ("queue = { lifo = { limit = 2, when_full = \"drop_oldest\" } }", "timeout = \"1s\""),
            ("backlog = { limit = 2, accept = \"5ms\" }", "connect_timeout = \"1s\""),
            ("limits = { requests = { rate = \"5/s\", burst = 2 } }", "deadline = \"9s\""),
            (
                "faults = [{ outage = { from = \"0s\", to = \"1s\", status = 503 } }]",
                "semaphore = { permits = 2, scope = \"fleet\" }",
            ),
            ("faults = [{ error = { share = 0.5, status = 500 } }]", "wait_after_last = true"),
        ] {
            assert!(is_plain("", provider, layer), "{provider} {layer}");
        }
    }
}
