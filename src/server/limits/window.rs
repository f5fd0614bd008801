//! Counting in windows: fixed ones that start at 0, or one that ends now.

use std::collections::VecDeque;

use super::header::Wait;
use crate::units::{Span, Time};

/// At most `quota` in each of [0, length), [length, 2 length), …
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedWindow {
    length: u64,
    pub(super) quota: u64,
    number: u64,
    used: u64,
}

impl FixedWindow {
    pub(super) fn new(length: Span, quota: u64) -> FixedWindow {
        FixedWindow { length: length.nanos().max(1), quota, number: 0, used: 0 }
    }

    fn turn(&mut self, now: Time) {
        let number = now / self.length;
        if number != self.number {
            (self.number, self.used) = (number, 0);
        }
    }

    pub(super) fn fits(&mut self, now: Time, amount: u64) -> Result<(), Wait> {
        self.turn(now);
        if self.used.saturating_add(amount.max(1)) <= self.quota {
            return Ok(());
        }
        let end = (self.number + 1).saturating_mul(self.length) - now;
        Err(Wait { fits: (amount.max(1) <= self.quota).then_some(end), whole: Some(end) })
    }

    /// Its quota, what is left of it, and nanoseconds until it ends.
    pub(super) fn standing(&mut self, now: Time) -> (u64, u64, Option<u64>) {
        self.turn(now);
        let end = (self.number + 1).saturating_mul(self.length) - now;
        (self.quota, self.quota.saturating_sub(self.used), Some(end))
    }

    /// Takes `amount`, or what is left of it.
    pub(super) fn take(&mut self, now: Time, amount: u64) {
        self.turn(now);
        self.used = self.used.saturating_add(amount).min(self.quota.max(self.used));
    }

    /// The difference counts in the window in which it becomes known.
    pub(super) fn settle(&mut self, now: Time, reserved: u64, actual: u64) {
        self.turn(now);
        self.used = self.used.saturating_add(actual).saturating_sub(reserved);
    }
}

/// At most `quota` in any (t − length, t].
#[derive(Clone, Debug)]
pub(super) struct SlidingWindow {
    length: u64,
    pub(super) quota: u64,
    /// What was taken, and when, in order; one entry per instant.
    log: VecDeque<(Time, u64)>,
    used: u64,
}

impl SlidingWindow {
    pub(super) fn new(length: Span, quota: u64) -> SlidingWindow {
        SlidingWindow { length: length.nanos().max(1), quota, log: VecDeque::new(), used: 0 }
    }

    fn turn(&mut self, now: Time) {
        while let Some(&(at, amount)) = self.log.front()
            && now - at >= self.length
        {
            self.used -= amount;
            self.log.pop_front();
        }
    }

    pub(super) fn fits(&mut self, now: Time, amount: u64) -> Result<(), Wait> {
        self.turn(now);
        let amount = amount.max(1);
        if self.used.saturating_add(amount) <= self.quota {
            return Ok(());
        }
        let whole = self.log.back().map(|(at, _)| at + self.length - now);
        // Enough of the oldest has to fall out of the window.
        let mut over = self.used.saturating_add(amount) - self.quota;
        let frees = self.log.iter().find(|(_, taken)| {
            let enough = *taken >= over;
            over = over.saturating_sub(*taken);
            enough
        });
        let fits = frees.filter(|_| amount <= self.quota).map(|(at, _)| at + self.length - now);
        Err(Wait { fits, whole })
    }

    /// Its quota, what is left of it, and nanoseconds until nothing that was taken counts.
    pub(super) fn standing(&mut self, now: Time) -> (u64, u64, Option<u64>) {
        self.turn(now);
        let whole = self.log.back().map_or(0, |(at, _)| at + self.length - now);
        (self.quota, self.quota.saturating_sub(self.used), Some(whole))
    }

    /// Takes `amount`. Beyond the quota the oldest is forgotten: it no longer matters.
    pub(super) fn take(&mut self, now: Time, amount: u64) {
        self.turn(now);
        match self.log.back_mut() {
            Some((at, taken)) if *at == now => *taken += amount,
            _ => self.log.push_back((now, amount)),
        }
        self.used += amount;
        while self.used > self.quota
            && let Some((_, oldest)) = self.log.front_mut()
        {
            let cut = (*oldest).min(self.used - self.quota);
            *oldest -= cut;
            self.used -= cut;
            if *oldest == 0 {
                self.log.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fixed_window_starts_anew() {
        let mut window = FixedWindow::new(Span::from_nanos(100), 3);
        for now in [0, 50, 99] {
            assert_eq!(window.fits(now, 1), Ok(()));
            window.take(now, 1);
        }
        let wait = Wait { fits: Some(1), whole: Some(1) };
        assert_eq!(window.fits(99, 1), Err(wait));
        assert_eq!(window.fits(100, 3), Ok(()));
        assert_eq!(window.fits(100, 4), Err(Wait { fits: None, whole: Some(100) }));
        window.take(100, 3);
        window.settle(120, 2, 0);
        assert_eq!(window.fits(120, 2), Ok(()));
        window.settle(130, 0, 9);
        assert!(window.fits(199, 1).is_err());
        assert_eq!(window.fits(200, 1), Ok(()));
    }

    #[test]
    fn a_sliding_window_forgets_one_by_one() {
        let mut window = SlidingWindow::new(Span::from_nanos(100), 3);
        [0, 10, 10].into_iter().for_each(|now| window.take(now, 1));
        assert_eq!(window.fits(50, 1), Err(Wait { fits: Some(50), whole: Some(60) }));
        assert_eq!(window.fits(50, 2), Err(Wait { fits: Some(60), whole: Some(60) }));
        assert_eq!(window.fits(100, 1), Ok(()));
        assert!(window.fits(109, 2).is_err());
        assert_eq!(window.fits(110, 3), Ok(()));
        // Attempts that are refused and counted keep it closed.
        for now in (0..1_000).step_by(10) {
            window.take(110 + now, 1);
        }
        assert_eq!(window.fits(1_100, 1), Err(Wait { fits: Some(80), whole: Some(100) }));
    }

    proptest! {
        /// In no window more than its quota, and whoever waits as told is let in.
        #[test]
        fn no_window_holds_more_than_its_quota(
            length in 1u64..200, quota in 1u64..10,
            gaps in prop::collection::vec((0u64..60, 1u64..5), 1..80),
        ) {
            let span = Span::from_nanos(length);
            let (mut fixed, mut sliding) = (FixedWindow::new(span, quota), SlidingWindow::new(span, quota));
            let (mut in_fixed, mut in_sliding) = (Vec::new(), Vec::new());
            let mut now = 0;
            for (gap, amount) in gaps {
                now += gap;
                match fixed.fits(now, amount) {
                    Ok(()) => { fixed.take(now, amount); in_fixed.push((now, amount)); }
                    Err(Wait { fits: Some(wait), .. }) => {
                        prop_assert!(fixed.clone().fits(now + wait, amount).is_ok());
                    }
                    Err(_) => prop_assert!(amount > quota),
                }
                match sliding.fits(now, amount) {
                    Ok(()) => { sliding.take(now, amount); in_sliding.push((now, amount)); }
                    Err(Wait { fits: Some(wait), .. }) => {
                        prop_assert!(sliding.clone().fits(now + wait, amount).is_ok());
                        prop_assert!(sliding.clone().fits(now + wait - 1, amount).is_err());
                    }
                    Err(_) => prop_assert!(amount > quota),
                }
                let sum = |taken: &[(u64, u64)], inside: &dyn Fn(u64) -> bool| {
                    taken.iter().filter(|(at, _)| inside(*at)).map(|(_, n)| n).sum::<u64>()
                };
                prop_assert!(sum(&in_fixed, &|at| at / length == now / length) <= quota);
                prop_assert!(sum(&in_sliding, &|at| now - at < length) <= quota);
            }
        }
    }
}
