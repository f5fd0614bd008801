//! A law given by its quantiles, with straight lines between them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Quantity;
use crate::rng::Stream;
use crate::units::round_nanos;

/// Points (share, value): so large a share of the samples is at most the value. Between two points values are
/// uniform; two points with one value are a share of samples that all have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Quantiles<Q> {
    /// From share 0 to share 1, both ascending.
    pub points: Vec<(f64, Q)>,
}

impl<Q: Quantity> Quantiles<Q> {
    /// What is wrong with the points.
    pub fn problem(&self) -> Option<String> {
        let example = "such as [[0.0, 1], [0.5, 20], [1.0, 300]]";
        let ends = self.points.first().zip(self.points.last());
        if ends.is_none_or(|(first, last)| first.0 != 0.0 || last.0 != 1.0) {
            return Some(format!(
                "quantiles: the first share is 0 and the last one is 1, {example}"
            ));
        }
        let pairs = || self.points.windows(2);
        if pairs().any(|pair| pair[0].0 >= pair[1].0) {
            return Some(format!("quantiles: shares ascend, {example}"));
        }
        let falls = pairs().any(|pair| pair[0].1.size() > pair[1].1.size());
        falls.then(|| format!("quantiles: values do not fall, {example}"))
    }

    /// The mean in the base unit: of each piece its middle.
    pub fn mean(&self) -> f64 {
        let area = |pair: &[(f64, Q)]| {
            (pair[1].0 - pair[0].0) * (pair[0].1.size() + pair[1].1.size()) / 2.0
        };
        self.points.windows(2).map(area).sum()
    }

    pub(super) fn sampler(&self) -> Table {
        Table(self.points.iter().map(|(share, value)| (*share, value.size())).collect())
    }
}

/// Quantiles ready for sampling.
#[derive(Clone, Debug, PartialEq)]
pub struct Table(Arc<[(f64, f64)]>);

impl Table {
    /// The value at a uniform share.
    pub(super) fn sample(&self, stream: &mut Stream) -> u64 {
        let share = stream.unit();
        let right = self.0.partition_point(|point| point.0 <= share).clamp(1, self.0.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.0[right - 1], self.0[right]);
        round_nanos(y0 + (y1 - y0) * ((share - x0) / (x1 - x0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Count, Distribution};
    use crate::rng::{Purpose, Streams};
    use crate::units::Span;

    fn tokens(text: &str) -> Result<Distribution<Count>, String> {
        #[derive(serde::Deserialize)]
        struct Holder {
            law: Distribution<Count>,
        }
        let held: Result<Holder, _> = toml::from_str(&format!("law = {{ quantiles = {text} }}"));
        held.map(|holder| holder.law).map_err(|error| error.to_string())
    }

    #[test]
    fn shares_of_samples_are_those_that_are_written() {
        let law = tokens("[[0.0, 10], [0.5, 20], [0.8, 512], [1.0, 512]]").unwrap();
        let sampler = law.sampler();
        let streams = Streams::new(3, 0);
        let n = 100_000;
        let samples: Vec<u64> =
            (0..n).map(|i| sampler.sample(streams.stream(Purpose::Tokens, i, 0))).collect();
        let below = |x: u64| samples.iter().filter(|s| **s <= x).count() as f64 / f64::from(n);
        // Four standard errors are 0.0063; whole tokens move a border by half of one.
        for (x, share) in [(9, 0.0), (15, 0.275), (20, 0.5), (266, 0.65), (511, 0.8), (512, 1.0)] {
            assert!((below(x) - share).abs() < 0.0063, "{x}: {}", below(x));
        }
        let mean = samples.iter().sum::<u64>() as f64 / f64::from(n);
        assert!((law.mean() - 189.7).abs() < 1e-9 && (mean / law.mean() - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_law_prints_as_it_is_read() {
        let law = tokens("[[0.0, 1], [1.0, 5]]").unwrap();
        let text = toml::Value::try_from(&law).unwrap().to_string();
        assert_eq!(text, "{ quantiles = [[0.0, 1.0], [1.0, 5.0]] }");
        let spans: toml::Table =
            "law = { quantiles = [[0.0, \"1ms\"], [1.0, \"1s\"]] }".parse().unwrap();
        let law: Distribution<Span> = spans["law"].clone().try_into().unwrap();
        assert_eq!(law.mean(), 500_500_000.0);
    }

    #[test]
    fn points_that_are_no_law_are_refused() {
        for (text, part) in [
            ("[]", "the first share is 0"),
            ("[[0.0, 1]]", "the last one is 1"),
            ("[[0.1, 1], [1.0, 2]]", "the first share is 0"),
            ("[[0.0, 1], [0.5, 2], [0.5, 3], [1.0, 4]]", "shares ascend"),
            ("[[0.0, 1], [0.5, 3], [1.0, 2]]", "do not fall"),
            ("[[0.0, -1], [1.0, 2]]", "out of range"),
        ] {
            let problem = tokens(text).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
