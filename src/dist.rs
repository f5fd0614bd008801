//! Distributions for scenario files, sampled portably.
//!
//! A quantity is written as a plain value or as one table that names the law:
//! `"40ms"`, `{ exponential = { mean = "40ms" } }`, `{ uniform = { low = "0s", high = "1s" } }`,
//! `{ lognormal = { median = 129, p90 = 424 } }`, `{ quantiles = [[0.0, 1], [0.5, 20], [1.0, 300]] }`. `Q` is [`Span`] for times and [`Count`] for
//! tokens. Samples are taken by inversion or Box-Muller on [`crate::math`], so they are the
//! same bits on every platform; `rand_distr` is the oracle in the tests.

mod quantiles;

pub use quantiles::{Quantiles, Table};

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{F64Deserializer, I64Deserializer, MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::math;
use crate::rng::Stream;
use crate::units::{Span, round_nanos};

/// The 90 % point of the standard normal distribution.
const NORMAL_P90: f64 = 1.281_551_565_544_600_4;

/// A number of tokens: finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Count(f64);

impl Count {
    /// No tokens.
    pub const ZERO: Count = Count(0.0);

    /// The largest number of tokens of one request that is accepted.
    pub const MAX: f64 = 1e9;
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if !(0.0..=Count::MAX).contains(&number) {
            let text = format!("the number of tokens {number} is out of range; write 0 to 1e9");
            return Err(de::Error::custom(text));
        }
        Ok(Count(number))
    }
}

/// A value that a distribution can be over: its size as a real number.
pub trait Quantity: Copy {
    /// The value in its base unit: nanoseconds or tokens.
    fn size(self) -> f64;

    /// The largest sample, in the base unit.
    const MOST: u64;
}

impl Quantity for Span {
    fn size(self) -> f64 {
        self.nanos() as f64
    }

    const MOST: u64 = Span::LONGEST.nanos();
}

impl Quantity for Count {
    fn size(self) -> f64 {
        self.0
    }

    const MOST: u64 = Count::MAX as u64;
}

/// The exponential law with `mean`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Exponential<Q> {
    /// Its mean.
    pub mean: Q,
}

/// The uniform law on [`low`, `high`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Uniform<Q> {
    /// Least value.
    pub low: Q,
    /// End of the range.
    pub high: Q,
}

/// The lognormal law, given by two quantiles that a trace shows directly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lognormal<Q> {
    /// The 50 % point.
    pub median: Q,
    /// The 90 % point.
    pub p90: Q,
}

/// The size of a normal number: |N(mean, sd)|.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Normal<Q> {
    /// Mean of the normal number.
    pub mean: Q,
    /// Its standard deviation.
    pub sd: Q,
}

/// The laws that are written as a table with one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Named<Q> {
    Exponential(Exponential<Q>),
    Uniform(Uniform<Q>),
    Lognormal(Lognormal<Q>),
    Normal(Normal<Q>),
    Quantiles(Quantiles<Q>),
}

/// A value, or a law that it is drawn from.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "{Q}OrLaw", rename_all = "snake_case"))]
pub enum Distribution<Q> {
    /// Exponential law.
    Exponential(Exponential<Q>),
    /// Uniform law.
    Uniform(Uniform<Q>),
    /// Lognormal law.
    Lognormal(Lognormal<Q>),
    /// A normal number, or its size where it is negative.
    Normal(Normal<Q>),
    /// Shares of the values that are at most so large, such as `[[0.0, 1], [0.5, 20], [1.0, 300]]`.
    Quantiles(Quantiles<Q>),
    /// Always the same value.
    #[cfg_attr(feature = "schema", schemars(untagged))]
    Constant(Q),
}

impl fmt::Display for Distribution<Span> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Constant(value) => write!(f, "{value}"),
            Distribution::Exponential(law) => write!(f, "{} (exponential, its mean)", law.mean),
            Distribution::Uniform(law) => write!(f, "{} to {} (uniform)", law.low, law.high),
            Distribution::Lognormal(law) => {
                write!(f, "{} (lognormal, its median; its p90 is {})", law.median, law.p90)
            }
            Distribution::Normal(law) => {
                write!(f, "{} (normal, its mean; its sd is {})", law.mean, law.sd)
            }
            Distribution::Quantiles(_) => {
                let mean = Span::from_nanos(round_nanos(self.mean()));
                write!(f, "{mean} (quantiles, their mean)")
            }
        }
    }
}

impl<Q: Quantity> Distribution<Q> {
    /// What is wrong with the parameters, if anything.
    pub fn problem(&self) -> Option<String> {
        match self {
            Distribution::Uniform(u) if u.high.size() < u.low.size() => {
                Some("uniform: high is below low; swap them".to_owned())
            }
            Distribution::Lognormal(l) if l.median.size() <= 0.0 => {
                Some("lognormal: the median must be above 0".to_owned())
            }
            Distribution::Lognormal(l) if l.p90.size() < l.median.size() => {
                Some("lognormal: p90 is below the median".to_owned())
            }
            Distribution::Quantiles(law) => law.problem(),
            _ => None,
        }
    }

    /// The mean in the base unit.
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Constant(value) => value.size(),
            Distribution::Exponential(e) => e.mean.size(),
            Distribution::Uniform(u) => (u.low.size() + u.high.size()) / 2.0,
            Distribution::Lognormal(l) => {
                let sigma = lognormal_sigma(l);
                l.median.size() * math::exp(sigma * sigma / 2.0)
            }
            Distribution::Normal(n) => folded_mean(n.mean.size(), n.sd.size()),
            Distribution::Quantiles(law) => law.mean(),
        }
    }

    /// The distribution made ready for sampling.
    pub fn sampler(&self) -> Sampler {
        match self {
            Distribution::Constant(value) => Sampler::Constant(round_nanos(value.size())),
            Distribution::Exponential(e) => {
                Sampler::Exponential { mean: e.mean.size(), most: Q::MOST }
            }
            Distribution::Uniform(u) => {
                let low = round_nanos(u.low.size());
                Sampler::Uniform { low, width: round_nanos(u.high.size()) - low }
            }
            Distribution::Lognormal(l) => Sampler::Lognormal {
                median: l.median.size(),
                sigma: lognormal_sigma(l),
                most: Q::MOST,
            },
            Distribution::Normal(n) => {
                Sampler::Normal { mean: n.mean.size(), sd: n.sd.size(), most: Q::MOST }
            }
            Distribution::Quantiles(law) => Sampler::Quantiles(law.sampler()),
        }
    }
}

fn lognormal_sigma<Q: Quantity>(law: &Lognormal<Q>) -> f64 {
    math::ln(law.p90.size() / law.median.size()) / NORMAL_P90
}

/// The mean of |N(mean, sd)|: sd·√(2/π)·exp(-mean²/2sd²) + mean·(1 - 2Φ(-mean/sd)), with Φ in the form of
/// M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.2.17: right to 1e-7 of the mean.
fn folded_mean(mean: f64, sd: f64) -> f64 {
    if sd == 0.0 {
        return mean;
    }
    let x = mean / sd;
    let density = math::exp(-x * x / 2.0) / std::f64::consts::TAU.sqrt();
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let series = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let below = density * t * series.iter().fold(0.0, |sum, factor| sum * t + factor);
    sd * 2.0 * density + mean * (1.0 - 2.0 * below)
}

/// A distribution ready for sampling; samples are whole nanoseconds or whole tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum Sampler {
    /// Always this value.
    Constant(u64),
    /// -mean · ln(1 - U).
    Exponential {
        /// Mean.
        mean: f64,
        /// Largest sample.
        most: u64,
    },
    /// low + floor(U · width).
    Uniform {
        /// Least value.
        low: u64,
        /// Width of the range.
        width: u64,
    },
    /// median · exp(sigma · Z), Z by Box and Muller (1958).
    Lognormal {
        /// Median.
        median: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Largest sample.
        most: u64,
    },
    /// |mean + sd · Z|, Z by Box and Muller (1958).
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
        /// Largest sample.
        most: u64,
    },
    /// On straight lines between quantiles.
    Quantiles(Table),
}

impl Sampler {
    /// One sample; the same stream gives the same sample.
    #[inline]
    pub fn sample(&self, mut stream: Stream) -> u64 {
        match *self {
            Sampler::Constant(value) => value,
            Sampler::Exponential { mean, most } => {
                round_nanos(-mean * math::ln(1.0 - stream.unit())).min(most)
            }
            Sampler::Uniform { low, width } => low + stream.below(width),
            Sampler::Lognormal { median, sigma, most } => {
                round_nanos(median * math::exp(sigma * standard_normal(&mut stream))).min(most)
            }
            Sampler::Normal { mean, sd, most } => {
                round_nanos((mean + sd * standard_normal(&mut stream)).abs()).min(most)
            }
            Sampler::Quantiles(ref table) => table.sample(&mut stream),
        }
    }
}

/// A standard normal number.
pub(crate) fn standard_normal(stream: &mut Stream) -> f64 {
    // 1 - U lies in (0, 1], so the logarithm is finite.
    let radius = (-2.0 * math::ln(1.0 - stream.unit())).sqrt();
    radius * math::cos(std::f64::consts::TAU * stream.unit())
}

impl<Q: Serialize + Copy> Serialize for Distribution<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.clone() {
            Distribution::Constant(value) => value.serialize(serializer),
            Distribution::Exponential(law) => Named::Exponential(law).serialize(serializer),
            Distribution::Uniform(law) => Named::Uniform(law).serialize(serializer),
            Distribution::Lognormal(law) => Named::Lognormal(law).serialize(serializer),
            Distribution::Normal(law) => Named::Normal(law).serialize(serializer),
            Distribution::Quantiles(law) => Named::Quantiles(law).serialize(serializer),
        }
    }
}

impl<Q> From<Named<Q>> for Distribution<Q> {
    fn from(named: Named<Q>) -> Distribution<Q> {
        match named {
            Named::Exponential(law) => Distribution::Exponential(law),
            Named::Uniform(law) => Distribution::Uniform(law),
            Named::Lognormal(law) => Distribution::Lognormal(law),
            Named::Normal(law) => Distribution::Normal(law),
            Named::Quantiles(law) => Distribution::Quantiles(law),
        }
    }
}

impl<'de, Q: DeserializeOwned + Quantity> Deserialize<'de> for Distribution<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let distribution = deserializer.deserialize_any(ValueOrLaw(PhantomData))?;
        match distribution.problem() {
            Some(problem) => Err(de::Error::custom(problem)),
            None => Ok(distribution),
        }
    }
}

/// Accepts a plain value or a table with the name of a law.
struct ValueOrLaw<Q>(PhantomData<Q>);

impl<'de, Q: DeserializeOwned + Quantity> Visitor<'de> for ValueOrLaw<Q> {
    type Value = Distribution<Q>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a value, or one of exponential, uniform, lognormal, normal, quantiles as a table",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let inner: StrDeserializer<'_, E> = text.into_deserializer();
        Q::deserialize(inner).map(Distribution::Constant)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        let inner: I64Deserializer<E> = number.into_deserializer();
        Q::deserialize(inner).map(Distribution::Constant)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        let inner: F64Deserializer<E> = number.into_deserializer();
        Q::deserialize(inner).map(Distribution::Constant)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Named::deserialize(MapAccessDeserializer::new(map)).map(Distribution::from)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    pub(crate) const DRAWS: u32 = 200_000;

    fn own(sampler: &Sampler) -> Vec<f64> {
        let streams = Streams::new(11, 0);
        let draw = |i| sampler.sample(streams.stream(Purpose::Service, i, 1)) as f64;
        let mut values: Vec<f64> = (0..DRAWS).map(draw).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn oracle(law: impl rand_distr::Distribution<f64>) -> Vec<f64> {
        let mut rng = Streams::new(12, 0).stream(Purpose::Service, 0, 0);
        let mut values: Vec<f64> = (0..DRAWS).map(|_| law.sample(&mut rng)).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Two-sample Kolmogorov-Smirnov distance.
    pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
        let (mut i, mut j, mut worst) = (0, 0, 0.0f64);
        while i < a.len() && j < b.len() {
            if a[i] <= b[j] {
                i += 1;
            } else {
                j += 1;
            }
            worst = worst.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
        }
        worst
    }

    /// The 0.1 % critical value for two samples of 200,000: 1.95 · sqrt(2 / n).
    pub(crate) const CRITICAL: f64 = 0.006_17;

    #[test]
    fn samples_follow_the_oracle() {
        let mean = Span::from_nanos(40_000_000);
        let exponential = Distribution::Exponential(Exponential { mean }).sampler();
        let reference = oracle(rand_distr::Exp::new(1.0 / 40e6).unwrap());
        assert!(distance(&own(&exponential), &reference) < CRITICAL);

        let (low, high) = (Span::from_nanos(1_000), Span::from_nanos(5_000_000));
        let uniform = Distribution::Uniform(Uniform { low, high }).sampler();
        let reference = oracle(rand_distr::Uniform::new(1e3, 5e6).unwrap());
        assert!(distance(&own(&uniform), &reference) < CRITICAL);

        let law = Lognormal { median: Span::from_nanos(129_000), p90: Span::from_nanos(424_000) };
        let sigma = (424.0f64 / 129.0).ln() / NORMAL_P90;
        let reference = oracle(rand_distr::LogNormal::new(129e3f64.ln(), sigma).unwrap());
        assert!(distance(&own(&Distribution::Lognormal(law).sampler()), &reference) < CRITICAL);

        let law = Normal { mean: Span::from_nanos(3_000_000), sd: Span::from_nanos(2_000_000) };
        let normal = rand_distr::Normal::new(3e6, 2e6).unwrap();
        let mut reference: Vec<f64> = oracle(normal).into_iter().map(f64::abs).collect();
        reference.sort_by(f64::total_cmp);
        assert!(distance(&own(&Distribution::Normal(law).sampler()), &reference) < CRITICAL);

        // The test has power: a mean 2 % off is seen.
        let off = oracle(rand_distr::Exp::new(1.02 / 40e6).unwrap());
        assert!(distance(&own(&exponential), &off) > CRITICAL);
    }

    #[test]
    fn means_are_those_of_the_samples() {
        let law = Lognormal { median: Count(129.0), p90: Count(424.0) };
        let distribution = Distribution::Lognormal(law);
        let values = own(&distribution.sampler());
        let mean = values.iter().sum::<f64>() / f64::from(DRAWS);
        assert!((mean / distribution.mean() - 1.0).abs() < 0.01, "{mean} {}", distribution.mean());
    }

    /// With the exact normal distribution function of statrs.
    #[test]
    fn the_mean_of_the_size_of_a_normal_number() {
        use statrs::distribution::{ContinuousCDF, Normal as Exact};
        for (mean, sd) in [(0.0, 1.0), (1.0, 1.0), (10.0, 2.0), (3.0, 40.0), (5.0, 0.0)] {
            let found = Distribution::Normal(Normal { mean: Count(mean), sd: Count(sd) }).mean();
            let exact = match sd > 0.0 {
                false => mean,
                true => {
                    let below = Exact::standard().cdf(-mean / sd);
                    let density = (-mean * mean / (2.0 * sd * sd)).exp();
                    sd * (2.0 / std::f64::consts::PI).sqrt() * density + mean * (1.0 - 2.0 * below)
                }
            };
            assert!((found - exact).abs() < 1e-6 * (mean + sd), "{mean} {sd}: {found} {exact}");
        }
    }

    /// Frozen values: a change here changes every trajectory and belongs in the CHANGELOG.
    #[test]
    fn first_samples_are_frozen() {
        let streams = Streams::new(42, 0);
        let at = |i| streams.stream(Purpose::Service, i, 1);
        let mean = Span::from_seconds(1);
        let exponential = Distribution::Exponential(Exponential { mean }).sampler();
        let law = Lognormal { median: Span::from_seconds(1), p90: Span::from_seconds(3) };
        let lognormal = Distribution::Lognormal(law).sampler();
        let drawn: Vec<u64> =
            (0..3).flat_map(|i| [exponential.sample(at(i)), lognormal.sample(at(i))]).collect();
        assert_eq!(drawn, FROZEN);
    }

    const FROZEN: [u64; 6] = [1472209066, 645165893, 543212246, 1849226536, 3670389778, 5535668752];
}
