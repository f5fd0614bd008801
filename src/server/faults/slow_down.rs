//! All service takes longer for a while.

use serde::{Deserialize, Serialize};

use super::{Fault, covers};
use crate::units::{LONGEST, Span, Time};

/// Service takes `factor` times as long during [from, to). Work under way is stretched by the part
/// of it that falls into the period; several faults multiply.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlowDown {
    /// How many times as long, 0.001 to 1000; below 1 is faster.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000.0)))]
    pub factor: f64,
    /// Its start.
    pub from: Span,
    /// Its end; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
}

impl SlowDown {
    /// What is wrong with the parameters: the key and a sentence.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let factor = self.factor;
        let good = (0.001..=1000.0).contains(&factor);
        (!good).then(|| {
            ("factor", format!("the factor {factor} is out of range; write 0.001 to 1000"))
        })
    }
}

/// Factors are counted in millionths, so that times stay integers.
const UNIT: u128 = 1_000_000;

/// How fast service goes, over all slow-downs: a factor in millionths that holds from an instant
/// to the next one. Overlapping slow-downs multiply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace(Vec<(Time, u128)>);

impl Pace {
    /// The pace under `faults`; None when nothing slows it.
    pub fn of(faults: &[Fault]) -> Option<Pace> {
        let slow_downs: Vec<&SlowDown> = faults
            .iter()
            .filter_map(|fault| match fault {
                Fault::SlowDown(slow_down) => Some(slow_down),
                _ => None,
            })
            .collect();
        let ends = |s: &&SlowDown| [Some(s.from.nanos()), s.to.map(Span::nanos)];
        let mut instants: Vec<Time> = slow_downs.iter().flat_map(ends).flatten().collect();
        instants.push(0);
        instants.sort_unstable();
        instants.dedup();
        let factor = |at: Time| {
            let on = slow_downs.iter().filter(|s| covers(Some(s.from), s.to, at));
            let millionths = |s: &&SlowDown| (s.factor * UNIT as f64 + 0.5) as u128;
            // Beyond a million-fold nothing moves in any horizon, and products stay in range.
            on.fold(UNIT, |all, s| (all * millionths(s) / UNIT).clamp(1, UNIT * UNIT))
        };
        let steps = instants.into_iter().map(|at| (at, factor(at))).collect();
        (!slow_downs.is_empty()).then_some(Pace(steps))
    }

    /// When a service of `nanos` that starts at `start` ends.
    pub fn end(&self, start: Time, nanos: u64) -> Time {
        let first = self.0.partition_point(|(at, _)| *at <= start) - 1;
        let mut at = start;
        // Work left, in millionths of a nanosecond at the usual pace.
        let mut left = u128::from(nanos) * UNIT;
        for (index, (_, factor)) in self.0.iter().enumerate().skip(first) {
            let needed = (left * factor).div_ceil(UNIT * UNIT);
            let room = self.0.get(index + 1).map_or(u128::MAX, |(end, _)| u128::from(end - at));
            if needed <= room {
                return at.saturating_add(needed.min(u128::from(LONGEST)) as u64);
            }
            left -= room * UNIT * UNIT / factor;
            at += room as u64;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow_down(factor: f64, from: u64, to: Option<u64>) -> Fault {
        let (from, to) = (Span::from_nanos(from), to.map(Span::from_nanos));
        Fault::SlowDown(SlowDown { factor, from, to })
    }

    #[test]
    fn the_part_inside_the_period_is_stretched() {
        let pace = Pace::of(&[slow_down(3.0, 100, Some(400))]).unwrap();
        for (start, service, end) in [
            (0, 100, 100),
            (0, 150, 250),
            (0, 200, 400),
            (0, 201, 401),
            (100, 10, 130),
            (390, 10, 407),
            (400, 10, 410),
            (50, 0, 50),
        ] {
            assert_eq!(pace.end(start, service), end, "{start} {service}");
        }
        assert_eq!(Pace::of(&[]), None);
    }

    #[test]
    fn overlapping_slow_downs_multiply() {
        let pace = Pace::of(&[slow_down(2.0, 0, None), slow_down(0.25, 100, Some(150))]).unwrap();
        assert_eq!([pace.end(0, 10), pace.end(100, 10), pace.end(150, 10)], [20, 105, 170]);
        assert_eq!(pace.end(90, 105), 150);
    }

    /// The same, one nanosecond after the other.
    fn slowly(faults: &[Fault], start: u64, service: u64) -> u64 {
        let mut at = start;
        let mut done = 0.0;
        while done < service as f64 - 1e-6 {
            let factors = faults.iter().filter_map(|fault| match fault {
                Fault::SlowDown(s) => covers(Some(s.from), s.to, at).then_some(s.factor),
                _ => None,
            });
            done += 1.0 / factors.product::<f64>();
            at += 1;
        }
        at
    }

    proptest! {
        #[test]
        fn service_ends_when_its_work_is_done(
            periods in prop::collection::vec((1u64..80, 0u64..300, 1u64..300), 0..4),
            start in 0u64..600,
            service in 0u64..300,
        ) {
            let tenths = |&(f, from, long)| slow_down(f as f64 / 10.0, from, Some(from + long));
            let mut faults: Vec<Fault> = periods.iter().map(tenths).collect();
            faults.push(slow_down(1.0, 0, None));
            let end = Pace::of(&faults).unwrap().end(start, service);
            let expected = slowly(&faults, start, service);
            prop_assert!(end.abs_diff(expected) <= 1, "{} is not {}", end, expected);
        }
    }
}
