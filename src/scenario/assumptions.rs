//! The assumptions that moved a result: printed under its table.

mod guards;
mod host;
mod limits;
mod provider;

use super::{Health, Provider, Scenario};
use crate::client::{Backoff, Layer, ReplyAtTimeout};
use crate::model::{Arrivals, Plan};
use crate::server::{CancelledWork, LimitKind, RetryAfterHeader};
use crate::units::Span;
use crate::workload::{Agents, Shares, Trace};

/// What a reader might have assumed otherwise, for the parts that this scenario uses.
pub fn assumptions(scenario: &Scenario, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for group in &scenario.groups {
        lines.push(format!("{}{}", group.prefix(), nesting(&group.client.layers)));
    }
    lines.extend(cut_by_horizon(scenario, plan));
    provider::lines(scenario, &mut lines);
    for provider in &scenario.fallback {
        let name = provider.label();
        let own = provider::own_lines(provider).into_iter();
        lines.extend(own.map(|line| format!("fallback {name}: {line}")));
    }
    for group in &scenario.groups {
        let mut own: Vec<String> = group.workload.shares.map(shares_line).into_iter().collect();
        own.extend(group.workload.agents.map(agents_line));
        host::lines(&group.client, &mut own);
        group.client.layers.iter().for_each(|layer| client_layer(layer, scenario, &mut own));
        lines.extend(own.into_iter().map(|line| format!("{}{line}", group.prefix())));
    }
    lines.extend(health(scenario));
    lines.push(format!(
        "peaks count arrivals at the provider, refused ones included, per {}; peak_bin and peak_sliding count retries only",
        scenario.measure.window
    ));
    lines
}

/// In which windows a run has collapsed, and what it is set against.
fn health(scenario: &Scenario) -> Vec<String> {
    let mut lines = Vec::new();
    if scenario.flow_watch().is_some() {
        let Health { window, last } = scenario.measure.health();
        lines.push(format!(
            "a window of {window} has collapsed when its goodput is below half of its demand, and a run when each of the last {last} has"
        ));
    }
    if let Some(trigger) = &scenario.trigger {
        lines.push(format!(
            "every run is made again without its trigger ({}); metastable: collapsed with it, at least 95 % of demand without",
            trigger.without.join(", ")
        ));
    }
    lines
}

/// "app (4 attempts) > sdk (3 attempts) > provider: up to 12 attempts per request"
fn nesting(layers: &[Layer]) -> String {
    if layers.is_empty() {
        return "clients have no layer: one attempt per request".to_owned();
    }
    let names = layers.iter().rev().map(|layer| match layer.max_attempts {
        1 => format!("{} (1 attempt)", layer.name),
        n => format!("{} ({n} attempts)", layer.name),
    });
    let falls_back = layers.iter().any(|layer| layer.fallback);
    let end = if falls_back { "one provider after the other" } else { "provider" };
    let path: Vec<String> = names.chain([end.to_owned()]).collect();
    let most = layers.iter().fold(1u64, |n, layer| n.saturating_mul(layer.max_attempts.into()));
    format!("{}: up to {most} attempts per request", path.join(" > "))
}

/// What the horizon leaves out, so that nobody takes a part for the whole.
fn cut_by_horizon(scenario: &Scenario, plan: &Plan) -> Vec<String> {
    let horizon = scenario.measure.horizon;
    let beyond = |what: &str, at: Span| {
        (at >= horizon).then(|| {
            format!(
                "the horizon of {horizon} ends before {what} at {at}; write a longer measure.horizon"
            )
        })
    };
    let mut lines = Vec::new();
    for group in &scenario.groups {
        let workload = &group.workload;
        let burst = workload.burst.and_then(|burst| {
            let end = Span::from_nanos(burst.at.nanos().saturating_add(burst.spread.nanos()));
            beyond("the burst is over", end)
        });
        let curve = workload.curve().and_then(|(_, duration)| duration);
        let duration = workload.poisson.and_then(|stream| stream.duration).or(curve);
        let stream =
            duration.filter(|d| *d > horizon).and_then(|d| beyond("the stream is over", d));
        let ramp = workload.ramp.map(|ramp| ramp.end()).filter(|end| *end > horizon);
        let ramp = ramp.and_then(|end| beyond("the ramp is over", end));
        let spike = workload.spike.filter(|spike| spike.to > horizon);
        let spike = spike.and_then(|spike| beyond("the spike is over", spike.to));
        lines.extend(
            burst
                .into_iter()
                .chain(stream)
                .chain(ramp)
                .chain(spike)
                .map(|l| format!("{}{l}", group.prefix())),
        );
    }
    for fault in scenario.providers().flat_map(|provider| &provider.faults) {
        lines.extend(beyond("a fault starts", fault.period().0));
    }
    for (group, plan) in scenario.groups.iter().zip(&plan.groups) {
        if let Arrivals::Trace(trace) = &plan.arrivals {
            let of_trace = trace_lines(trace, horizon);
            lines.extend(of_trace.map(|line| format!("{}{line}", group.prefix())));
        }
    }
    lines
}

/// What of a trace is not as it was recorded.
fn trace_lines(trace: &Trace, horizon: Span) -> impl Iterator<Item = String> {
    let (rows, empty) = (trace.rows.len(), trace.empty_rows());
    let sent = trace.rows.partition_point(|row| row.at < horizon.nanos());
    let cut = (sent < rows).then(|| {
        format!(
            "the horizon of {horizon} leaves out {} of the trace's {rows} rows; write a longer measure.horizon",
            rows - sent
        )
    });
    let spread = (trace.spread > 0).then(|| {
        let spread = Span::from_nanos(trace.spread);
        format!("every arrival of the trace comes later by a uniform draw from [0s, {spread})")
    });
    let empty = (empty > 0).then(|| {
        format!("{empty} of the trace's {rows} rows have no output tokens and are kept; write empty = \"drop\" to leave them out")
    });
    cut.into_iter().chain(spread).chain(empty)
}

/// When tasks go on and when they fail.
fn agents_line(agents: Agents) -> String {
    let Agents { steps, fan_out, .. } = agents;
    let calls = if fan_out == 1 { "call" } else { "calls at once" };
    format!(
        "tasks have {steps} steps of {fan_out} {calls}; a call without a whole answer fails its task when the other calls of its step are over"
    )
}

/// How unequal clients share a stream.
fn shares_line(shares: Shares) -> String {
    let law = match shares {
        Shares::Zipf(zipf) => format!("the power {} of their rank", -zipf.exponent),
        Shares::Lognormal(law) => {
            format!("lognormal weights of sigma {}, drawn anew in every replication", law.sigma)
        }
    };
    format!("requests belong to clients at random, with shares in proportion to {law}")
}

fn client_layer(layer: &Layer, scenario: &Scenario, lines: &mut Vec<String>) {
    let name = &layer.name;
    let limits = &scenario.provider.limits;
    let rates = LimitKind::ALL.into_iter().filter_map(|kind| limits.rate(kind));
    let mut headers = rates.map(|l| l.retry_after).chain(limits.growth.map(|l| l.retry_after));
    let header_sent = headers.any(|header| header != RetryAfterHeader::Absent)
        || limits.concurrency.is_some_and(|limit| limit.retry_after.is_some());
    if layer.max_attempts > 1 && layer.backoff == Backoff::NoBackoff {
        lines.push(format!("layer {name} retries at once (no_backoff)"));
    }
    if header_sent && layer.max_attempts > 1 {
        lines.push(format!("layer {name}: Retry-After {}", layer.retry_after.in_words()));
    }
    if layer.fallback {
        let path: Vec<&str> = scenario.providers().map(Provider::label).collect();
        lines.push(format!(
            "layer {name} falls back: its attempts go to {}, and from the start again; breakers inside it are one per provider",
            path.join(", ")
        ));
    }
    if let Some(semaphore) = layer.semaphore {
        lines.push(format!(
            "layer {name}: {} permits per {}, first come first served, held during the call into the inner layer and given back during its own backoff; a call waits for one as long as deadlines and outer timeouts let it",
            semaphore.permits,
            guards::shared_by(semaphore.scope)
        ));
    }
    if layer.timeout.is_some() {
        let at_limit = match layer.reply_at_timeout {
            ReplyAtTimeout::InTime => "in time",
            ReplyAtTimeout::Late => "late",
        };
        let goes_on = match scenario.provider.cancelled_work {
            CancelledWork::Computed => "goes on and its answer is ignored",
            CancelledWork::Removed => "stops its work",
        };
        lines.push(format!(
            "layer {name}: after a timeout the provider {goes_on}; a reply at the very instant is {at_limit}"
        ));
    }
    if let Some(timeout) = layer.connect_timeout {
        lines.push(format!(
            "layer {name}: an attempt that is not accepted within {timeout} is given up and never served, but keeps its place in the backlog until its turn; that it is accepted its client knows at once"
        ));
    }
    lines.extend(guards::lines(layer));
}
