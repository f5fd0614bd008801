//! What counters show: load, queue and attempts in flight, window by window.

use crate::model::Moment;
use crate::units::Time;

/// The counts of one window, of all clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The start of the window.
    pub time: Time,
    /// Attempts that arrive at a provider in it.
    pub load: u64,
    /// Most attempts that wait in queues during it, at the end of an instant.
    pub queue: u64,
    /// Most attempts at providers during it, one that is being refused included.
    pub in_flight: u64,
}

/// Counts as a run goes on.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    window: u64,
    counts: Counts,
    /// The instant of what was heard last.
    now: Time,
    waiting: u64,
    present: u64,
    /// What was told last.
    told: Option<Counts>,
}

impl Watch {
    pub(super) fn new(window: u64) -> Watch {
        let counts = Counts::default();
        Watch { window, counts, now: 0, waiting: 0, present: 0, told: None }
    }

    /// Time goes on to `now`; windows that are over are told, of quiet ones that are alike the first.
    pub(super) fn pass<E>(
        &mut self,
        now: Time,
        mut tell: impl FnMut(&Counts) -> Result<(), E>,
    ) -> Result<(), E> {
        if now == self.now {
            return Ok(());
        }
        self.now = now;
        self.counts.queue = self.counts.queue.max(self.waiting);
        let here = now - now % self.window;
        if here == self.counts.time {
            return Ok(());
        }
        self.tell(&mut tell)?;
        self.begin(self.counts.time + self.window);
        if self.counts.time < here {
            // Nothing has happened from the last window to this one.
            self.tell(&mut tell)?;
            self.begin(here);
        }
        Ok(())
    }

    /// The run is over.
    pub(super) fn close<E>(
        &mut self,
        mut tell: impl FnMut(&Counts) -> Result<(), E>,
    ) -> Result<(), E> {
        self.counts.queue = self.counts.queue.max(self.waiting);
        self.tell(&mut tell)?;
        self.begin(self.counts.time + self.window);
        self.tell(&mut tell)
    }

    fn begin(&mut self, time: Time) {
        let (queue, in_flight) = (self.waiting, self.present);
        self.counts = Counts { time, load: 0, queue, in_flight };
    }

    fn tell<E>(&mut self, tell: &mut impl FnMut(&Counts) -> Result<(), E>) -> Result<(), E> {
        let alike = |told: Counts| Counts { time: self.counts.time, ..told } == self.counts;
        // Quiet windows say it once; loads add up.
        if self.counts.load > 0 || !self.told.is_some_and(alike) {
            tell(&self.counts)?;
        }
        self.told = Some(self.counts);
        Ok(())
    }

    /// So many attempts are at providers.
    pub(super) fn present(&mut self, present: u32) {
        let present = u64::from(present);
        self.present = present;
        self.counts.in_flight = self.counts.in_flight.max(present);
    }

    pub(super) fn moment(&mut self, moment: &Moment<'_>) {
        match moment {
            Moment::Arrived { .. } => self.counts.load += 1,
            // At this instant it may be served at once; only what is left at its end counts.
            Moment::Admitted { .. } => self.waiting += 1,
            Moment::Started { .. }
            | Moment::Dropped { .. }
            | Moment::TakenBack { in_service: false, .. }
            | Moment::Lost { in_service: false, .. } => self.waiting -= 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(watch: &mut Watch, now: Time) -> Vec<[u64; 4]> {
        let mut told = Vec::new();
        let mut tell = |c: &Counts| {
            told.push([c.time, c.load, c.queue, c.in_flight]);
            Ok::<(), ()>(())
        };
        watch.pass(now, &mut tell).unwrap();
        told
    }

    #[test]
    fn windows_are_told_when_they_are_over_and_quiet_ones_once() {
        let mut watch = Watch::new(100);
        assert!(told(&mut watch, 10).is_empty());
        for (step, present) in [(1, 1), (2, 2), (3, 3)] {
            watch.moment(&Moment::Arrived { step, number: 1, provider: 0 });
            watch.moment(&Moment::Admitted { step });
            watch.present(present);
        }
        watch.moment(&Moment::Started { step: 1, hit: false, until: 9 });
        // Two wait and three are there all along from the first window to the one of 570.
        assert_eq!(told(&mut watch, 570), [[0, 3, 2, 3], [100, 0, 2, 3]]);
        watch.moment(&Moment::Started { step: 2, hit: false, until: 9 });
        watch.moment(&Moment::Dropped { step: 3 });
        watch.present(1);
        // The queue was 2 at the start of the window.
        assert_eq!(told(&mut watch, 1_000), [[600, 0, 0, 1]]);
        let mut last = Vec::new();
        let keep = |c: &Counts| {
            last.push((c.time, c.in_flight));
            Ok::<(), ()>(())
        };
        watch.present(0);
        watch.close(keep).unwrap();
        assert_eq!(last, [(1_100, 0)]);
    }
}
