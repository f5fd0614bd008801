//! The axis of the counts that all panels share, linear or logarithmic.

use std::ops::Range;

use super::super::canvas::UNITS_PER_PX;
use super::super::ticks::{Step, Tick, power_of_ten};
use super::CountAxis;
use crate::math;

/// Grid lines are at least this far apart, so that their labels do not touch, and there are at
/// most this many steps between them, so that a tall panel is not crowded.
const TICK_DISTANCE: f64 = 24.0;
const TICK_STEPS: f64 = 6.0;
/// Headroom above the largest value, as a share of the axis.
const HEADROOM: f64 = 1.06;
/// A logarithmic axis starts half-way to its first decade, at 0.5. Means over seeds can be
/// fractions, but room for them would go to the flicker of percentiles between none and one.
const FLOOR: f64 = 0.5;
/// A logarithmic axis reaches at least this far, so that it shows more than one decade.
const LEAST_LOG_TOP: f64 = 10.0;
/// A decade of at least so many pixels has room for marks at 2 and 5, or at all of 2 to 9.
const FEW_MARKS_PX: f64 = 20.0;
const ALL_MARKS_PX: f64 = 48.0;

/// Where counts are in a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    scale: Scale,
    /// Grid lines with their numbers.
    pub ticks: Vec<Tick>,
    /// Small marks between them.
    pub marks: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// From zero to `top`.
    Linear { top: f64 },
    /// From `floor` over `span` in the natural logarithm; `height` is that of a panel in units of
    /// the drawing area.
    Log { floor: f64, span: f64, height: f64 },
}

impl Axis {
    /// The axis for panels of this height that reaches up to `largest` and shows the limit, if
    /// there is one on it.
    pub fn of(kind: CountAxis, largest: f64, limit: Option<f64>, panel_px: i32) -> Axis {
        let top = largest.max(limit.unwrap_or(0.0));
        match kind {
            CountAxis::Linear => linear(top, f64::from(panel_px)),
            CountAxis::Log => log(top, limit, panel_px),
        }
    }

    /// The levels from the bottom of a panel to its top.
    pub fn levels(&self) -> Range<f64> {
        match self.scale {
            Scale::Linear { top } => 0.0..top,
            Scale::Log { height, .. } => 0.0..height,
        }
    }

    /// How far up a count is. Counts below the floor of a logarithmic axis are on the floor.
    pub fn level(&self, count: f64) -> f64 {
        match self.scale {
            Scale::Linear { .. } => count,
            // Rounded to the grid of the drawing area at once: nothing after this is sensitive to
            // the last bit of a logarithm.
            Scale::Log { floor, span, height } => {
                (math::ln(count.max(floor) / floor) / span * height).round()
            }
        }
    }
}

fn linear(top: f64, panel_px: f64) -> Axis {
    let top = if top > 0.0 { top * HEADROOM } else { 1.0 };
    let distance = TICK_DISTANCE.max(panel_px / TICK_STEPS);
    let ticks = Step::at_least(top * distance / panel_px).ticks(0.0, top);
    Axis { scale: Scale::Linear { top }, ticks, marks: Vec::new() }
}

fn log(top: f64, limit: Option<f64>, panel_px: i32) -> Axis {
    let top = top.max(LEAST_LOG_TOP);
    let mut lowest = 0;
    // The limit stands clear of the floor, however small it is.
    while limit.is_some_and(|limit| power_of_ten(lowest) > limit) {
        lowest -= 1;
    }
    let floor = FLOOR * power_of_ten(lowest);
    let span = math::ln(top / floor) * HEADROOM;
    let decade_px = math::ln(10.0) / span * f64::from(panel_px);
    let every = (TICK_DISTANCE / decade_px).ceil() as i32;
    let decades: Vec<i32> = (lowest..).take_while(|&n| power_of_ten(n) <= top).collect();
    let (labelled, bare): (Vec<i32>, Vec<i32>) =
        decades.iter().partition(|&n| n.rem_euclid(every) == 0);
    let digits: &[f64] = match decade_px {
        px if px >= ALL_MARKS_PX => &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        px if px >= FEW_MARKS_PX => &[2.0, 5.0],
        _ => &[],
    };
    let between = decades.iter().flat_map(|&n| digits.iter().map(move |d| d * power_of_ten(n)));
    let marks = bare.iter().map(|&n| power_of_ten(n)).chain(between).filter(|&mark| mark <= top);
    Axis {
        scale: Scale::Log { floor, span, height: f64::from(panel_px * UNITS_PER_PX) },
        ticks: labelled.into_iter().map(Tick::decade).collect(),
        marks: marks.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_axis(largest: f64, limit: Option<f64>, panel_px: i32) -> Axis {
        Axis::of(CountAxis::Log, largest, limit, panel_px)
    }

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn larger_counts_are_never_lower() {
        let axis = log_axis(1000.0, Some(5.5), 132);
        let mut before = 0.0;
        for step in 1..=10_000 {
            let level = axis.level(f64::from(step) / 10.0);
            assert!(level >= before && level == level.trunc(), "{step}");
            before = level;
        }
        assert!(before < axis.levels().end, "headroom");
        assert!(axis.level(2.0) > axis.level(1.9));
    }

    #[test]
    fn decades_are_equally_far_apart() {
        let axis = log_axis(1000.0, None, 300);
        let level = |count| axis.level(count);
        let decade = level(10.0) - level(1.0);
        for (lower, upper) in [(10.0, 100.0), (100.0, 1000.0), (0.5, 5.0)] {
            assert!((level(upper) - level(lower) - decade).abs() <= 1.0);
        }
    }

    #[test]
    fn what_is_below_the_floor_is_on_it() {
        let axis = log_axis(1000.0, Some(5.5), 132);
        for count in [0.0, 1e-320, 0.05, 0.5] {
            assert_eq!(axis.level(count), 0.0);
        }
        assert!(axis.level(0.6) > 0.0);
    }

    #[test]
    fn decades_are_labelled_as_densely_as_they_fit() {
        assert_eq!(labels(&log_axis(1000.0, None, 132)), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(&log_axis(0.0, None, 132)), ["1", "10"]);
        assert_eq!(labels(&log_axis(2e5, None, 108)), ["1", "100", "10,000"]);
        assert_eq!(labels(&log_axis(1e15, None, 108)), ["1", "10,000", "100,000,000", "1e12"]);
    }

    #[test]
    fn small_marks_need_room() {
        let marks = |largest, panel_px| log_axis(largest, None, panel_px).marks;
        assert_eq!(marks(10.0, 300), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        assert_eq!(marks(1000.0, 132), [2.0, 5.0, 20.0, 50.0, 200.0, 500.0]);
        assert_eq!(marks(2e5, 108), [10.0, 1000.0, 100_000.0]);
    }

    #[test]
    fn the_floor_is_below_the_limit() {
        let axis = log_axis(1000.0, Some(0.01), 132);
        assert!(axis.level(0.01) > 0.0);
        assert_eq!(axis.level(0.005), 0.0);
    }

    #[test]
    fn a_linear_axis_starts_at_zero() {
        let axis = Axis::of(CountAxis::Linear, 100.0, Some(200.0), 132);
        assert_eq!(axis.levels(), 0.0..212.0);
        assert_eq!(axis.level(7.5), 7.5);
        assert_eq!(labels(&axis), ["0", "50", "100", "150", "200"]);
        assert!(axis.marks.is_empty());
    }
}
