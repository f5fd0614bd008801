//! Attempts that ended in an error, by status.

use std::collections::BTreeMap;

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::figures::sorted;
use crate::stats::quantile::nearest_rank;
use crate::units::seconds;
use crate::workload::log::Entry;

/// Errors with one status.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// The status.
    pub status: u16,
    /// Attempts that ended with it.
    pub count: usize,
    /// Their share of all attempts that had an answer.
    pub share: f64,
    /// Whether they come long before an answer would: their median latency is at most a tenth of that of answers.
    pub at_once: bool,
}

/// What a log says about failures.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// Whether it has statuses at all.
    pub known: bool,
    /// By status.
    pub by_status: Vec<Error>,
    /// Attempts without an answer: status 0, or 499, for a client that has gone.
    pub unanswered: usize,
    /// How unlikely it is that errors are spread over the attempts evenly; None where there are too few.
    pub even: Option<f64>,
}

/// True for an answer that a client can use; a log without statuses has no others.
pub fn is_answer(entry: &Entry) -> bool {
    entry.status.is_none_or(|status| (100..400).contains(&status))
}

fn is_unanswered(status: u16) -> bool {
    matches!(status, 0 | 499)
}

/// Counts the errors of rows in the order of their starts.
pub fn fit(rows: &[Entry]) -> Errors {
    let latency = |keep: &dyn Fn(&Entry) -> bool| {
        let times = rows.iter().filter(|row| keep(row)).filter_map(|row| row.latency);
        nearest_rank(&sorted(times.map(seconds).collect()), 0.5)
    };
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    rows.iter()
        .filter_map(|row| row.status)
        .for_each(|status| *counts.entry(status).or_default() += 1);
    let known = !counts.is_empty();
    let unanswered =
        counts.iter().filter(|(status, _)| is_unanswered(**status)).map(|(_, n)| n).sum();
    let answered = rows.len() - unanswered;
    let usual = latency(&is_answer);
    let error = |(status, count): (&u16, &usize)| {
        let own = latency(&|row: &Entry| row.status == Some(*status));
        let at_once = usual.zip(own).is_some_and(|(usual, own)| own * 10.0 <= usual);
        let share = *count as f64 / answered as f64;
        Error { status: *status, count: *count, share, at_once }
    };
    let errors = counts.iter().filter(|(status, _)| **status >= 400 && !is_unanswered(**status));
    let by_status: Vec<Error> = errors.map(error).collect();
    Errors { known, unanswered, even: even(rows), by_status }
}

/// Blocks of attempts among which errors are counted.
const BLOCKS: usize = 50;

/// The chance that counts of errors in blocks of attempts differ as they do when each attempt fails with one probability.
fn even(rows: &[Entry]) -> Option<f64> {
    let failed =
        |row: &&Entry| row.status.is_some_and(|status| status >= 400 && !is_unanswered(status));
    let all = rows.iter().filter(failed).count();
    // Fewer than five expected in a block say nothing.
    let blocks = BLOCKS.min(all / 5);
    if blocks < 5 || all == rows.len() {
        return None;
    }
    let share = all as f64 / rows.len() as f64;
    let square: f64 = rows
        .chunks(rows.len().div_ceil(blocks))
        .map(|block| {
            let (n, found) = (block.len() as f64, block.iter().filter(failed).count() as f64);
            (found - n * share) * (found - n * share) / (n * share * (1.0 - share))
        })
        .sum();
    ChiSquared::new((blocks - 1) as f64).ok().map(|law| law.sf(square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    fn row(start: u64, status: u16, latency: u64) -> Entry {
        Entry {
            start,
            latency: Some(latency),
            status: Some(status),
            input_tokens: None,
            output_tokens: None,
        }
    }

    #[test]
    fn shares_are_those_of_the_attempts_that_had_an_answer() {
        let rows: Vec<Entry> = (0..1_000)
            .map(|i| match i % 20 {
                0 => row(i, 429, 1_000_000),
                1 => row(i, 500, 900_000_000),
                2 if i < 100 => row(i, 0, 5_000_000_000),
                3 if i < 100 => row(i, 499, 5_000_000_000),
                _ => row(i, 200, 1_000_000_000),
            })
            .collect();
        let found = fit(&rows);
        assert_eq!((found.known, found.unanswered, found.by_status.len()), (true, 10, 2));
        let [limit, broken] = found.by_status[..] else { unreachable!() };
        assert_eq!((limit.status, limit.count, limit.at_once), (429, 50, true));
        assert_eq!((broken.status, broken.count, broken.at_once), (500, 50, false));
        assert!((limit.share - 50.0 / 990.0).abs() < 1e-12);
        let silent: Vec<Entry> = rows.iter().map(|row| Entry { status: None, ..*row }).collect();
        assert!(!fit(&silent).known && fit(&silent).by_status.is_empty());
    }

    /// Independent errors pass at the 0.1 % level over 20 seeds, and an outage is seen in each.
    #[test]
    fn errors_in_clumps_are_told_from_even_ones() {
        for seed in 0..20 {
            let streams = Streams::new(seed, 0);
            let failed = |i: u32, share: f64| streams.stream(Purpose::Fault, i, 0).unit() < share;
            let of = |share: &dyn Fn(u32) -> f64| -> Vec<Entry> {
                (0..4_000_u32)
                    .map(|i| row(i.into(), if failed(i, share(i)) { 503 } else { 200 }, 1))
                    .collect()
            };
            assert!(fit(&of(&|_| 0.08)).even.unwrap() > 1e-3, "{seed}");
            let outage = of(&|i| if (1_000..1_400).contains(&i) { 0.7 } else { 0.01 });
            assert!(fit(&outage).even.unwrap() < 1e-6, "{seed}");
        }
    }
}
