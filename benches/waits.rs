//! One wait before a retry: built-in backoffs, and the same as formulas.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use retrylab::client::{After, Backoff, Formula};
use retrylab::rng::Streams;

const FORMULAS: [(&str, &str); 4] = [
    ("none", "min(30s, 2^n)"),
    ("full", "uniform(0, min(30s, 2^n))"),
    ("additive", "min(30s, 2^n) * (1 + uniform(0, 1))"),
    ("decorrelated", "min(30s, uniform(1s, 3 * max(prev, 1s)))"),
];

fn waits(c: &mut Criterion) {
    let mut group = c.benchmark_group("wait");
    let streams = Streams::new(42, 0);
    for (name, text) in FORMULAS {
        let built_in = Backoff::named(name, None).expect("a policy");
        let formula = Backoff::Formula(text.parse::<Formula>().expect("a formula"));
        for (kind, backoff) in [("built-in", built_in), ("formula", formula)] {
            let mut memory = vec![0; backoff.memory()];
            let mut step = 0;
            group.bench_function(BenchmarkId::new(kind, name), |b| {
                b.iter(|| {
                    step += 1;
                    let after = After::retry(step % 6);
                    backoff.wait(after, &mut memory, streams.backoff(0, 7, step))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, waits);
criterion_main!(benches);
