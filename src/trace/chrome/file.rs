//! The file: one JSON object, an entry per line.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};

use super::Orphan;
use super::life::{Life, Open, What};
use crate::trace::Names;
use crate::units::Time;

/// A track: process, whose it is, and its lane there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Track(usize, u32, usize);

impl Track {
    pub(super) fn new(process: usize, owner: u32, lane: usize) -> Track {
        Track(process, owner, lane)
    }

    pub(super) fn lane(self) -> usize {
        self.2
    }
}

/// Nanoseconds as microseconds, exactly.
struct Micros(u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

/// Writes entries.
pub(super) struct File<W: Write> {
    out: W,
    any: bool,
    /// The numbers of tracks, in the order in which they are met.
    threads: BTreeMap<Track, usize>,
}

impl<W: Write> File<W> {
    pub(super) fn new(mut out: W) -> io::Result<File<W>> {
        write!(out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        Ok(File { out, any: false, threads: BTreeMap::new() })
    }

    pub(super) fn into_inner(self) -> W {
        self.out
    }

    fn entry(&mut self, entry: fmt::Arguments<'_>) -> io::Result<()> {
        let comma = if self.any { "," } else { "" };
        self.any = true;
        write!(self.out, "{comma}\n{entry}")
    }

    pub(super) fn process(&mut self, pid: usize, name: &str) -> io::Result<()> {
        let args = json!({ "name": name });
        self.entry(format_args!(r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{args}}}"#))
    }

    /// Names a track, the first time that it is used.
    pub(super) fn thread(&mut self, track: Track, name: &str, place: u32) -> io::Result<()> {
        if self.threads.contains_key(&track) {
            return Ok(());
        }
        let tid = self.threads.len() + 1;
        self.threads.insert(track, tid);
        let (pid, args) = (track.0, json!({ "name": name }));
        self.entry(format_args!(
            r#"{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"args":{args}}}"#
        ))?;
        let args = json!({ "sort_index": place });
        self.entry(format_args!(
            r#"{{"ph":"M","name":"thread_sort_index","pid":{pid},"tid":{tid},"args":{args}}}"#
        ))
    }

    /// A span that ends at `end`.
    pub(super) fn span(&mut self, track: Track, span: &Open, end: Time) -> io::Result<()> {
        let (pid, tid) = (track.0, self.threads.get(&track).copied().unwrap_or_default());
        let (name, category) = (json!(span.name), span.what.category());
        let (ts, dur) = (Micros(span.start), Micros(end - span.start));
        let args = span.args.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        let args = Json::Object(args.collect::<Map<_, _>>());
        self.entry(format_args!(
            r#"{{"ph":"X","name":{name},"cat":"{category}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},"args":{args}}}"#
        ))
    }

    /// A piece of work that nobody waits for, until `end`.
    pub(super) fn orphan(
        &mut self,
        names: &Names,
        (group, request, attempt): (usize, u32, u32),
        orphan: &Orphan,
        end: Time,
        how: &str,
    ) -> io::Result<()> {
        let what = if orphan.in_service { What::Service } else { What::Queue };
        let word = if orphan.in_service { "service of" } else { "queue:" };
        let request = names.numbered(group, request);
        let name = format!("{word} request {request}, attempt {attempt}");
        let args = vec![("end", how.into())];
        let span = Open { what, name, start: orphan.since, args };
        if end == orphan.since && !orphan.in_service {
            return Ok(());
        }
        self.span(super::orphans_track(orphan.lane), &span, end)
    }

    pub(super) fn counter(
        &mut self,
        pid: usize,
        name: &str,
        time: Time,
        key: &str,
        value: u64,
    ) -> io::Result<()> {
        let (ts, args) = (Micros(time), json!({ key: value }));
        self.entry(format_args!(
            r#"{{"ph":"C","name":"{name}","pid":{pid},"ts":{ts},"args":{args}}}"#
        ))
    }

    /// A request goes on: what it was waiting for is over.
    pub(super) fn close_wait(&mut self, life: &mut Life, now: Time) -> io::Result<()> {
        match life.main.spans.pop_if(|span| span.what == What::Wait) {
            Some(span) => self.span(life.main.track, &span, now),
            None => Ok(()),
        }
    }

    /// A span ends, and with it all spans inside.
    pub(super) fn close(&mut self, life: &mut Life, what: What, now: Time) -> io::Result<()> {
        let Some(place) = life.main.spans.iter().rposition(|span| span.what == what) else {
            return Ok(());
        };
        self.close_down_to(life, place, now)
    }

    /// Whatever is inside of a layer's attempt ends.
    pub(super) fn close_above(&mut self, life: &mut Life, l: usize, now: Time) -> io::Result<()> {
        let of_layer = |span: &Open| [What::Call(l), What::Permit(l)].contains(&span.what);
        let place = life.main.spans.iter().rposition(of_layer).map_or(1, |place| place + 1);
        self.close_down_to(life, place, now)
    }

    /// Everything ends.
    pub(super) fn close_all(&mut self, life: &mut Life, now: Time) -> io::Result<()> {
        for mut stack in std::mem::take(&mut life.hedges) {
            while let Some(span) = stack.spans.pop() {
                self.span(stack.track, &span, now)?;
            }
        }
        self.close_down_to(life, 0, now)
    }

    fn close_down_to(&mut self, life: &mut Life, place: usize, now: Time) -> io::Result<()> {
        while life.main.spans.len() > place {
            if let Some(span) = life.main.spans.pop() {
                self.span(life.main.track, &span, now)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}
