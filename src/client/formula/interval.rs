//! Where the values of a formula can lie: interval arithmetic.
//!
//! Sound: every value that [`Op::apply`] can give for values inside the intervals lies inside the
//! result. +, -, ·, / and square roots are rounded correctly, so they are monotone and their ends
//! are exact; the other functions are within one unit of the last place, and their ends are moved
//! outward by more than that. Source of the method: Moore, Kearfott, Cloud, "Introduction to Interval Analysis", 2009.

use super::op::{Op, least, most};

/// All numbers from `low` to `high`, and perhaps something that is not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether a value may be not a number.
    pub(super) nan: bool,
}

/// Every number, or none.
const ANYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

/// More than the relative error of the functions in [`crate::math`].
const SLACK: f64 = 1e-15;

impl Interval {
    /// One number.
    pub(super) fn point(value: f64) -> Interval {
        if value.is_nan() { ANYTHING } else { Interval { low: value, high: value, nan: false } }
    }

    /// From `low` to `high`.
    pub(super) fn new(low: f64, high: f64) -> Interval {
        Interval { low, high, nan: false }
    }

    /// The smallest interval around both.
    pub(super) fn hull(self, other: Interval) -> Interval {
        Interval {
            low: least(self.low, other.low),
            high: most(self.high, other.high),
            nan: self.nan || other.nan,
        }
    }

    fn contains(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    fn around(values: &[f64], nan: bool) -> Interval {
        let start = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY, nan };
        if values.iter().any(|value| value.is_nan()) {
            return ANYTHING;
        }
        values.iter().fold(start, |all, &value| all.hull(Interval { low: value, high: value, nan }))
    }

    /// Moved outward by more than the error of a function.
    fn wider(self) -> Interval {
        let slack = |end: f64| {
            if end.is_finite() { end.abs() * SLACK + f64::MIN_POSITIVE } else { 0.0 }
        };
        Interval {
            low: self.low - slack(self.low),
            high: self.high + slack(self.high),
            nan: self.nan,
        }
    }

    /// The image under a function that never falls.
    fn rising(self, function: impl Fn(f64) -> f64) -> Interval {
        Interval::around(&[function(self.low), function(self.high)], self.nan)
    }
}

/// Where the result of `op` lies.
pub(super) fn apply(op: Op, a: Interval, b: Interval, c: Interval) -> Interval {
    let exact = |x: f64| op.apply(x, 0.0, 0.0, || 0.0);
    match op {
        Op::Add | Op::Subtract => corners(op, a, b),
        Op::Multiply => {
            let endless = |x: Interval| x.low.is_infinite() || x.high.is_infinite();
            let product = corners(op, a, b);
            let nan = (endless(a) && b.contains(0.0)) || (endless(b) && a.contains(0.0));
            Interval { nan: product.nan || nan, ..product }
        }
        Op::Divide if b.contains(0.0) => ANYTHING,
        Op::Divide => corners(op, a, b),
        Op::Power if a.low < 0.0 => ANYTHING,
        // Monotone in either value while the other stays, so extreme at the corners.
        Op::Power => {
            let power = corners(op, a, b).wider();
            Interval { low: most(power.low, 0.0), ..power }
        }
        Op::Negate => Interval { low: -a.high, high: -a.low, nan: a.nan },
        Op::Less | Op::AtMost | Op::More | Op::AtLeast | Op::Equal | Op::Unequal => {
            comparison(op, a, b)
        }
        Op::Min | Op::Max => corners(op, a, b),
        Op::Clamp => apply(Op::Min, apply(Op::Max, a, b, c), c, c),
        Op::If if !a.nan && !a.contains(0.0) => b,
        Op::If if !a.nan && a.low == 0.0 && a.high == 0.0 => c,
        Op::If => b.hull(c),
        Op::Floor | Op::Ceil | Op::Round => a.rising(exact),
        Op::Abs => {
            let ends = Interval::around(&[a.low.abs(), a.high.abs()], a.nan);
            if a.contains(0.0) { Interval { low: 0.0, ..ends } } else { ends }
        }
        Op::Sqrt | Op::Ln if a.high < 0.0 => ANYTHING,
        Op::Sqrt => {
            let positive = Interval { low: most(a.low, 0.0), ..a };
            Interval { nan: a.nan || a.low < 0.0, ..positive.rising(exact) }
        }
        Op::Ln => {
            let positive = Interval { low: most(a.low, 0.0), ..a };
            Interval { nan: a.nan || a.low < 0.0, ..positive.rising(exact).wider() }
        }
        Op::Exp => {
            let wide = a.rising(exact).wider();
            Interval { low: most(wide.low, 0.0), ..wide }
        }
        Op::Tanh => a.rising(exact).wider(),
        Op::Uniform => {
            let all = a.hull(b);
            let endless = all.low.is_infinite() || all.high.is_infinite();
            Interval { nan: all.nan || endless, ..all }
        }
    }
}

/// The image of an operation that is monotone in each of its two values.
fn corners(op: Op, a: Interval, b: Interval) -> Interval {
    let at = |x: f64, y: f64| op.apply(x, y, 0.0, || 0.0);
    let values = [at(a.low, b.low), at(a.low, b.high), at(a.high, b.low), at(a.high, b.high)];
    Interval::around(&values, a.nan || b.nan)
}

fn comparison(op: Op, a: Interval, b: Interval) -> Interval {
    let (never, always) = match op {
        Op::Less => (a.low >= b.high, a.high < b.low),
        Op::AtMost => (a.low > b.high, a.high <= b.low),
        Op::More => (a.high <= b.low, a.low > b.high),
        Op::AtLeast => (a.high < b.low, a.low >= b.high),
        _ => {
            let apart = a.high < b.low || b.high < a.low;
            let same = a.low == a.high && b.low == b.high && a.low == b.low;
            if op == Op::Equal { (apart, same) } else { (same, apart) }
        }
    };
    match (never, always, a.nan || b.nan) {
        (true, _, false) => Interval::point(0.0),
        (_, true, false) => Interval::point(1.0),
        _ => Interval::new(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Op; 25] = [
        Op::Add,
        Op::Subtract,
        Op::Multiply,
        Op::Divide,
        Op::Power,
        Op::Negate,
        Op::Less,
        Op::AtMost,
        Op::More,
        Op::AtLeast,
        Op::Equal,
        Op::Unequal,
        Op::Min,
        Op::Max,
        Op::Clamp,
        Op::If,
        Op::Floor,
        Op::Ceil,
        Op::Round,
        Op::Abs,
        Op::Sqrt,
        Op::Exp,
        Op::Ln,
        Op::Tanh,
        Op::Uniform,
    ];

    const VALUES: [f64; 13] = [
        f64::NEG_INFINITY,
        -1e9,
        -2.5,
        -1.0,
        -1e-9,
        0.0,
        1e-9,
        0.5,
        1.0,
        2.0,
        31.7,
        1e9,
        f64::INFINITY,
    ];

    /// Every value of every operation, for values at the ends of intervals and between them.
    #[test]
    fn no_result_lies_outside() {
        let mut intervals = Vec::new();
        for (i, &low) in VALUES.iter().enumerate() {
            intervals.extend(VALUES[i..].iter().map(|&high| Interval::new(low, high)));
        }
        let inside = |all: Interval| {
            let between = VALUES.into_iter().filter(move |v| all.contains(*v));
            let mean = (all.low / 2.0 + all.high / 2.0).clamp(all.low, all.high);
            between.chain(Some(mean).filter(|m| !m.is_nan()))
        };
        for op in ALL {
            for &a in &intervals {
                for &b in &intervals {
                    let c = b;
                    let all = apply(op, a, b, c);
                    for x in inside(a) {
                        for y in inside(b) {
                            for u in [0.0, 0.3, 1.0 - 1e-16] {
                                let value = op.apply(x, y, y, || u);
                                let held =
                                    if value.is_nan() { all.nan } else { all.contains(value) };
                                assert!(
                                    held,
                                    "{op:?} {x} {y} {u} = {value}: {a:?} {b:?} give {all:?}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
