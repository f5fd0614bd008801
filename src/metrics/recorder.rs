//! The observer that makes a run's facts.

use super::latency::{Durations, MeanDuration};
use super::windows::{Series, SlidingPeak};
use crate::answer::Outcome;
use crate::model::{Observer, Report};
use crate::server::{Billing, Tokens};
use crate::units::Time;

/// What to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Window of load peaks in nanoseconds.
    pub window: u64,
    /// How many retries of a request are watched one by one.
    pub per_retry: u32,
}

/// The k-th retries of all requests.
#[derive(Clone, Debug)]
pub(super) struct OneRetry {
    pub(super) bins: Series,
    pub(super) sliding: SlidingPeak,
    sum_of_times: u128,
}

impl OneRetry {
    fn new(window: u64) -> OneRetry {
        OneRetry { bins: Series::new(window), sliding: SlidingPeak::new(window), sum_of_times: 0 }
    }

    fn add(&mut self, now: Time) {
        self.bins.add(now);
        self.sliding.add(now);
        self.sum_of_times += u128::from(now);
    }

    /// Mean instant in seconds.
    pub(super) fn mean_s(&self) -> Option<f64> {
        let n = self.bins.total();
        (n > 0).then(|| self.sum_of_times as f64 / n as f64 / 1e9)
    }
}

/// Collects during a run what metrics are made of.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(super) first_attempts: Series,
    pub(super) retries: Series,
    pub(super) all_sliding: SlidingPeak,
    pub(super) retries_sliding: SlidingPeak,
    pub(super) by_retry: Vec<OneRetry>,
    pub(super) peak_present: u32,
    pub(super) completion: Durations,
    pub(super) gave_up_after: Durations,
    pub(super) last_resolved: Option<Time>,
    pub(super) queue_wait: MeanDuration,
    pub(super) billed: Tokens,
    pub(super) useful: Tokens,
    pub(super) budget_refused: u64,
}

impl Recorder {
    /// A recorder that watches as told.
    pub fn new(watch: Watch) -> Recorder {
        let Watch { window, per_retry } = watch;
        Recorder {
            first_attempts: Series::new(window),
            retries: Series::new(window),
            all_sliding: SlidingPeak::new(window),
            retries_sliding: SlidingPeak::new(window),
            by_retry: vec![OneRetry::new(window); per_retry as usize],
            peak_present: 0,
            completion: Durations::default(),
            gave_up_after: Durations::default(),
            last_resolved: None,
            queue_wait: MeanDuration::default(),
            billed: Tokens::default(),
            useful: Tokens::default(),
            budget_refused: 0,
        }
    }
}

impl Observer for Recorder {
    #[inline]
    fn attempt(&mut self, now: Time, number: u32) {
        self.all_sliding.add(now);
        if number == 1 {
            self.first_attempts.add(now);
            return;
        }
        self.retries.add(now);
        self.retries_sliding.add(now);
        if let Some(watched) = self.by_retry.get_mut(number as usize - 2) {
            watched.add(now);
        }
    }

    #[inline]
    fn present(&mut self, _now: Time, present: u32) {
        self.peak_present = self.peak_present.max(present);
    }

    #[inline]
    fn started(&mut self, _now: Time, waited: u64) {
        self.queue_wait.add(waited);
    }

    #[inline]
    fn billed(&mut self, _now: Time, tokens: Tokens, useful: bool) {
        self.billed += tokens;
        if useful {
            self.useful += tokens;
        }
    }

    #[inline]
    fn resolved(&mut self, now: Time, created: Time, outcome: Outcome) {
        self.last_resolved = Some(now);
        match outcome {
            Outcome::Succeeded => self.completion.add(now - created),
            Outcome::GaveUp(_) => self.gave_up_after.add(now - created),
        }
    }

    fn budget_refused(&mut self, _now: Time) {
        self.budget_refused += 1;
    }
}

/// Everything that is known after a run; metrics are functions of it.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(super) recorder: Recorder,
    pub(super) report: Report,
    pub(super) billing: Billing,
}

impl Facts {
    /// Closes the books of a run.
    pub fn new(mut recorder: Recorder, report: Report, billing: Billing) -> Facts {
        recorder.completion.close();
        recorder.gave_up_after.close();
        debug_assert_eq!(
            recorder.first_attempts.total() + recorder.retries.total(),
            report.ledger.attempts,
            "I12: windows add up to attempts"
        );
        Facts { recorder, report, billing }
    }

    /// Hash of the trajectory.
    pub fn fingerprint(&self) -> u64 {
        self.report.fingerprint
    }

    /// Events handled.
    pub fn events(&self) -> u64 {
        self.report.events
    }

    /// First attempts per window.
    pub fn first_attempts(&self) -> &[u32] {
        self.recorder.first_attempts.counts()
    }

    /// Retries per window.
    pub fn retries(&self) -> &[u32] {
        self.recorder.retries.counts()
    }
}
