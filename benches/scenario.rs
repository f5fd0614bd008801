//! From the text of a scenario to a plan: the smallest that says anything, and the largest of the
//! experiments.

use std::fs;
use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retrylab::experiment::Cell;
use retrylab::scenario::Document;

const SMALL: &str = include_str!("five-clients.toml");

/// The longest scenario under `experiments`, with its folder.
fn largest() -> (PathBuf, String) {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments")];
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("a file of the repository").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("scenario.toml") {
                found.push((folder.clone(), fs::read_to_string(&path).expect("a scenario")));
            }
        }
    }
    // Two of one length are told apart by their names.
    found.sort_by(|a, b| (a.1.len(), &a.0).cmp(&(b.1.len(), &b.0)));
    found.pop().expect("there are experiments")
}

fn parse(text: &str, folder: &Path) -> Document {
    Document::parse("scenario", text.to_owned(), folder.to_owned()).expect("TOML")
}

fn scenarios(c: &mut Criterion) {
    let mut group = c.benchmark_group("scenario");
    let (folder, text) = largest();
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let both = [("small", SMALL.to_owned(), PathBuf::new()), (name.as_str(), text, folder)];
    for (name, text, folder) in &both {
        group.throughput(Throughput::Bytes(text.len() as u64));
        let document = parse(text, folder);
        let scenario = document.scenario().expect("a scenario");
        group.bench_function(BenchmarkId::new("parse", name), |b| b.iter(|| parse(text, folder)));
        group.bench_function(BenchmarkId::new("check", name), |b| b.iter(|| document.scenario()));
        group.bench_function(BenchmarkId::new("plan", name), |b| {
            b.iter(|| scenario.plan(folder));
        });
        // What every cell of a sweep costs before its first run: all of it, and the list of metrics.
        group.bench_function(BenchmarkId::new("cell", name), |b| {
            b.iter(|| Cell::new("cell", &parse(text, folder)).expect("a cell"));
        });
    }
    group.finish();
}

criterion_group!(benches, scenarios);
criterion_main!(benches);
