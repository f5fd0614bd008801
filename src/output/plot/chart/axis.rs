//! An axis: from values to a share of its length, and the ticks on it.

use super::super::ticks::{Step, Tick, power_of_ten};
use crate::math;

/// How values are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are.
    Log,
}

/// An axis with its name, unit included.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is on it, with the unit.
    pub name: String,
    /// Spacing.
    pub spacing: Spacing,
    /// The value at its beginning; above 0 where the spacing is logarithmic.
    pub low: f64,
    /// The value at its end, above `low`.
    pub high: f64,
    /// Labels at these values in the place of ticks, where it has some.
    pub named: Vec<Tick>,
}

/// Headroom beyond the largest value, as a share of the axis.
const HEADROOM: f64 = 1.06;

impl Axis {
    /// From 0 to a little beyond the largest of some values.
    pub fn from_zero(name: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let most = values.into_iter().fold(0.0, f64::max);
        Axis::between(name, 0.0, if most > 0.0 { most * HEADROOM } else { 1.0 })
    }

    /// Around some values, with room on both sides.
    pub fn around(name: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let (low, high) = values
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return Axis::between(name, 0.0, 1.0);
        }
        let room = match high - low {
            span if span > 0.0 => span * 0.08,
            _ => (high * 0.1).max(0.5),
        };
        // Counts and money begin at zero when that is near; a point at zero stands free of the axis.
        let from = match low {
            low if low < 0.0 || low > (high - low) * 0.4 => low - room,
            low if low < room / 2.0 => -room / 2.0,
            _ => 0.0,
        };
        Axis::between(name, from, high + room)
    }

    /// Between two values.
    pub fn between(name: &str, low: f64, high: f64) -> Axis {
        let named = Vec::new();
        Axis { name: name.to_owned(), spacing: Spacing::Linear, low, high, named }
    }

    /// Logarithmic, around some values of which those above 0 count.
    pub fn log(name: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let (low, high) = values
            .into_iter()
            .filter(|v| *v > 0.0)
            .fold((f64::INFINITY, 0.0), |(low, high), v: f64| (low.min(v), v.max(high)));
        let (low, high) = if low > high { (1.0, 10.0) } else { (low / 1.15, high * 1.15) };
        Axis { spacing: Spacing::Log, ..Axis::between(name, low, high) }
    }

    /// Where a value is: 0 at the beginning, 1 at the end, never beyond them.
    pub fn share(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log => {
                math::ln(value.max(self.low) / self.low) / math::ln(self.high / self.low)
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// Ticks at least `distance_px` apart on an axis of this length.
    pub fn ticks(&self, length_px: f64, distance_px: f64) -> Vec<Tick> {
        if !self.named.is_empty() {
            return self.named.clone();
        }
        match self.spacing {
            Spacing::Linear => {
                let least = (self.high - self.low) * distance_px / length_px;
                Step::at_least(least).ticks(self.low, self.high)
            }
            Spacing::Log => self.log_ticks(length_px, distance_px),
        }
    }

    fn log_ticks(&self, length_px: f64, distance_px: f64) -> Vec<Tick> {
        let decade_px = length_px * math::ln(10.0) / math::ln(self.high / self.low);
        let digits: &[i64] = match decade_px / distance_px {
            room if room >= 5.0 => &[1, 2, 3, 5],
            room if room >= 3.4 => &[1, 2, 5],
            room if room >= 2.2 => &[1, 3],
            _ => &[1],
        };
        let every = (distance_px / decade_px).ceil().max(1.0) as i32;
        let mut exponent = 0;
        while power_of_ten(exponent) > self.low {
            exponent -= 1;
        }
        while power_of_ten(exponent + 1) <= self.low {
            exponent += 1;
        }
        let mut ticks = Vec::new();
        while power_of_ten(exponent) <= self.high {
            if exponent.rem_euclid(every) == 0 {
                let all = digits.iter().map(|&digit| Tick::scaled(digit, exponent));
                ticks.extend(all.filter(|tick| (self.low..=self.high).contains(&tick.value)));
            }
            exponent += 1;
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, px: f64) -> Vec<String> {
        axis.ticks(px, 30.0).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn values_have_their_places() {
        let linear = Axis::between("", 10.0, 20.0);
        assert_eq!([5.0, 10.0, 15.0, 25.0].map(|v| linear.share(v)), [0.0, 0.0, 0.5, 1.0]);
        let log = Axis { spacing: Spacing::Log, ..Axis::between("", 1.0, 100.0) };
        assert!((log.share(10.0) - 0.5).abs() < 1e-12);
        assert_eq!(log.share(0.0), 0.0);
    }

    #[test]
    fn ticks_of_a_log_axis_are_as_many_as_fit() {
        let log = |low, high| Axis { spacing: Spacing::Log, ..Axis::between("", low, high) };
        assert_eq!(labels(&log(0.9, 1100.0), 300.0), ["1", "3", "10", "30", "100", "300", "1,000"]);
        assert_eq!(labels(&log(3.0, 40.0), 300.0), ["3", "5", "10", "20", "30"]);
        assert_eq!(labels(&log(1.0, 1e9), 120.0), ["1", "1,000", "1,000,000", "1e9"]);
    }

    #[test]
    fn an_axis_begins_at_zero_when_that_is_near() {
        assert_eq!(Axis::around("", [2.0, 10.0]).low, 0.0);
        assert_eq!(Axis::around("", [0.0, 10.0]).low, -0.4);
        assert!(Axis::around("", [90.0, 100.0]).low > 80.0);
        let one = Axis::around("", [5.0]);
        assert!(one.low < 5.0 && one.high > 5.0);
        assert!(Axis::around("", []).high > 0.0);
    }
}
