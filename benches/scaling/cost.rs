//! CPU time of work that is done several times.

use std::time::Duration;

use crate::clock::cpu_time;

/// How carefully it is measured.
#[derive(Clone, Copy)]
pub struct Care {
    /// The least of so many rounds is taken.
    rounds: u32,
    /// A round goes on for so long.
    long_enough: Duration,
    /// Only so many sizes of each table, the smallest.
    sizes: usize,
}

impl Care {
    /// For the page.
    pub const MEASURE: Care =
        Care { rounds: 3, long_enough: Duration::from_millis(300), sizes: usize::MAX };

    /// To see whether it runs.
    pub const TRY: Care = Care { rounds: 1, long_enough: Duration::ZERO, sizes: 1 };

    /// The sizes that are measured.
    pub fn of<T: Copy>(self, sizes: &[T]) -> impl Iterator<Item = T> {
        sizes.iter().copied().take(self.sizes)
    }

    /// CPU time of `work`, the least of the rounds.
    pub fn least(self, mut work: impl FnMut()) -> Duration {
        let time = |_| {
            let start = cpu_time();
            work();
            cpu_time() - start
        };
        (0..self.rounds).map(time).min().expect("at least one round")
    }

    /// The cost of `run`, which is told a new replication each time and says its events.
    pub fn runs(self, mut run: impl FnMut(u32) -> u64) -> Cost {
        let mut replication = 0;
        let round = |_| {
            let (start, first) = (cpu_time(), replication);
            let mut events = 0;
            loop {
                events += run(replication);
                replication += 1;
                let time = cpu_time() - start;
                if time >= self.long_enough {
                    return Cost { runs: replication - first, events, time };
                }
            }
        };
        let rounds = (0..self.rounds).map(round);
        let least = |a: &Cost, b: &Cost| a.ns_per_event().total_cmp(&b.ns_per_event());
        rounds.min_by(least).expect("at least one round")
    }
}

/// What some runs have cost.
pub struct Cost {
    runs: u32,
    events: u64,
    time: Duration,
}

impl Cost {
    /// Events of a run.
    pub fn events(&self) -> f64 {
        self.events as f64 / f64::from(self.runs)
    }

    /// Seconds of a run.
    pub fn seconds(&self) -> f64 {
        self.time.as_secs_f64() / f64::from(self.runs)
    }

    /// Nanoseconds of an event.
    pub fn ns_per_event(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / self.events as f64
    }
}
