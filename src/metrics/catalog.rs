//! All metrics in one table: name, unit, which direction is better, meaning, value.

use super::recorder::{Facts, Watch};
use crate::answer::Reason;
use crate::model::LayerCount;
use crate::server::LimitKind;
use crate::units::{NANOS_PER_SECOND, seconds};

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither.
    Neither,
}

/// One metric.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Its name in tables, CSV and JSON.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// One line of meaning.
    pub meaning: &'static str,
    of: Of,
    value: Value,
}

/// Whom a metric is of. Of a group or provider: its number, and the name of the metric without
/// that of the group or provider.
#[derive(Clone, Debug)]
enum Of {
    All,
    Group(usize, String),
    Provider(usize),
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Of(fn(&Facts) -> Option<f64>),
    RetryMean(usize),
    RetryPeakBin(usize),
    RetryPeakSliding(usize),
    RetrySharedWaits(usize),
    LayerAttempts(usize),
}

impl Metric {
    /// The number of the group that it is of, and its name there; None when it is of all clients.
    pub fn of_group(&self) -> Option<(usize, &str)> {
        match &self.of {
            Of::Group(group, name) => Some((*group, name)),
            Of::All | Of::Provider(_) => None,
        }
    }

    /// The metric of a run; None where there is none.
    pub fn value(&self, facts: &Facts) -> Option<f64> {
        let facts = match self.of {
            Of::All => facts,
            Of::Group(group, _) => facts.groups.get(group)?,
            Of::Provider(provider) => facts.providers.get(provider)?,
        };
        let retry = |k: usize| facts.recorder.by_retry.get(k);
        match self.value {
            Value::Of(function) => function(facts),
            Value::RetryMean(k) => retry(k)?.mean_s(),
            Value::RetryPeakBin(k) => Some(retry(k)?.bins.peak().into()),
            Value::RetryPeakSliding(k) => Some(retry(k)?.sliding.peak().into()),
            Value::RetrySharedWaits(k) => retry(k)?.shared_waits(),
            Value::LayerAttempts(l) => {
                let layer = facts.report.ledger.layers.get(l)?;
                ratio(layer.attempts, layer.calls)
            }
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn gave_up(facts: &Facts, reason: Reason) -> Option<f64> {
    Some(facts.report.ledger.gave_up[reason as usize] as f64)
}

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
    /// Requests whose effects are counted.
    Effects,
    /// Agents that work on tasks.
    Tasks,
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
        Part::Effects,
        Part::Tasks,
        Part::Host,
        Part::Loss,
    ];
}

fn refused_by(facts: &Facts, kind: LimitKind) -> Option<f64> {
    Some(facts.report.ledger.refused_by_limit[kind as usize] as f64)
}

type Row = (&'static str, &'static str, Better, &'static str, fn(&Facts) -> Option<f64>);

/// The metrics that every scenario has, in the order in which they are reported.
const TABLE: &[Row] = {
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
            Some(f.recorder.retries_sliding.peak().into())
        }),
        (
            "peak_attempts_bin",
            "attempts",
            Lower,
            "attempts in the fullest window aligned to t = 0",
            |f| Some(peak_of_sum(f)),
        ),
        (
            "peak_attempts_sliding",
            "attempts",
            Lower,
            "attempts in the fullest window anywhere",
            |f| Some(f.recorder.all_sliding.peak().into()),
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

/// The metrics of parts.
const OF_PARTS: &[(Part, Row)] = {
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
    ]
};

fn sum_of_layers(facts: &Facts, count: fn(&LayerCount) -> u64) -> Option<f64> {
    Some(facts.report.ledger.layers.iter().map(count).sum::<u64>() as f64)
}

fn peak_of_sum(facts: &Facts) -> f64 {
    let (first, retries) = (facts.first_attempts(), facts.retries());
    let at = |counts: &[u32], i: usize| counts.get(i).copied().unwrap_or(0);
    let windows = 0..first.len().max(retries.len());
    windows.map(|i| at(first, i) + at(retries, i)).max().unwrap_or(0).into()
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

/// Metrics of the provider as a whole, which no group has for itself.
const PROVIDER_WIDE: [&str; 2] = ["peak_in_flight", "mean_in_flight"];

/// The metrics of a scenario with these `parts` and layers of these names (innermost first),
/// watched as told; after those of all clients come those of each provider and of each group, when
/// there are several.
pub fn catalog(
    layers: &[&str],
    groups: &[GroupLayers<'_>],
    providers: &[&str],
    watch: Watch,
    parts: &[Part],
) -> Vec<Metric> {
    let mut metrics = of_all(layers, watch, parts);
    if providers.len() > 1 {
        let numbered = providers.iter().enumerate();
        metrics.extend(numbered.flat_map(|(p, name)| of_provider(p, name)));
    }
    if groups.len() < 2 {
        return metrics;
    }
    for (g, group) in groups.iter().enumerate() {
        let own = of_all(&group.layers, watch, parts).into_iter();
        let own = own.filter(|metric| !PROVIDER_WIDE.contains(&metric.name.as_str()));
        metrics.extend(own.map(|metric| Metric {
            name: format!("group_{}_{}", group.name, metric.name),
            of: Of::Group(g, metric.name),
            ..metric
        }));
    }
    metrics
}

/// Metrics that every one of several providers has for itself.
const OF_EACH_PROVIDER: [&str; 13] = [
    "attempts",
    "retries",
    "peak_bin",
    "peak_sliding",
    "peak_attempts_bin",
    "peak_attempts_sliding",
    "queue_wait_mean_s",
    "billed_tokens",
    "useful_tokens",
    "wasted_tokens",
    "billed_per_useful",
    "billed_usd",
    "wasted_usd",
];

/// What provider number `p` is asked for and answers.
fn of_provider(p: usize, provider: &str) -> Vec<Metric> {
    let answers: Row = (
        "answers",
        "requests",
        Better::Neither,
        "requests that this provider has answered",
        |facts| Some(facts.recorder.delivered as f64),
    );
    let own = TABLE.iter().filter(|row| OF_EACH_PROVIDER.contains(&row.0));
    let metric = |row: &Row| {
        let &(name, unit, better, meaning, function) = row;
        let name = format!("provider_{provider}_{name}");
        Metric { name, unit, better, meaning, of: Of::Provider(p), value: Value::Of(function) }
    };
    own.chain([&answers]).map(metric).collect()
}

/// A group and its layers, innermost first.
#[derive(Clone, Debug)]
pub struct GroupLayers<'a> {
    /// Its name.
    pub name: &'a str,
    /// Names of its layers.
    pub layers: Vec<&'a str>,
}

fn of_all(layers: &[&str], watch: Watch, parts: &[Part]) -> Vec<Metric> {
    let of_parts = OF_PARTS.iter().filter(|(part, _)| parts.contains(part)).map(|(_, row)| row);
    let fixed =
        TABLE.iter().chain(of_parts).map(|&(name, unit, better, meaning, function)| Metric {
            name: name.to_owned(),
            unit,
            better,
            meaning,
            of: Of::All,
            value: Value::Of(function),
        });
    let retries = (0..watch.per_retry as usize).flat_map(|k| {
        let metric = |name: &str, unit, meaning, value| Metric {
            name: format!("retry_{}_{name}", k + 1),
            unit,
            better: Better::Lower,
            meaning,
            of: Of::All,
            value,
        };
        [
            metric("mean_s", "s", "mean instant of this retry", Value::RetryMean(k)),
            metric(
                "peak_bin",
                "attempts",
                "this retry in the fullest aligned window",
                Value::RetryPeakBin(k),
            ),
            metric(
                "peak_sliding",
                "attempts",
                "this retry in the fullest window anywhere",
                Value::RetryPeakSliding(k),
            ),
            metric(
                "shared_waits",
                "ratio",
                "share of waits before this retry that are somebody else's too, to the nanosecond",
                Value::RetrySharedWaits(k),
            ),
        ]
    });
    let layers = layers.iter().enumerate().map(|(l, name)| Metric {
        name: format!("layer_{name}_attempts"),
        unit: "ratio",
        better: Better::Lower,
        meaning: "attempts of this layer per call into it",
        of: Of::All,
        value: Value::LayerAttempts(l),
    });
    fixed.chain(retries).chain(layers).collect()
}
