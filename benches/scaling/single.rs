//! What makes a single run expensive.

use crate::cost::{Care, Cost};
use crate::herd::{herd, run};
use crate::model::{replicate, storm};
use crate::table::{markdown, time, whole};

fn row(size: String, cost: &Cost) -> Vec<String> {
    vec![size, whole(cost.events()), time(cost.seconds()), whole(cost.ns_per_event())]
}

/// The cost of a replication of the storm.
pub fn storm_cost(care: Care, clients: u32, jitter: &str) -> Cost {
    let (scenario, plan) = storm(clients, jitter);
    care.runs(|replication| replicate(&scenario, &plan, replication).events)
}

/// The storm, jittered and in lockstep.
pub fn clients(care: Care) -> String {
    let rows = care.of(&[100, 1_000, 10_000, 100_000, 1_000_000]).map(|clients| {
        let jittered = storm_cost(care, clients, "full_jitter");
        let lockstep = storm_cost(care, clients, "none");
        let cells = row(whole(f64::from(clients)), &jittered);
        cells.into_iter().chain(row(String::new(), &lockstep).into_iter().skip(1)).collect()
    });
    let names = [
        "clients",
        "events, full jitter",
        "a run",
        "ns per event",
        "events, no jitter",
        "a run",
        "ns per event",
    ];
    markdown(&names, rows)
}

/// A herd that always fails and does not give up so soon.
pub fn attempts(care: Care) -> String {
    let rows = care.of(&[1, 2, 5, 10, 20, 50, 100]).map(|attempts| {
        let cell = herd(&[attempts]);
        row(attempts.to_string(), &care.runs(|replication| run(&cell, replication)))
    });
    markdown(&["attempts of a client", "events", "a run", "ns per event"], rows)
}

/// Layers that only pass failures on, and layers that multiply attempts.
pub fn layers(care: Care) -> String {
    let rows = care.of(&[1, 2, 3, 4, 6]).map(|layers| {
        let mut passing = vec![1; layers];
        passing[0] = 5;
        let (passing, doubling) = (herd(&passing), herd(&vec![2; layers]));
        let passing = care.runs(|replication| run(&passing, replication));
        let doubling = care.runs(|replication| run(&doubling, replication));
        let cells = row(layers.to_string(), &passing);
        cells.into_iter().chain(row(String::new(), &doubling).into_iter().skip(1)).collect()
    });
    let names = [
        "layers",
        "events, 5 × 1 × 1 …",
        "a run",
        "ns per event",
        "events, 2 × 2 × 2 …",
        "a run",
        "ns per event",
    ];
    markdown(&names, rows)
}
