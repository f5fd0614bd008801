//! A limit on growth: a sharp rise is refused below the published limits.
//!
//! The Claude API documents acceleration limits without numbers
//! (<https://platform.claude.com/docs/en/api/errors>, 429), so all of them are the scenario's.

use serde::{Deserialize, Serialize};

use super::header::Wait;
use super::{RetryAfterHeader, everyone};
use crate::client::Scope;
use crate::units::{Span, Time};

/// In each of [0, window), [window, 2 window), … at most `factor` times as many attempts are let
/// through as in the one before, and `free` in any case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GrowthLimit {
    /// Length of a window, above 0s.
    pub window: Span,
    /// Growth from one window to the next, 1 to 1000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 1000.0)))]
    pub factor: f64,
    /// Attempts that a window lets through in any case, 1 or more.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub free: u64,
    /// How the Retry-After of a 429 is computed.
    #[serde(default)]
    pub retry_after: RetryAfterHeader,
    /// Who shares it.
    #[serde(default = "everyone")]
    pub shared_by: Scope,
}

impl GrowthLimit {
    /// What is wrong with the parameters: the key and a sentence.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        if self.window == Span::ZERO {
            let text = "a window of 0s holds nothing; write a window such as \"60s\"";
            return Some(("window", text.to_owned()));
        }
        if !(1.0..=1000.0).contains(&self.factor) {
            let factor = self.factor;
            return Some((
                "factor",
                format!("the factor {factor} is out of range; write 1 to 1000"),
            ));
        }
        let none = "0 free attempts never let a first one through; write 1 or more";
        (self.free == 0).then(|| ("free", none.to_owned()))
    }
}

/// What was let through in this window and the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    window: u64,
    thousandths: u64,
    free: u64,
    number: u64,
    before: u64,
    now: u64,
}

impl Growth {
    pub(super) fn new(rule: &GrowthLimit) -> Growth {
        Growth {
            window: rule.window.nanos(),
            thousandths: (rule.factor * 1_000.0 + 0.5) as u64,
            free: rule.free,
            number: 0,
            before: 0,
            now: 0,
        }
    }

    fn turn(&mut self, now: Time) {
        let number = now / self.window;
        if number != self.number {
            self.before = if number == self.number + 1 { self.now } else { 0 };
            (self.number, self.now) = (number, 0);
        }
    }

    pub(super) fn fits(&mut self, now: Time) -> Result<(), Wait> {
        self.turn(now);
        let allowed = (self.before.saturating_mul(self.thousandths) / 1_000).max(self.free);
        if self.now < allowed {
            return Ok(());
        }
        let end = (self.number + 1).saturating_mul(self.window) - now;
        Err(Wait { fits: Some(end), whole: Some(end) })
    }

    pub(super) fn take(&mut self, now: Time) {
        self.turn(now);
        self.now += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn growth(factor: f64, free: u64) -> Growth {
        let window = Span::from_nanos(100);
        let (retry_after, shared_by) = (RetryAfterHeader::Exact, Scope::Fleet);
        Growth::new(&GrowthLimit { window, factor, free, retry_after, shared_by })
    }

    #[test]
    fn a_saturated_limit_doubles_from_window_to_window() {
        let mut growth = growth(2.0, 10);
        let mut admitted = [0; 6];
        for now in 0..600 {
            for _ in 0..4 {
                if growth.fits(now).is_ok() {
                    growth.take(now);
                    admitted[now as usize / 100] += 1;
                }
            }
        }
        assert_eq!(admitted, [10, 20, 40, 80, 160, 320]);
        assert_eq!(growth.fits(600), Ok(()));
        // After a window without any it starts again.
        (0..10).for_each(|_| growth.take(800));
        assert_eq!(growth.fits(810), Err(Wait { fits: Some(90), whole: Some(90) }));
    }

    proptest! {
        #[test]
        fn no_window_outgrows_the_one_before(
            gaps in prop::collection::vec(0u64..30, 1..300), free in 1u64..5,
        ) {
            let mut growth = growth(1.5, free);
            let mut windows = vec![0u64];
            let mut now = 0;
            for gap in gaps {
                now += gap;
                windows.resize(now as usize / 100 + 1, 0);
                if growth.fits(now).is_ok() {
                    growth.take(now);
                    *windows.last_mut().unwrap() += 1;
                }
            }
            for pair in windows.windows(2) {
                prop_assert!(pair[1] <= (pair[0] * 3 / 2).max(free));
            }
        }
    }
}
