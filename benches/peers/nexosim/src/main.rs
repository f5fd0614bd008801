//! Runs the retry model on nexosim as it is told on standard input.
//!
//! A line `CLIENTS RUNS SEED` is answered with a line of the CPU time in nanoseconds, and per run
//! attempts, requests answered, attempts in the first window and in the fullest one.

#[path = "../../clock.rs"]
mod clock;
mod herd;

use std::io::{self, BufRead, Write};

use herd::{Herd, Outcome, START};
use nexosim::ports::QuerySource;
use nexosim::simulation::{Mailbox, SimInit, SimulationError};

fn run(clients: u32, seed: u64) -> Result<Outcome, SimulationError> {
    let mailbox = Mailbox::new();
    let mut bench = SimInit::with_num_threads(1);
    let outcome = QuerySource::new().connect(Herd::outcome, &mailbox).register(&mut bench);
    let herd = Herd::new(clients, seed);
    let mut simulation = bench.add_model(herd, mailbox, "herd").init(START)?;
    simulation.run()?;
    Ok(simulation.process_query(&outcome, ())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in io::stdin().lock().lines() {
        let numbers: Result<Vec<u64>, _> = line?.split_whitespace().map(str::parse).collect();
        let [clients, runs, seed] = numbers?[..] else {
            return Err("three numbers, please".into());
        };
        let clients = u32::try_from(clients)?;
        let before = clock::cpu_time();
        let outcomes: Result<Vec<_>, _> =
            (seed..seed + runs).map(|seed| run(clients, seed)).collect();
        let took = clock::cpu_time() - before;
        print!("{}", took.as_nanos());
        for Outcome { attempts, answered, load } in outcomes? {
            let fullest = load.iter().max().expect("a window");
            print!(" {attempts} {answered} {} {fullest}", load[0]);
        }
        println!();
        io::stdout().flush()?;
    }
    Ok(())
}
