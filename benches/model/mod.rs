//! The model that all measurements run: N clients fail together against a provider with room for a
//! hundredth of them.
//!
//! Each sends one request at t = 0; c = N/100 places, exponential service of 40 ms, a FIFO queue of
//! N/20, 429 beyond; full jitter U(0, min(30 s, 2^(k-1) s)), at most 5 attempts. The parts that a
//! stripped loop would leave out are in use and decide nothing: a timeout that is cancelled, a limit
//! of requests per time, a budget, tokens. So other engines can run the same model without them.

use std::path::PathBuf;

use retrylab::metrics::Recorder;
use retrylab::model::{self, Plan, Report};
use retrylab::rng::Streams;
use retrylab::scenario::{Document, Scenario};

/// The scenario, but for what grows with the number of clients.
const STORM: &str = r#"
[workload]
burst = {}
[request]
input_tokens  = 1155
output_tokens = { lognormal = { median = 129, p90 = 424 } }
[provider]
limits  = { requests = { rate = "100000000/s", burst = 1000000000 } }
queue   = { fifo = {} }
service = { exponential = { mean = "40ms" } }
[[client.layers]]
name = "client"
max_attempts = 5
timeout = "20s"
backoff = { full_jitter = { base = "1s", cap = "30s" } }
budget = { token_bucket = { capacity = 1e9, refill_per_success = 0.1, scope = "fleet" } }
"#;

/// The storm for `clients`: a place for every 100 of them, a queue of a twentieth.
pub fn storm(clients: u32, jitter: &str) -> (Scenario, Plan) {
    let settings = [
        format!("workload.clients={clients}"),
        format!("provider.concurrency={}", clients / 100),
        format!("provider.queue.fifo.limit={}", clients / 20),
        format!("client.layers.client.backoff.{jitter}.base=1s"),
        format!("client.layers.client.backoff.{jitter}.cap=30s"),
    ];
    let document = Document::parse("storm", STORM.to_owned(), PathBuf::new())
        .and_then(|document| document.with(&settings))
        .expect("the storm is a valid scenario");
    let scenario = document.scenario().expect("the storm is a valid scenario");
    let plan = scenario.plan(document.folder()).expect("the storm needs no file");
    (scenario, plan)
}

/// One replication with all metrics.
pub fn replicate(scenario: &Scenario, plan: &Plan, replication: u32) -> Report {
    let mut recorder = Recorder::new(scenario.watch());
    let report = model::run(plan, Streams::new(42, replication), &mut recorder);
    report.expect("the storm runs")
}
