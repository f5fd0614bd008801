//! Whole replications: the published experiment, and one large storm, jittered and in lockstep.

use std::path::PathBuf;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retrylab::scenario::Document;

mod model;

use model::{replicate, storm};

fn storms(c: &mut Criterion) {
    let mut group = c.benchmark_group("storm");
    group.sample_size(10);
    for clients in [1_000, 100_000, 1_000_000] {
        for jitter in ["full_jitter", "none"] {
            let (scenario, plan) = storm(clients, jitter);
            group.throughput(Throughput::Elements(replicate(&scenario, &plan, 0).events));
            let mut replication = 0;
            group.bench_function(BenchmarkId::new(jitter, clients), |b| {
                b.iter(|| {
                    // A new seed each time: replaying one trains the branch predictor.
                    replication += 1;
                    replicate(&scenario, &plan, replication).events
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
            replicate(&scenario, &plan, replication).events
        });
    });
}

criterion_group!(benches, thousand_clients, storms);
criterion_main!(benches);
