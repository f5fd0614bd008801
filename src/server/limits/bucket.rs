//! A token bucket that refills continuously.
//!
//! Kept in integers, so that over [0, T] it lets through at most burst + rate · T exactly.

use super::header::Wait;
use crate::units::{Rate, Time};

/// The state of one bucket. Its unit is 1/period of a token, so refilling is exact. What is
/// settled at the end may leave it in debt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    burst: u64,
    /// The level at which it is full.
    full: i128,
    level: i128,
    at: Time,
}

impl Bucket {
    /// A full bucket.
    pub(super) fn new(rate: Rate, burst: u64) -> Bucket {
        let full = i128::from(burst) * i128::from(rate.period());
        Bucket { rate, burst, full, level: full, at: 0 }
    }

    fn units(&self, amount: u64) -> i128 {
        i128::from(amount) * i128::from(self.rate.period())
    }

    #[inline]
    fn refill(&mut self, now: Time) {
        if now == self.at {
            return;
        }
        if self.level < self.full {
            let refill = u128::from(now - self.at) * u128::from(self.rate.events());
            let missing = self.full.abs_diff(self.level);
            self.level = if refill < missing { self.level + refill as i128 } else { self.full };
        }
        self.at = now;
    }

    /// Whether `amount` fits; even an attempt that takes nothing on arrival needs some to be left.
    #[inline]
    pub(super) fn fits(&mut self, now: Time, amount: u64) -> Result<(), Wait> {
        self.refill(now);
        let price = self.units(amount.max(1));
        if self.level >= price {
            return Ok(());
        }
        let possible = amount <= self.burst && self.burst > 0;
        Err(Wait { fits: self.until(price).filter(|_| possible), whole: self.until(self.full) })
    }

    /// Nanoseconds until the level is reached.
    fn until(&self, level: i128) -> Option<u64> {
        let missing = u128::try_from(level - self.level).unwrap_or(0);
        let events = u128::from(self.rate.events());
        (events > 0).then(|| u64::try_from(missing.div_ceil(events)).unwrap_or(u64::MAX))
    }

    /// Its size, what it holds, and nanoseconds until it is full.
    pub(super) fn standing(&mut self, now: Time) -> (u64, u64, Option<u64>) {
        self.refill(now);
        let held = self.level.max(0) / i128::from(self.rate.period());
        (self.burst, u64::try_from(held).unwrap_or(u64::MAX), self.until(self.full))
    }

    /// Takes `amount` if that fits, as [`Bucket::fits`] has it.
    #[inline]
    pub(super) fn admit(&mut self, now: Time, amount: u64) -> bool {
        self.refill(now);
        let one = i128::from(self.rate.period());
        let (least, price) = match amount {
            0 => (one, 0),
            1 => (one, one),
            _ => (self.units(amount), self.units(amount)),
        };
        let fits = self.level >= least;
        if fits {
            self.level -= price;
        }
        fits
    }

    /// Takes `amount`, or what is left of it.
    #[inline]
    pub(super) fn take(&mut self, now: Time, amount: u64) {
        self.refill(now);
        let taken = self.units(amount).min(self.level.max(0));
        self.level -= taken;
    }

    pub(super) fn settle(&mut self, now: Time, reserved: u64, actual: u64) {
        self.refill(now);
        let back = self.units(reserved) - self.units(actual);
        self.level = (self.level + back).min(self.full);
    }

    /// Another rate and size from `now` on; what it holds stays, as far as it has room.
    pub(super) fn change(&mut self, now: Time, rate: Rate, burst: u64) {
        self.refill(now);
        let held = self.level;
        let old = i128::from(self.rate.period());
        (self.rate, self.burst) = (rate, burst);
        self.full = self.units(burst);
        let scaled =
            held / old * i128::from(rate.period()) + held % old * i128::from(rate.period()) / old;
        self.level = scaled.min(self.full);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::NANOS_PER_SECOND;
    use proptest::prelude::*;

    fn bucket(rate: &str, burst: u64) -> Bucket {
        Bucket::new(rate.parse().unwrap(), burst)
    }

    /// In two steps; in one it is the same.
    fn admit(bucket: &mut Bucket, now: Time, amount: u64) -> Result<(), Wait> {
        let mut twin = *bucket;
        let admitted = twin.admit(now, amount);
        let fits = bucket.fits(now, amount);
        if fits.is_ok() {
            bucket.take(now, amount);
        }
        assert_eq!((admitted, twin.level), (fits.is_ok(), bucket.level));
        fits
    }

    /// T25: saturated, it admits exactly floor(B + r·T) over [0, T].
    #[test]
    fn a_saturated_bucket_admits_burst_and_rate_times_time() {
        for (rate, burst, seconds, expected) in [
            ("10/s", 5, 10, 105),
            ("1000/min", 1, 60, 1_001),
            ("0.3/s", 2, 10, 5),
            ("7/s", 0, 10, 0),
        ] {
            let mut bucket = bucket(rate, burst);
            let step = 1_000_000;
            let ticks = seconds * NANOS_PER_SECOND / step;
            let admitted = (0..=ticks).filter(|i| admit(&mut bucket, i * step, 1).is_ok()).count();
            assert_eq!(admitted, expected, "{rate} {burst}");
        }
    }

    #[test]
    fn the_wait_is_the_time_until_it_fits() {
        let mut bucket = bucket("2/s", 3);
        assert_eq!(admit(&mut bucket, 0, 3), Ok(()));
        let wait = admit(&mut bucket, 100_000_000, 2).unwrap_err();
        assert_eq!(wait, Wait { fits: Some(900_000_000), whole: Some(1_400_000_000) });
        assert!(bucket.fits(999_999_999, 2).is_err());
        assert_eq!(bucket.fits(1_000_000_000, 2), Ok(()));
        // What is larger than the bucket never fits.
        assert_eq!(bucket.fits(1_000_000_000, 4).unwrap_err().fits, None);
        let mut never = self::bucket("0/s", 1);
        admit(&mut never, 0, 1).unwrap();
        assert_eq!(never.fits(0, 1), Err(Wait { fits: None, whole: None }));
    }

    #[test]
    fn what_is_settled_leaves_a_debt() {
        let mut bucket = bucket("100/s", 100);
        // Claude's rule for output: nothing on arrival, everything at the end.
        admit(&mut bucket, 0, 0).unwrap();
        bucket.settle(0, 0, 250);
        assert_eq!(bucket.fits(0, 0).unwrap_err().fits, Some(1_510_000_000));
        assert_eq!(bucket.fits(1_510_000_000, 0), Ok(()));
        // Bedrock's: the reservation comes back.
        let mut bucket = self::bucket("100/s", 100);
        admit(&mut bucket, 0, 80).unwrap();
        assert!(bucket.fits(0, 80).is_err());
        bucket.settle(0, 80, 10);
        assert_eq!(bucket.fits(0, 80), Ok(()));
        assert!(bucket.fits(0, 91).is_err());
    }

    #[test]
    fn a_refused_attempt_takes_what_is_left_and_no_more() {
        let mut bucket = bucket("1/s", 1);
        admit(&mut bucket, 0, 1).unwrap();
        for tenth in 1..=100 {
            // Ten a second never let a whole token gather.
            let now = tenth * NANOS_PER_SECOND / 10;
            assert!(bucket.fits(now, 1).is_err());
            bucket.take(now, 1);
        }
        assert_eq!(bucket.fits(11 * NANOS_PER_SECOND, 1), Ok(()));
    }

    #[test]
    fn a_change_keeps_what_it_holds() {
        let mut bucket = bucket("60/min", 10);
        bucket.take(0, 6);
        bucket.change(NANOS_PER_SECOND, "7/s".parse().unwrap(), 20);
        assert_eq!(bucket.fits(NANOS_PER_SECOND, 5), Ok(()));
        assert!(bucket.fits(NANOS_PER_SECOND, 6).is_err());
        bucket.change(NANOS_PER_SECOND, "7/s".parse().unwrap(), 3);
        assert!(bucket.fits(NANOS_PER_SECOND, 4).is_err());
    }

    proptest! {
        /// Over [0, T] at most burst + rate · T, and whoever waits as told is let in.
        #[test]
        fn never_more_than_burst_and_rate_times_time(
            events in 1u64..50, period in 1u64..1_000, burst in 1u64..20,
            gaps in prop::collection::vec((0u64..400, 1u64..8), 1..100),
        ) {
            let rate: Rate = format!("{}/s", events * 1_000_000_000 / period).parse().unwrap();
            let mut bucket = Bucket::new(rate, burst);
            let (mut now, mut admitted) = (0, 0);
            for (gap, amount) in gaps {
                now += gap;
                match admit(&mut bucket, now, amount) {
                    Ok(()) => admitted += amount,
                    Err(Wait { fits: Some(wait), .. }) => {
                        prop_assert!(bucket.clone().fits(now + wait, amount).is_ok());
                        prop_assert!(wait == 0 || bucket.clone().fits(now + wait - 1, amount).is_err());
                    }
                    Err(_) => prop_assert!(amount > burst),
                }
                let most = u128::from(burst) * u128::from(rate.period())
                    + u128::from(now) * u128::from(rate.events());
                prop_assert!(u128::from(admitted) * u128::from(rate.period()) <= most);
            }
        }
    }
}
