//! Whole replications: the published experiment, and one large storm, jittered and in lockstep.

use std::path::PathBuf;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retrylab::metrics::Recorder;
use retrylab::model::{self, Plan};
use retrylab::rng::Streams;
use retrylab::scenario::{Document, Scenario};

/// A capacity-limited storm with every usual part: queue, request limit, timeouts, tokens and a
/// budget.
const STORM: &str = r#"
[workload]
burst = {}
[request]
input_tokens  = 1155
output_tokens = { lognormal = { median = 129, p90 = 424 } }
[provider]
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
fn storm(clients: u32, jitter: &str) -> (Scenario, Plan) {
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

/// One replication with all metrics; its number of events.
fn replicate(scenario: &Scenario, plan: &Plan, replication: u32) -> u64 {
    let mut recorder = Recorder::new(scenario.watch());
    let report = model::run(plan, Streams::new(42, replication), &mut recorder);
    report.expect("the storm runs").events
}

fn storms(c: &mut Criterion) {
    let mut group = c.benchmark_group("storm");
    group.sample_size(10);
    for clients in [1_000, 100_000, 1_000_000] {
        for jitter in ["full_jitter", "none"] {
            let (scenario, plan) = storm(clients, jitter);
            group.throughput(Throughput::Elements(replicate(&scenario, &plan, 0)));
            let mut replication = 0;
            group.bench_function(BenchmarkId::new(jitter, clients), |b| {
                b.iter(|| {
                    // A new seed each time: replaying one trains the branch predictor.
                    replication += 1;
                    replicate(&scenario, &plan, replication)
                });
            });
        }
    }
    group.finish();
}

fn thousand_clients(c: &mut Criterion) {
    let text = include_str!("../experiments/published/thousand-clients/scenario.toml");
    let document = Document::parse("thousand-clients", text.to_owned(), PathBuf::new())
        .and_then(|d| {
            d.with(&[
                "client.layers.client.backoff.full_jitter.base=1s".to_owned(),
                "client.layers.client.backoff.full_jitter.cap=30s".to_owned(),
            ])
        })
        .expect("the experiment is a valid scenario");
    let scenario = document.scenario().expect("the experiment is a valid scenario");
    let plan = scenario.plan(document.folder()).expect("the experiment needs no file");
    let mut replication = 0;
    c.bench_function("thousand-clients/full", |b| {
        b.iter(|| {
            replication += 1;
            replicate(&scenario, &plan, replication)
        });
    });
}

criterion_group!(benches, thousand_clients, storms);
criterion_main!(benches);
