//! Numbers with about 31 decimal digits, as an unevaluated sum of two `f64`.
//!
//! Alternating sums lose as many digits as their terms exceed the result; doubling the
//! working precision makes that loss invisible. Only what those sums need is here.
//!
//! Source: T. J. Dekker, "A floating-point technique for extending the available
//! precision", Numerische Mathematik 18 (1971), <https://doi.org/10.1007/BF01397083>.
//! It takes + - * alone, so every platform gives the same bits.

use std::ops::{Mul, Sub};

/// `high + low`, where `low` is at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    pub(super) const ZERO: Self = Self { high: 0.0, low: 0.0 };
    pub(super) const ONE: Self = Self { high: 1.0, low: 0.0 };

    /// The nearest `f64`.
    pub(super) fn to_f64(self) -> f64 {
        self.high
    }

    /// Whether the number is above zero: `high` carries the sign.
    pub(super) fn is_positive(self) -> bool {
        self.high > 0.0
    }

    /// `self` to a whole power, by multiplication.
    pub(super) fn power(self, exponent: usize) -> Self {
        (0..exponent).fold(Self::ONE, |product, _| product * self)
    }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let (high, error) = exact_sum(self.high, -other.high);
        let (low, error_of_low) = exact_sum(self.low, -other.low);
        let (high, error) = exact_sum_ordered(high, error + low);
        renormalised(high, error + error_of_low)
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (high, error) = exact_product(self.high, other.high);
        renormalised(high, error + (self.high * other.low + self.low * other.high))
    }
}

fn renormalised(high: f64, low: f64) -> DoubleDouble {
    let (high, low) = exact_sum_ordered(high, low);
    DoubleDouble { high, low }
}

/// The rounded sum and its rounding error (Knuth's two-sum).
fn exact_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_seen = sum - a;
    (sum, (a - (sum - b_seen)) + (b - b_seen))
}

/// As [`exact_sum`] when `a` is the larger one in size.
fn exact_sum_ordered(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// The rounded product and its rounding error (Dekker's product).
fn exact_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let (a_high, a_low) = split(a);
    let (b_high, b_low) = split(b);
    let error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, error)
}

/// Two halves of 26 bits each, whose products are exact (Veltkamp's split).
fn split(value: f64) -> (f64, f64) {
    const TWO_TO_27_PLUS_1: f64 = 134_217_729.0;
    let scaled = TWO_TO_27_PLUS_1 * value;
    let high = scaled - (scaled - value);
    (high, value - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_keeps_what_f64_would_drop() {
        let one = DoubleDouble::ONE;
        let tiny = DoubleDouble::from(1e-25);
        let back = one - (one - tiny);
        assert!((back.to_f64() - 1e-25).abs() < 1e-31);
    }

    #[test]
    fn a_product_keeps_its_rounding_error() {
        // (1 + e)(1 - e) = 1 - e², which f64 rounds to 1.
        let e = 1.0 / 1_073_741_824.0;
        let product = DoubleDouble::from(1.0 + e) * DoubleDouble::from(1.0 - e);
        let missing = DoubleDouble::ONE - product;
        assert_eq!(missing.to_f64(), e * e);
    }

    #[test]
    fn powers_multiply() {
        assert_eq!(DoubleDouble::from(3.0).power(0).to_f64(), 1.0);
        assert_eq!(DoubleDouble::from(3.0).power(5).to_f64(), 243.0);
    }
}
