//! The arrival process: a rate, constant or in steps, and a law of gaps.
//!
//! Candidates are the best segmentations at several prices per piece ([`super::steps`]), each with each law of gaps
//! ([`super::gaps`]). By the time rescaling theorem the gaps are counted by the area under the rate, and the likelihood of a
//! stream is that of its gaps times the rates at its arrivals. The candidate with the least Bayesian information criterion
//! is taken: G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6 (1978).

use super::figures::{Figures, sorted};
use super::gaps::Sample;
use super::steps::Counts;
use super::text;
use crate::math;
use crate::rng::{Purpose, Streams};
use crate::units::{NANOS_PER_SECOND, seconds};
use crate::workload::Gaps;

/// Windows in which arrivals are counted to find steps.
const WINDOWS: usize = 4_096;

/// Prices per piece, in units of ln n; 1 is that of the criterion for a Poisson stream.
const PRICES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// A piece of constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its length in whole nanoseconds.
    pub length: u64,
    /// Requests per second.
    pub rate: f64,
}

/// A stream that was tried.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its rates, one after the other.
    pub pieces: Vec<Piece>,
    /// Its law of gaps; None: exponential.
    pub gaps: Option<Gaps>,
    /// The Bayesian information criterion; less is better.
    pub bic: f64,
}

/// What is known of the arrivals of a log.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// From the first to the last, in nanoseconds.
    pub period: u64,
    /// Gaps between arrivals, in seconds.
    pub gaps: Figures,
    /// Instants are whole multiples of this many nanoseconds, when that is coarse: they were spread.
    pub coarse: Option<u64>,
    /// Variance over mean of the number of arrivals in windows: their length in seconds and the index of dispersion.
    pub dispersion: Vec<(f64, f64)>,
    /// The best candidate of each law of gaps and of one rate or several, best first.
    pub candidates: Vec<Candidate>,
    /// The Kolmogorov-Smirnov distance of the gaps, by the area under the rate, from the law of the first candidate.
    pub distance: f64,
}

/// Fits arrivals, ascending from 0 in nanoseconds; None when all come at once. At most `most_pieces` pieces.
pub fn fit(at: &[u64], most_pieces: usize) -> Option<Arrivals> {
    let coarse = coarse(at);
    let spread = coarse.map(|step| spread(at, step));
    let at = spread.as_deref().unwrap_or(at);
    let period = at.last().copied().filter(|period| *period > 0)?;
    let gaps = sorted(at.windows(2).map(|pair| seconds(pair[1] - pair[0])).collect());
    let n = at.len() - 1;
    let windows = WINDOWS.min(n);
    let window = |at: u64| {
        ((u128::from(at) * windows as u128 / u128::from(period)) as usize).min(windows - 1)
    };
    let mut counts = vec![0; windows];
    // The first is where time begins; every gap ends in a window with an arrival.
    at[1..].iter().for_each(|at| counts[window(*at)] += 1);
    let counted = Counts::new(&counts);
    let mut cuts: Vec<Vec<usize>> = vec![vec![0]];
    for price in PRICES {
        let pieces = counted.pieces(price * math::ln(n as f64));
        if pieces.len() <= most_pieces && !cuts.contains(&pieces) {
            cuts.push(pieces);
        }
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    for pieces in cuts.iter().map(|cut| pieces(cut, &counts, period)) {
        let (areas, mean) = areas(at, &pieces);
        let sample = Sample::new(areas, LEAST);
        // Rates are as written, and their mean is not quite that of the log: the gaps are counted by what it is.
        let rates = log_rates(at, &pieces) - n as f64 * math::ln(mean);
        for gaps in sample.laws() {
            let numbers = 2 * pieces.len() - 1 + usize::from(gaps.is_some());
            let likelihood = rates + sample.log_likelihood(gaps);
            let bic = numbers as f64 * math::ln(n as f64) - 2.0 * likelihood;
            let gaps = sample.with_own_cv(gaps);
            keep(&mut candidates, Candidate { pieces: pieces.clone(), gaps, bic });
        }
    }
    candidates.sort_by(|a, b| a.bic.total_cmp(&b.bic));
    let best = candidates.first()?;
    let distance = Sample::new(areas(at, &best.pieces).0, LEAST).distance(best.gaps);
    let (gaps, dispersion) = (Figures::of(&gaps)?, dispersion(at));
    Some(Arrivals { period, gaps, coarse, dispersion, candidates, distance })
}

/// Gaps by the area that count as none.
const LEAST: f64 = 1e-9;

/// Keeps the best of each law of gaps, with one rate and with several.
fn keep(candidates: &mut Vec<Candidate>, new: Candidate) {
    let kind = |c: &Candidate| (c.pieces.len() > 1, c.gaps.map(|law| std::mem::discriminant(&law)));
    match candidates.iter_mut().find(|old| kind(old) == kind(&new)) {
        Some(old) if old.bic <= new.bic => {}
        Some(old) => *old = new,
        None => candidates.push(new),
    }
}

/// The step of a clock that is too coarse for the gaps between arrivals: many fall on one instant.
fn coarse(at: &[u64]) -> Option<u64> {
    let step = at.iter().fold(0, |a, b| gcd(a, *b));
    let same = at.windows(2).filter(|pair| pair[0] == pair[1]).count();
    (step > 1 && same * 100 > at.len()).then_some(step)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Each arrival later by a uniform part of the clock's step: what was rounded off.
fn spread(at: &[u64], step: u64) -> Vec<u64> {
    let streams = Streams::new(0, 0);
    let later =
        |(i, at): (usize, &u64)| at + streams.stream(Purpose::Arrival, i as u32, 0).below(step);
    let mut spread: Vec<u64> = at.iter().enumerate().map(later).collect();
    spread.sort_unstable();
    let first = spread.first().copied().unwrap_or(0);
    spread.iter_mut().for_each(|at| *at -= first);
    spread
}

/// Pieces that begin in these windows, with the rates and lengths that are written.
fn pieces(cut: &[usize], counts: &[u32], period: u64) -> Vec<Piece> {
    let windows = counts.len() as u128;
    // A length in whole milliseconds is read more easily, where that is fine enough.
    let grain = if period / counts.len() as u64 > 100_000_000 { 1_000_000 } else { 1 };
    let instant = |window: usize| match window == counts.len() {
        true => period,
        false => (window as u128 * u128::from(period) / windows) as u64 / grain * grain,
    };
    let ends = cut.iter().skip(1).copied().chain([counts.len()]);
    cut.iter()
        .zip(ends)
        .map(|(from, to)| {
            let length = instant(to) - instant(*from);
            let count: u32 = counts[*from..to].iter().sum();
            let rate = f64::from(count) * NANOS_PER_SECOND as f64 / length as f64;
            Piece { length, rate: text::rounded_rate(rate) }
        })
        .collect()
}

/// Walks arrivals and pieces together: for each arrival the area before it and the rate at it.
fn walk(at: &[u64], pieces: &[Piece], mut each: impl FnMut(f64, f64)) {
    let (mut piece, mut begin, mut area) = (0, 0, 0.0);
    for at in at {
        while piece + 1 < pieces.len() && *at >= begin + pieces[piece].length {
            area += pieces[piece].rate * seconds(pieces[piece].length);
            begin += pieces[piece].length;
            piece += 1;
        }
        each(area + pieces[piece].rate * seconds(*at - begin), pieces[piece].rate);
    }
}

/// Gaps by the area under the rate, over their mean; and that mean.
fn areas(at: &[u64], pieces: &[Piece]) -> (Vec<f64>, f64) {
    let (mut gaps, mut last) = (Vec::with_capacity(at.len()), None);
    walk(at, pieces, |area, _| {
        gaps.extend(last.map(|last: f64| area - last));
        last = Some(area);
    });
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    gaps.iter_mut().for_each(|gap| *gap /= mean);
    (gaps, mean)
}

/// The sum of the logarithms of the rates at all arrivals but the first.
fn log_rates(at: &[u64], pieces: &[Piece]) -> f64 {
    // An arrival at the very border of a piece that was rounded may stand where the rate is 0.
    let least = 1e-9;
    let (mut sum, mut first) = (0.0, true);
    walk(at, pieces, |_, rate| {
        if !std::mem::take(&mut first) {
            sum += math::ln(rate.max(least));
        }
    });
    sum
}

/// Lengths of windows in which arrivals are counted, in seconds.
const DISPERSION_S: [u64; 3] = [1, 10, 60];

/// Variance over mean of the number of arrivals in whole windows, where there are at least ten.
pub fn dispersion(at: &[u64]) -> Vec<(f64, f64)> {
    let period = at.last().copied().unwrap_or(0);
    let of = |length_s: &u64| {
        let length = length_s * NANOS_PER_SECOND;
        let windows = period / length;
        if windows < 10 {
            return None;
        }
        let (mut sum, mut squares, mut count, mut window) = (0.0, 0.0, 0.0, 0);
        for at in at {
            let this = at / length;
            if this != window {
                squares += count * count;
                (count, window) = (0.0, this);
            }
            if this >= windows {
                break;
            }
            count += 1.0;
            sum += 1.0;
        }
        let mean = sum / windows as f64;
        Some((*length_s as f64, (squares / windows as f64 - mean * mean) / mean))
    };
    DISPERSION_S.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Shape;

    fn instants(gaps_s: impl Iterator<Item = f64>) -> Vec<u64> {
        let mut at = 0.0;
        let later = gaps_s.map(|gap| {
            at += gap;
            (at * 1e9) as u64
        });
        std::iter::once(0).chain(later).collect()
    }

    fn drawn(law: Option<Gaps>, n: u32, seed: u64) -> impl Iterator<Item = f64> {
        let (streams, sampler) =
            (Streams::new(seed, 0), law.map(Gaps::sampler).unwrap_or_default());
        (0..n).map(move |i| sampler.gap(&mut streams.stream(Purpose::Arrival, i, 0)))
    }

    #[test]
    fn a_poisson_stream_is_one_rate() {
        for seed in 0..10 {
            let at = instants(drawn(None, 3_000, seed).map(|gap| gap / 20.0));
            let found = fit(&at, 500).unwrap();
            let best = &found.candidates[0];
            assert!(best.pieces.len() == 1 && best.gaps.is_none(), "{seed}: {best:?}");
            // Four standard errors of a rate are 7.3 %.
            assert!((best.pieces[0].rate / 20.0 - 1.0).abs() < 0.073 && found.distance < 0.03);
            assert!((found.dispersion[0].1 - 1.0).abs() < 0.5, "{:?}", found.dispersion);
        }
    }

    /// That a rate is written with four digits is no reason for steps.
    #[test]
    fn many_requests_at_one_rate_have_one_rate() {
        for seed in 0..3 {
            let at = instants(drawn(None, 200_000, seed).map(|gap| gap / 10.0235));
            let best = &fit(&at, 500).unwrap().candidates[0];
            assert!(best.pieces.len() == 1 && best.gaps.is_none(), "{seed}: {best:?}");
        }
    }

    #[test]
    fn a_bursty_stream_at_one_rate_has_its_law_and_cv() {
        let mut cvs = Vec::new();
        for seed in 0..10 {
            let law = Gaps::Gamma(Shape { cv: 2.5 });
            let at = instants(drawn(Some(law), 5_000, seed).map(|gap| gap / 3.0));
            let found = fit(&at, 500).unwrap();
            let best = &found.candidates[0];
            assert!(best.pieces.len() == 1, "{seed}: {:?}", best.pieces);
            assert!(matches!(best.gaps, Some(Gaps::Gamma(_))), "{seed}: {best:?}");
            cvs.push(best.gaps.unwrap().cv());
        }
        let mean = cvs.iter().sum::<f64>() / 10.0;
        // Four standard errors: that of a variance is √((kurtosis - 1) / n) of it, and a gamma law has 3 + 6 cv².
        assert!((mean / 2.5 - 1.0).abs() < 0.056, "{cvs:?}");
    }

    /// Three rates, with gaps that are no Poisson stream's in each: both are found.
    #[test]
    fn steps_and_gaps_are_found_together() {
        for seed in 0..5 {
            let law = Gaps::Gamma(Shape { cv: 2.0 });
            let mut place = 0.0_f64;
            let mut at = vec![0];
            // 4/s for 500 s, 20/s for 200 s, 1/s for 500 s.
            for gap in drawn(Some(law), 6_400, seed) {
                place += gap;
                let t = match place {
                    area if area < 2_000.0 => area / 4.0,
                    area if area < 6_000.0 => 500.0 + (area - 2_000.0) / 20.0,
                    area => 700.0 + (area - 6_000.0),
                };
                at.push((t * 1e9) as u64);
            }
            let found = fit(&at, 500).unwrap();
            let best = &found.candidates[0];
            assert!(matches!(best.gaps, Some(Gaps::Gamma(Shape { cv })) if (cv - 2.0).abs() < 0.2));
            assert!(best.pieces.len() >= 3 && best.pieces.len() <= 5, "{seed}: {:?}", best.pieces);
            let longest = best.pieces.iter().map(|piece| piece.rate).fold(0.0, f64::max);
            assert!((longest / 20.0 - 1.0).abs() < 0.15, "{:?}", best.pieces);
            let whole: u64 = best.pieces.iter().map(|piece| piece.length).sum();
            assert_eq!(whole, found.period);
        }
    }

    #[test]
    fn a_coarse_clock_is_spread() {
        let fine = instants(drawn(None, 5_000, 3).map(|gap| gap / 20.0));
        let at: Vec<u64> = fine.iter().map(|at| at / NANOS_PER_SECOND * NANOS_PER_SECOND).collect();
        let found = fit(&at, 500).unwrap();
        assert_eq!(found.coarse, Some(NANOS_PER_SECOND));
        assert!(found.candidates[0].gaps.is_none() && (found.gaps.cv - 1.0).abs() < 0.06);
        assert_eq!(fit(&fine, 500).unwrap().coarse, None);
    }

    #[test]
    fn arrivals_at_one_instant_have_no_rate() {
        assert!(fit(&[0, 0, 0], 500).is_none());
        assert!(fit(&[0, 5], 500).is_some());
    }
}
