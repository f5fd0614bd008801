//! The observer that makes events of moments.

use std::collections::BTreeMap;
use std::io;

use super::counts::Watch;
use super::{Counts, Event, Kind};
use crate::answer::{Failure, Gate, Hint, Outcome, Reason};
use crate::client::Told;
use crate::experiment::Cell;
use crate::model::{Moment, Observer, Plan, Refuser, Service, Who};
use crate::server::LimitKind;
use crate::units::{Span, Time};

/// Where events go.
pub trait Sink {
    /// An event that is kept.
    fn event(&mut self, event: &Event) -> io::Result<()>;
    /// A window is over.
    fn counts(&mut self, _counts: &Counts) -> io::Result<()> {
        Ok(())
    }
    /// The run has ended, at `end` nanoseconds.
    fn finish(&mut self, _end: Time) -> io::Result<()> {
        Ok(())
    }
}

/// Whose events are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Everybody's.
    All,
    /// Those of clients 1 to this one, of each group.
    Clients(u32),
    /// Those of one request.
    Request {
        /// Its group.
        group: usize,
        /// Its number, from 1.
        number: u32,
    },
}

impl Keep {
    fn keeps(self, who: Who) -> bool {
        match self {
            Keep::All => true,
            Keep::Clients(first) => who.client < first,
            Keep::Request { group, number } => who.group == group && who.request + 1 == number,
        }
    }
}

/// What is known of a request that is kept.
#[derive(Default)]
struct Known {
    /// Step, number and provider of each attempt.
    sent: Vec<(u32, u32, usize)>,
    /// The wait that a layer has chosen last, and by which rule.
    chosen: Option<(usize, u64, &'static str)>,
}

/// Listens to a run and passes its events on.
pub struct Tracer<'a, S: Sink> {
    plan: &'a Plan,
    keep: Keep,
    sink: S,
    watch: Watch,
    known: BTreeMap<(usize, u32), Known>,
    /// By group: the largest number of a request so far, and how many there are.
    numbers: Vec<(u32, u32)>,
    events: u64,
    /// The first error of the sink; after it nothing more is written.
    error: Option<io::Error>,
}

impl<'a, S: Sink> Tracer<'a, S> {
    /// A tracer of runs of `cell`.
    pub fn new(cell: &'a Cell, keep: Keep, sink: S) -> Tracer<'a, S> {
        Tracer::of_plan(cell.plan(), cell.scenario.measure.window, keep, sink)
    }

    /// A tracer of runs of `plan`, whose load is counted in windows of this length.
    pub fn of_plan(plan: &'a Plan, window: Span, keep: Keep, sink: S) -> Tracer<'a, S> {
        Tracer {
            plan,
            keep,
            sink,
            watch: Watch::new(window.nanos()),
            known: BTreeMap::new(),
            numbers: vec![(0, 0); plan.groups.len()],
            events: 0,
            error: None,
        }
    }

    /// Events that were kept.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Where events go.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// What the sink has failed with, if it has.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Nothing more happens to a request before its next attempt is sent.
    pub fn forget(&mut self, who: Who) {
        self.known.remove(&(who.group, who.request));
    }

    /// By group: the largest number of a request, and how many there were.
    pub fn numbers(&self) -> &[(u32, u32)] {
        &self.numbers
    }

    /// The run has ended; what came of it, and the sink.
    pub fn finish(mut self, end: Time) -> io::Result<S> {
        self.watch.close(|counts| match &self.error {
            None => self.sink.counts(counts),
            Some(_) => Ok(()),
        })?;
        match self.error.take() {
            Some(error) => Err(error),
            None => self.sink.finish(end).map(|()| self.sink),
        }
    }

    fn pass(&mut self, now: Time) {
        let (sink, error) = (&mut self.sink, &mut self.error);
        if error.is_none() {
            *error = self.watch.pass(now, |counts| sink.counts(counts)).err();
        }
    }

    /// The event that a moment of a request makes; None for what only prepares one.
    fn event(&mut self, now: Time, who: Who, moment: Moment<'_>) -> Option<Event> {
        let known = self.known.entry((who.group, who.request)).or_default();
        let of = (who.group, who.client + 1, who.request + 1);
        let mut event = Event { layer: layer(&moment), ..Event::new(now, of, kind(&moment)?) };
        if let Moment::Sent { step, number, provider, .. } = moment {
            known.sent.push((step, number, provider));
        }
        if let Some(step) = step(&moment)
            && let Some((_, number, provider)) = known.sent.iter().rev().find(|s| s.0 == step)
        {
            event.attempt = Some(*number);
            event.provider = Some(*provider);
        }
        detail(&mut event, moment, known);
        if let (Some(tokens), Some(provider)) = (event.tokens, event.provider) {
            event.usd = self.plan.providers[provider].billing.usd(tokens);
        }
        Some(event)
    }
}

impl<S: Sink> Observer for Tracer<'_, S> {
    const HEARS_MOMENTS: bool = true;

    fn present(&mut self, now: Time, present: u32) {
        self.pass(now);
        self.watch.present(present);
    }

    fn moment(&mut self, now: Time, who: impl Fn() -> Who, moment: Moment<'_>) {
        let who = who();
        self.pass(now);
        self.watch.moment(&moment);
        if moment == Moment::Created {
            let (largest, count) = &mut self.numbers[who.group];
            (*largest, *count) = ((*largest).max(who.request + 1), *count + 1);
        }
        if !self.keep.keeps(who) || self.error.is_some() {
            return;
        }
        // How long a layer would wait is told with what comes of it.
        if let Moment::Chose { layer, wait, told } = moment {
            let rule = rule(self.plan, who.group, layer, told);
            let known = self.known.entry((who.group, who.request)).or_default();
            known.chosen = Some((layer, wait, rule));
            return;
        }
        if let Some(event) = self.event(now, who, moment) {
            self.events += 1;
            self.error = self.sink.event(&event).err();
        }
    }
}

/// The rule by which a layer has chosen a wait.
fn rule(plan: &Plan, group: usize, layer: usize, told: Told) -> &'static str {
    match told {
        Told::Nothing => plan.groups[group].layers[layer].backoff.name(),
        Told::Within { .. } => "retry_after_within",
        Told::Wait(_) | Told::Stop => "retry_after",
    }
}

fn kind(moment: &Moment<'_>) -> Option<Kind> {
    Some(match moment {
        Moment::Created => Kind::Created,
        Moment::CallBegins { .. } => Kind::Call,
        Moment::WaitsForPermit { .. } => Kind::PermitWait,
        Moment::GotPermit { .. } => Kind::Permit,
        Moment::GaveBackPermit { .. } => Kind::PermitBack,
        Moment::WaitsForTurn { .. } => Kind::TurnWait,
        Moment::GotTurn { .. } => Kind::Turn,
        Moment::HeldBack { .. } => Kind::HeldBack,
        Moment::WaitsForConnection => Kind::ConnectionWait,
        Moment::GotConnection => Kind::Connection,
        Moment::WaitsForProcess => Kind::ProcessWait,
        Moment::Sent { hedge: false, .. } => Kind::Sent,
        Moment::Sent { hedge: true, .. } => Kind::Hedged,
        Moment::HedgeRefused => Kind::HedgeRefused,
        Moment::LostAttempt { .. } => Kind::LostOnTheWay,
        Moment::LostAnswer { .. } => Kind::LostOnTheWayBack,
        Moment::Arrived { .. } => Kind::Arrived,
        Moment::InBacklog { .. } => Kind::Backlog,
        Moment::GoneBeforeAccept { .. } => Kind::Gone,
        Moment::Refused { .. } => Kind::Refused,
        Moment::Swallowed { .. } => Kind::Swallowed,
        Moment::Attached { .. } => Kind::Attached,
        Moment::Admitted { .. } => Kind::Admitted,
        Moment::Started { .. } => Kind::Started,
        Moment::HeadArrives { .. } => Kind::Head,
        Moment::Hung { .. } => Kind::Hung,
        Moment::Served { .. } => Kind::Served,
        Moment::Dropped { .. } => Kind::Dropped,
        Moment::TakenBack { .. } => Kind::TakenBack,
        Moment::Lost { .. } => Kind::Lost,
        Moment::Billed { .. } => Kind::Billed,
        Moment::Late { .. } => Kind::Late,
        Moment::AttemptFailed { .. } => Kind::Failed,
        Moment::TimedOut { .. } => Kind::TimedOut,
        Moment::Sleeps { .. } => Kind::Wait,
        Moment::BreakerOpens { .. } => Kind::BreakerOpens,
        Moment::GivesUp { .. } => Kind::GivesUp,
        Moment::Delivered { .. } => Kind::Delivered,
        Moment::Resolved { .. } => Kind::Resolved,
        Moment::Chose { .. } => return None,
    })
}

fn layer(moment: &Moment<'_>) -> Option<usize> {
    match *moment {
        Moment::CallBegins { layer }
        | Moment::WaitsForPermit { layer }
        | Moment::GotPermit { layer }
        | Moment::GaveBackPermit { layer }
        | Moment::WaitsForTurn { layer }
        | Moment::GotTurn { layer }
        | Moment::HeldBack { layer, .. }
        | Moment::TimedOut { layer, .. }
        | Moment::Sleeps { layer, .. }
        | Moment::BreakerOpens { layer, .. }
        | Moment::GivesUp { layer, .. } => Some(layer),
        _ => None,
    }
}

/// The step of the attempt that a moment concerns.
fn step(moment: &Moment<'_>) -> Option<u32> {
    match *moment {
        Moment::Sent { step, .. }
        | Moment::LostAttempt { step }
        | Moment::LostAnswer { step }
        | Moment::Arrived { step, .. }
        | Moment::InBacklog { step, .. }
        | Moment::GoneBeforeAccept { step }
        | Moment::Refused { step, .. }
        | Moment::Swallowed { step }
        | Moment::Attached { step, .. }
        | Moment::Admitted { step }
        | Moment::Started { step, .. }
        | Moment::HeadArrives { step }
        | Moment::Served { step, .. }
        | Moment::Dropped { step }
        | Moment::TakenBack { step, .. }
        | Moment::Lost { step, .. }
        | Moment::Billed { step, .. }
        | Moment::Late { step }
        | Moment::AttemptFailed { step, .. }
        | Moment::Delivered { step, .. } => Some(step),
        _ => None,
    }
}

/// What else an event has to say.
fn detail(event: &mut Event, moment: Moment<'_>, known: &mut Known) {
    let part = |in_service: bool| if in_service { "service" } else { "queue" };
    match moment {
        Moment::HeldBack { gate, .. } => event.why = Some(gate_name(gate)),
        Moment::InBacklog { until, .. } | Moment::BreakerOpens { until, .. } => {
            event.wait = Some(until.saturating_sub(event.time));
        }
        Moment::Refused { by, failure, .. } => {
            say_failure(event, &failure);
            event.why = Some(refuser(by));
        }
        Moment::Attached { answered, .. } => {
            event.why = Some(if answered { "answered" } else { "waits" });
        }
        Moment::Started { hit, .. } => event.why = hit.then_some("cache_hit"),
        Moment::Hung { delivered } => event.why = delivered.then_some("after_token"),
        Moment::Served { end, .. } => match end {
            Service::Answer => event.why = Some("answer"),
            Service::Broken => event.why = Some("broken_stream"),
            Service::Error(failure) => say_failure(event, &failure),
        },
        Moment::TakenBack { in_service, .. } | Moment::Lost { in_service, .. } => {
            event.why = Some(part(in_service));
        }
        Moment::Billed { tokens, .. } | Moment::Delivered { tokens, .. } => {
            event.tokens = Some(tokens);
        }
        Moment::AttemptFailed { failure, .. } => say_failure(event, &failure),
        Moment::TimedOut { deadline, .. } => {
            event.why = Some(if deadline { "deadline" } else { "timeout" });
        }
        Moment::Sleeps { layer, attempts, wait } => {
            event.retry = Some(attempts);
            event.wait = Some(wait);
            event.why = known.chosen.take().filter(|c| c.0 == layer).map(|(.., rule)| rule);
        }
        Moment::GivesUp { layer, reason, failure } => {
            event.status = Some(failure.status_code()).filter(|status| *status > 0);
            event.why = Some(reason_name(reason));
            event.wait = known.chosen.take().filter(|c| c.0 == layer).map(|(_, wait, _)| wait);
        }
        Moment::Resolved { outcome } => event.why = Some(outcome_name(outcome)),
        _ => {}
    }
}

fn say_failure(event: &mut Event, failure: &Failure<'_>) {
    event.why = Some(match failure {
        Failure::Status(_) => "status",
        Failure::Reset => "reset",
        Failure::Timeout => "timeout",
        Failure::Stream { delivered: false } => "stream",
        Failure::Stream { delivered: true } => "stream_after_token",
        Failure::NotSent(gate) => gate_name(*gate),
    });
    if let Failure::Status(answer) = failure {
        event.status = Some(answer.status);
        if let Hint::RetryAfter(span) = answer.hint {
            event.wait = Some(span.nanos());
        }
    }
}

fn gate_name(gate: Gate) -> &'static str {
    match gate {
        Gate::Breaker => "breaker",
        Gate::Throttle => "throttle",
        Gate::Pace => "pace",
    }
}

fn refuser(by: Refuser) -> &'static str {
    match by {
        Refuser::Connections => "connections",
        Refuser::Fault => "fault",
        Refuser::Operator => "operator",
        Refuser::Load => "load",
        Refuser::Limit(kind) => match kind {
            LimitKind::Spend => "limit_spend",
            LimitKind::Concurrency => "limit_concurrency",
            LimitKind::Requests => "limit_requests",
            LimitKind::InputTokens => "limit_input_tokens",
            LimitKind::OutputTokens => "limit_output_tokens",
            LimitKind::Tokens => "limit_tokens",
            LimitKind::Growth => "limit_growth",
        },
    }
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Attempts => "attempts",
        Reason::Deadline => "deadline",
        Reason::Budget => "budget",
        Reason::NotRetryable => "not_retryable",
        Reason::Breaker => "breaker",
        Reason::Throttle => "throttle",
    }
}

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Partial => "partial",
        Outcome::GaveUp(reason) => reason_name(reason),
    }
}
