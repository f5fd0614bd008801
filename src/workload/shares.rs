//! Clients that send very unequal parts of a stream.
//!
//! A request belongs to a client that is drawn with its share as the probability. A Poisson stream
//! falls so into independent Poisson streams, one per client, with rates in proportion to the
//! shares (Kingman, "Poisson Processes", 1993, ch. 5).

use serde::{Deserialize, Serialize};

use crate::dist::standard_normal;
use crate::math;
use crate::rng::{Purpose, Streams};

/// The law by which requests are shared out among unequal clients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shares {
    /// In proportion to a power of the client's rank: 1, 2^-exponent, 3^-exponent, …; client 0 has
    /// the largest share.
    Zipf(Zipf),
    /// In proportion to independent lognormal weights, drawn anew in every replication.
    Lognormal(LognormalWeights),
}

/// Shares in proportion to a power of the client's rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Zipf {
    /// 0: all alike (at random), 1: halves, thirds, …; 0 to 10. With 1.2 and 100 clients the first
    /// one has 28 %.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 10.0)))]
    pub exponent: f64,
}

/// Shares in proportion to independent lognormal weights, drawn anew in every replication.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LognormalWeights {
    /// Standard deviation of the weights' logarithm, 0 to 10.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 10.0)))]
    pub sigma: f64,
}

impl Shares {
    /// What is wrong with the parameters: the path below `shares` and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let (kind, key, value) = match self {
            Shares::Zipf(zipf) => ("zipf", "exponent", zipf.exponent),
            Shares::Lognormal(law) => ("lognormal", "sigma", law.sigma),
        };
        (!(0.0..=10.0).contains(&value))
            .then(|| (vec![kind, key], format!("{key} = {value} is out of range; write 0 to 10")))
    }

    fn weight(&self, client: u32, streams: &Streams) -> f64 {
        match self {
            Shares::Zipf(zipf) => math::pow(f64::from(client) + 1.0, -zipf.exponent),
            Shares::Lognormal(law) => {
                let mut stream = streams.stream(Purpose::Weight, client, 0);
                math::exp(law.sigma * standard_normal(&mut stream))
            }
        }
    }
}

/// The clients of a run with their shares.
#[derive(Clone, Debug)]
pub struct Population {
    /// Sums of the weights of the clients up to each.
    sums: Vec<f64>,
}

impl Population {
    /// `clients` with shares of this law.
    pub fn new(shares: Shares, clients: u32, streams: &Streams) -> Population {
        let sum = |sum: &mut f64, client| {
            *sum += shares.weight(client, streams);
            Some(*sum)
        };
        Population { sums: (0..clients).scan(0.0, sum).collect() }
    }

    /// The client of `request`.
    pub fn client(&self, request: u32, streams: &Streams) -> u32 {
        let all = self.sums.last().copied().unwrap_or(0.0);
        let point = streams.stream(Purpose::Client, request, 0).unit() * all;
        let client = self.sums.partition_point(|sum| *sum <= point);
        client.min(self.sums.len().saturating_sub(1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(shares: Shares, clients: u32, seed: u64, requests: u32) -> Vec<f64> {
        let streams = Streams::new(seed, 0);
        let population = Population::new(shares, clients, &streams);
        let mut counts = vec![0.0; clients as usize];
        (0..requests).for_each(|i| counts[population.client(i, &streams) as usize] += 1.0);
        counts
    }

    /// Chi-square with 9 degrees of freedom: the 99.9 % point is 27.88.
    #[test]
    fn zipf_shares_are_powers_of_the_rank() {
        let chi = |exponent: f64, of: f64| {
            let found = counts(Shares::Zipf(Zipf { exponent }), 10, 5, 200_000);
            let all: f64 = (1..=10).map(|k| f64::from(k).powf(-of)).sum();
            let expected = (1..=10).map(|k| 200_000.0 * f64::from(k).powf(-of) / all);
            found.iter().zip(expected).map(|(o, e)| (o - e) * (o - e) / e).sum::<f64>()
        };
        for exponent in [0.0, 1.0, 2.5] {
            assert!(chi(exponent, exponent) < 27.88, "{exponent}: {}", chi(exponent, exponent));
        }
        assert!(chi(1.0, 1.05) > 27.88, "the test has power");
    }

    /// The part of the largest tenth tends to Φ(σ − z), z the 90 % point (Lorenz curve of the
    /// lognormal law).
    #[test]
    fn lognormal_shares_have_their_lorenz_curve() {
        use statrs::distribution::{ContinuousCDF, Normal};
        let normal = Normal::standard();
        for sigma in [0.5, 1.5] {
            let expected = normal.cdf(sigma - normal.inverse_cdf(0.9));
            let law = Shares::Lognormal(LognormalWeights { sigma });
            let top = |seed| {
                let streams = Streams::new(seed, 0);
                let mut weights: Vec<f64> = (0..20_000).map(|c| law.weight(c, &streams)).collect();
                weights.sort_by(|a, b| b.total_cmp(a));
                weights[..2_000].iter().sum::<f64>() / weights.iter().sum::<f64>()
            };
            let mean = (0..20).map(top).sum::<f64>() / 20.0;
            assert!((mean / expected - 1.0).abs() < 0.01, "{sigma}: {mean} is not {expected}");
        }
    }

    #[test]
    fn a_law_without_spread_is_equal() {
        let law = Shares::Lognormal(LognormalWeights { sigma: 0.0 });
        assert_eq!(Population::new(law, 3, &Streams::new(1, 0)).sums, [1.0, 2.0, 3.0]);
    }
}
