//! Laws of gaps: how regular or bursty a stream is at a given rate.
//!
//! Gaps are measured by the area under the rate, so their mean is 1 and the law has one number: the
//! coefficient of variation (`cv`, standard deviation over mean). Below 1 a stream is more regular
//! than a Poisson stream, above it burstier. Equal in mean and cv, a Weibull law has longer gaps
//! than a gamma law at the far end, and a lognormal one longer still.
//!
//! The first gap is what is left of one that began before t = 0 (the stationary renewal process: D. R.
//! Cox, "Renewal Theory", 1962, ch. 5): a uniform part of a gap that is drawn in proportion to its
//! length. So the expected number of requests is the area under the rate from the start, however bursty.

use serde::{Deserialize, Serialize};

use crate::dist::standard_normal;
use crate::math;
use crate::rng::Stream;

/// A law of the gaps between requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// Gamma.
    Gamma(Shape),
    /// Weibull.
    Weibull(Shape),
    /// Lognormal.
    Lognormal(Shape),
}

/// The one number of a law with mean 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Coefficient of variation, standard deviation over mean: below 1 more regular than a Poisson
    /// stream, above 1 in bursts. 0.01 to 100.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.01, max = 100.0)))]
    pub cv: f64,
}

impl Gaps {
    /// The coefficient of variation.
    pub fn cv(self) -> f64 {
        let (Gaps::Gamma(shape) | Gaps::Weibull(shape) | Gaps::Lognormal(shape)) = self;
        shape.cv
    }

    /// What is wrong with the parameters.
    pub fn problem(self) -> Option<String> {
        let cv = self.cv();
        (!(0.01..=100.0).contains(&cv)).then(|| {
            format!("a coefficient of variation of {cv} is out of range; write 0.01 to 100")
        })
    }

    /// The law made ready for sampling.
    pub fn sampler(self) -> GapSampler {
        match self {
            Gaps::Gamma(Shape { cv }) => GapSampler::Gamma { shape: 1.0 / (cv * cv) },
            Gaps::Weibull(Shape { cv }) => {
                let shape = weibull_shape(cv);
                GapSampler::Weibull { shape, scale: math::exp(-math::ln_gamma(1.0 + 1.0 / shape)) }
            }
            Gaps::Lognormal(Shape { cv }) => {
                GapSampler::Lognormal { sigma: math::sqrt(math::ln_1p(cv * cv)) }
            }
        }
    }
}

/// The shape k of a Weibull law with this coefficient of variation: cv² = Γ(1 + 2/k) / Γ(1 + 1/k)² - 1, which falls
/// with k.
fn weibull_shape(cv: f64) -> f64 {
    let target = math::ln_1p(cv * cv);
    let (mut low, mut high) = (0.05_f64, 200.0_f64);
    // Halved in proportion until nothing is left to halve.
    for _ in 0..64 {
        let k = math::sqrt(low * high);
        let found = math::ln_gamma(1.0 + 2.0 / k) - 2.0 * math::ln_gamma(1.0 + 1.0 / k);
        if found > target {
            low = k;
        } else {
            high = k;
        }
    }
    math::sqrt(low * high)
}

/// A law of gaps with mean 1, ready for sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GapSampler {
    /// -ln(1 - U): a Poisson stream.
    #[default]
    Exponential,
    /// Gamma with shape k and mean 1.
    Gamma {
        /// Its shape.
        shape: f64,
    },
    /// scale · (-ln(1 - U))^(1/k).
    Weibull {
        /// Its shape k.
        shape: f64,
        /// What makes the mean 1.
        scale: f64,
    },
    /// exp(sigma · Z - sigma²/2).
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl GapSampler {
    /// The gap before a request.
    #[inline]
    pub fn gap(self, stream: &mut Stream) -> f64 {
        match self {
            GapSampler::Exponential => -math::ln(1.0 - stream.unit()),
            GapSampler::Gamma { shape } => gamma(shape, stream) / shape,
            GapSampler::Weibull { shape, scale } => {
                scale * math::pow(-math::ln(1.0 - stream.unit()), 1.0 / shape)
            }
            GapSampler::Lognormal { sigma } => {
                math::exp(sigma * standard_normal(stream) - sigma * sigma / 2.0)
            }
        }
    }

    /// What is left at t = 0 of the gap before the first request.
    pub fn rest(self, stream: &mut Stream) -> f64 {
        // The whole gap around t = 0 has a density in proportion to its length and the law's.
        let whole = match self {
            // It forgets how long it has lasted.
            GapSampler::Exponential => return self.gap(stream),
            GapSampler::Gamma { shape } => gamma(shape + 1.0, stream) / shape,
            GapSampler::Weibull { shape, scale } => {
                scale * math::pow(gamma(1.0 + 1.0 / shape, stream), 1.0 / shape)
            }
            GapSampler::Lognormal { sigma } => {
                math::exp(sigma * standard_normal(stream) + sigma * sigma / 2.0)
            }
        };
        whole * stream.unit()
    }
}

/// A gamma number with scale 1, by rejection: G. Marsaglia and W. W. Tsang, "A simple method for generating
/// gamma variables", ACM TOMS 26 (2000), <https://doi.org/10.1145/358407.358414>.
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        let part = math::pow(1.0 - stream.unit(), 1.0 / shape);
        return part * gamma(shape + 1.0, stream);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / math::sqrt(9.0 * d);
    loop {
        let z = standard_normal(stream);
        let root = 1.0 + c * z;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if math::ln(1.0 - stream.unit()) < z * z / 2.0 + d - d * v + d * math::ln(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::tests::{CRITICAL, DRAWS, distance};
    use crate::rng::{Purpose, Streams};
    use rand_distr::Distribution;

    fn laws(cv: f64) -> [Gaps; 3] {
        [Gaps::Gamma(Shape { cv }), Gaps::Weibull(Shape { cv }), Gaps::Lognormal(Shape { cv })]
    }

    fn draw(of: impl Fn(&mut Stream) -> f64, seed: u64) -> Vec<f64> {
        let streams = Streams::new(seed, 0);
        let one = |i| of(&mut streams.stream(Purpose::Arrival, i, 0));
        let mut values: Vec<f64> = (0..DRAWS).map(one).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn oracle(gaps: Gaps) -> Vec<f64> {
        match gaps.sampler() {
            GapSampler::Exponential => unreachable!(),
            GapSampler::Gamma { shape } => {
                let law = rand_distr::Gamma::new(shape, 1.0 / shape).unwrap();
                draw(|stream| law.sample(stream), 2)
            }
            GapSampler::Weibull { shape, scale } => {
                let law = rand_distr::Weibull::new(scale, shape).unwrap();
                draw(|stream| law.sample(stream), 2)
            }
            GapSampler::Lognormal { sigma } => {
                let law = rand_distr::LogNormal::new(-sigma * sigma / 2.0, sigma).unwrap();
                draw(|stream| law.sample(stream), 2)
            }
        }
    }

    #[test]
    fn gaps_follow_the_oracle() {
        for cv in [0.2, 0.9, 1.7, 6.0] {
            for law in laws(cv) {
                let own = draw(|stream| law.sampler().gap(stream), 1);
                assert!(distance(&own, &oracle(law)) < CRITICAL, "{law:?}");
            }
            for (law, other) in laws(cv).into_iter().zip(laws(1.1 * cv)) {
                let off = draw(|stream| other.sampler().gap(stream), 1);
                assert!(distance(&off, &oracle(law)) > CRITICAL, "{law:?}: 10 % would be seen");
            }
        }
    }

    #[test]
    fn gaps_have_mean_one_and_the_cv() {
        for cv in [0.01, 0.5, 1.0, 2.0] {
            for law in laws(cv) {
                let gaps = draw(|stream| law.sampler().gap(stream), 3);
                let n = f64::from(DRAWS);
                let mean = gaps.iter().sum::<f64>() / n;
                let square = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n;
                assert!((mean - 1.0).abs() < 4.0 * cv / n.sqrt(), "{law:?}: {mean}");
                assert!((square.sqrt() / cv - 1.0).abs() < 0.05, "{law:?}: {}", square.sqrt());
            }
        }
    }

    /// What is left has the mean (1 + cv²) / 2 and, at x, the density that a gap is longer than x.
    #[test]
    fn the_first_gap_is_what_is_left_of_one() {
        for cv in [0.3, 1.0, 2.0] {
            for law in laws(cv) {
                let rests = draw(|stream| law.sampler().rest(stream), 4);
                let gaps = draw(|stream| law.sampler().gap(stream), 5);
                for x in [0.1, 0.5, 1.0] {
                    let below = rests.iter().filter(|rest| **rest < x).count() as f64;
                    // ∫ P(gap > t) dt from 0 to x is the mean of the lesser of gap and x.
                    let expected: f64 = gaps.iter().map(|gap| gap.min(x)).sum();
                    let spread = 5.0 * (f64::from(DRAWS) * 0.25).sqrt();
                    assert!((below - expected).abs() < spread, "{law:?} {x}: {below} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_gamma_and_a_weibull_law_of_cv_one_are_exponential() {
        assert_eq!(Gaps::Gamma(Shape { cv: 1.0 }).sampler(), GapSampler::Gamma { shape: 1.0 });
        let GapSampler::Weibull { shape, scale } = Gaps::Weibull(Shape { cv: 1.0 }).sampler()
        else {
            unreachable!()
        };
        assert!((shape - 1.0).abs() < 1e-9 && (scale - 1.0).abs() < 1e-9, "{shape} {scale}");
        assert!(laws(0.001)[0].problem().is_some() && laws(f64::NAN)[1].problem().is_some());
    }
}
