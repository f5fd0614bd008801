//! What a log of events shows of a fleet: calls, waits, load and bills.

use std::collections::BTreeMap;
use std::io;

use crate::server::Tokens;
use crate::trace::{Event, Kind, Sink};
use crate::units::Time;

/// One request as the provider sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    attempts: u32,
    /// When its last attempt has ended, as far as it has.
    ended: Option<Time>,
}

/// What is seen of a fleet.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    requests: BTreeMap<(usize, u32), Request>,
    /// Times of arrivals, and whether each is a retry.
    pub arrivals: Vec<(Time, bool)>,
    /// By retry, from the first: nanoseconds from the end of an attempt to the arrival of the next.
    pub waits: Vec<Vec<u64>>,
    /// Good answers.
    pub answered: u64,
    /// Tokens billed.
    pub billed: Tokens,
}

impl Seen {
    /// Takes an event in. Events come in the order in which they happen.
    pub fn add(&mut self, event: &Event) {
        let request = (event.group, event.request);
        match event.kind {
            Kind::Arrived => self.arrive(request, event.time),
            Kind::Refused | Kind::Dropped | Kind::Lost | Kind::TimedOut | Kind::Hung => {
                self.end(request, event.time);
            }
            // A good answer ends the request; a limit of time may have come before it.
            Kind::Served if event.why != Some("answer") => self.end(request, event.time),
            Kind::Delivered => self.answered += 1,
            Kind::Billed => {
                let tokens = event.tokens.unwrap_or_default();
                self.billed.input += tokens.input;
                self.billed.cached += tokens.cached;
                self.billed.output += tokens.output;
            }
            _ => {}
        }
    }

    fn arrive(&mut self, request: (usize, u32), now: Time) {
        let request = self.requests.entry(request).or_default();
        request.attempts += 1;
        let ended = request.ended.take();
        let retry = request.attempts > 1;
        if let (true, Some(ended)) = (retry, ended) {
            let index = request.attempts as usize - 2;
            if self.waits.len() <= index {
                self.waits.resize(index + 1, Vec::new());
            }
            self.waits[index].push(now.saturating_sub(ended));
        }
        self.arrivals.push((now, retry));
    }

    /// The client learns that its attempt is over; what it has given up earlier ends no second time.
    fn end(&mut self, request: (usize, u32), now: Time) {
        if let Some(request) = self.requests.get_mut(&request) {
            request.ended.get_or_insert(now);
        }
    }

    /// Requests by the number of their calls, from 1.
    pub fn by_calls(&self) -> Vec<u64> {
        let most = self.requests.values().map(|request| request.attempts).max().unwrap_or(0);
        let mut counts = vec![0; most as usize];
        for request in self.requests.values() {
            counts[request.attempts as usize - 1] += 1;
        }
        counts
    }

    /// Retries.
    pub fn retries(&self) -> u64 {
        self.arrivals.iter().filter(|(_, retry)| *retry).count() as u64
    }

    /// The share of all retries in the busiest window (t − `window`, t]; None without retries.
    pub fn busiest(&self, window: u64) -> Option<f64> {
        let retries: Vec<Time> =
            self.arrivals.iter().filter(|(_, retry)| *retry).map(|(at, _)| *at).collect();
        let mut first = 0;
        let mut most = 0;
        for (last, at) in retries.iter().enumerate() {
            while at - retries[first] >= window {
                first += 1;
            }
            most = most.max(last + 1 - first);
        }
        (!retries.is_empty()).then(|| most as f64 / retries.len() as f64)
    }
}

impl Sink for Seen {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.add(event);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn event(time: u64, request: u32, kind: Kind) -> Event {
        Event::new(time, (0, request, request), kind)
    }

    #[test]
    fn waits_are_from_the_end_of_an_attempt_to_the_next() {
        let mut seen = Seen::default();
        for (time, request, kind) in [
            (0, 1, Kind::Arrived),
            (5, 1, Kind::Refused),
            (6, 2, Kind::Arrived),
            (30, 1, Kind::Arrived),
            (40, 1, Kind::TimedOut),
            (45, 1, Kind::Served),
            (70, 1, Kind::Arrived),
            (75, 1, Kind::Delivered),
        ] {
            seen.add(&event(time, request, kind));
        }
        assert_eq!(seen.waits, [vec![25], vec![30]]);
        assert_eq!((seen.by_calls(), seen.answered), (vec![1, 0, 1], 1));
        assert_eq!(seen.retries(), 2);
        assert_eq!([seen.busiest(40), seen.busiest(41)], [Some(0.5), Some(1.0)]);
        assert_eq!(Seen::default().busiest(1), None);
    }
}
