//! Laws of sizes: tokens of requests, times of answers.

use super::figures::{Figures, distance, near};
use super::law::{Law, Unit};
use super::text;

/// A law with how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The law.
    pub law: Law,
    /// Its Kolmogorov-Smirnov distance from the sample.
    pub distance: f64,
    /// Whether it is near enough: distance, median, 90 % and 99 % point and mean.
    pub fits: bool,
}

/// A size and the laws that were tried.
#[derive(Clone, Debug)]
pub struct Size {
    /// What the log has.
    pub figures: Figures,
    /// Laws from the simplest on; the last one is taken.
    pub tried: Vec<Tried>,
}

/// Makes a law for ascending values, where it can.
type Maker = fn(&[f64], &Figures, Unit) -> Option<Law>;

/// The simplest law that fits ascending values, which are whole multiples of `grain`; None where there are none.
pub fn fit(sorted: &[f64], unit: Unit, grain: f64) -> Option<Size> {
    let figures = Figures::of(sorted)?;
    let mut tried = Vec::new();
    let laws: [Maker; 4] = [constant, exponential, lognormal, quantiles];
    for law in laws.iter().filter_map(|law| law(sorted, &figures, unit)) {
        let distance = distance(sorted, grain / 2.0, |x| law.cdf(x));
        let fits = distance <= near(sorted.len()) && law.has_figures(sorted, &figures);
        tried.push(Tried { law, distance, fits });
        if fits {
            break;
        }
    }
    Some(Size { figures, tried })
}

impl Size {
    /// The law that is taken.
    pub fn taken(&self) -> Option<&Tried> {
        self.tried.last()
    }
}

fn written(value: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Tokens => text::rounded(value),
        // As `text::span` writes it.
        Unit::Seconds if value < 1e-6 => (value * 1e9).round() / 1e9,
        Unit::Seconds => text::rounded(value),
    }
}

fn constant(sorted: &[f64], figures: &Figures, unit: Unit) -> Option<Law> {
    (sorted.first() == sorted.last()).then(|| Law::Constant(written(figures.mean, unit)))
}

fn exponential(_: &[f64], figures: &Figures, unit: Unit) -> Option<Law> {
    (figures.cv > 0.0).then(|| Law::Exponential(written(figures.mean, unit)))
}

fn lognormal(_: &[f64], figures: &Figures, unit: Unit) -> Option<Law> {
    let (median, p90) = (written(figures.p50, unit), written(figures.p90, unit));
    (median > 0.0 && p90 > median).then_some(Law::Lognormal(median, p90))
}

/// Points of the empirical quantile function at which lines may begin.
fn shares() -> Vec<f64> {
    let percents = (0..=100).map(|percent| f64::from(percent) / 100.0);
    let tails = [0.001, 0.002, 0.005, 0.992, 0.995, 0.998, 0.999];
    let mut all: Vec<f64> = percents.chain(tails).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Most points of a law that is written.
const MOST_POINTS: usize = 64;

/// Lines that leave no percentile further off than 0.5 %: from a few on, the worst is taken in until none is left.
fn quantiles(sorted: &[f64], _: &Figures, unit: Unit) -> Option<Law> {
    let at = |share: f64| crate::stats::quantile::nearest_rank(sorted, share);
    let all: Vec<(f64, f64)> = shares()
        .into_iter()
        .map(|share| Some((share, written(at(share)?, unit))))
        .collect::<Option<_>>()?;
    let mut taken: Vec<usize> =
        (0..all.len()).filter(|i| [0.0, 0.5, 0.9, 0.99, 1.0].contains(&all[*i].0)).collect();
    // Half a token, or what is nothing beside the usual, is no error.
    let least = match unit {
        Unit::Tokens => 50.0,
        Unit::Seconds => at(0.5)? / 10.0,
    };
    while taken.len() < MOST_POINTS {
        let mut worst = (0.005, None);
        for pair in taken.windows(2) {
            let ((x0, y0), (x1, y1)) = (all[pair[0]], all[pair[1]]);
            for (i, (x, y)) in all.iter().enumerate().take(pair[1]).skip(pair[0] + 1) {
                let line = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
                let error = (line - y).abs() / y.max(least);
                if error > worst.0 {
                    worst = (error, Some(i));
                }
            }
        }
        let Some(i) = worst.1 else { break };
        let place = taken.partition_point(|taken| *taken < i);
        taken.insert(place, i);
    }
    Some(Law::Quantiles(taken.into_iter().map(|i| all[i]).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::figures::sorted;
    use super::*;
    use crate::dist::{Count, Distribution};
    use crate::rng::{Purpose, Streams};
    use crate::units::Span;

    fn tokens(law: &str, n: u32, seed: u64) -> Vec<f64> {
        let law: toml::Table = format!("law = {law}").parse().unwrap();
        let law: Distribution<Count> = law["law"].clone().try_into().unwrap();
        let (sampler, streams) = (law.sampler(), Streams::new(seed, 0));
        sorted(
            (0..n).map(|i| sampler.sample(streams.stream(Purpose::Tokens, i, 0)) as f64).collect(),
        )
    }

    fn times(law: &str, n: u32, seed: u64) -> Vec<f64> {
        let law: toml::Table = format!("law = {law}").parse().unwrap();
        let law: Distribution<Span> = law["law"].clone().try_into().unwrap();
        let (sampler, streams) = (law.sampler(), Streams::new(seed, 0));
        let time = |i| sampler.sample(streams.stream(Purpose::Service, i, 0)) as f64 / 1e9;
        sorted((0..n).map(time).collect())
    }

    #[test]
    fn the_law_that_drew_a_sample_is_found_with_its_numbers() {
        let (mut means, mut medians, mut p90s) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 0..10 {
            let size = fit(
                &times("{ exponential = { mean = \"800ms\" } }", 4_000, seed),
                Unit::Seconds,
                1e-9,
            )
            .unwrap();
            let Law::Exponential(mean) = size.taken().unwrap().law else {
                panic!("{seed}: {size:?}")
            };
            means.push(mean / 0.8);
            let size = fit(
                &tokens("{ lognormal = { median = 129, p90 = 424 } }", 4_000, seed),
                Unit::Tokens,
                1.0,
            )
            .unwrap();
            let Law::Lognormal(median, p90) = size.taken().unwrap().law else {
                panic!("{seed}: {size:?}")
            };
            medians.push(median / 129.0);
            p90s.push(p90 / 424.0);
        }
        // Standard errors of one value are 1.6 %, 1.8 % and 2.5 %; of ten, a third of that.
        for (what, values) in [("mean", means), ("median", medians), ("p90", p90s)] {
            let mean = values.iter().sum::<f64>() / 10.0;
            assert!((mean - 1.0).abs() < 0.03, "{what}: {values:?}");
        }
    }

    #[test]
    fn a_sample_of_no_simple_law_has_its_quantiles() {
        // Two kinds of request, and a limit that a fifth of them meets.
        let mut values = tokens("{ uniform = { low = 3, high = 20 } }", 3_000, 1);
        values.extend(tokens("{ normal = { mean = 400, sd = 30 } }", 4_000, 2));
        values.extend([512.0; 2_000]);
        let values = sorted(values);
        let size = fit(&values, Unit::Tokens, 1.0).unwrap();
        let taken = size.taken().unwrap();
        assert!(taken.fits && size.tried.len() == 3, "{size:?}");
        let Law::Quantiles(points) = &taken.law else { panic!("{size:?}") };
        assert!(points.len() <= MOST_POINTS);
        // What is written is read, and its samples are like the log's.
        let again = tokens(&taken.law.toml(Unit::Tokens).replace('\n', ""), 9_000, 5);
        let (log, own) = (size.figures, Figures::of(&again).unwrap());
        for (a, b) in
            [(log.p50, own.p50), (log.p90, own.p90), (log.p99, own.p99), (log.mean, own.mean)]
        {
            assert!((a / b - 1.0).abs() < 0.03, "{log:?} {own:?}");
        }
    }

    #[test]
    fn one_value_is_a_constant_and_whole_numbers_are_no_steps() {
        let size = fit(&[7.0; 100], Unit::Tokens, 1.0).unwrap();
        assert_eq!(size.taken().unwrap().law.toml(Unit::Tokens), "7");
        assert_eq!(fit(&[], Unit::Tokens, 1.0).map(|size| size.figures), None);
        // Small whole numbers of a lognormal law are as near to it as large ones.
        let size =
            fit(&tokens("{ lognormal = { median = 8, p90 = 20 } }", 4_000, 3), Unit::Tokens, 1.0)
                .unwrap();
        assert!(
            size.tried
                .iter()
                .any(|tried| matches!(tried.law, Law::Lognormal(..)) && tried.distance < 0.03)
        );
    }
}
