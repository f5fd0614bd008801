//! The assumptions that moved a result: printed under its table.

use super::Scenario;
use crate::answer::Reason;
use crate::client::{Layer, RetryAfter};
use crate::server::{FaultKind, RetryAfterHeader};

/// What a reader might have assumed otherwise, for the parts that this scenario uses.
pub fn assumptions(scenario: &Scenario) -> Vec<String> {
    let mut lines = Vec::new();
    provider(scenario, &mut lines);
    for layer in &scenario.client.layers {
        client_layer(layer, scenario, &mut lines);
    }
    lines.push(format!(
        "peaks count arrivals at the provider, refused ones included, per {}; peak_bin and peak_sliding count retries only",
        scenario.measure.window
    ));
    lines
}

fn provider(scenario: &Scenario, lines: &mut Vec<String>) {
    let provider = &scenario.provider;
    if let Some(limit) = provider.limits.requests {
        let header = match limit.retry_after {
            RetryAfterHeader::Seconds => "the time until the attempt fits, rounded up to seconds",
            RetryAfterHeader::Exact => "the exact time until the attempt fits",
            RetryAfterHeader::Absent => "not sent",
        };
        lines.push(format!(
            "request limit: token bucket of {} refilled at {}; a refused attempt takes nothing; Retry-After is {header}",
            limit.burst, limit.rate
        ));
    }
    if provider.queue.is_some() {
        lines.push("the queue limit counts waiting places only; work whose client has gone stays in the queue and is done".to_owned());
    }
    if provider.concurrency.is_some() || !provider.faults.is_empty() {
        lines.push(format!(
            "a refusal takes no time; without a free place the answer is {}",
            provider.overload_status
        ));
    }
    for fault in &provider.faults {
        match fault {
            FaultKind::Outage(_) => lines.push("work in service when an outage starts finishes and is billed; an outage covers [from, to)".to_owned()),
            FaultKind::Slow(slow) => lines.push(format!("{} of {:?} take {}", slow.share, slow.of, slow.service).to_lowercase()),
        }
    }
    if provider.billing.usd(Default::default()).is_some() {
        lines.push("billing: finished work in full, also when its client has gone; refusals and resets are free; no caching discount".to_owned());
    }
}

fn client_layer(layer: &Layer, scenario: &Scenario, lines: &mut Vec<String>) {
    let name = &layer.name;
    let header_sent = scenario
        .provider
        .limits
        .requests
        .is_some_and(|l| l.retry_after != RetryAfterHeader::Absent);
    if header_sent && layer.max_attempts > 1 {
        lines.push(match layer.retry_after {
            RetryAfter::Ignore => format!("layer {name} does not read Retry-After"),
            RetryAfter::Exact(rule) => match rule.max {
                Some(max) => {
                    format!("layer {name} obeys Retry-After exactly up to {max}, without jitter")
                }
                None => {
                    format!("layer {name} obeys Retry-After exactly, without jitter or ceiling")
                }
            },
        });
    }
    if let Some(semaphore) = layer.semaphore {
        lines.push(format!(
            "layer {name}: {} permits per {:?}, held during the call into the inner layer and given back during its own backoff",
            semaphore.permits, semaphore.scope
        ).replace("Client", "client").replace("Group", "group").replace("Fleet", "fleet"));
    }
    if layer.timeout.is_some() {
        lines.push(format!("layer {name}: after a timeout the provider goes on and its answer is ignored; a reply at the very instant is {:?}", layer.reply_at_timeout).replace("InTime", "in time").replace("Late", "late"));
    }
    if layer.budget.is_some() {
        lines.push(
            format!(
                "layer {name}: the budget starts full; a refused retry gives the request up ({:?})",
                Reason::Budget
            )
            .to_lowercase(),
        );
    }
}
