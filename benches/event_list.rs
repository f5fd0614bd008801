//! The event list alone: hold n events, take the first, put it back later.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retrylab::engine::{Class, EventList, Key};
use retrylab::rng::{Purpose, Streams};

/// Pops and pushes per measurement.
const ROUNDS: u64 = 100_000;

/// `ROUNDS` times: pop the next event and push it back `delay` later.
fn hold(list: &mut EventList, delay: &mut impl FnMut() -> u64) {
    for _ in 0..ROUNDS {
        let key = list.pop_before(u64::MAX).expect("the list never empties");
        list.push(Key::new(key.time() + delay(), Class::Attempt, key.rank(), 0));
    }
}

fn event_list(c: &mut Criterion) {
    let mut group = c.benchmark_group("event_list");
    group.throughput(Throughput::Elements(ROUNDS));
    group.sample_size(20);
    for pending in [1_000u32, 100_000, 1_000_000] {
        for (name, spread) in [("jittered", 1_000_000_000u64), ("lockstep", 0)] {
            let mut stream = Streams::new(42, 0).stream(Purpose::Backoff, 0, 0);
            let mut delay = || 1_000_000_000 + stream.below(spread);
            let mut list = EventList::with_capacity(pending as usize);
            (0..pending).for_each(|rank| list.push(Key::new(delay(), Class::Attempt, rank, 0)));
            group.bench_function(BenchmarkId::new(name, pending), |b| {
                b.iter(|| hold(&mut list, &mut delay));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, event_list);
criterion_main!(benches);
