//! The storm against the same engine on a binary heap, against the bound, and against itself at other sizes
//! and in lockstep.

use crate::model::storm;
use crate::runs::{Costs, costs};
use crate::{Gate, Line};

/// Clients, replications, and how much faster than on a heap the model is to be.
pub const SIZES: [(u32, u32, Option<f64>); 5] = [
    (1_000, 300, None),
    (10_000, 40, Some(1.2)),
    (100_000, 6, Some(1.5)),
    (1_000_000, 3, Some(2.5)),
    (10_000_000, 1, Some(7.0)),
];

/// The size to which the largest is compared.
const SMALL: u32 = 10_000;

/// The lines of these sizes.
pub fn lines(sizes: &[(u32, u32, Option<f64>)]) -> Vec<Line> {
    let measured: Vec<(u32, Option<f64>, Costs, Costs)> = sizes
        .iter()
        .map(|&(clients, replications, gate)| {
            eprintln!("{clients} clients");
            let jittered = costs(&storm(clients, "full_jitter"), replications);
            let lockstep = costs(&storm(clients, "none"), replications);
            (clients, gate, jittered, lockstep)
        })
        .collect();
    let mut lines = Vec::new();
    for &(clients, gate, jittered, lockstep) in &measured {
        let ratio = |what, ratio, gate| Line::ratio(what, clients, ratio, gate);
        if let Some(least) = gate {
            let faster = jittered.heap / jittered.wheel;
            lines.push(ratio("faster than on a heap", faster, Gate::AtLeast(least)).loud());
        }
        if clients >= 100_000 {
            let bound = jittered.wheel / (jittered.replay + jittered.sort);
            let what = "events in order and one sort of their keys";
            lines.push(ratio(what, bound, Gate::AtMost(2.0)).loud());
        }
        let per_event = lockstep.per_event() / jittered.per_event();
        lines.push(ratio("lockstep per event", per_event, Gate::AtMost(1.05)));
    }
    let per_event = |wanted: u32| {
        let found = measured.iter().find(|(clients, ..)| *clients == wanted);
        found.map(|(_, _, jittered, _)| jittered.per_event())
    };
    // Flat from ten thousand to ten million.
    let last = measured.last().filter(|(clients, ..)| *clients == 10_000_000);
    if let (Some((clients, ..)), Some(small)) = (last, per_event(SMALL)) {
        let ratio = per_event(*clients).unwrap_or(small) / small;
        let what = "per event, against 10,000 clients";
        lines.push(Line::ratio(what, *clients, ratio, Gate::AtMost(1.6)));
    }
    lines
}
