//! Parts that only some scenarios use, and their metrics.

use super::catalog::{Better, INDICATOR};
use super::flow::Flow;
use super::recorder::Facts;
use super::table::{Row, gave_up, ratio};
use crate::answer::Reason;
use crate::model::LayerCount;
use crate::server::LimitKind;

/// A part that only some scenarios use; its metrics exist where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A queue that drops work.
    Dropping,
    /// A provider that takes back work whose client has gone.
    Cancelling,
    /// An outage that never answers.
    Silence,
    /// Places that go missing with the work in them.
    Losing,
    /// Operators who pause traffic or let it in by and by.
    Operator,
    /// A circuit breaker.
    Breaker,
    /// Adaptive throttling, or a pace that refuses.
    Throttle,
    /// A pace.
    Pace,
    /// Hedging.
    Hedging,
    /// A limit of this kind, beside others or other than on requests.
    Limit(LimitKind),
    /// A host that makes attempts wait.
    Host,
    /// A network that loses attempts and answers.
    Loss,
    /// A prompt cache.
    PromptCache,
    /// An answer cache.
    AnswerCache,
    /// A row under optimistic concurrency.
    Row,
    /// Requests whose effects are counted.
    Effects,
    /// Agents that work on tasks.
    Tasks,
    /// Windows in which goodput is set against demand.
    Health,
    /// A trigger.
    Trigger,
    /// A ramp that turns back.
    Turn,
}

impl Part {
    /// All parts, in the order in which their metrics are reported.
    pub const ALL: &[Part] = &[
        Part::Dropping,
        Part::Cancelling,
        Part::Silence,
        Part::Losing,
        Part::Operator,
        Part::Breaker,
        Part::Throttle,
        Part::Pace,
        Part::Hedging,
        Part::Limit(LimitKind::Spend),
        Part::Limit(LimitKind::Concurrency),
        Part::Limit(LimitKind::Requests),
        Part::Limit(LimitKind::InputTokens),
        Part::Limit(LimitKind::OutputTokens),
        Part::Limit(LimitKind::Tokens),
        Part::Limit(LimitKind::Growth),
        Part::PromptCache,
        Part::AnswerCache,
        Part::Row,
        Part::Effects,
        Part::Tasks,
        Part::Host,
        Part::Loss,
        Part::Health,
        Part::Trigger,
        Part::Turn,
    ];
}

/// The metrics of parts.
pub(super) const OF_PARTS: &[(Part, Row)] = {
    use Better::{Higher, Lower, Neither};
    &[
        (
            Part::Dropping,
            ("dropped", "attempts", Lower, "attempts dropped from the queue, never served", |f| {
                Some(f.report.ledger.dropped as f64)
            }),
        ),
        (
            Part::Cancelling,
            (
                "removed",
                "attempts",
                Lower,
                "attempts taken out of the queue because their client had gone",
                |f| Some(f.report.ledger.removed as f64),
            ),
        ),
        (
            Part::Cancelling,
            (
                "stopped",
                "attempts",
                Lower,
                "attempts stopped in service because their client had gone",
                |f| Some(f.report.ledger.stopped as f64),
            ),
        ),
        (
            Part::Silence,
            ("unanswered", "attempts", Lower, "attempts accepted and never answered", |f| {
                Some(f.report.ledger.unanswered as f64)
            }),
        ),
        (
            Part::Losing,
            (
                "lost",
                "attempts",
                Lower,
                "attempts lost with the place they were in or waited for",
                |f| Some((f.report.ledger.lost_waiting + f.report.ledger.lost_served) as f64),
            ),
        ),
        (
            Part::Operator,
            (
                "refused_by_operator",
                "attempts",
                Lower,
                "attempts refused while traffic was paused or let in by and by",
                |f| Some(f.report.ledger.refused_by_operator as f64),
            ),
        ),
        (
            Part::Breaker,
            ("gave_up_breaker", "requests", Lower, "given up: a breaker was open", |f| {
                gave_up(f, Reason::Breaker)
            }),
        ),
        (
            Part::Breaker,
            (
                "breaker_refused",
                "attempts",
                Neither,
                "attempts, or calls, that a breaker did not let through",
                |f| sum_of_layers(f, |layer| layer.breaker_refused),
            ),
        ),
        (
            Part::Breaker,
            ("breaker_openings", "openings", Neither, "how often a breaker opened", |f| {
                sum_of_layers(f, |layer| layer.breaker_openings)
            }),
        ),
        (
            Part::Breaker,
            (
                "breaker_open_s",
                "s",
                Neither,
                "time that breakers were open, all together, up to the horizon",
                |f| sum_of_layers(f, |layer| layer.breaker_open).map(|ns| ns / 1e9),
            ),
        ),
        (
            Part::Throttle,
            ("gave_up_throttle", "requests", Lower, "given up: the client throttled itself", |f| {
                gave_up(f, Reason::Throttle)
            }),
        ),
        (
            Part::Throttle,
            (
                "throttle_refused",
                "attempts",
                Neither,
                "attempts that adaptive throttling did not send",
                |f| sum_of_layers(f, |layer| layer.throttle_refused),
            ),
        ),
        (
            Part::Pace,
            (
                "pace_waited",
                "attempts",
                Neither,
                "attempts that waited for their turn in the client's pace",
                |f| sum_of_layers(f, |layer| layer.pace_waited),
            ),
        ),
        (
            Part::Pace,
            ("pace_wait_mean_s", "s", Lower, "mean wait of those attempts", |f| {
                let waited = sum_of_layers(f, |layer| layer.pace_waited)?;
                let total = sum_of_layers(f, |layer| layer.pace_wait)?;
                (waited > 0.0).then(|| total / waited / 1e9)
            }),
        ),
        (
            Part::Pace,
            ("pace_refused", "attempts", Neither, "attempts that the client's pace refused", |f| {
                sum_of_layers(f, |layer| layer.pace_refused)
            }),
        ),
        (
            Part::Hedging,
            (
                "hedges",
                "attempts",
                Lower,
                "attempts sent beside one that had not ended; they count as retries",
                |f| Some(f.report.ledger.hedges as f64),
            ),
        ),
        (
            Part::Hedging,
            ("hedges_won", "attempts", Neither, "hedges that were answered first", |f| {
                Some(f.report.ledger.hedges_won as f64)
            }),
        ),
        (
            Part::Hedging,
            ("hedges_refused", "attempts", Neither, "hedges that their budget refused", |f| {
                Some(f.report.ledger.hedges_refused as f64)
            }),
        ),
        (
            Part::Limit(LimitKind::Spend),
            (
                "refused_by_limit_spend",
                "attempts",
                Lower,
                "attempts answered 429 because the spend cap was reached",
                |f| refused_by(f, LimitKind::Spend),
            ),
        ),
        (
            Part::Limit(LimitKind::Concurrency),
            (
                "refused_by_limit_concurrency",
                "attempts",
                Lower,
                "attempts answered 429 by the limit on attempts at once",
                |f| refused_by(f, LimitKind::Concurrency),
            ),
        ),
        (
            Part::Limit(LimitKind::Requests),
            (
                "refused_by_limit_requests",
                "attempts",
                Lower,
                "attempts answered 429 by the limit on requests",
                |f| refused_by(f, LimitKind::Requests),
            ),
        ),
        (
            Part::Limit(LimitKind::InputTokens),
            (
                "refused_by_limit_input_tokens",
                "attempts",
                Lower,
                "attempts answered 429 by the limit on input tokens",
                |f| refused_by(f, LimitKind::InputTokens),
            ),
        ),
        (
            Part::Limit(LimitKind::OutputTokens),
            (
                "refused_by_limit_output_tokens",
                "attempts",
                Lower,
                "attempts answered 429 by the limit on output tokens",
                |f| refused_by(f, LimitKind::OutputTokens),
            ),
        ),
        (
            Part::Limit(LimitKind::Tokens),
            (
                "refused_by_limit_tokens",
                "attempts",
                Lower,
                "attempts answered 429 by the limit on all tokens",
                |f| refused_by(f, LimitKind::Tokens),
            ),
        ),
        (
            Part::Limit(LimitKind::Growth),
            (
                "refused_by_limit_growth",
                "attempts",
                Lower,
                "attempts answered 429 by the limit on growth",
                |f| refused_by(f, LimitKind::Growth),
            ),
        ),
        (
            Part::Host,
            (
                "send_delay_mean_s",
                "s",
                Lower,
                "mean time that attempts wait for a connection and for their process before they are sent",
                |f| f.recorder.send_delay.mean_s(),
            ),
        ),
        (
            Part::Host,
            ("send_delay_max_s", "s", Lower, "longest time that an attempt waits so", |f| {
                f.recorder.send_delay.max_s()
            }),
        ),
        (
            Part::Loss,
            ("lost_attempts", "attempts", Lower, "attempts lost on the way to the provider", |f| {
                Some(f.report.ledger.lost_attempts as f64)
            }),
        ),
        (
            Part::Loss,
            (
                "lost_answers",
                "attempts",
                Lower,
                "answers, good ones and errors, lost on the way to a client that waits",
                |f| Some((f.report.ledger.lost_answers + f.report.ledger.lost_words) as f64),
            ),
        ),
        (
            Part::Effects,
            (
                "attached",
                "attempts",
                Neither,
                "attempts that attached to the work of an earlier one, under way or done",
                |f| Some(f.report.ledger.attached as f64),
            ),
        ),
        (
            Part::Effects,
            (
                "repeated_effects",
                "effects",
                Lower,
                "times that work was done for a request for which it had been done before",
                |f| Some(f.report.ledger.repeated_effects as f64),
            ),
        ),
        (
            Part::PromptCache,
            (
                "cached_tokens",
                "tokens",
                Higher,
                "billed input tokens that were read from the prompt cache",
                |f| Some(f.recorder.billed.cached as f64),
            ),
        ),
        (
            Part::AnswerCache,
            (
                "cache_hit_ratio",
                "ratio",
                Higher,
                "share of attempts in service whose answer the cache held at its start",
                |f| ratio(f.report.ledger.cache_hits, f.report.ledger.started),
            ),
        ),
        (
            Part::AnswerCache,
            (
                "cache_held_ratio",
                "ratio",
                Higher,
                "share of its entries that the cache holds at the end",
                |f| f.report.cache_held,
            ),
        ),
        (
            Part::Row,
            (
                "conflicts",
                "attempts",
                Lower,
                "attempts whose write found another version of the row than they had read",
                |f| Some(f.report.ledger.conflicts as f64),
            ),
        ),
        (
            Part::Tasks,
            ("tasks_completed", "tasks", Higher, "tasks all of whose calls succeeded", |f| {
                Some(f.recorder.tasks.completed() as f64)
            }),
        ),
        (
            Part::Tasks,
            ("tasks_failed", "tasks", Lower, "tasks of which a call had no whole answer", |f| {
                Some(f.recorder.tasks.failed as f64)
            }),
        ),
        (
            Part::Tasks,
            (
                "task_completion_mean_s",
                "s",
                Lower,
                "mean time from the start of a task to its last answer",
                |f| f.recorder.tasks.completion.mean_s(),
            ),
        ),
        (
            Part::Tasks,
            (
                "task_completion_max_s",
                "s",
                Lower,
                "longest time from the start of a task to its last answer",
                |f| f.recorder.tasks.completion.max_s(),
            ),
        ),
        (
            Part::Tasks,
            (
                "task_lost_tokens",
                "tokens",
                Lower,
                "useful tokens of calls of tasks that failed",
                |f| Some(f.recorder.tasks.lost.total() as f64),
            ),
        ),
        (
            Part::Health,
            (
                "collapsed_at_end",
                INDICATOR,
                Lower,
                "1 when goodput is below half of demand in each of the last windows of `measure.health`",
                |f| yes_or_no(f, Flow::is_collapsed),
            ),
        ),
        (
            Part::Health,
            (
                "goodput_at_end",
                "ratio",
                Higher,
                "answers per new request over those windows",
                |f| f.recorder.flow.as_ref()?.goodput_at_end(),
            ),
        ),
        (
            Part::Health,
            ("goodput_at_end_per_s", "1/s", Higher, "answers per second over those windows", |f| {
                f.recorder.flow.as_ref()?.goodput_at_end_per_s()
            }),
        ),
        (
            Part::Health,
            (
                "amplification_at_end",
                "ratio",
                Lower,
                "attempts that arrive per new request over those windows",
                |f| f.recorder.flow.as_ref()?.amplification_at_end(),
            ),
        ),
        (
            Part::Trigger,
            (
                "metastable",
                INDICATOR,
                Lower,
                "1 when the run has collapsed at the end, and without its trigger has at least 95 % of demand as goodput then",
                metastable,
            ),
        ),
        (
            Part::Trigger,
            (
                "recovered",
                INDICATOR,
                Higher,
                "1 when goodput is at least half of demand in each of the last windows of `measure.health`",
                |f| yes_or_no(f, Flow::has_recovered),
            ),
        ),
        (
            Part::Trigger,
            (
                "recovery_s",
                "s",
                Lower,
                "time from the end of the trigger to that of the last window with less, of runs that recovered",
                |f| f.recorder.flow.as_ref()?.recovery_s(),
            ),
        ),
        (
            Part::Trigger,
            (
                "collapsed_without_trigger",
                INDICATOR,
                Lower,
                "`collapsed_at_end` of the same run without its trigger",
                |f| f.without_trigger.as_ref()?.is_collapsed().map(number),
            ),
        ),
        (
            Part::Trigger,
            (
                "goodput_without_trigger",
                "ratio",
                Higher,
                "`goodput_at_end` of the same run without its trigger",
                |f| f.without_trigger.as_ref()?.goodput_at_end(),
            ),
        ),
        (
            Part::Turn,
            (
                "collapse_load_per_s",
                "1/s",
                Higher,
                "demand in the first window on the way up with a goodput below half of it",
                |f| f.recorder.flow.as_ref()?.collapse_load(),
            ),
        ),
        (
            Part::Turn,
            (
                "recovery_load_per_s",
                "1/s",
                Higher,
                "demand in the first window on the way down with a goodput of half of it or more, of runs that collapsed",
                |f| f.recorder.flow.as_ref()?.recovery_load(),
            ),
        ),
        (
            Part::Turn,
            (
                "hysteresis",
                INDICATOR,
                Lower,
                "1 when a run that collapsed on the way up recovered on the way down at a lower load only, or not at all",
                |f| yes_or_no(f, Flow::has_hysteresis),
            ),
        ),
    ]
};

/// Collapsed with the trigger, healthy without it.
fn metastable(facts: &Facts) -> Option<f64> {
    let collapsed = facts.recorder.flow.as_ref()?.is_collapsed()?;
    let healthy = facts.without_trigger.as_ref()?.is_healthy()?;
    Some(number(collapsed && healthy))
}

fn yes_or_no(facts: &Facts, question: fn(&Flow) -> Option<bool>) -> Option<f64> {
    facts.recorder.flow.as_ref().and_then(question).map(number)
}

/// 1 for yes, 0 for no.
fn number(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

fn refused_by(facts: &Facts, kind: LimitKind) -> Option<f64> {
    Some(facts.report.ledger.refused_by_limit[kind as usize] as f64)
}

fn sum_of_layers(facts: &Facts, count: fn(&LayerCount) -> u64) -> Option<f64> {
    Some(facts.report.ledger.layers.iter().map(count).sum::<u64>() as f64)
}
