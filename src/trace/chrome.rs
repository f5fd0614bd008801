//! The log as a Chrome trace, the JSON that Perfetto and `chrome://tracing` read.
//!
//! A track per client holds spans that nest: a request, the calls into its layers, permits held, and
//! in them the waits and the attempts with their time in the provider's queue and in service. What the
//! provider goes on with when nobody waits for it has tracks of its own. Format: "Trace Event Format",
//! docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.

mod file;
mod lanes;
mod life;

use std::collections::BTreeMap;
use std::io::{self, Write};

use self::file::File;
use self::lanes::Lanes;
use self::life::{Life, Stack, What};
use super::{Counts, Event, Kind, Names, Sink};
use crate::units::{Span, Time};

/// The process of the provider; those of groups are 1 and up.
const PROVIDER: usize = 1_000;

/// Work of an attempt whose client has gone.
struct Orphan {
    lane: usize,
    since: Time,
    in_service: bool,
}

/// Writes a Chrome trace.
pub struct Chrome<'n, W: Write> {
    names: &'n Names,
    file: File<W>,
    /// "attempts per 100ms"
    load: String,
    /// By group and client.
    lanes: BTreeMap<(usize, u32), Lanes>,
    /// By group and request.
    lives: BTreeMap<(usize, u32), Life>,
    /// By group, request and attempt.
    orphans: BTreeMap<(usize, u32, u32), Orphan>,
    orphanage: Lanes,
}

impl<'n, W: Write> Chrome<'n, W> {
    /// Starts a trace of a scenario whose load is counted in windows of this length.
    pub fn new(names: &'n Names, window: Span, out: W) -> io::Result<Chrome<'n, W>> {
        let mut file = File::new(out)?;
        let groups = names.groups();
        match groups.is_empty() {
            true => file.process(1, "clients")?,
            false => {
                for (g, name) in groups.iter().enumerate() {
                    file.process(1 + g, &format!("clients of {name}"))?;
                }
            }
        }
        file.process(PROVIDER, "provider")?;
        Ok(Chrome {
            names,
            file,
            load: format!("attempts per {window}"),
            lanes: BTreeMap::new(),
            lives: BTreeMap::new(),
            orphans: BTreeMap::new(),
            orphanage: Lanes::default(),
        })
    }

    /// What has been written to.
    pub fn into_inner(self) -> W {
        self.file.into_inner()
    }

    /// A free track of a client.
    fn lane(&mut self, group: usize, client: u32) -> io::Result<usize> {
        let lanes = self.lanes.entry((group, client)).or_default();
        let lane = lanes.take();
        let name = match lane {
            0 => format!("client {}", self.names.numbered(group, client)),
            _ => format!("client {} ({})", self.names.numbered(group, client), lane + 1),
        };
        self.file.thread(track(group, client, lane), &name, client)?;
        Ok(lane)
    }

    /// The request goes on: what it was waiting for is over.
    fn client_side(&mut self, event: &Event, life: &mut Life) -> io::Result<()> {
        let now = event.time;
        let layer = event.layer.unwrap_or_default();
        let name = |what: &str| format!("{what} {}", self.names.layer(event.group, layer));
        let group = event.group;
        self.file.close_wait(life, now)?;
        match event.kind {
            Kind::Call => life.main.open(What::Call(layer), name("call of"), now),
            Kind::PermitWait => life.main.wait(name("waits for a permit of"), now),
            Kind::Permit => life.main.open(What::Permit(layer), name("permit of"), now),
            Kind::PermitBack => self.file.close(life, What::Permit(layer), now)?,
            Kind::TurnWait => life.main.wait(name("waits for its turn in the pace of"), now),
            Kind::ConnectionWait => life.main.wait("waits for a connection".to_owned(), now),
            Kind::ProcessWait => life.main.wait("waits for its process".to_owned(), now),
            Kind::Wait => {
                life.main.wait(name("waits by the rule of"), now);
                life.main.note("layer", self.names.layer(group, layer).into());
                life.main.note("rule", event.why.into());
                life.main.note("retry", event.retry.into());
            }
            Kind::Sent | Kind::Hedged => self.send(event, life)?,
            Kind::Failed => self.attempt_over(event, life, &outcome(event))?,
            Kind::Delivered => {
                self.attempt_over(event, life, "answered")?;
                self.others_over(event, life, "another was answered")?;
            }
            Kind::TimedOut => {
                self.others_over(event, life, event.why.unwrap_or("timeout"))?;
                self.file.close_above(life, layer, now)?;
            }
            Kind::GivesUp => self.file.close(life, What::Call(layer), now)?,
            _ => {}
        }
        Ok(())
    }

    fn send(&mut self, event: &Event, life: &mut Life) -> io::Result<()> {
        let number = event.attempt.unwrap_or_default();
        let name = format!("attempt {number}");
        let stack = if event.kind == Kind::Hedged {
            let lane = self.lane(event.group, event.client)?;
            life.hedges.push(Stack::new(track(event.group, event.client, lane)));
            life.hedges.last_mut().unwrap_or(&mut life.main)
        } else {
            &mut life.main
        };
        stack.open(What::Attempt(number), name, event.time);
        stack.note("number", number.into());
        stack.note("hedge", (event.kind == Kind::Hedged).into());
        let provider = event.provider.map(|provider| self.names.provider(provider));
        stack.note("provider", provider.into());
        Ok(())
    }

    /// The attempt of an event is over as far as its client is concerned.
    fn attempt_over(&mut self, event: &Event, life: &mut Life, outcome: &str) -> io::Result<()> {
        let number = event.attempt.unwrap_or_default();
        self.attempt_ends(event, life, number, outcome)
    }

    /// All attempts that are still in flight are over.
    fn others_over(&mut self, event: &Event, life: &mut Life, outcome: &str) -> io::Result<()> {
        for number in life.attempts() {
            self.attempt_ends(event, life, number, outcome)?;
        }
        Ok(())
    }

    fn attempt_ends(
        &mut self,
        event: &Event,
        life: &mut Life,
        number: u32,
        outcome: &str,
    ) -> io::Result<()> {
        let now = event.time;
        let Some(stack) = life.with_attempt(number) else { return Ok(()) };
        let working = stack.take_working();
        if let Some(span) = working {
            self.file.span(stack.track, &span, now)?;
            let key = (event.group, event.request, number);
            self.adopt(key, now, span.what == What::Service)?;
        }
        stack.end(number, outcome);
        while let Some(span) = stack.spans.pop() {
            self.file.span(stack.track, &span, now)?;
            if span.what == What::Attempt(number) {
                break;
            }
        }
        let lanes = self.lanes.entry((event.group, event.client)).or_default();
        life.hedges.retain(|stack| {
            let done = stack.spans.is_empty();
            if done {
                lanes.free(stack.track.lane());
            }
            !done
        });
        Ok(())
    }

    /// Work goes on that nobody waits for.
    fn adopt(&mut self, key: (usize, u32, u32), since: Time, in_service: bool) -> io::Result<()> {
        let lane = self.orphanage.take();
        let name = match lane {
            0 => "work that nobody waits for".to_owned(),
            _ => format!("work that nobody waits for ({})", lane + 1),
        };
        self.file.thread(orphans_track(lane), &name, lane as u32)?;
        self.orphans.insert(key, Orphan { lane, since, in_service });
        Ok(())
    }

    /// What the provider does with an attempt.
    fn provider_side(&mut self, event: &Event) -> io::Result<()> {
        let Some(number) = event.attempt else { return Ok(()) };
        let now = event.time;
        let key = (event.group, event.request, number);
        let life = self.lives.get_mut(&(event.group, event.request));
        let stack = life.and_then(|life| life.with_attempt(number));
        match (event.kind, stack) {
            (Kind::Admitted, Some(stack)) => stack.open(What::Queue, "queue".to_owned(), now),
            (Kind::Admitted, None) => self.adopt(key, now, false)?,
            (Kind::Started, Some(stack)) => {
                if let Some(span) = stack.take_working().filter(|span| span.start < now) {
                    self.file.span(stack.track, &span, now)?;
                }
                stack.open(What::Service, "service".to_owned(), now);
            }
            (Kind::Served | Kind::Dropped | Kind::TakenBack | Kind::Lost, Some(stack)) => {
                if let Some(mut span) = stack.take_working() {
                    span.args.push(("end", outcome(event).into()));
                    self.file.span(stack.track, &span, now)?;
                }
            }
            (Kind::Started, None) => {
                if let Some(orphan) = self.orphans.get_mut(&key) {
                    self.file.orphan(self.names, key, orphan, now, "leaves the queue")?;
                    (orphan.since, orphan.in_service) = (now, true);
                }
            }
            (Kind::Served | Kind::Dropped | Kind::TakenBack | Kind::Lost, None) => {
                if let Some(orphan) = self.orphans.remove(&key) {
                    self.file.orphan(self.names, key, &orphan, now, &outcome(event))?;
                    self.orphanage.free(orphan.lane);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The track of a client's lane.
fn track(group: usize, client: u32, lane: usize) -> file::Track {
    file::Track::new(1 + group, client, lane)
}

fn orphans_track(lane: usize) -> file::Track {
    file::Track::new(PROVIDER, 0, lane)
}

/// "status 529", "reset"
fn outcome(event: &Event) -> String {
    match (event.status, event.why) {
        (Some(status), _) => format!("status {status}"),
        (None, Some(why)) => why.to_owned(),
        (None, None) => event.kind.name().to_owned(),
    }
}

impl<W: Write> Sink for Chrome<'_, W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let key = (event.group, event.request);
        if event.kind.is_elsewhere() {
            return self.provider_side(event);
        }
        if event.kind == Kind::Created {
            let lane = self.lane(event.group, event.client)?;
            let mut life = Life::new(Stack::new(track(event.group, event.client, lane)));
            let name = format!("request {}", self.names.numbered(event.group, event.request));
            life.main.open(What::Request, name, event.time);
            self.lives.insert(key, life);
            return Ok(());
        }
        let Some(mut life) = self.lives.remove(&key) else { return Ok(()) };
        if event.kind == Kind::Resolved {
            life.main.spans.first_mut().into_iter().for_each(|span| {
                span.args.push(("outcome", event.why.into()));
            });
            self.file.close_all(&mut life, event.time)?;
            let lanes = self.lanes.entry((event.group, event.client)).or_default();
            lanes.free(life.main.track.lane());
            return Ok(());
        }
        self.client_side(event, &mut life)?;
        self.lives.insert(key, life);
        Ok(())
    }

    fn counts(&mut self, counts: &Counts) -> io::Result<()> {
        self.file.counter(PROVIDER, "load", counts.time, &self.load, counts.load)?;
        self.file.counter(PROVIDER, "queue", counts.time, "attempts", counts.queue)?;
        self.file.counter(PROVIDER, "in flight", counts.time, "attempts", counts.in_flight)
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        for mut life in std::mem::take(&mut self.lives).into_values() {
            for number in life.attempts() {
                life.with_attempt(number).into_iter().for_each(|stack| stack.end(number, "open"));
            }
            self.file.close_all(&mut life, end)?;
        }
        for (key, orphan) in std::mem::take(&mut self.orphans) {
            self.file.orphan(self.names, key, &orphan, end, "open")?;
        }
        self.file.finish()
    }
}
