//! Scenario time by the wall clock.

// This room lives on wall time; nothing of the model does.
#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::units::Time;

/// Scenario time, which starts with the first attempt and goes `scale` times as fast as the wall
/// clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    scale: f64,
    start: Option<Instant>,
    last: Time,
}

/// An instant of the wall clock.
pub fn instant() -> Instant {
    Instant::now()
}

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl Clock {
    /// A clock that has not started; `scale` scenario seconds pass per second, above 0.
    pub fn new(scale: f64) -> Clock {
        Clock { scale, start: None, last: 0 }
    }

    /// Scenario time of an instant, never earlier than what was told before; the first one that is asked for is
    /// time 0.
    pub fn at(&mut self, instant: Instant) -> Time {
        let start = *self.start.get_or_insert(instant);
        let passed = instant.saturating_duration_since(start);
        let now = (passed.as_nanos() as f64 * self.scale) as Time;
        self.last = self.last.max(now);
        self.last
    }

    /// Scenario time now; None before the start.
    pub fn now(&mut self) -> Option<Time> {
        self.start.is_some().then(|| self.at(Instant::now()))
    }

    /// How long it takes by the wall clock until scenario time `at`.
    pub fn until(&mut self, at: Time) -> Duration {
        let now = self.now().unwrap_or(0);
        self.wall(at.saturating_sub(now))
    }

    /// How long so much scenario time takes by the wall clock.
    pub fn wall(&self, nanos: Time) -> Duration {
        Duration::from_nanos((nanos as f64 / self.scale).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_starts_with_the_first_attempt_runs_scaled_and_never_back() {
        let start = instant();
        let mut clock = Clock::new(20.0);
        assert_eq!(clock.now(), None);
        assert_eq!(clock.at(start), 0);
        let ms = Duration::from_millis(1);
        assert_eq!(clock.at(start + ms), 20_000_000);
        assert_eq!(clock.at(start), 20_000_000);
        assert_eq!(clock.wall(20_000_000), ms);
    }
}
