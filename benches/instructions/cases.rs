//! What is counted.

use retrylab::engine::Wheel;
use retrylab::experiment::{Cell, Seed};

use crate::hold::Hold;
use crate::model::{replicate, storm};
use crate::published::thousand_clients;

/// The cases, in the order of the record.
pub const NAMES: [&str; 5] =
    ["hold/jittered", "hold/lockstep", "storm/full_jitter", "storm/none", "thousand-clients/full"];

/// Clients of the storm, and events pending under the hold model.
const MANY: u32 = 10_000;

/// Rounds of the hold model.
const ROUNDS: u64 = 100_000;

/// Runs a case; its events.
pub fn run(case: &str) -> u64 {
    match case.split_once('/') {
        Some(("hold", spread)) => {
            let spread = if spread == "jittered" { 1_000_000_000 } else { 0 };
            let mut hold = Hold::<Wheel>::new(MANY, spread);
            counted(&mut || {
                hold.rounds(ROUNDS);
                ROUNDS
            })
        }
        Some(("storm", jitter)) => {
            let (scenario, plan) = storm(MANY, jitter);
            counted(&mut || replicate(&scenario, &plan, 0).events)
        }
        _ => {
            let cell = Cell::new(case, &thousand_clients()).expect("a cell");
            counted(&mut || cell.run(Seed(42), 0).expect("a run").events)
        }
    }
}

/// The only function inside of which instructions are counted; callgrind knows it by this name.
#[inline(never)]
pub fn counted(work: &mut dyn FnMut() -> u64) -> u64 {
    work()
}
