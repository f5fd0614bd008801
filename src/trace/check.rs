//! Two runs against each other, event by event.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{Event, Keep, Sink, Tracer};
use crate::error::{Error, Result};
use crate::experiment::{Cell, Seed};

/// What came of comparing two logs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Events from the first on that are the same.
    pub same: u64,
    /// The first event that is not, in the one log and in the other; None where a log has ended.
    pub difference: Option<(Option<Event>, Option<Event>)>,
}

/// Compares two logs until they differ.
pub fn compare(
    left: impl IntoIterator<Item = Event>,
    right: impl IntoIterator<Item = Event>,
) -> Comparison {
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let mut same = 0;
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Comparison { same, difference: None },
            (a, b) if a == b => same += 1,
            different => return Comparison { same, difference: Some(different) },
        }
    }
}

/// Events on their way to the other thread, so many at once.
const BATCH: usize = 1_024;

/// Batches that wait there.
const AHEAD: usize = 16;

/// Sends events to who compares them.
struct Sender {
    batch: Vec<Event>,
    out: SyncSender<Vec<Event>>,
}

impl Sender {
    fn pair() -> (Sender, Receiver<Vec<Event>>) {
        let (out, events) = sync_channel(AHEAD);
        (Sender { batch: Vec::new(), out }, events)
    }

    fn send(&mut self) -> io::Result<()> {
        // Who has found a difference does not listen any more.
        let sent = self.out.send(std::mem::take(&mut self.batch));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Sink for Sender {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.batch.push(*event);
        if self.batch.len() < BATCH { Ok(()) } else { self.send() }
    }

    fn finish(&mut self, _end: u64) -> io::Result<()> {
        self.send()
    }
}

/// Makes one run of `cell` twice, the second time on a heap and with nothing left out that a plain run
/// does without, and compares what happens. Neither log is kept.
pub fn twice(cell: &Cell, seed: Seed, replication: u32, keep: Keep) -> Result<Comparison> {
    let (one, left) = Sender::pair();
    let (other, right) = Sender::pair();
    thread::scope(|scope| {
        let plain = scope.spawn(move || {
            let mut tracer = Tracer::new(cell, keep, one);
            let report = cell.watch(seed, replication, &mut tracer)?;
            let _ = tracer.finish(report.end);
            Ok::<u64, Error>(report.fingerprint)
        });
        let full = scope.spawn(move || {
            let mut tracer = Tracer::new(cell, keep, other);
            let report = cell.watch_in_full(seed, replication, &mut tracer)?;
            let _ = tracer.finish(report.end);
            Ok::<u64, Error>(report.fingerprint)
        });
        let comparison = compare(left.into_iter().flatten(), right.into_iter().flatten());
        let gone = |_| Error::Bug("a run has broken off".to_owned());
        let plain = plain.join().map_err(gone)??;
        let full = full.join().map_err(gone)??;
        // Events that nobody keeps are in the fingerprints.
        if comparison.difference.is_none() && plain != full {
            let text = format!("fingerprints {plain:#018x} and {full:#018x} of the same events");
            return Err(Error::Bug(text));
        }
        Ok(comparison)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Kind;

    fn event(time: u64, kind: Kind) -> Event {
        Event::new(time, (0, 1, 1), kind)
    }

    #[test]
    fn the_first_difference_is_named() {
        let log = [event(0, Kind::Created), event(0, Kind::Sent), event(5, Kind::Failed)];
        assert_eq!(compare(log, log), Comparison { same: 3, difference: None });
        let mut other = log;
        other[1].attempt = Some(2);
        other[2].time = 6;
        let difference = Some((Some(log[1]), Some(other[1])));
        assert_eq!(compare(log, other), Comparison { same: 1, difference });
        let difference = Some((None, Some(log[2])));
        assert_eq!(compare(log[..2].to_vec(), log), Comparison { same: 2, difference });
    }
}
