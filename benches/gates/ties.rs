//! Storms without time: retries at once, long chains of events at one instant.

use std::path::PathBuf;

use retrylab::model::Plan;
use retrylab::scenario::{Document, Scenario};

use crate::runs::costs;
use crate::{Gate, Line};

/// A hundred clients retry at once until the provider, which answers at once, is up again.
const CHAIN: &str = r#"
[workload]
clients = 100
burst = {}
[provider]
service = "1ms"
[[provider.faults]]
outage = { from = "0s", to = "1s", status = 503 }
[[client.layers]]
name = "client"
max_attempts = 200
backoff = "no_backoff"
[measure]
horizon = "10s"
"#;

fn chain() -> (Scenario, Plan) {
    let document = Document::parse("chain", CHAIN.to_owned(), PathBuf::new());
    let document = document.expect("the chain is a valid scenario");
    let scenario = document.scenario().expect("the chain is a valid scenario");
    let plan = scenario.plan(document.folder()).expect("the chain needs no file");
    (scenario, plan)
}

/// The lines, from so many replications.
pub fn lines(replications: u32) -> Vec<Line> {
    eprintln!("100 clients without time");
    let costs = costs(&chain(), replications);
    let ratio = costs.wheel / costs.heap;
    let what = "chains at one instant, against a heap";
    vec![Line::ratio(what, 100, ratio, Gate::AtMost(1.3))]
}
