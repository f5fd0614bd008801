//! What a reader might have assumed otherwise about the provider.

use super::guards::shared_by;
use super::limits;
use crate::scenario::{Provider, Scenario};
use crate::server::{
    Action, AnswerCache, BillingRule, CancelledWork, Capacity, ErrorRate, Fault, FilledBy, Outage,
    PausedArrivals, Queue, Service, Share, Slow, Strikes, WhenFull, Work,
};
use crate::units::Span;

pub(super) fn lines(scenario: &Scenario, lines: &mut Vec<String>) {
    lines.extend(own_lines(&scenario.provider));
    if scenario.groups.iter().any(|group| group.priority > 0) {
        lines.push(format!(
            "classes: service is not interrupted; a full queue answers {} to the last class that waits, when an arrival is before it",
            scenario.provider.overload_status
        ));
    }
    lines.extend(scenario.groups.iter().filter_map(|group| {
        let line = key_line(group.request.idempotency_key?, scenario);
        Some(format!("{}{line}", group.prefix()))
    }));
    for group in scenario.groups.iter().filter(|group| group.workload.trace.is_some()) {
        let section = if group.name.is_some() { "request" } else { "[request]" };
        let prefix = group.prefix();
        lines.push(format!("{prefix}tokens are those of the trace; {section} is not used"));
    }
}

/// What becomes of repeats of a request.
fn key_line(sends_key: bool, scenario: &Scenario) -> String {
    let known = scenario.providers().any(|provider| provider.idempotency.is_some());
    match (sends_key, known) {
        (false, _) => "requests have no idempotency key: a retry is done again",
        (true, false) => "no provider knows idempotency keys: a retry is done again",
        (true, true) => {
            "a retry attaches to the work of the attempt before, if that is under way or done; it takes no place, no limit and no bill, and failed work is forgotten"
        }
    }
    .to_owned()
}

/// What concerns one provider.
pub(super) fn own_lines(provider: &Provider) -> Vec<String> {
    let mut lines = limits::lines(&provider.limits);
    match provider.concurrency {
        None => lines.push("the provider has unlimited places".to_owned()),
        Some(_) => lines.push(format!(
            "without a free place the answer is {} at once; the queue limit counts waiting places only; {}",
            provider.overload_status,
            of_gone_clients(provider)
        )),
    }
    lines.extend(provider.queue.and_then(|queue| queue_line(queue, provider.overload_status)));
    let mut said = Vec::new();
    for line in provider.faults.iter().flat_map(fault_lines) {
        if !said.contains(&line) {
            said.push(line);
        }
    }
    lines.extend(said);
    lines.extend(provider.actions.iter().map(action_line));
    if let Some(factor) = provider.slower_when_full {
        lines.push(format!(
            "service takes {factor} times as long when all places are busy at its start, and evenly less with fewer of them"
        ));
    }
    if matches!(provider.service, Service::PrefillDecode { .. }) {
        lines.push("service: prefill by the length of the prompt, then tokens at the pace of the load at the start of service".to_owned());
    }
    lines.extend(provider.cache.map(cache_line));
    lines.extend(provider.row.map(|row| {
        format!(
            "work reads the row of its {} when its service starts and writes it when it is done; when another write has come in between it ends with {}, unbilled",
            shared_by(row.shared_by),
            row.status
        )
    }));
    lines.extend(billing_line(provider));
    lines
}

fn cache_line(cache: AnswerCache) -> String {
    let filled_by = match cache.filled_by {
        FilledBy::Awaited => "work whose client still waits when it is done",
        FilledBy::Done => "all work that is done",
    };
    let held = match cache.lifetime {
        None => "until it is lost".to_owned(),
        Some(lifetime) => format!("for {lifetime}"),
    };
    format!(
        "a request asks for one of {} cached entries, all equally often; what is held takes {}, and a place as other work does; it is filled by {filled_by}, and held {held}",
        cache.entries, cache.hit
    )
}

fn billing_line(provider: &Provider) -> Option<String> {
    let billing = &provider.billing;
    billing.price()?;
    let stopped = provider.cancelled_work == CancelledWork::Removed;
    let events = match billing.rule {
        BillingRule::Strict if stopped => {
            "finished and stopped work in full; refusals and resets are free"
        }
        BillingRule::Strict => {
            "finished work in full, also when its client has gone; refusals and resets are free"
        }
        BillingRule::CancelAware => {
            "finished work in full, also when its client has gone; stopped work up to its last token; refusals and resets are free"
        }
        BillingRule::FreeErrors => "answers whose client still waits when they are finished",
    };
    let caching = match billing.cache_lifetime {
        None => "no caching discount".to_owned(),
        Some(lifetime) => {
            format!("prompts of retries within {lifetime} of their last use at the cached price")
        }
    };
    Some(format!("billing: {events}; {caching}"))
}

/// What becomes of work whose client has gone.
fn of_gone_clients(provider: &Provider) -> &'static str {
    let drop_gone = provider.queue.is_some_and(|queue| queue.line().drop_gone);
    match (provider.cancelled_work, drop_gone) {
        (CancelledWork::Removed, _) => {
            "work whose client has gone leaves the queue, or its service stops, at once"
        }
        (CancelledWork::Computed, true) => {
            "work whose client has gone is dropped when its turn comes, and done when it was in service"
        }
        (CancelledWork::Computed, false) => {
            "work whose client has gone stays in the queue and is done"
        }
    }
}

/// What is not plain about a queue.
fn queue_line(queue: Queue, status: u16) -> Option<String> {
    let line = queue.line();
    let mut parts = Vec::new();
    if matches!(queue, Queue::Lifo(_)) {
        parts.push("the newest is served first".to_owned());
    }
    if line.when_full == WhenFull::DropOldest {
        parts.push(format!("when it is full, what has waited longest is answered {status}"));
    }
    if let Some(most) = line.max_wait {
        parts.push(format!(
            "what has waited longer than {most} when its turn comes is answered {status} then"
        ));
    }
    (!parts.is_empty()).then(|| format!("queue: {}", parts.join("; ")))
}

fn fault_lines(fault: &Fault) -> Vec<String> {
    match fault {
        Fault::Outage(outage) => vec![outage_line(outage)],
        Fault::Slow(slow) => vec![slow_line(slow)],
        Fault::SlowDown(slow_down) => vec![format!(
            "{} service takes {} times as long, work under way included",
            during(slow_down.from, slow_down.to),
            slow_down.factor
        )],
        Fault::Error(error) => vec![error_line(error)],
        Fault::Capacity(capacity) => vec![capacity_line(capacity)],
        Fault::RefuseConnections(refuse) => {
            vec![format!("{} connections are reset", during(refuse.from, refuse.to))]
        }
        Fault::CacheLoss(loss) => vec![format!(
            "at {} the cache loses the part of its entries from {} to {}",
            loss.at, loss.part[0], loss.part[1]
        )],
        Fault::StreamError(stream) => {
            let which = match (stream.share, stream.per_token) {
                (Some(share), _) => format!("a share of {share} of streamed answers breaks off"),
                (_, hazard) => format!(
                    "streamed answers break off with probability {} at every token",
                    hazard.unwrap_or(0.0)
                ),
            };
            vec![format!("{which}; the part that was made is billed and nobody's")]
        }
    }
}

/// "from 2s to 5s", "from 2s on".
fn during(from: Span, to: Option<Span>) -> String {
    match to {
        Some(to) => format!("from {from} to {to}"),
        None => format!("from {from} on"),
    }
}

fn outage_line(outage: &Outage) -> String {
    let goes_on = "admitted work, in service or in the queue, goes on and is billed";
    if outage.silence {
        return format!(
            "a silent outage covers [from, to): what arrives then is accepted and never answered; {goes_on}"
        );
    }
    let header = if outage.answer.is_some() {
        "with the headers that are stated"
    } else {
        "without Retry-After"
    };
    format!("an outage covers [from, to) and answers at once, {header}; {goes_on}")
}

fn slow_line(slow: &Slow) -> String {
    let of = match slow.of {
        Share::Requests => "requests, every n-th on its first attempt,",
        Share::Attempts => "attempts, each independently,",
    };
    let when = some_time(slow.from, slow.to);
    format!("{when}a share of {} of {of} takes {}", slow.share, slow.service)
}

fn error_line(error: &ErrorRate) -> String {
    let point = match error.strikes {
        Strikes::AfterService => "after its whole service, and is not billed",
        Strikes::OnArrival => "on arrival, before any limit counts it",
    };
    let when = some_time(error.from, error.to);
    format!("{when}a share of {} of attempts ends with {} {point}", error.share, error.status)
}

/// "from 2s to 5s ", or nothing when it is always.
fn some_time(from: Option<Span>, to: Option<Span>) -> String {
    if from.is_none() && to.is_none() {
        return String::new();
    }
    format!("{} ", during(from.unwrap_or_default(), to))
}

fn capacity_line(capacity: &Capacity) -> String {
    let fate = |work: Work| match work {
        Work::Kept => "kept",
        Work::Lost => "lost",
    };
    format!(
        "{} at most {} places are left; work in service beyond them is {}, waiting work is {}",
        during(capacity.from, capacity.to),
        capacity.concurrency,
        fate(capacity.in_service),
        fate(capacity.waiting)
    )
}

fn action_line(action: &Action) -> String {
    match action {
        Action::Pause(pause) => {
            let arrivals = match pause.arrivals {
                PausedArrivals::Refused => format!("is refused with {}", pause.status),
                PausedArrivals::Held => "is held until its end and let in all at once".to_owned(),
            };
            let when = during(pause.from, Some(pause.to));
            format!("operators: {when} what arrives {arrivals}; admitted work goes on")
        }
        Action::Ramp(ramp) => format!(
            "operators: {} a share of attempts from {} to {} is let in, drawn anew for each attempt; the others are refused with {}",
            during(ramp.from, Some(ramp.to)),
            ramp.start,
            ramp.end,
            ramp.status
        ),
        Action::CutOff(cut) => {
            format!("operators: {} connections are reset", during(cut.from, Some(cut.to)))
        }
        Action::Concurrency(set) => {
            format!("operators: {} places from {} on", set.places, set.at)
        }
        Action::Limit(set) => {
            let burst = set.burst.map_or(String::new(), |burst| format!(" and a burst of {burst}"));
            let name = set.of.key().replace('_', " ");
            format!(
                "operators: from {} on the limit on {name} has a rate of {}{burst}",
                set.at, set.rate
            )
        }
        Action::Timeout(set) => format!(
            "operators: attempts of layer {} that start from {} on have a timeout of {}",
            set.layer, set.at, set.timeout
        ),
    }
}
