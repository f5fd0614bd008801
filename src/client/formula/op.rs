//! The operations of formulas, and what each does to numbers.

use crate::math;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Negate,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
    Min,
    Max,
    Clamp,
    If,
    Floor,
    Ceil,
    Round,
    Abs,
    Sqrt,
    Exp,
    Ln,
    Tanh,
    /// The only one that draws.
    Uniform,
}

/// Functions by name, with the least and the most number of their values.
pub(super) const FUNCTIONS: [(&str, Op, usize, usize); 14] = [
    ("abs", Op::Abs, 1, 1),
    ("ceil", Op::Ceil, 1, 1),
    ("clamp", Op::Clamp, 3, 3),
    ("exp", Op::Exp, 1, 1),
    ("floor", Op::Floor, 1, 1),
    ("if", Op::If, 3, 3),
    ("ln", Op::Ln, 1, 1),
    ("max", Op::Max, 2, usize::MAX),
    ("min", Op::Min, 2, usize::MAX),
    ("pow", Op::Power, 2, 2),
    ("round", Op::Round, 1, 1),
    ("sqrt", Op::Sqrt, 1, 1),
    ("tanh", Op::Tanh, 1, 1),
    ("uniform", Op::Uniform, 2, 2),
];

impl Op {
    /// True for a comparison.
    pub(super) fn compares(self) -> bool {
        matches!(self, Op::Less | Op::AtMost | Op::More | Op::AtLeast | Op::Equal | Op::Unequal)
    }

    /// The result for three values, of which only the first ones are used by most; `draw` gives
    /// a uniform number in [0, 1).
    #[inline]
    pub(super) fn apply(self, a: f64, b: f64, c: f64, draw: impl FnOnce() -> f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Op::Add => a + b,
            Op::Subtract => a - b,
            Op::Multiply => a * b,
            Op::Divide => a / b,
            // A negative zero is a zero.
            Op::Power => math::pow(a + 0.0, b),
            Op::Negate => -a,
            Op::Less => truth(a < b),
            Op::AtMost => truth(a <= b),
            Op::More => truth(a > b),
            Op::AtLeast => truth(a >= b),
            Op::Equal => truth(a == b),
            Op::Unequal => truth(a != b),
            Op::Min => least(a, b),
            Op::Max => most(a, b),
            Op::Clamp => least(most(a, b), c),
            Op::If => {
                if a != 0.0 {
                    b
                } else {
                    c
                }
            }
            Op::Floor => a.floor(),
            Op::Ceil => a.ceil(),
            Op::Round => (a + 0.5).floor(),
            Op::Abs => a.abs(),
            Op::Sqrt => math::sqrt(a),
            Op::Exp => math::exp(a),
            Op::Ln => math::ln(a),
            Op::Tanh => math::tanh(a),
            Op::Uniform => {
                // Rounding must not leave the range.
                let value = a + (b - a) * draw();
                if a <= b { least(value, b) } else { most(value, b) }
            }
        }
    }
}

/// The smaller number; not a number when either is none. (`f64::min` would drop it, and leaves
/// the sign of zero open.)
#[inline]
pub(super) fn least(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

/// The larger number; not a number when either is none.
#[inline]
pub(super) fn most(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}
