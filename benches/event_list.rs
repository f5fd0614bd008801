//! The event list alone, under the hold model.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

mod hold;

use hold::Hold;

/// Pops and pushes per measurement.
const ROUNDS: u64 = 100_000;

fn event_list(c: &mut Criterion) {
    let mut group = c.benchmark_group("event_list");
    group.throughput(Throughput::Elements(ROUNDS));
    group.sample_size(20);
    for pending in [1_000u32, 100_000, 1_000_000] {
        for (name, spread) in [("jittered", 1_000_000_000u64), ("lockstep", 0)] {
            let mut hold = Hold::new(pending, spread);
            group.bench_function(BenchmarkId::new(name, pending), |b| {
                b.iter(|| hold.rounds(ROUNDS));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, event_list);
criterion_main!(benches);
