//! Times from creation to outcome.

use crate::stats::quantile::{nearest_rank, rank};
use crate::units::{Time, seconds};

/// Shares of the requests whose times until so many were answered are kept: every percent, and finer
/// steps where tails are.
pub fn shares() -> impl Iterator<Item = f64> {
    let percents = (1..=99).map(|percent| f64::from(percent) / 100.0);
    [0.001, 0.005].into_iter().chain(percents).chain([0.995, 0.999, 1.0])
}

/// A set of durations in nanoseconds; quantiles are exact order statistics.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    values: Vec<Time>,
    sum: u128,
}

impl Durations {
    /// Takes one duration in.
    #[inline]
    pub fn add(&mut self, nanos: Time) {
        self.values.push(nanos);
        self.sum += u128::from(nanos);
    }

    /// Sorts, so that quantiles can be read.
    pub fn close(&mut self) {
        self.values.sort_unstable();
    }

    /// Mean in seconds.
    pub fn mean_s(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.sum as f64 / self.values.len() as f64 / 1e9)
    }

    /// The `q` quantile (nearest rank) in seconds; [`Durations::close`] comes first.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        nearest_rank(&self.values, q).map(seconds)
    }

    /// The time in seconds within which a share of `all` is there (nearest rank), where those that are
    /// missing here never are; [`Durations::close`] comes first.
    pub fn within_s(&self, share: f64, all: usize) -> Option<f64> {
        let rank = rank(share, all)?;
        self.values.get(rank - 1).copied().map(seconds)
    }
}

/// Mean and maximum of durations whose single values nobody asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeanDuration {
    sum: u128,
    count: u64,
    most: Time,
}

impl MeanDuration {
    /// Takes one duration in.
    #[inline]
    pub fn add(&mut self, nanos: Time) {
        self.sum += u128::from(nanos);
        self.count += 1;
        self.most = self.most.max(nanos);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Maximum in seconds.
    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.most))
    }

    /// Mean in seconds.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_later_than_all_that_is_there() {
        let mut durations = Durations::default();
        durations.add(251);
        durations.close();
        // One of two requests.
        assert_eq!(durations.within_s(0.5, 2), Some(251e-9));
        assert_eq!(durations.within_s(0.51, 2), None);
        assert_eq!(durations.within_s(1.0, 0), None);
    }

    #[test]
    fn shares_ascend_to_all() {
        let shares: Vec<f64> = shares().collect();
        assert!(shares.is_sorted() && shares.last() == Some(&1.0));
    }
}
