//! What is said of an event, and of the rule behind it.

use crate::client::{Backoff, Layer};
use crate::experiment::Cell;
use crate::model::ProviderPlan;
use crate::output::number;
use crate::server::{Fault, LimitKind, Tokens};
use crate::trace::{Event, Kind, Names};
use crate::units::Span;

/// Knows the scenario that events are of.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) cell: &'a Cell,
    pub(super) names: &'a Names,
}

/// "1.234 s", to the millisecond, or what is shorter exactly.
pub(super) fn span(ns: u64) -> String {
    let text = match ns {
        0..1_000_000 => Span::from_nanos(ns).to_string(),
        _ => Span::from_nanos((ns + 500_000) / 1_000_000 * 1_000_000).to_string(),
    };
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    format!("{} {unit}", text.trim_end_matches(unit.as_str()))
}

/// "1,155"
pub(super) fn whole(n: u64) -> String {
    number(n as f64)
}

/// "1,155 + 129 tokens (0.0054 USD)"
pub(super) fn tokens(tokens: Tokens, usd: Option<f64>) -> String {
    let cached = match tokens.cached {
        0 => String::new(),
        n => format!(" ({} from the prompt cache)", whole(n)),
    };
    let usd = usd.map_or(String::new(), |usd| format!(" ({} USD)", number(usd)));
    format!("{}{cached} + {} tokens{usd}", whole(tokens.input), whole(tokens.output))
}

impl Words<'_> {
    fn layer(&self, event: &Event) -> Option<&Layer> {
        self.cell.plan().groups[event.group].layers.get(event.layer?)
    }

    fn name(&self, event: &Event) -> &str {
        event.layer.map_or("the client", |layer| self.names.layer(event.group, layer))
    }

    fn provider(&self, event: &Event) -> Option<&ProviderPlan> {
        self.cell.plan().providers.get(event.provider?)
    }

    fn attempt(&self, event: &Event) -> String {
        format!("attempt {}", event.attempt.unwrap_or_default())
    }

    /// " to backup", where there are several providers.
    fn to(&self, event: &Event) -> String {
        match (event.provider, self.cell.plan().providers.len()) {
            (Some(provider), 2..) => format!(" to {}", self.names.provider(provider)),
            _ => String::new(),
        }
    }

    /// An attempt gets on, with what follows at this instant.
    pub(super) fn goes(&self, event: &Event, next: &[Event]) -> String {
        let attempt = self.attempt(event);
        let to = self.to(event);
        let start = match event.kind {
            Kind::Sent => format!("{attempt} is sent{to}"),
            Kind::Hedged => format!("{attempt} is sent{to} beside it, a hedge"),
            Kind::Admitted => format!("{attempt} is accepted"),
            _ => format!("{attempt} reaches the provider"),
        };
        let all = || std::iter::once(event).chain(next);
        let last = all().next_back().unwrap_or(event);
        match last.kind {
            Kind::Refused => format!("{attempt}{to} is refused: {}", self.refusal(last)),
            Kind::Swallowed => format!("{start} and taken: nobody will answer it"),
            Kind::LostOnTheWay => format!("{start} and lost in the network"),
            Kind::Gone => format!("{start}, and its client has gone"),
            Kind::Backlog => {
                let wait = span(last.wait.unwrap_or_default());
                format!("{start}; its connection is accepted in {wait}")
            }
            Kind::Attached if last.why == Some("answered") => {
                format!("{start}; its key is known and its answer kept")
            }
            Kind::Attached => format!("{start}; its key is known, it waits for the work under way"),
            Kind::Admitted => format!("{start} and waits in the queue"),
            Kind::Started if last.why.is_some() => format!("{start} and served from the cache"),
            Kind::Started => format!("{start} and served at once"),
            _ => start,
        }
    }

    /// Why the provider refuses.
    fn refusal(&self, event: &Event) -> String {
        let status = event.status.map_or("connection reset".to_owned(), |s| s.to_string());
        let hint = event.wait.map_or(String::new(), |wait| format!("; Retry-After {}", span(wait)));
        let Some(provider) = self.provider(event) else { return status };
        let why = match event.why.unwrap_or_default() {
            "fault" => self.fault(event, provider),
            "operator" => "operators let nobody in".to_owned(),
            "load" => {
                match (provider.queue.map(|queue| queue.line().limit), provider.concurrency) {
                    (Some(Some(limit)), _) => {
                        format!("no place in the queue (limit {})", whole(limit.into()))
                    }
                    (_, Some(places)) => format!("all places are taken ({})", whole(places.into())),
                    _ => "no place".to_owned(),
                }
            }
            "connections" => "no connection is accepted".to_owned(),
            limit => limit_in_words(limit, provider),
        };
        format!("{status}, {why}{hint}")
    }

    fn fault(&self, event: &Event, provider: &ProviderPlan) -> String {
        let attempt = event.attempt.unwrap_or(1);
        let outage = provider.faults.iter().find_map(|fault| match fault {
            Fault::Outage(outage) if outage.strikes(event.time, attempt) => Some(outage),
            _ => None,
        });
        match outage {
            None => "an error on arrival".to_owned(),
            Some(outage) => match outage.to {
                Some(to) => format!("an outage until {}", span(to.nanos())),
                None => "an outage".to_owned(),
            },
        }
    }

    /// How an attempt has failed, as its client sees it.
    pub(super) fn failed(&self, event: &Event) -> String {
        let attempt = self.attempt(event);
        let hint = event.wait.map_or(String::new(), |wait| format!("; Retry-After {}", span(wait)));
        match (event.status, event.why.unwrap_or_default()) {
            (Some(status), _) => format!("{attempt} has failed: {status}{hint}"),
            (None, "reset") => format!("{attempt} has failed: connection reset"),
            (None, "stream") => {
                format!("{attempt} has failed: its stream broke off before a token")
            }
            (None, "stream_after_token") => {
                format!("{attempt} has failed: its stream broke off after a token")
            }
            (None, why) => format!("{attempt} has failed: {why}"),
        }
    }

    pub(super) fn served(&self, event: &Event, billed: Option<&Event>, heard: bool) -> String {
        let attempt = self.attempt(event);
        let billed = billed.map_or(String::new(), |billed| self.bill(billed));
        match (event.status, event.why) {
            (Some(status), _) if heard => {
                format!("{attempt} has failed: {status}, after its service{billed}")
            }
            (Some(status), _) => format!("the service of {attempt} ends in a {status}{billed}"),
            (None, Some("answer")) => format!("the answer to {attempt} is complete{billed}"),
            _ => format!("the stream of {attempt} breaks off{billed}"),
        }
    }

    /// "; 1,155 + 129 tokens are billed"
    fn bill(&self, event: &Event) -> String {
        event
            .tokens
            .map_or(String::new(), |spent| format!("; {} are billed", tokens(spent, event.usd)))
    }

    pub(super) fn answered(&self, event: &Event, billed: Option<&Event>) -> String {
        let attempt = self.attempt(event);
        let billed = billed.map_or(String::new(), |billed| self.bill(billed));
        match event.kind {
            Kind::Late => {
                format!("the answer to {attempt} comes too late, nobody waits for it{billed}")
            }
            _ => format!("{attempt} is answered{billed}"),
        }
    }

    pub(super) fn line(&self, event: &Event) -> String {
        let name = self.name(event);
        match event.kind {
            Kind::PermitWait => {
                let semaphore = self.layer(event).and_then(|layer| layer.semaphore);
                let permits = semaphore.map_or(String::new(), |s| match s.permits {
                    1 => " (there is one)".to_owned(),
                    n => format!(" (there are {})", whole(n.into())),
                });
                format!("it waits for a permit of {name}{permits}")
            }
            Kind::TurnWait => format!("it waits for its turn in the pace of {name}"),
            _ => "it waits for a connection".to_owned(),
        }
    }

    pub(super) fn turn(&self, event: &Event, waited: Option<u64>) -> String {
        let name = self.name(event);
        let attempt = self.attempt(event);
        let after = waited.filter(|waited| *waited > 0);
        let after = after.map_or(String::new(), |waited| format!(", after {}", span(waited)));
        match event.kind {
            Kind::Permit if after.is_empty() => format!("it takes a permit of {name}"),
            Kind::Permit => format!("it has a permit of {name}{after} in line"),
            Kind::Turn => format!("it is its turn in the pace of {name}{after}"),
            Kind::Connection => format!("it has a connection{after}"),
            _ => {
                let cache = if event.why.is_some() { ", from the cache" } else { "" };
                let queue = if after.is_empty() { "" } else { " in the queue" };
                format!("service of {attempt} starts{after}{queue}{cache}")
            }
        }
    }

    /// Events that are told by themselves; None for what goes without saying.
    pub(super) fn plain(&self, event: &Event) -> Option<String> {
        let name = self.name(event);
        let attempt = self.attempt(event);
        Some(match event.kind {
            Kind::Created => {
                let request = self.names.numbered(event.group, event.request);
                format!("request {request} of client {} is created", event.client)
            }
            Kind::PermitBack => format!("it gives the permit of {name} back"),
            Kind::HeldBack => match event.why {
                Some("breaker") => format!("the breaker of {name} is open: nothing is sent"),
                Some("throttle") => format!("{name} throttles itself: nothing is sent"),
                _ => format!("the pace of {name} lets nobody wait: nothing is sent"),
            },
            Kind::ProcessWait => "it waits until its process has time to send".to_owned(),
            Kind::HedgeRefused => "a hedge is due, and its budget has nothing left".to_owned(),
            Kind::LostOnTheWay => format!("{attempt} is lost in the network"),
            Kind::LostOnTheWayBack => format!("what is said to {attempt} is lost in the network"),
            Kind::Gone => format!("{attempt} is not accepted: its client has gone"),
            Kind::Refused => format!("{attempt} is refused: {}", self.refusal(event)),
            Kind::Swallowed => format!("{attempt} is taken, and nobody will answer it"),
            Kind::Head => format!("the head of the answer to {attempt} arrives"),
            Kind::Hung => "the stream falls silent".to_owned(),
            Kind::Dropped => format!("the provider drops {attempt} from its queue"),
            Kind::TakenBack if event.why == Some("queue") => {
                format!("the provider takes {attempt} out of its queue: its client goes away")
            }
            Kind::TakenBack => {
                format!("the provider stops its work on {attempt}: its client goes away")
            }
            Kind::Lost => format!("the work on {attempt} is lost with its place"),
            Kind::Billed => {
                let spent = tokens(event.tokens.unwrap_or_default(), event.usd);
                format!("{spent} are billed for {attempt}")
            }
            Kind::TimedOut => return self.limit_of_time(event),
            Kind::Wait => self.wait(event),
            Kind::BreakerOpens => {
                format!("the breaker of {name} opens for {}", span(event.wait.unwrap_or_default()))
            }
            Kind::GivesUp => format!("{name} gives up: {}", self.reason(event)),
            Kind::Resolved => match event.why {
                Some("partial") => "the request ends with a part of its answer".to_owned(),
                _ => "the request ends without an answer".to_owned(),
            },
            _ => return None,
        })
    }

    /// A limit of time is reached; of a deadline the layer itself will say that it gives up.
    fn limit_of_time(&self, event: &Event) -> Option<String> {
        if event.why == Some("deadline") {
            return None;
        }
        let limit = self.layer(event).and_then(|layer| layer.timeout);
        let limit = limit.map_or(String::new(), |limit| format!(" of {}", span(limit.nanos())));
        Some(format!("{} stops waiting: its timeout{limit} is over", self.name(event)))
    }

    fn wait(&self, event: &Event) -> String {
        let name = self.name(event);
        let (wait, retry) = (event.wait.unwrap_or_default(), event.retry.unwrap_or(1));
        let Some(layer) = self.layer(event) else { return format!("it waits {}", span(wait)) };
        let rule = match event.why.unwrap_or_default() {
            "retry_after" => "Retry-After".to_owned(),
            "retry_after_within" => {
                "Retry-After, as near to it as its own schedule allows".to_owned()
            }
            _ => schedule(&layer.backoff, retry - 1),
        };
        if retry >= layer.max_attempts {
            return format!("{name} waits {} for nothing, as no retry follows: {rule}", span(wait));
        }
        match wait {
            0 => format!("{name} goes on at once with retry {retry}: {rule}"),
            _ => format!("{name} waits {} before retry {retry}: {rule}", span(wait)),
        }
    }

    /// Why a layer gives up.
    fn reason(&self, event: &Event) -> String {
        let Some(layer) = self.layer(event) else { return String::new() };
        if layer.max_attempts == 1 && !matches!(event.why, Some("deadline")) {
            return "it never retries".to_owned();
        }
        match event.why.unwrap_or_default() {
            "attempts" => format!("its {} attempts are used up", whole(layer.max_attempts.into())),
            "deadline" => {
                let deadline = layer.deadline.map_or("the time left".to_owned(), |deadline| {
                    format!("its deadline of {}", span(deadline.nanos()))
                });
                match event.wait {
                    Some(wait) => format!("a wait of {} would pass {deadline}", span(wait)),
                    None => format!("{deadline} is over"),
                }
            }
            "budget" => "its retry budget has nothing left".to_owned(),
            "breaker" => "a breaker is open".to_owned(),
            "throttle" => "nothing was sent, and it does not retry that".to_owned(),
            _ => match event.status {
                Some(status) => format!("it does not retry a {status}, or not so late"),
                None => "it does not retry such a failure".to_owned(),
            },
        }
    }
}

/// The rule of a layer's own schedule before retry `n` + 1.
fn schedule(backoff: &Backoff, n: u32) -> String {
    let (least, most) = backoff.bounds(n);
    let uniform = |word: &str| format!("{word}, U({}, {})", span(least), span(most));
    match backoff {
        Backoff::NoBackoff => "no backoff".to_owned(),
        Backoff::NoJitter(s) => {
            let cap = if most == s.cap.nanos() { ", at its cap" } else { "" };
            format!("exponential backoff without jitter{cap}")
        }
        Backoff::FullJitter(_) => uniform("full jitter"),
        Backoff::EqualJitter(_) => uniform("equal jitter"),
        Backoff::SdkJitter(_) => uniform("SDK jitter"),
        Backoff::AdditiveJitter(_) => uniform("additive jitter"),
        Backoff::DecorrelatedJitter(d) => {
            let (base, cap) = (span(d.base.nanos()), span(d.cap.nanos()));
            format!("decorrelated jitter, U({base}, 3 times the wait before), at most {cap}")
        }
        Backoff::Formula(_) => "its formula".to_owned(),
        Backoff::Table(_) => "its table".to_owned(),
    }
}

/// "the limit on requests (50/min) is reached"
fn limit_in_words(why: &str, provider: &ProviderPlan) -> String {
    let key = why.trim_start_matches("limit_");
    let kind = LimitKind::ALL.into_iter().find(|kind| kind.key() == key);
    let rate = kind.and_then(|kind| provider.limits.rate(kind));
    let rate = rate.map_or(String::new(), |limit| format!(" ({})", limit.rate));
    let what = match kind {
        Some(LimitKind::Spend) => "spending",
        Some(LimitKind::Concurrency) => "attempts at once",
        Some(LimitKind::Requests) => "requests",
        Some(LimitKind::InputTokens) => "input tokens",
        Some(LimitKind::OutputTokens) => "output tokens",
        Some(LimitKind::Tokens) => "tokens",
        Some(LimitKind::Growth) => "growth",
        None => why,
    };
    format!("the limit on {what}{rate} is reached")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_counts_are_readable() {
        for (ns, text) in [
            (0, "0 s"),
            (1_234_567_890, "1.235 s"),
            (412_300_000, "412 ms"),
            (30_000_000_000, "30 s"),
            (250_000, "250 us"),
        ] {
            assert_eq!(span(ns), text);
        }
        assert_eq!([0, 999, 1_155, 1_000_000].map(whole), ["0", "999", "1,155", "1,000,000"]);
    }
}
