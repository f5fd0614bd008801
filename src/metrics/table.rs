//! The metrics that every scenario has.

use super::catalog::Better;
use super::recorder::Facts;
use crate::answer::Reason;
use crate::units::{NANOS_PER_SECOND, seconds};

/// Name, unit, which direction is better, meaning, value.
pub(super) type Row = (&'static str, &'static str, Better, &'static str, fn(&Facts) -> Option<f64>);

/// The metrics that every scenario has, in the order in which they are reported.
pub(super) const TABLE: &[Row] = {
    use Better::{Higher, Lower, Neither};
    &[
        ("requests", "requests", Neither, "requests created", |f| {
            Some(f.report.ledger.created as f64)
        }),
        ("attempts", "attempts", Lower, "attempts sent, first ones and retries", |f| {
            Some(f.report.ledger.attempts as f64)
        }),
        ("retries", "attempts", Lower, "attempts with number 2 or more", |f| {
            Some(f.report.ledger.retries() as f64)
        }),
        ("amplification", "ratio", Lower, "attempts per request", |f| {
            ratio(f.report.ledger.attempts, f.report.ledger.created)
        }),
        ("peak_bin", "attempts", Lower, "retries in the fullest window aligned to t = 0", |f| {
            Some(f.recorder.retries.peak().into())
        }),
        ("peak_sliding", "attempts", Lower, "retries in the fullest window anywhere", |f| {
            Some(f.recorder.retries.peak_sliding().into())
        }),
        (
            "peak_attempts_bin",
            "attempts",
            Lower,
            "attempts in the fullest window aligned to t = 0",
            |f| Some(f.recorder.attempts.peak().into()),
        ),
        (
            "peak_attempts_sliding",
            "attempts",
            Lower,
            "attempts in the fullest window anywhere",
            |f| Some(f.recorder.attempts.peak_sliding().into()),
        ),
        ("succeeded", "requests", Higher, "requests answered", |f| {
            Some(f.report.ledger.succeeded as f64)
        }),
        (
            "partial",
            "requests",
            Lower,
            "requests whose streamed answer broke off after a token",
            |f| Some(f.report.ledger.partial as f64),
        ),
        ("gave_up", "requests", Lower, "requests given up for any reason", |f| {
            Some(f.report.ledger.gave_up_total() as f64)
        }),
        ("gave_up_attempts", "requests", Lower, "given up: attempts used up", |f| {
            gave_up(f, Reason::Attempts)
        }),
        ("gave_up_deadline", "requests", Lower, "given up: deadline", |f| {
            gave_up(f, Reason::Deadline)
        }),
        ("gave_up_budget", "requests", Lower, "given up: retry budget empty", |f| {
            gave_up(f, Reason::Budget)
        }),
        ("gave_up_not_retryable", "requests", Lower, "given up: failure is not retried", |f| {
            gave_up(f, Reason::NotRetryable)
        }),
        ("open", "requests", Lower, "requests without an outcome at the end", |f| {
            Some(f.report.ledger.open as f64)
        }),
        ("success_ratio", "ratio", Higher, "succeeded per request", |f| {
            ratio(f.report.ledger.succeeded, f.report.ledger.created)
        }),
        ("completion_mean_s", "s", Lower, "mean time from creation to answer", |f| {
            f.recorder.completion.mean_s()
        }),
        ("completion_p50_s", "s", Lower, "median time from creation to answer", |f| {
            f.recorder.completion.quantile_s(0.50)
        }),
        ("completion_p95_s", "s", Lower, "95 % point of the time from creation to answer", |f| {
            f.recorder.completion.quantile_s(0.95)
        }),
        ("completion_p99_s", "s", Lower, "99 % point of the time from creation to answer", |f| {
            f.recorder.completion.quantile_s(0.99)
        }),
        ("completion_max_s", "s", Lower, "longest time from creation to answer", |f| {
            f.recorder.completion.quantile_s(1.0)
        }),
        ("gave_up_after_mean_s", "s", Lower, "mean time from creation to giving up", |f| {
            f.recorder.gave_up_after.mean_s()
        }),
        ("gave_up_after_max_s", "s", Lower, "longest time from creation to giving up", |f| {
            f.recorder.gave_up_after.quantile_s(1.0)
        }),
        ("last_resolved_s", "s", Lower, "instant of the last outcome", |f| {
            f.recorder.last_resolved.map(seconds)
        }),
        (
            "goodput_per_s",
            "1/s",
            Higher,
            "answers delivered per second until the last outcome, or the horizon when requests are open",
            |f| per_second(f, f.report.ledger.succeeded as f64),
        ),
        (
            "peak_in_flight",
            "attempts",
            Lower,
            "most attempts at the provider at once, one being refused included",
            |f| Some(f.recorder.peak_present.into()),
        ),
        (
            "mean_in_flight",
            "attempts",
            Neither,
            "time average of admitted attempts at the provider",
            mean_in_flight,
        ),
        ("queue_wait_mean_s", "s", Lower, "mean wait of attempts in the provider's queue", |f| {
            f.recorder.queue_wait.mean_s()
        }),
        ("resets", "attempts", Lower, "connections refused, or reset by the listen backlog", |f| {
            Some(f.report.ledger.reset as f64)
        }),
        (
            "refused_by_outage",
            "attempts",
            Lower,
            "attempts answered with an outage's status, or with an error on arrival",
            |f| Some(f.report.ledger.refused_by_fault as f64),
        ),
        ("refused_by_limit", "attempts", Lower, "attempts answered 429 by a limit", |f| {
            Some(f.report.ledger.refused_by_limits() as f64)
        }),
        ("refused_by_load", "attempts", Lower, "attempts refused because no place was free", |f| {
            Some(f.report.ledger.refused_by_load as f64)
        }),
        ("budget_refused", "retries", Neither, "retries that a budget refused", |f| {
            Some(f.recorder.budget_refused as f64)
        }),
        ("late_answers", "attempts", Lower, "answers finished after their client had gone", |f| {
            Some(f.report.ledger.late as f64)
        }),
        ("billed_tokens", "tokens", Lower, "input and output tokens billed", |f| {
            Some(f.recorder.billed.total() as f64)
        }),
        ("useful_tokens", "tokens", Higher, "billed tokens of delivered answers", |f| {
            Some(f.recorder.useful.total() as f64)
        }),
        ("wasted_tokens", "tokens", Lower, "billed tokens nobody received", |f| {
            Some((f.recorder.billed - f.recorder.useful).total() as f64)
        }),
        ("billed_per_useful", "ratio", Lower, "billed tokens per useful token", |f| {
            ratio(f.recorder.billed.total(), f.recorder.useful.total())
        }),
        ("billed_usd", "USD", Lower, "price of the billed tokens", |f| f.usd(|spent| spent.billed)),
        ("wasted_usd", "USD", Lower, "price of the wasted tokens", |f| {
            f.usd(|spent| spent.billed - spent.useful)
        }),
        (
            "billed_usd_per_1000_requests",
            "USD",
            Lower,
            "price of the billed tokens per 1,000 requests",
            usd_per_thousand,
        ),
    ]
};

pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(super) fn gave_up(facts: &Facts, reason: Reason) -> Option<f64> {
    Some(facts.report.ledger.gave_up[reason as usize] as f64)
}

fn per_second(facts: &Facts, amount: f64) -> Option<f64> {
    // Work that the provider goes on with for nobody does not count as time.
    let open = facts.report.ledger.open > 0;
    let end = if open { facts.report.end } else { facts.recorder.last_resolved? };
    (end > 0).then(|| amount / (end as f64 / NANOS_PER_SECOND as f64))
}

fn mean_in_flight(facts: &Facts) -> Option<f64> {
    let end = facts.report.end;
    (end > 0).then(|| facts.report.ledger.occupancy as f64 / end as f64)
}

fn usd_per_thousand(facts: &Facts) -> Option<f64> {
    let requests = facts.report.ledger.created;
    let usd = facts.usd(|spent| spent.billed)?;
    (requests > 0).then(|| usd * 1_000.0 / requests as f64)
}
