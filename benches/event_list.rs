//! The event list alone, under the hold model.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

mod hold;

use hold::Hold;
use retrylab::engine::{Heap, Pending, Wheel};

/// Pops and pushes per measurement.
const ROUNDS: u64 = 100_000;

fn event_list<P: Pending>(c: &mut Criterion, structure: &str) {
    let mut group = c.benchmark_group(format!("event_list/{structure}"));
    group.throughput(Throughput::Elements(ROUNDS));
    group.sample_size(20);
    for pending in [1_000u32, 100_000, 1_000_000] {
        for (name, spread) in [("jittered", 1_000_000_000u64), ("lockstep", 0)] {
            let mut hold = Hold::<P>::new(pending, spread);
            group.bench_function(BenchmarkId::new(name, pending), |b| {
                b.iter(|| hold.rounds(ROUNDS));
            });
        }
    }
    group.finish();
}

fn event_lists(c: &mut Criterion) {
    event_list::<Wheel>(c, "wheel");
    event_list::<Heap>(c, "heap");
}

criterion_group!(benches, event_lists);
criterion_main!(benches);
