//! A rate that changes in steps, from counts: the pieces of constant rate whose likelihood, less a price per piece, is
//! greatest.
//!
//! Found exactly, by dynamic programming over where the last piece begins, with the pruning of R. Killick, P. Fearnhead
//! and I. A. Eckley, "Optimal detection of changepoints with a linear computational cost", JASA 107 (2012),
//! <https://doi.org/10.1080/01621459.2012.737745>. With a price of ln n it is the best by Schwarz's criterion: a piece has
//! a rate and a place. (For a Poisson stream that is "Bayesian blocks" of J. D. Scargle and others, ApJ 764 (2013).)

use crate::math;

/// Windows of equal length with the number of arrivals in each.
pub struct Counts {
    /// Arrivals before each window's end; 0 first.
    before: Vec<u32>,
    /// Logarithms of whole numbers; 0 for 0.
    ln: Vec<f64>,
}

impl Counts {
    /// Of arrivals in each window.
    pub fn new(counts: &[u32]) -> Counts {
        let mut sum = 0;
        let before = std::iter::once(0).chain(counts.iter().map(|count| {
            sum += count;
            sum
        }));
        let before: Vec<u32> = before.collect();
        let most = (sum as usize).max(counts.len());
        let ln = (0..=most).map(|k| math::ln(k.max(1) as f64)).collect();
        Counts { before, ln }
    }

    /// The log-likelihood of a constant rate from one window to another, but for what all segmentations share.
    fn likelihood(&self, from: usize, to: usize) -> f64 {
        let count = (self.before[to] - self.before[from]) as usize;
        count as f64 * (self.ln[count] - self.ln[to - from])
    }

    /// Where pieces begin, as numbers of windows, at a price per piece; the first at 0.
    pub fn pieces(&self, price: f64) -> Vec<usize> {
        let windows = self.before.len() - 1;
        let mut best = vec![0.0; windows + 1];
        let mut begins = vec![0; windows + 1];
        let mut candidates = vec![0_usize];
        let mut values = Vec::new();
        for to in 1..=windows {
            values.clear();
            values.extend(candidates.iter().map(|from| best[*from] + self.likelihood(*from, to)));
            let (mut top, mut at) = (f64::MIN, 0);
            for (value, from) in values.iter().zip(&candidates) {
                if *value > top {
                    (top, at) = (*value, *from);
                }
            }
            (best[to], begins[to]) = (top - price, at);
            // What is worse now than a piece that begins here will never be better.
            let mut value = values.iter();
            candidates.retain(|_| value.next().is_some_and(|value| *value >= best[to]));
            candidates.push(to);
        }
        let mut pieces = Vec::new();
        let mut end = windows;
        while end > 0 {
            end = begins[end];
            pieces.push(end);
        }
        pieces.reverse();
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    /// The best of all segmentations, one after the other.
    fn exhaustive(counts: &[u32], price: f64) -> f64 {
        let all = Counts::new(counts);
        let n = counts.len();
        (0..1_u32 << (n - 1))
            .map(|cuts| {
                let mut ends: Vec<usize> = (1..n).filter(|i| cuts >> (i - 1) & 1 == 1).collect();
                ends.push(n);
                let mut from = 0;
                let mut sum = 0.0;
                for to in ends {
                    sum += all.likelihood(from, to) - price;
                    from = to;
                }
                sum
            })
            .fold(f64::MIN, f64::max)
    }

    #[test]
    fn no_segmentation_is_better() {
        let streams = Streams::new(7, 0);
        for case in 0..60 {
            let mut stream = streams.stream(Purpose::Sample, case, 0);
            let counts: Vec<u32> =
                (0..11).map(|_| stream.below(1 << (1 + case % 6)) as u32).collect();
            for price in [0.5, 2.0, 6.0] {
                let all = Counts::new(&counts);
                let pieces = all.pieces(price);
                let ends = pieces.iter().skip(1).chain([&11]);
                let found: f64 = pieces
                    .iter()
                    .zip(ends)
                    .map(|(from, to)| all.likelihood(*from, *to) - price)
                    .sum();
                let best = exhaustive(&counts, price);
                assert!((found - best).abs() < 1e-9, "{counts:?} {price}: {found} {best}");
            }
        }
    }

    #[test]
    fn a_step_is_found_and_a_flat_rate_has_none() {
        let counts: Vec<u32> =
            (0..200).map(|i| if i < 120 { 3 + i % 2 } else { 9 + i % 3 }).collect();
        let all = Counts::new(&counts);
        assert_eq!(all.pieces(7.0), [0, 120]);
        assert_eq!(all.pieces(1e6), [0]);
        assert_eq!(Counts::new(&[5; 100]).pieces(5.0), [0]);
        assert_eq!(Counts::new(&[0; 10]).pieces(5.0), [0]);
    }
}
