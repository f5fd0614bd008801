//! Runs per second of a sweep: thousand-clients with its outage ending at ten different times, from the
//! survey of the cells to the tables on the disk; and the same runs without a sweep around them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

mod published;
mod sweeps;

use published::thousand_clients;
use sweeps::{run_whole, sweep};

const CELLS: u64 = 10;
const REPLICATIONS: u32 = 20;

fn sweeping(c: &mut Criterion) {
    let mut group = c.benchmark_group("sweep");
    group.sample_size(10);
    group.throughput(Throughput::Elements(CELLS * u64::from(REPLICATIONS)));
    let axis = format!("provider.faults.0.outage.to=1s..20s:lin{CELLS}");
    let sweep = sweep(thousand_clients(), &[&axis], REPLICATIONS, 1);
    let home = tempfile::tempdir().expect("a folder for results");
    group.bench_function("survey, runs, journal, tables", |b| {
        b.iter(|| run_whole(&sweep, home.path()));
    });
    group.bench_function("the runs alone", |b| {
        b.iter(|| {
            for number in 0..CELLS {
                let cell = sweep.cell(number).expect("a cell");
                for replication in 0..REPLICATIONS {
                    cell.run(sweep.effort.seed, replication).expect("a run");
                }
            }
        });
    });
    group.finish();
}

criterion_group!(benches, sweeping);
criterion_main!(benches);
