//! Random numbers, and what is drawn from them. Every draw opens a stream of its own, as in the model:
//! half of its cost is the Philox block.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use retrylab::dist::{Distribution, Sampler};
use retrylab::rng::{Purpose, Stream, Streams};
use retrylab::units::Span;
use serde::Deserialize;

/// A law as scenarios write it.
#[derive(Deserialize)]
struct Written {
    time: Distribution<Span>,
}

const LAWS: [(&str, &str); 5] = [
    ("constant", r#""40ms""#),
    ("uniform", r#"{ uniform = { low = "10ms", high = "70ms" } }"#),
    ("exponential", r#"{ exponential = { mean = "40ms" } }"#),
    ("lognormal", r#"{ lognormal = { median = "129ms", p90 = "424ms" } }"#),
    ("normal", r#"{ normal = { mean = "40ms", sd = "10ms" } }"#),
];

fn sampler(law: &str) -> Sampler {
    let written: Written = toml::from_str(&format!("time = {law}")).expect("a law");
    written.time.sampler()
}

/// A way to draw from a stream that was just opened.
type Draw = (&'static str, fn(&mut Stream) -> u64);

const DRAWS: [Draw; 4] = [
    ("bits", |stream| stream.bits()),
    ("unit", |stream| stream.unit().to_bits()),
    ("below", |stream| stream.below(black_box(30_000_000_000))),
    ("bits, twice", |stream| stream.bits() ^ stream.bits()),
];

fn random(c: &mut Criterion) {
    let mut group = c.benchmark_group("random");
    let streams = Streams::new(42, 0);
    for (name, draw) in DRAWS {
        let mut entity = 0u32;
        group.bench_function(BenchmarkId::new("addressed", name), |b| {
            b.iter(|| {
                entity = entity.wrapping_add(1);
                draw(&mut streams.stream(Purpose::Service, entity, 1))
            });
        });
    }
    // A long stream: a block for every other draw.
    let mut stream = streams.stream(Purpose::Service, 0, 0);
    group.bench_function(BenchmarkId::new("next", "bits"), |b| b.iter(|| stream.bits()));
    group.finish();
}

fn samplers(c: &mut Criterion) {
    let mut group = c.benchmark_group("sampler");
    let streams = Streams::new(42, 0);
    for (name, law) in LAWS {
        let sampler = sampler(law);
        let mut entity = 0u32;
        group.bench_function(name, |b| {
            b.iter(|| {
                entity = entity.wrapping_add(1);
                sampler.sample(streams.stream(Purpose::Service, entity, 1))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, random, samplers);
criterion_main!(benches);
