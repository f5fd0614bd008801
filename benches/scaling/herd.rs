//! A thousand clients whose every attempt fails, under any layers: the number of attempts is known
//! before the run.

use std::path::PathBuf;

use retrylab::experiment::{Cell, Seed};
use retrylab::scenario::Document;

const HERD: &str = r#"
[workload]
clients = 1000
burst = {}
[provider]
service = "0s"
[[provider.faults]]
outage = { from = "0s", status = 503 }
[measure]
horizon = "100h"
"#;

/// The herd with layers that make so many attempts each, innermost first.
pub fn herd(attempts: &[u32]) -> Cell {
    let layers: String = (attempts.iter().enumerate())
        .map(|(number, attempts)| {
            format!(
                "[[client.layers]]\nname = \"layer-{number}\"\nmax_attempts = {attempts}\n\
                 backoff = {{ full_jitter = {{ base = \"1s\", cap = \"30s\" }} }}\n"
            )
        })
        .collect();
    let document = Document::parse("herd", format!("{HERD}{layers}"), PathBuf::new());
    document.and_then(|document| Cell::new("herd", &document)).expect("a valid scenario")
}

/// A run of it; its events.
pub fn run(cell: &Cell, replication: u32) -> u64 {
    cell.run(Seed(42), replication).expect("a run").events
}
