//! The only door to transcendental functions.
//!
//! `f64::ln` and its kin are documented as "unspecified precision": they may differ between
//! platforms and Rust versions, and one differing bit changes a trajectory. The model therefore
//! takes them from the pure-Rust `libm`, which computes the same bits everywhere.

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// ln(1 + x), exact for small x.
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Exponential function.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Cosine of an angle in radians.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// x raised to the power y.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Square root.
pub fn sqrt(x: f64) -> f64 {
    libm::sqrt(x)
}

/// Hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// Logarithm of the gamma function of x above 0.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}
