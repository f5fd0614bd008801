//! Laws of gaps. Gaps have mean 1, so a law has at most one number.
//!
//! Which law it is, likelihood tells. The number that is written is the sample's own coefficient of variation, so that the
//! burstiness is the log's also where no law is quite right: the likeliest number of a wrong law can be twice that, because
//! of gaps that are shorter than the log's clock can tell.

use statrs::distribution::{ContinuousCDF, Gamma, LogNormal, Weibull};
use statrs::function::gamma::digamma;

use crate::math;
use crate::workload::{GapSampler, Gaps, Shape};

/// Gaps with what the likelihoods ask of them.
pub struct Sample {
    /// Gaps over their mean.
    gaps: Vec<f64>,
    /// Their logarithms.
    logs: Vec<f64>,
    mean_log: f64,
}

/// Gaps that a slow likelihood looks at.
const ENOUGH: usize = 100_000;

impl Sample {
    /// Gaps with mean 1; none counts as less than `least`, which a clock cannot tell from nothing.
    pub fn new(mut gaps: Vec<f64>, least: f64) -> Sample {
        gaps.iter_mut().for_each(|gap| *gap = gap.max(least));
        let logs: Vec<f64> = gaps.iter().map(|gap| math::ln(*gap)).collect();
        let mean_log = logs.iter().sum::<f64>() / logs.len() as f64;
        Sample { gaps, logs, mean_log }
    }

    /// The law with the sample's coefficient of variation, as it is written.
    pub fn with_own_cv(&self, law: Option<Gaps>) -> Option<Gaps> {
        let n = self.gaps.len() as f64;
        let mean = self.gaps.iter().sum::<f64>() / n;
        let square = self.gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n;
        let cv = super::text::rounded((math::sqrt(square) / mean).clamp(0.01, 100.0));
        law.map(|law| match law {
            Gaps::Gamma(_) => Gaps::Gamma(Shape { cv }),
            Gaps::Weibull(_) => Gaps::Weibull(Shape { cv }),
            Gaps::Lognormal(_) => Gaps::Lognormal(Shape { cv }),
        })
    }

    /// The laws with their likeliest number; None: exponential.
    pub fn laws(&self) -> [Option<Gaps>; 4] {
        let law = |kind: fn(Shape) -> Gaps, cv: f64| {
            // As it is written.
            let cv = super::text::rounded(cv.clamp(0.01, 100.0));
            Some(kind(Shape { cv }))
        };
        [
            None,
            law(Gaps::Gamma, self.gamma_cv()),
            law(Gaps::Weibull, self.weibull_cv()),
            law(Gaps::Lognormal, self.lognormal_cv()),
        ]
    }

    /// The logarithm of the likelihood under a law.
    pub fn log_likelihood(&self, law: Option<Gaps>) -> f64 {
        let n = self.gaps.len() as f64;
        let (sum, logs) = (self.gaps.iter().sum::<f64>(), self.mean_log * n);
        match law.map(Gaps::sampler).unwrap_or_default() {
            GapSampler::Exponential => -sum,
            GapSampler::Gamma { shape } => {
                n * (shape * math::ln(shape) - math::ln_gamma(shape)) + (shape - 1.0) * logs
                    - shape * sum
            }
            GapSampler::Weibull { shape, scale } => {
                let tail = |log: &f64| math::exp(shape * (log - math::ln(scale)));
                let part: f64 = self.logs.iter().map(tail).sum();
                n * (math::ln(shape) - shape * math::ln(scale)) + (shape - 1.0) * logs - part
            }
            GapSampler::Lognormal { sigma } => {
                let square = |log: &f64| {
                    let z = log + sigma * sigma / 2.0;
                    z * z
                };
                let squares: f64 = self.logs.iter().map(square).sum();
                let norm = math::ln(sigma) + math::ln(std::f64::consts::TAU) / 2.0;
                -n * norm - logs - squares / (2.0 * sigma * sigma)
            }
        }
    }

    /// The Kolmogorov-Smirnov distance from a law.
    pub fn distance(&self, law: Option<Gaps>) -> f64 {
        let sorted = super::figures::sorted(self.gaps.clone());
        super::figures::distance(&sorted, 0.0, |x| cdf(law, x))
    }

    /// ln k - ψ(k) = -(mean of ln), halved in proportion.
    fn gamma_cv(&self) -> f64 {
        let target = -self.mean_log;
        let k = root(|k| math::ln(k) - digamma(k) - target);
        1.0 / math::sqrt(k)
    }

    /// Σ x^k ln x / Σ x^k - 1/k = mean of ln.
    fn weibull_cv(&self) -> f64 {
        let stride = self.logs.len().div_ceil(ENOUGH).max(1);
        let part: Vec<f64> = self.logs.iter().step_by(stride).copied().collect();
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let most = part.iter().copied().fold(f64::MIN, f64::max);
        let k = root(|k| {
            let (mut weights, mut weighted) = (0.0, 0.0);
            for log in &part {
                let weight = math::exp(k * (log - most));
                weights += weight;
                weighted += weight * log;
            }
            1.0 / k + mean - weighted / weights
        });
        let square = math::ln_gamma(1.0 + 2.0 / k) - 2.0 * math::ln_gamma(1.0 + 1.0 / k);
        math::sqrt((math::exp(square) - 1.0).max(0.0))
    }

    /// With s = sigma² and m the mean square of ln: s²/4 + s = m.
    fn lognormal_cv(&self) -> f64 {
        let m = self.logs.iter().map(|log| log * log).sum::<f64>() / self.logs.len() as f64;
        let s = 2.0 * (math::sqrt(1.0 + m) - 1.0);
        math::sqrt(math::exp(s) - 1.0)
    }
}

/// Where a function of a shape that falls from above 0 to below crosses it.
fn root(falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-3_f64, 1e5_f64);
    for _ in 0..50 {
        let k = math::sqrt(low * high);
        if falling(k) > 0.0 {
            low = k;
        } else {
            high = k;
        }
    }
    math::sqrt(low * high)
}

/// The share of gaps that are at most `x`.
pub fn cdf(law: Option<Gaps>, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    match law.map(Gaps::sampler).unwrap_or_default() {
        GapSampler::Exponential => 1.0 - math::exp(-x),
        GapSampler::Gamma { shape } => Gamma::new(shape, shape).map_or(f64::NAN, |law| law.cdf(x)),
        GapSampler::Weibull { shape, scale } => {
            Weibull::new(shape, scale).map_or(f64::NAN, |law| law.cdf(x))
        }
        GapSampler::Lognormal { sigma } => {
            LogNormal::new(-sigma * sigma / 2.0, sigma).map_or(f64::NAN, |law| law.cdf(x))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    fn drawn(law: Option<Gaps>, n: u32, seed: u64) -> Sample {
        let (streams, sampler) =
            (Streams::new(seed, 0), law.map(Gaps::sampler).unwrap_or_default());
        let gap = |i| sampler.gap(&mut streams.stream(Purpose::Arrival, i, 0));
        Sample::new((0..n).map(gap).collect(), 1e-12)
    }

    /// Over ten seeds the law is found each time, and its cv within 3 %, which is four standard errors of the mean.
    #[test]
    fn the_law_that_drew_the_gaps_is_found() {
        for cv in [0.5, 2.0] {
            for (index, kind) in
                [Gaps::Gamma, Gaps::Weibull, Gaps::Lognormal].into_iter().enumerate()
            {
                let law = kind(Shape { cv });
                let mut found = Vec::new();
                for seed in 0..10 {
                    let sample = drawn(Some(law), 4_000, seed);
                    let laws = sample.laws();
                    let likelihood = laws.map(|law| sample.log_likelihood(law));
                    let best = (0..4).max_by(|a, b| likelihood[*a].total_cmp(&likelihood[*b]));
                    assert_eq!(best, Some(index + 1), "{law:?} of seed {seed}: {likelihood:?}");
                    // The 0.1 % point: there are sixty samples.
                    assert!(sample.distance(laws[index + 1]) < 1.95 / 4_000_f64.sqrt());
                    found.push(laws[index + 1].map_or(f64::NAN, Gaps::cv));
                }
                let mean = found.iter().sum::<f64>() / 10.0;
                assert!((mean / cv - 1.0).abs() < 0.03, "{law:?}: {found:?}");
            }
        }
    }

    /// The likelihood at its best number is not less than beside it.
    #[test]
    fn the_number_is_the_likeliest() {
        let sample = drawn(Some(Gaps::Gamma(Shape { cv: 1.5 })), 4_000, 1);
        for law in sample.laws().into_iter().flatten() {
            let best = sample.log_likelihood(Some(law));
            for factor in [0.97, 1.03] {
                let shape = Shape { cv: law.cv() * factor };
                let other = match law {
                    Gaps::Gamma(_) => Gaps::Gamma(shape),
                    // With the mean held at 1 it is likeliest nearby only.
                    Gaps::Weibull(_) => continue,
                    Gaps::Lognormal(_) => Gaps::Lognormal(shape),
                };
                assert!(sample.log_likelihood(Some(other)) < best, "{law:?} {other:?}");
            }
        }
    }

    #[test]
    fn likelihoods_of_cv_one_are_those_of_the_exponential_law() {
        let sample = drawn(None, 1_000, 2);
        let plain = sample.log_likelihood(None);
        for law in [Gaps::Gamma(Shape { cv: 1.0 }), Gaps::Weibull(Shape { cv: 1.0 })] {
            assert!((sample.log_likelihood(Some(law)) - plain).abs() < 1e-6, "{law:?}");
            assert!((cdf(Some(law), 0.7) - cdf(None, 0.7)).abs() < 1e-9);
        }
    }
}
