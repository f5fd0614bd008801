//! Laws of sizes with numbers as a scenario has them.

use statrs::distribution::{ContinuousCDF, Normal};

use super::figures::{CLOSE, Figures, may_be_quantile};
use super::text;
use crate::math;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole tokens.
    Tokens,
    /// Seconds.
    Seconds,
}

/// A law with numbers as they are written.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// One value.
    Constant(f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Lognormal with this median and 90 % point.
    Lognormal(f64, f64),
    /// Straight lines between quantiles.
    Quantiles(Vec<(f64, f64)>),
}

/// The 90 % point of the standard normal distribution.
const NORMAL_P90: f64 = 1.281_551_565_544_600_4;

/// Φ.
fn normal(z: f64) -> f64 {
    statrs::function::erf::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

impl Law {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Law::Constant(_) => "constant",
            Law::Exponential(_) => "exponential",
            Law::Lognormal(..) => "lognormal",
            Law::Quantiles(_) => "quantiles",
        }
    }

    /// The share of samples that are at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        match self {
            Law::Constant(value) => f64::from(u8::from(x >= *value)),
            Law::Exponential(mean) => 1.0 - math::exp(-x.max(0.0) / mean),
            Law::Lognormal(..) if x <= 0.0 => 0.0,
            Law::Lognormal(median, p90) => {
                normal(math::ln(x / median) * NORMAL_P90 / math::ln(p90 / median))
            }
            Law::Quantiles(points) => {
                let right = points.partition_point(|point| point.1 <= x);
                match (right.checked_sub(1).map(|left| points[left]), points.get(right)) {
                    (None, _) => 0.0,
                    (_, None) => 1.0,
                    (Some((x0, y0)), Some((x1, y1))) => x0 + (x1 - x0) * (x - y0) / (y1 - y0),
                }
            }
        }
    }

    /// The value that a share of samples does not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        match self {
            Law::Constant(value) => *value,
            Law::Exponential(mean) => -mean * math::ln_1p(-share),
            Law::Lognormal(median, p90) => {
                let z = Normal::standard().inverse_cdf(share);
                median * math::exp(z / NORMAL_P90 * math::ln(p90 / median))
            }
            Law::Quantiles(points) => {
                let right =
                    points.partition_point(|point| point.0 < share).clamp(1, points.len() - 1);
                let ((x0, y0), (x1, y1)) = (points[right - 1], points[right]);
                y0 + (y1 - y0) * (share - x0) / (x1 - x0)
            }
        }
    }

    /// Its mean.
    pub fn mean(&self) -> f64 {
        match self {
            Law::Constant(value) | Law::Exponential(value) => *value,
            Law::Lognormal(median, p90) => {
                let sigma = math::ln(p90 / median) / NORMAL_P90;
                median * math::exp(sigma * sigma / 2.0)
            }
            Law::Quantiles(points) => {
                points.windows(2).map(|p| (p[1].0 - p[0].0) * (p[0].1 + p[1].1) / 2.0).sum()
            }
        }
    }

    /// Whether median, 90 % and 99 % point and mean are those of the sample, up to 5 % or its error.
    pub fn has_figures(&self, sorted: &[f64], figures: &Figures) -> bool {
        let mean = (self.mean() - figures.mean).abs();
        let error = 3.0 * figures.cv * figures.mean / math::sqrt(figures.n as f64);
        mean <= error.max(CLOSE * figures.mean)
            && [0.5, 0.9, 0.99].into_iter().all(|q| may_be_quantile(sorted, q, self.quantile(q)))
    }

    /// As a scenario has it.
    pub fn toml(&self, unit: Unit) -> String {
        let value = |value: f64| match unit {
            Unit::Tokens => text::short(value),
            Unit::Seconds => format!("\"{}\"", text::span(value)),
        };
        match self {
            Law::Constant(only) => value(*only),
            Law::Exponential(mean) => format!("{{ exponential = {{ mean = {} }} }}", value(*mean)),
            Law::Lognormal(median, p90) => {
                format!(
                    "{{ lognormal = {{ median = {}, p90 = {} }} }}",
                    value(*median),
                    value(*p90)
                )
            }
            Law::Quantiles(points) => {
                let point = |(share, y): &(f64, f64)| format!("[{share:?}, {}]", value(*y));
                let lines: Vec<String> = points
                    .chunks(8)
                    .map(|line| {
                        format!("    {},\n", line.iter().map(point).collect::<Vec<_>>().join(", "))
                    })
                    .collect();
                format!("{{ quantiles = [\n{}] }}", lines.concat())
            }
        }
    }
}
