//! Whole replications: the published experiment, and one large storm, jittered and in lockstep.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

mod model;
mod published;

use model::{replicate, storm};
use published::thousand_clients;

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

fn published_experiment(c: &mut Criterion) {
    let document = thousand_clients();
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

criterion_group!(benches, published_experiment, storms);
criterion_main!(benches);
