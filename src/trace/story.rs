//! The story of a request, in sentences.
//!
//! What happens to one attempt at one instant is told at once: "attempt 1 is refused: 529, …" is sent,
//! arrived, refused and heard of.

mod words;

use std::collections::BTreeMap;

use super::{Event, Kind, Names};
use crate::experiment::Cell;
use crate::server::Tokens;
use crate::units::Time;
use words::{Words, span};

/// A sentence and when it is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// When, in nanoseconds.
    pub time: Time,
    /// Without a full stop.
    pub text: String,
}

/// The story of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// What happens.
    pub sentences: Vec<Sentence>,
    /// What it comes to.
    pub sum: String,
}

impl Story {
    /// The story as text, a line per sentence.
    pub fn text(&self) -> String {
        let time = |ns: Time| {
            let millis = (ns + 500_000) / 1_000_000;
            format!("{}.{:03} s", millis / 1_000, millis % 1_000)
        };
        let width = self.sentences.last().map_or(0, |last| time(last.time).len());
        let line = |s: &Sentence| format!("{:>width$}  {}\n", time(s.time), s.text);
        let lines: String = self.sentences.iter().map(line).collect();
        format!("{lines}\n{}\n", self.sum)
    }
}

/// Tells the story that the events of one request make.
pub fn tell(cell: &Cell, names: &Names, events: &[Event], end: Time) -> Story {
    let words = Words { cell, names };
    let mut teller = Teller { words, sentences: Vec::new(), since: None, queued: BTreeMap::new() };
    let mut rest = events;
    while let [event, ..] = rest {
        let told = teller.tell(event, rest).max(1);
        rest = &rest[told.min(rest.len())..];
    }
    let sum = teller.sum(events, end);
    Story { sentences: teller.sentences, sum }
}

struct Teller<'a> {
    words: Words<'a>,
    sentences: Vec<Sentence>,
    /// When it got in the line of its client in which it stands.
    since: Option<Time>,
    /// The same of attempts in the provider's queue.
    queued: BTreeMap<Option<u32>, Time>,
}

/// The events that follow the first one at the same instant, as long as they are of these kinds.
fn together<'e>(events: &'e [Event], kinds: &[Kind]) -> &'e [Event] {
    let first = events[0];
    let alike = |event: &&Event| event.time == first.time && kinds.contains(&event.kind);
    &events[..1 + events[1..].iter().take_while(alike).count()]
}

fn find(events: &[Event], kind: Kind) -> Option<&Event> {
    events.iter().find(|event| event.kind == kind)
}

impl Teller<'_> {
    fn say(&mut self, event: &Event, text: impl Into<String>) -> usize {
        self.sentences.push(Sentence { time: event.time, text: text.into() });
        1
    }

    /// Tells what the first of these events begins; how many of them are told.
    fn tell(&mut self, event: &Event, rest: &[Event]) -> usize {
        match event.kind {
            Kind::Sent | Kind::Hedged | Kind::Arrived | Kind::Admitted => self.goes(event, rest),
            Kind::Served => self.served(event, rest),
            Kind::Failed => {
                let text = self.words.failed(event);
                self.say(event, text)
            }
            Kind::Delivered | Kind::Late => self.answered(event, rest, None),
            Kind::Started | Kind::Turn | Kind::Permit | Kind::Connection => self.turn(event),
            Kind::PermitWait | Kind::TurnWait | Kind::ConnectionWait => self.line(event),
            _ => match self.words.plain(event) {
                Some(text) => self.say(event, text),
                None => 1,
            },
        }
    }

    /// An attempt is sent, or gets on, as far as it comes at this instant.
    fn goes(&mut self, event: &Event, rest: &[Event]) -> usize {
        let kinds = [
            Kind::Arrived,
            Kind::Backlog,
            Kind::Gone,
            Kind::Refused,
            Kind::Swallowed,
            Kind::Attached,
            Kind::Admitted,
            Kind::Started,
            Kind::LostOnTheWay,
        ];
        let same = together(rest, &kinds);
        let mut told = same.len();
        let failed = rest.get(told).filter(|next| next.kind == Kind::Failed);
        // That the client hears of it at once is no news.
        if find(same, Kind::Refused).is_some()
            && failed.is_some_and(|next| (next.time, next.attempt) == (event.time, event.attempt))
        {
            told += 1;
        }
        if find(same, Kind::Admitted).is_some() && find(same, Kind::Started).is_none() {
            self.queued.insert(event.attempt, event.time);
        }
        let text = self.words.goes(event, &same[1..]);
        self.say(event, text);
        told
    }

    /// Service ends, and with it perhaps the request.
    fn served(&mut self, event: &Event, rest: &[Event]) -> usize {
        let same = together(rest, &[Kind::Billed, Kind::Delivered, Kind::Late, Kind::Failed]);
        if let Some(last) = same.iter().find(|e| matches!(e.kind, Kind::Delivered | Kind::Late)) {
            let before = same.iter().take_while(|e| e.kind != last.kind).count();
            return before + self.answered(last, &rest[before..], find(same, Kind::Billed));
        }
        let before = same.iter().take_while(|event| event.kind != Kind::Failed).count();
        // Without a network its client hears of an error at once.
        let heard = event.status.is_some() && before < same.len();
        let text = self.words.served(event, find(same, Kind::Billed), heard);
        self.say(event, text);
        before + usize::from(heard)
    }

    /// The answer comes, in time or too late.
    fn answered(&mut self, event: &Event, rest: &[Event], billed: Option<&Event>) -> usize {
        let text = self.words.answered(event, billed);
        self.say(event, text);
        // What follows for layers and the outcome goes without saying.
        let silent = [Kind::PermitBack, Kind::Resolved];
        if event.kind == Kind::Delivered { together(rest, &silent).len() } else { 1 }
    }

    fn line(&mut self, event: &Event) -> usize {
        self.since = Some(event.time);
        let text = self.words.line(event);
        self.say(event, text)
    }

    /// It is its turn in a line.
    fn turn(&mut self, event: &Event) -> usize {
        let since = match event.kind {
            Kind::Started => self.queued.remove(&event.attempt),
            _ => self.since.take(),
        };
        let waited = since.map(|since| event.time - since);
        let text = self.words.turn(event, waited);
        self.say(event, text)
    }

    fn sum(&self, events: &[Event], end: Time) -> String {
        let attempts =
            events.iter().filter(|e| matches!(e.kind, Kind::Sent | Kind::Hedged)).count();
        let created = events.first().map_or(0, |event| event.time);
        let resolved = find(events, Kind::Resolved);
        let how = match resolved {
            None => format!("still open at the end, {}", span(end)),
            Some(event) => {
                let how = match event.why {
                    Some("succeeded") => "answered",
                    Some("partial") => "a part of an answer",
                    _ => "no answer",
                };
                format!("{how} after {}", span(event.time - created))
            }
        };
        let s = if attempts == 1 { "" } else { "s" };
        let of = |kind: Kind| events.iter().filter(move |event| event.kind == kind);
        let billed = of(Kind::Billed).filter_map(|event| event.tokens);
        let billed = billed.fold(Tokens::default(), |mut sum, tokens| {
            sum += tokens;
            sum
        });
        let usd: Option<f64> = of(Kind::Billed).map(|event| event.usd).sum();
        let useful = of(Kind::Delivered).filter_map(|event| event.tokens).map(|t| t.total()).sum();
        let tokens = match billed.total() {
            0 => "nothing billed".to_owned(),
            all => {
                let wasted = match all.saturating_sub(useful) {
                    0 => "none of them wasted".to_owned(),
                    part if part == all => "all of them wasted".to_owned(),
                    part => format!("{} of them wasted", words::whole(part)),
                };
                format!("{} billed, {wasted}", words::tokens(billed, usd))
            }
        };
        format!("In all: {how}; {attempts} attempt{s}, {tokens}.")
    }
}
