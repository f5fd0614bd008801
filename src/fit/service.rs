//! How long answers take: from their tokens, where that explains it, or by a law.

use super::errors::is_answer;
use super::figures::{distance_of_two, sorted};
use super::law::Unit;
use super::size::{self, Size};
use super::text;
use crate::units::seconds;
use crate::workload::log::Entry;

/// Answers that take so long to the first token and so long for each one more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByTokens {
    /// Seconds without any token.
    pub first_s: f64,
    /// Seconds per prompt token.
    pub per_input_s: f64,
    /// Seconds per token of the answer.
    pub per_output_s: f64,
    /// The part of the variance that it explains.
    pub r_squared: f64,
    /// The Kolmogorov-Smirnov distance between the times that it gives to the log's tokens and the log's times.
    pub distance: f64,
}

/// What is known of service times.
#[derive(Clone, Debug)]
pub struct Service {
    /// The line through the tokens, where there is one.
    pub by_tokens: Option<ByTokens>,
    /// The law without tokens.
    pub law: Size,
}

/// A line is taken when it explains so much of the variance.
pub const EXPLAINED: f64 = 0.5;

/// A dependence on the prompt is taken in when it explains so much more.
const MORE: f64 = 0.02;

/// Fits the latencies of answers; None where there are none.
pub fn fit(rows: &[Entry]) -> Option<Service> {
    let answers = || rows.iter().filter(|row| is_answer(row));
    let nanos: Vec<u64> = answers().filter_map(|row| row.latency).collect();
    let times = sorted(nanos.iter().map(|nanos| seconds(*nanos)).collect());
    // Of a clock that counts milliseconds, times are whole ones.
    let grain = nanos.iter().fold(0, |a, b| gcd(a, *b)).max(1);
    let points: Vec<[f64; 3]> = answers()
        .filter_map(|row| {
            Some([row.input_tokens?.into(), row.output_tokens?.into(), seconds(row.latency?)])
        })
        .collect();
    let law = size::fit(&times, Unit::Seconds, seconds(grain))?;
    Some(Service { by_tokens: by_tokens(&points), law })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Service {
    /// The line through the tokens, when it is taken.
    pub fn taken_line(&self) -> Option<ByTokens> {
        self.by_tokens.filter(|line| line.r_squared >= EXPLAINED)
    }
}

/// Mean products of deviations.
struct Moments {
    mean: [f64; 3],
    product: [[f64; 3]; 3],
}

impl Moments {
    fn of(points: &[[f64; 3]]) -> Moments {
        let n = points.len() as f64;
        let mean = [0, 1, 2].map(|i| points.iter().map(|point| point[i]).sum::<f64>() / n);
        let product = [0, 1, 2].map(|i| {
            [0, 1, 2].map(|j| {
                points.iter().map(|p| (p[i] - mean[i]) * (p[j] - mean[j])).sum::<f64>() / n
            })
        });
        Moments { mean, product }
    }
}

/// Least squares on the tokens of the answer, and on those of the prompt where they explain more. None where times do not
/// grow with tokens.
fn by_tokens(points: &[[f64; 3]]) -> Option<ByTokens> {
    if points.len() < 3 {
        return None;
    }
    let Moments { mean, product: p } = Moments::of(points);
    if p[1][1] <= 0.0 || p[2][2] <= 0.0 {
        return None;
    }
    let alone = (0.0, p[1][2] / p[1][1]);
    let both = {
        let det = p[0][0] * p[1][1] - p[0][1] * p[0][1];
        let input = (p[0][2] * p[1][1] - p[1][2] * p[0][1]) / det;
        let output = (p[1][2] * p[0][0] - p[0][2] * p[0][1]) / det;
        (det > 1e-9 * p[0][0] * p[1][1]).then_some((input, output))
    };
    // What is explained of the variance: Σ slope · covariance over it.
    let explained = |(input, output): (f64, f64)| (input * p[0][2] + output * p[1][2]) / p[2][2];
    let both = both.filter(|line| explained(*line) > explained(alone) + MORE);
    let first = |(input, output): (f64, f64)| mean[2] - input * mean[0] - output * mean[1];
    let sane = |line: &(f64, f64)| line.0 >= 0.0 && line.1 > 0.0 && first(*line) >= 0.0;
    let line = both.filter(sane).or(Some(alone).filter(sane))?;
    let (per_input_s, per_output_s) = (line.0, line.1);
    let first_s = text::rounded(first(line));
    let given = |point: &[f64; 3]| first_s + per_input_s * point[0] + per_output_s * point[1];
    let given = sorted(points.iter().map(given).collect());
    let found = sorted(points.iter().map(|point| point[2]).collect());
    let distance = distance_of_two(&given, &found);
    Some(ByTokens { first_s, per_input_s, per_output_s, r_squared: explained(line), distance })
}

#[cfg(test)]
mod tests {
    use super::super::law::Law;
    use super::*;
    use crate::dist::standard_normal;
    use crate::rng::{Purpose, Stream, Streams};

    fn rows(seed: u64, time: impl Fn(f64, f64, &mut Stream) -> f64) -> Vec<Entry> {
        let streams = Streams::new(seed, 0);
        let row = |i: u32| {
            let stream = &mut streams.stream(Purpose::Service, i, 0);
            let (input, output) = (stream.below(8_000), 10 + stream.below(600));
            let latency = time(input as f64, output as f64, stream);
            Entry {
                start: i.into(),
                latency: Some((latency * 1e9) as u64),
                status: Some(200),
                input_tokens: Some(input as u32),
                output_tokens: Some(output as u32),
            }
        };
        (0..3_000).map(row).collect()
    }

    /// First 0.4 s, 60 tokens a second and noise of 0.5 s: over ten seeds the means are right within 1 %.
    #[test]
    fn a_line_through_the_tokens_is_found() {
        let lines: Vec<ByTokens> = (0..10)
            .map(|seed| {
                let found = fit(&rows(seed, |_, output, stream| {
                    (0.4 + output / 60.0 + 0.5 * standard_normal(stream)).max(0.0)
                }));
                found.unwrap().taken_line().unwrap()
            })
            .collect();
        let mean = |of: fn(&ByTokens) -> f64| lines.iter().map(of).sum::<f64>() / 10.0;
        assert!((mean(|line| 1.0 / line.per_output_s) / 60.0 - 1.0).abs() < 0.01);
        assert!((mean(|line| line.first_s) - 0.4).abs() < 0.03);
        assert!(lines.iter().all(|line| line.per_input_s == 0.0 && line.distance < 0.05));
    }

    #[test]
    fn the_prompt_counts_where_it_does() {
        let found = fit(&rows(1, |input, output, _| 0.2 + input / 4_000.0 + output / 100.0));
        let line = found.unwrap().taken_line().unwrap();
        assert!((line.per_input_s * 4_000.0 - 1.0).abs() < 1e-6 && line.r_squared > 0.999);
        assert!(
            (line.per_output_s * 100.0 - 1.0).abs() < 1e-6 && (line.first_s - 0.2).abs() < 1e-6
        );
    }

    #[test]
    fn times_that_tokens_do_not_explain_have_a_law() {
        let found = fit(&rows(2, |_, _, stream| (0.8 * standard_normal(stream)).exp())).unwrap();
        assert_eq!(found.taken_line(), None);
        assert!(matches!(found.law.taken().unwrap().law, Law::Lognormal(..)), "{found:?}");
        // A log that has only failures, or no latencies, has no service.
        let failed: Vec<Entry> =
            rows(2, |_, _, _| 1.0).iter().map(|row| Entry { status: Some(500), ..*row }).collect();
        assert!(fit(&failed).is_none());
    }

    /// Times in whole milliseconds are as near to their law as finer ones.
    #[test]
    fn a_coarse_clock_is_no_other_law() {
        let found = fit(&rows(3, |_, _, stream| {
            (0.02 * (0.5 * standard_normal(stream)).exp() * 1e3).ceil() / 1e3
        }));
        let law = found.unwrap().law;
        assert!(matches!(law.taken().unwrap().law, Law::Lognormal(..)), "{law:?}");
    }
}
