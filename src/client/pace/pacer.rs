//! The state of a pace: a bucket of tokens, and the line of those who wait for one.

use std::collections::VecDeque;

use super::aimd::AimdState;
use super::cubic::{CubicState, LEAST_RATE};
use super::{Pace, Sign};
use crate::units::{NANOS_PER_SECOND, Time};

/// Someone in line.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    request: u32,
    /// Its step when it began to wait, and when that was.
    step: u32,
    since: Time,
    /// When it stops waiting; a turn at this very instant comes too late, as a permit does.
    until: Time,
}

/// The state of one pace.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Tokens per second.
    rate: f64,
    capacity: f64,
    tokens: f64,
    refilled_at: Time,
    granted: u64,
    adapt: Adapt,
    line: VecDeque<Waiter>,
    /// The first in line, its step, and when it is to be woken.
    promised: Option<(u32, u32, Time)>,
}

#[derive(Clone, Debug)]
enum Adapt {
    Fixed,
    Aimd(AimdState),
    Cubic(CubicState),
}

/// A token that is there but for rounding.
const ALMOST: f64 = 1e-9;

impl Pacer {
    /// A pace that nobody has used yet.
    pub fn new(rule: &Pace) -> Pacer {
        let (rate, capacity, tokens, adapt) = match *rule {
            Pace::Fixed(fixed) => {
                let burst = f64::from(fixed.burst);
                (fixed.rate.hertz(), burst, burst, Adapt::Fixed)
            }
            Pace::Aimd(aimd) => (aimd.start.hertz(), 1.0, 1.0, Adapt::Aimd(AimdState::new(aimd))),
            Pace::Cubic(_) => (1.0, 1.0, 0.0, Adapt::Cubic(CubicState::default())),
        };
        let line = VecDeque::new();
        Pacer { rate, capacity, tokens, refilled_at: 0, granted: 0, adapt, line, promised: None }
    }

    /// Takes a token for an attempt that comes now, if there is one and nobody waits.
    pub fn try_take(&mut self, now: Time) -> bool {
        if let Adapt::Cubic(state) = &self.adapt
            && !state.enabled
        {
            return true;
        }
        self.line.is_empty() && self.take(now)
    }

    /// Gets in line.
    pub fn wait(&mut self, request: u32, step: u32, since: Time, until: Time) {
        self.line.push_back(Waiter { request, step, since, until });
    }

    /// The first in line that still waits, and when there is a token for it; None when nobody waits, or
    /// it was promised to be woken until then.
    pub fn next(
        &mut self,
        now: Time,
        still_waits: impl Fn(u32, u32) -> bool,
    ) -> Option<(u32, Time)> {
        while let Some(&Waiter { request, step, until, .. }) = self.line.front() {
            if until <= now || !still_waits(request, step) {
                self.line.pop_front();
                continue;
            }
            let ready = self.ready(now);
            let kept = self.promised.is_some_and(|(who, at_step, at)| {
                (who, at_step) == (request, step) && now < at && at <= ready
            });
            self.promised = Some((request, step, ready)).filter(|_| !kept).or(self.promised);
            return (!kept).then_some((request, ready));
        }
        None
    }

    /// Takes the token for `request`, if it is the first in line and there is one; returns since
    /// when it waited.
    pub fn take_turn(&mut self, request: u32, now: Time) -> Option<Time> {
        let first = *self.line.front()?;
        if first.request != request || first.until <= now || !self.take(now) {
            return None;
        }
        self.line.pop_front();
        Some(first.since)
    }

    /// An attempt has ended. The rate may be another one from now on.
    pub fn learn(&mut self, sign: Sign, now: Time) {
        self.refill(now);
        match &mut self.adapt {
            Adapt::Fixed => {}
            Adapt::Aimd(state) => self.rate = state.learn(sign, now, self.rate),
            Adapt::Cubic(state) => {
                let new = state.learn(sign, now as f64 / NANOS_PER_SECOND as f64, self.rate);
                self.rate = new.max(LEAST_RATE);
                self.capacity = new.max(1.0);
                self.tokens = self.tokens.min(self.capacity);
            }
        }
    }

    /// Conservation of a fixed pace: no more than the burst and what the rate has brought until `end`.
    pub fn within_its_rate(&self, end: Time) -> bool {
        let brought = self.rate * end as f64 / NANOS_PER_SECOND as f64;
        !matches!(self.adapt, Adapt::Fixed)
            || self.granted as f64 <= self.capacity + brought * (1.0 + ALMOST) + ALMOST
    }

    fn refill(&mut self, now: Time) {
        let passed = (now - self.refilled_at) as f64 / NANOS_PER_SECOND as f64;
        self.tokens = (self.tokens + self.rate * passed).min(self.capacity);
        self.refilled_at = now;
    }

    fn take(&mut self, now: Time) -> bool {
        self.refill(now);
        if self.tokens < 1.0 - ALMOST {
            return false;
        }
        self.tokens = (self.tokens - 1.0).max(0.0);
        self.granted += 1;
        true
    }

    /// When the next token is there.
    fn ready(&mut self, now: Time) -> Time {
        self.refill(now);
        let missing = (1.0 - self.tokens).max(0.0);
        let wait = (missing / self.rate * NANOS_PER_SECOND as f64).ceil();
        // `as` saturates: a rate of nearly nothing is beyond every horizon.
        now.saturating_add(wait as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    const S: Time = 1_000_000_000;

    fn pacer(text: &str) -> Pacer {
        #[derive(Deserialize)]
        struct Layer {
            pace: Pace,
        }
        let layer: Layer = toml::from_str(&format!("pace = {text}")).unwrap();
        assert_eq!(layer.pace.problem(), None);
        Pacer::new(&layer.pace)
    }

    #[test]
    fn a_fixed_pace_grants_its_burst_and_its_rate() {
        let mut pacer = pacer("{ fixed = { rate = \"3/s\", burst = 2, scope = \"fleet\" } }");
        assert!(pacer.try_take(0) && pacer.try_take(0) && !pacer.try_take(0));
        let all = |_, _| true;
        [7, 8].into_iter().for_each(|request| pacer.wait(request, 1, 0, Time::MAX));
        let mut now = 0;
        for (request, turn) in [(7, 333_333_334), (8, 666_666_668)] {
            let (first, ready) = pacer.next(now, all).unwrap();
            assert!(first == request && ready.abs_diff(turn) <= 1, "{first} {ready}");
            assert_eq!(pacer.next(now, all), None, "it is promised already");
            assert_eq!(pacer.take_turn(15 - request, ready), None, "not its turn");
            assert!(!pacer.try_take(ready), "a newcomer does not pass the line");
            assert_eq!(pacer.take_turn(request, ready), Some(0));
            now = ready;
        }
        assert!(pacer.within_its_rate(now));
        assert!(!pacer.within_its_rate(300_000_000));
    }

    #[test]
    fn who_has_left_the_line_is_passed_over() {
        let mut pacer = pacer("{ fixed = { rate = \"1/s\", scope = \"fleet\" } }");
        assert!(pacer.try_take(0));
        (1..4).for_each(|request| pacer.wait(request, 0, 0, u64::from(request) * S));
        assert_eq!(pacer.next(0, |request, _| request != 1), Some((2, S)));
        // At the very instant at which its time is over a turn comes too late.
        assert_eq!(pacer.take_turn(2, 2 * S), None);
        assert_eq!(pacer.next(2 * S, |_, _| true), Some((3, 2 * S)));
        assert_eq!(pacer.next(0, |_, _| false), None);
    }

    #[test]
    fn aimd_adds_and_halves_once_per_hold() {
        let mut pacer = pacer(
            "{ aimd = { start = \"10/s\", min = \"2/s\", max = \"12/s\", increase = 0.5, hold = \"1s\", scope = \"fleet\" } }",
        );
        (0..3).for_each(|_| pacer.learn(Sign::Answered, 0));
        assert_eq!(pacer.rate, 11.5);
        (0..3).for_each(|_| pacer.learn(Sign::Answered, 0));
        assert_eq!(pacer.rate, 12.0);
        (0..3).for_each(|_| pacer.learn(Sign::Throttled, S));
        assert_eq!(pacer.rate, 6.0);
        pacer.learn(Sign::Throttled, 2 * S);
        assert_eq!(pacer.rate, 3.0);
        pacer.learn(Sign::Throttled, 3 * S);
        assert_eq!(pacer.rate, 2.0);
    }

    /// The formulas of botocore: after a 429 at a measured rate w the rate is 0.7 w, and
    /// 0.4 (t - k)³ + w with k = (0.3 w / 0.4)^(1/3) at t seconds after it, at most twice what is measured.
    #[test]
    fn the_adaptive_mode_follows_a_cubic() {
        let mut pacer = pacer("{ cubic = { scope = \"client\" } }");
        // 10 responses per second for 10 s; nothing is paced before the first 429.
        for n in 0..100 {
            assert!(pacer.try_take(n * S / 10));
            pacer.learn(Sign::Answered, n * S / 10);
        }
        let at = 99 * S / 10;
        let Adapt::Cubic(state) = &pacer.adapt else { panic!() };
        let measured = state.measured;
        assert!((measured - 10.0).abs() < 0.5, "{measured}");
        pacer.learn(Sign::Throttled, at);
        assert!((pacer.rate - 0.7 * measured).abs() < 1e-9);
        let zero = (0.3 * measured / 0.4).powf(1.0 / 3.0);
        for n in 1..40 {
            let now = at + n * S / 10;
            pacer.learn(Sign::Answered, now);
            let off = n as f64 / 10.0 - zero;
            let Adapt::Cubic(state) = &pacer.adapt else { panic!() };
            let cubic = (0.4 * off * off * off + measured).min(2.0 * state.measured);
            assert!((pacer.rate - cubic).abs() < 1e-6, "{n}: {} for {cubic}", pacer.rate);
        }
        // Nothing goes below one attempt per two seconds.
        (0..50).for_each(|n| pacer.learn(Sign::Throttled, 20 * S + n));
        assert!(pacer.rate >= 0.5);
    }
}
