//! How long to wait before the next attempt.
//!
//! With `d = min(cap, base · multiplier^n)`, n = 0 before the first retry and U uniform on [0,1):
//!
//! | backoff | wait | source |
//! | --- | --- | --- |
//! | `none` | d | exponential backoff without jitter |
//! | `full_jitter` | d·U | Brooker 2015, aws-arch-backoff-simulator 66cb169 |
//! | `equal_jitter` | d/2 + d/2·U | same |
//! | `sdk_jitter` | d·(1 - U/4) | openai-python 3.57.0 and anthropic-python 2.14.0, `_calculate_retry_timeout` |
//! | `additive_jitter` | d + fraction·d·U | microsoft/retina pull request 2609 |
//! | `decorrelated_jitter` | min(cap, base + (3·previous - base)·U), previous = base at first | Brooker 2015 |
//! | `no_backoff` | 0 | retry at once |
//! | `formula` | what it says, see [`Formula`] | one's own |
//! | `table` | drawn from a list, see [`WaitTable`] | one's own, or measured |

use serde::{Deserialize, Serialize};

use super::{Formula, WaitTable};
use crate::rng::Stream;
use crate::units::Span;

/// An exponential schedule: `min(cap, base · multiplier^n)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Wait before the first retry, jitter apart.
    pub base: Span,
    /// Growth per retry, 1 to 1000; 2 by default.
    #[serde(default = "two")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 1000.0)))]
    pub multiplier: f64,
    /// Longest wait, jitter apart; at least `base`.
    pub cap: Span,
}

/// A schedule with jitter on top: waits lie in [d, d + fraction·d).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Additive {
    /// Wait before the first retry, jitter apart.
    pub base: Span,
    /// Growth per retry, 1 to 1000; 2 by default.
    #[serde(default = "two")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 1000.0)))]
    pub multiplier: f64,
    /// Longest wait, jitter apart; at least `base`.
    pub cap: Span,
    /// Largest addition as a share of d, 0 to 10; 1 by default.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 10.0)))]
    pub fraction: f64,
}

/// Bounds of decorrelated jitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Decorrelated {
    /// Shortest wait, above 0s.
    pub base: Span,
    /// Longest wait; at least `base`.
    pub cap: Span,
}

fn two() -> f64 {
    2.0
}

fn one() -> f64 {
    1.0
}

/// What a wait follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// Which retry it is for, 0 for the first.
    pub n: u32,
    /// The status of the failure, 0 when it has none.
    pub status: u16,
}

impl After {
    /// The largest status.
    pub const MOST_STATUS: u16 = 599;

    /// The wait before retry `n` after a failure without a status.
    pub fn retry(n: u32) -> After {
        After { n, status: 0 }
    }
}

/// The wait before a retry, with d = min(cap, base · multiplier^n), n = 0 before the first retry
/// and U uniform on [0, 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// 0: it retries at once. Written `"no_backoff"`.
    NoBackoff,
    /// d.
    #[serde(rename = "none")]
    NoJitter(Schedule),
    /// d·U.
    FullJitter(Schedule),
    /// d/2 + d/2·U.
    EqualJitter(Schedule),
    /// d·(1 - U/4), the rule of the official SDKs.
    SdkJitter(Schedule),
    /// d + fraction·d·U.
    AdditiveJitter(Additive),
    /// min(cap, base + (3·previous wait - base)·U); the previous wait is `base` at first.
    DecorrelatedJitter(Decorrelated),
    /// A formula of one's own.
    Formula(Formula),
    /// Drawn from a list, written or measured.
    Table(WaitTable),
}

/// Names of policies on the command line, with what they stand for.
pub const POLICIES: [(&str, &str); 8] = [
    ("none", "exponential backoff without jitter"),
    ("sdk", "the official SDKs' schedule: 0.5 s doubling to 8 s, up to 25 % shorter"),
    ("equal", "equal jitter: half fixed, half uniform"),
    ("full", "full jitter: uniform between 0 and the schedule"),
    ("decorrelated", "decorrelated jitter: uniform between base and 3 times the last wait"),
    ("additive", "the schedule plus up to as much again"),
    ("no-backoff", "retry at once"),
    ("no-retry", "a single attempt"),
];

/// Schedule of policies that no scenario gives a base and a cap.
const USUAL: Schedule =
    Schedule { base: Span::from_seconds(1), multiplier: 2.0, cap: Span::from_seconds(30) };

/// Schedule of the official SDKs.
const SDK: Schedule =
    Schedule { base: Span::from_nanos(500_000_000), multiplier: 2.0, cap: Span::from_seconds(8) };

impl Schedule {
    /// The wait before retry `n` (0 for the first), jitter apart.
    #[inline]
    fn step(&self, n: u32) -> u64 {
        let (base, cap) = (self.base.nanos(), self.cap.nanos());
        if self.multiplier == 2.0 {
            // The usual case stays in integers; beyond 63 doublings any base has passed any cap.
            let doubled = u128::from(base) << n.min(63);
            return doubled.min(u128::from(cap)) as u64;
        }
        let mut step = base as f64;
        for _ in 0..n {
            if self.multiplier == 1.0 || step >= cap as f64 {
                break;
            }
            step *= self.multiplier;
        }
        (step as u64).min(cap)
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        if !(1.0..=1_000.0).contains(&self.multiplier) {
            return Some((
                "multiplier",
                format!("the multiplier {} is out of range; write 1 to 1000", self.multiplier),
            ));
        }
        cap_below_base(self.base, self.cap)
    }
}

fn cap_below_base(base: Span, cap: Span) -> Option<(&'static str, String)> {
    (cap < base).then(|| {
        ("cap", format!("the cap {cap} is below the base {base}; write a cap of at least {base}"))
    })
}

impl Backoff {
    /// The wait in nanoseconds. `memory` is what the backoff remembers of the call,
    /// [`Backoff::memory`] values, 0 at first.
    #[inline]
    pub fn wait(&self, after: After, memory: &mut [u64], mut stream: Stream) -> u64 {
        let n = after.n;
        match self {
            Backoff::NoBackoff => 0,
            Backoff::NoJitter(s) => s.step(n),
            Backoff::FullJitter(s) => stream.below(s.step(n)),
            Backoff::EqualJitter(s) => {
                let step = s.step(n);
                step / 2 + stream.below(step - step / 2)
            }
            Backoff::SdkJitter(s) => {
                let step = s.step(n);
                step - stream.below(step / 4)
            }
            Backoff::AdditiveJitter(a) => {
                let step = a.schedule().step(n);
                step + stream.below((step as f64 * a.fraction) as u64)
            }
            Backoff::DecorrelatedJitter(d) => {
                let (base, cap) = (d.base.nanos(), d.cap.nanos());
                let previous = memory.first().copied().filter(|&p| p > 0).unwrap_or(base);
                let high = previous.saturating_mul(3);
                let wait = (base + stream.below(high.saturating_sub(base))).min(cap);
                memory.iter_mut().for_each(|value| *value = wait);
                wait
            }
            Backoff::Formula(f) => f.wait(after, memory, stream),
            Backoff::Table(t) => t.wait(n, stream),
        }
    }

    /// The shortest and the longest wait before retry `n`: every wait lies in this closed range.
    pub fn bounds(&self, n: u32) -> (u64, u64) {
        match self {
            Backoff::NoBackoff => (0, 0),
            Backoff::NoJitter(s) => (s.step(n), s.step(n)),
            Backoff::FullJitter(s) => (0, s.step(n)),
            Backoff::EqualJitter(s) => (s.step(n) / 2, s.step(n)),
            Backoff::SdkJitter(s) => (s.step(n) - s.step(n) / 4, s.step(n)),
            Backoff::AdditiveJitter(a) => {
                let step = a.schedule().step(n);
                (step, step + (step as f64 * a.fraction) as u64)
            }
            Backoff::DecorrelatedJitter(d) => (d.base.nanos(), d.cap.nanos()),
            Backoff::Formula(f) => f.bounds(n),
            Backoff::Table(t) => t.bounds(n),
        }
    }

    /// Its key in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            Backoff::NoBackoff => "no_backoff",
            Backoff::NoJitter(_) => "none",
            Backoff::FullJitter(_) => "full_jitter",
            Backoff::EqualJitter(_) => "equal_jitter",
            Backoff::SdkJitter(_) => "sdk_jitter",
            Backoff::AdditiveJitter(_) => "additive_jitter",
            Backoff::DecorrelatedJitter(_) => "decorrelated_jitter",
            Backoff::Formula(_) => "formula",
            Backoff::Table(_) => "table",
        }
    }

    /// How many values it remembers from one wait of a call to the next.
    pub fn memory(&self) -> usize {
        match self {
            Backoff::DecorrelatedJitter(_) => 1,
            Backoff::Formula(f) => f.memory(),
            _ => 0,
        }
    }

    /// What is wrong with the parameters of a layer that retries `retries` times: the key and a
    /// sentence.
    pub fn problem(&self, retries: u32) -> Option<(&'static str, String)> {
        match self {
            Backoff::NoBackoff => None,
            Backoff::Formula(f) => f.problem(retries).map(|text| ("wait", text)),
            Backoff::Table(t) => t.problem(),
            Backoff::NoJitter(s)
            | Backoff::FullJitter(s)
            | Backoff::EqualJitter(s)
            | Backoff::SdkJitter(s) => s.problem(),
            Backoff::AdditiveJitter(a) if !(0.0..=10.0).contains(&a.fraction) => Some((
                "fraction",
                format!("the fraction {} is out of range; write 0 to 10", a.fraction),
            )),
            Backoff::AdditiveJitter(a) => a.schedule().problem(),
            Backoff::DecorrelatedJitter(d) if d.base == Span::ZERO => {
                let text = "the base 0s would never grow; write a base above 0s";
                Some(("base", text.to_owned()))
            }
            Backoff::DecorrelatedJitter(d) => cap_below_base(d.base, d.cap),
        }
    }

    /// The backoff that a policy name stands for; None for `no-retry` and unknown names.
    ///
    /// The base, multiplier and cap are those of `like`, where it has them, and otherwise 1 s
    /// doubling to 30 s. `sdk` is always the SDKs' own schedule.
    pub fn named(name: &str, like: Option<&Backoff>) -> Option<Backoff> {
        let schedule = like.and_then(Backoff::schedule).unwrap_or(USUAL);
        let Schedule { base, multiplier, cap } = schedule;
        Some(match name {
            "none" => Backoff::NoJitter(schedule),
            "sdk" => Backoff::SdkJitter(SDK),
            "equal" => Backoff::EqualJitter(schedule),
            "full" => Backoff::FullJitter(schedule),
            "decorrelated" => Backoff::DecorrelatedJitter(Decorrelated { base, cap }),
            "additive" => {
                Backoff::AdditiveJitter(Additive { base, multiplier, cap, fraction: 1.0 })
            }
            "no-backoff" => Backoff::NoBackoff,
            _ => return None,
        })
    }

    fn schedule(&self) -> Option<Schedule> {
        match self {
            Backoff::NoBackoff | Backoff::Table(_) => None,
            Backoff::NoJitter(s)
            | Backoff::FullJitter(s)
            | Backoff::EqualJitter(s)
            | Backoff::SdkJitter(s) => Some(*s),
            Backoff::AdditiveJitter(a) => Some(a.schedule()),
            Backoff::DecorrelatedJitter(d) => {
                Some(Schedule { base: d.base, multiplier: 2.0, cap: d.cap })
            }
            Backoff::Formula(f) => {
                let (base, cap) = (f.span("base")?, f.span("cap")?);
                Some(Schedule { base, multiplier: 2.0, cap }).filter(|s| s.problem().is_none())
            }
        }
    }
}

impl Additive {
    fn schedule(&self) -> Schedule {
        Schedule { base: self.base, multiplier: self.multiplier, cap: self.cap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    const ALL: [&str; 7] =
        ["none", "sdk", "equal", "full", "decorrelated", "additive", "no-backoff"];

    #[test]
    fn every_wait_lies_in_its_bounds_and_reaches_them() {
        let streams = Streams::new(3, 0);
        for name in ALL {
            let backoff = Backoff::named(name, None).unwrap();
            for n in 0..8 {
                let (low, high) = backoff.bounds(n);
                let wait = |i| backoff.wait(After::retry(n), &mut [high], streams.backoff(0, i, n));
                let waits: Vec<u64> = (0..2_000).map(wait).collect();
                assert!(waits.iter().all(|w| (low..=high).contains(w)), "{name} {n}");
                let spread = (high - low) / 100;
                assert!(*waits.iter().min().unwrap() <= low + spread, "{name} {n}");
                assert!(*waits.iter().max().unwrap() + spread >= high, "{name} {n}");
            }
        }
    }

    #[test]
    fn schedules_double_and_saturate() {
        let s = |multiplier| Schedule {
            base: Span::from_seconds(1),
            multiplier,
            cap: Span::from_seconds(30),
        };
        let steps = |m: f64| [0, 1, 2, 4, 5, 10_000].map(|n| s(m).step(n) / 1_000_000);
        assert_eq!(steps(2.0), [1_000, 2_000, 4_000, 16_000, 30_000, 30_000]);
        assert_eq!(steps(1.5), [1_000, 1_500, 2_250, 5_062, 7_593, 30_000]);
        assert_eq!(steps(1.0), [1_000; 6]);
    }

    #[test]
    fn the_sdk_rule_gives_the_recorded_ranges() {
        // openai-python 3.57.0: (0.375, 0.5], (0.75, 1], (1.5, 2], (3, 4], (6, 8], (6, 8] s.
        let sdk = Backoff::named("sdk", None).unwrap();
        let ranges = [0, 1, 2, 3, 4, 5].map(|n| sdk.bounds(n));
        let ms = |low: u64, high: u64| (low * 1_000_000, high * 1_000_000);
        let recorded = [
            (375, 500),
            (750, 1_000),
            (1_500, 2_000),
            (3_000, 4_000),
            (6_000, 8_000),
            (6_000, 8_000),
        ];
        assert_eq!(ranges, recorded.map(|(low, high)| ms(low, high)));
    }

    #[test]
    fn bad_parameters_are_named() {
        let schedule = |base, multiplier, cap| Schedule {
            base: Span::from_seconds(base),
            multiplier,
            cap: Span::from_seconds(cap),
        };
        let problem = |s| Backoff::FullJitter(s).problem(3).map(|(key, _)| key);
        assert_eq!(problem(schedule(2, 2.0, 1)), Some("cap"));
        assert_eq!(problem(schedule(1, 0.5, 2)), Some("multiplier"));
        assert_eq!(problem(schedule(1, f64::NAN, 2)), Some("multiplier"));
        assert_eq!(problem(schedule(1, 2.0, 1)), None);
    }
}
