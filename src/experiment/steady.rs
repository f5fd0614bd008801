//! One long run as a series: what to cut off its front, and how sure its mean is.

use rayon::prelude::*;

use super::{Cell, Effort};
use crate::answer::Outcome;
use crate::error::Result;
use crate::model::{Observer, Report, Side};
use crate::stats::batch::{BatchMeans, batch_means};
use crate::stats::warm_up::mser5;
use crate::units::{Span, Time, seconds};

/// What is followed through a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Seconds from creation to answer of each request that is answered, in order of creation; where requests
    /// are open at the end, of those that were created before the longest of these times would be over.
    Completion,
    /// Attempts at the provider in each window of the run.
    Attempts,
    /// Answers in each window of the run.
    Answers,
}

/// How much of the front is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// What MSER-5 says of the mean of all runs' series: one cut for all, that no single run's noise
    /// has drawn.
    Mser5,
    /// So much time.
    Fixed(Span),
}

/// What a run's series says about its steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Values of the series.
    pub values: usize,
    /// Values that are cut off its front; None when MSER-5 finds no end of the warm-up.
    pub cut: Option<usize>,
    /// When the first value that is kept was created, or its window began; in seconds. None when
    /// nothing is kept.
    pub from_s: Option<f64>,
    /// Means of batches of what is left; None when that are too few values.
    pub batches: Option<BatchMeans>,
}

impl Steady {
    /// True when the run says what it is asked: the warm-up has an end and batches are independent.
    pub fn is_sound(&self) -> bool {
        self.cut.is_some() && self.batches.is_some_and(|batches| batches.independent)
    }

    fn of(series: &[(Time, f64)], cut: Option<usize>, risk: f64) -> Steady {
        let kept = cut.unwrap_or(0).min(series.len());
        let values: Vec<f64> = series[kept..].iter().map(|(_, value)| *value).collect();
        Steady {
            values: series.len(),
            cut,
            from_s: series.get(kept).map(|(created, _)| seconds(*created)),
            batches: batch_means(&values, risk),
        }
    }
}

/// Runs every replication of a cell and looks at its series.
pub fn steady(cell: &Cell, effort: Effort, follow: Follow, warm_up: WarmUp) -> Result<Vec<Steady>> {
    effort.check(cell)?;
    let pool = effort.pool()?;
    let window = cell.scenario.measure.window.nanos();
    // Of doubting any of them, all being sound.
    let risk = 0.05 / f64::from(effort.replications);
    let series = |replication: u32| -> Result<Vec<(Time, f64)>> {
        let mut seen = Seen { follow, window, series: Vec::new(), longest: 0 };
        let report = cell.watch(effort.seed, replication, &mut seen)?;
        Ok(seen.finish(&report))
    };
    let fixed = |span: Span, series: Vec<(Time, f64)>| {
        let cut = series.partition_point(|(created, _)| *created < span.nanos());
        Steady::of(&series, Some(cut), risk)
    };
    let runs = (0..effort.replications).into_par_iter();
    match warm_up {
        WarmUp::Fixed(span) => {
            let one = |replication| Ok(fixed(span, series(replication)?));
            let found: Vec<Result<Steady>> = pool.install(|| runs.map(one).collect());
            found.into_iter().collect()
        }
        WarmUp::Mser5 => {
            let all: Vec<Result<_>> = pool.install(|| runs.map(series).collect());
            let all: Vec<Vec<(Time, f64)>> = all.into_iter().collect::<Result<_>>()?;
            let cut = mser5(&mean_series(&all));
            Ok(all.iter().map(|series| Steady::of(series, cut, risk)).collect())
        }
    }
}

/// The mean of the i-th values of all series, as far as the shortest reaches.
fn mean_series(all: &[Vec<(Time, f64)>]) -> Vec<f64> {
    let length = all.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |i: usize| all.iter().map(|series| series[i].1).sum::<f64>() / all.len() as f64;
    (0..length).map(mean).collect()
}

/// Sees what is followed.
struct Seen {
    follow: Follow,
    window: u64,
    /// When a value was created and what it is, or the start of a window and its count.
    series: Vec<(Time, f64)>,
    /// The longest time from creation to answer.
    longest: u64,
}

impl Seen {
    fn count(&mut self, now: Time) {
        let index = (now / self.window) as usize;
        while self.series.len() <= index {
            self.series.push((self.series.len() as u64 * self.window, 0.0));
        }
        self.series[index].1 += 1.0;
    }

    /// The series of a run: of windows only those that are over.
    fn finish(mut self, report: &Report) -> Vec<(Time, f64)> {
        let end = report.end;
        match self.follow {
            Follow::Completion => {
                // Resolved in another order than created.
                self.series.sort_by_key(|(created, _)| *created);
                if report.ledger.open > 0 {
                    // Of the last ones only the fast are answered: none counts that was created later
                    // than the longest time seen before the end.
                    let longest = self.longest;
                    self.series.retain(|(created, _)| created.saturating_add(longest) <= end);
                }
            }
            Follow::Attempts | Follow::Answers => {
                let whole = (end / self.window) as usize;
                let window = self.window;
                let empty = (self.series.len()..whole).map(|i| (i as u64 * window, 0.0));
                self.series.extend(empty);
                self.series.truncate(whole);
            }
        }
        self.series
    }
}

impl Observer for Seen {
    fn attempt(&mut self, now: Time, _: Side, _number: u32) {
        if self.follow == Follow::Attempts {
            self.count(now);
        }
    }

    fn resolved(&mut self, now: Time, _group: usize, created: Time, outcome: Outcome) {
        match (self.follow, outcome) {
            (Follow::Completion, Outcome::Succeeded) => {
                self.series.push((created, seconds(now - created)));
                self.longest = self.longest.max(now - created);
            }
            (Follow::Answers, Outcome::Succeeded) => self.count(now),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Seed;
    use crate::scenario::{Document, MemoryLimit};

    fn found(text: &str, follow: Follow, warm_up: WarmUp) -> Steady {
        let document = Document::parse("test", text.to_owned(), ".".into()).unwrap();
        let cell = Cell::new("", &document).unwrap();
        let memory = MemoryLimit::default();
        let effort = Effort { seed: Seed(1), replications: 1, threads: 1, memory };
        steady(&cell, effort, follow, warm_up).unwrap()[0]
    }

    const CLOCKWORK: &str = "workload = { poisson = { rate = \"5/s\" } }
        measure = { horizon = \"100s\", window = \"1s\" }
        provider = { concurrency = 1000, service = \"2s\" }";

    #[test]
    fn a_series_is_what_it_says() {
        let completion = found(CLOCKWORK, Follow::Completion, WarmUp::Mser5);
        assert_eq!((completion.cut, completion.from_s.unwrap() < 1.0), (Some(0), true));
        assert_eq!(completion.batches.unwrap().summary.ci95, Some((2.0, 2.0)));
        let answers = found(CLOCKWORK, Follow::Answers, WarmUp::Fixed("2s".parse().unwrap()));
        assert_eq!((answers.values, answers.cut, answers.from_s), (100, Some(2), Some(2.0)));
        assert!((answers.batches.unwrap().summary.mean - 5.0).abs() < 1.0);
        let attempts = found(CLOCKWORK, Follow::Attempts, WarmUp::Fixed("0s".parse().unwrap()));
        assert_eq!((attempts.values, attempts.cut), (100, Some(0)));
        assert!(attempts.is_sound());
    }

    /// Service of a minute, watched for ten: of the last ones only the fast are answered.
    #[test]
    fn the_slow_ones_of_the_end_are_missed_by_nobody() {
        let text = CLOCKWORK
            .replace("\"2s\"", "{ exponential = { mean = \"60s\" } }")
            .replace("100s", "40min");
        let mean = |seed: u64| {
            let document = Document::parse("test", text.clone(), ".".into()).unwrap();
            let cell = Cell::new("", &document).unwrap();
            let memory = MemoryLimit::default();
            let effort = Effort { seed: Seed(seed), replications: 1, threads: 1, memory };
            let warm_up = WarmUp::Fixed(Span::ZERO);
            steady(&cell, effort, Follow::Completion, warm_up).unwrap()[0]
                .batches
                .unwrap()
                .summary
                .mean
        };
        let found =
            crate::stats::summary::summarise(&(0..20).map(mean).collect::<Vec<_>>()).unwrap();
        let (low, high) = found.ci95.unwrap();
        assert!(low < 60.0 && 60.0 < high && high - low < 2.0, "{found:?}");
    }

    #[test]
    fn what_never_settles_is_not_sound() {
        // Twice as many as can be served: every wait is longer than the last.
        let text = CLOCKWORK.replace("1000", "5, queue = { fifo = {} }");
        let completion = found(&text, Follow::Completion, WarmUp::Mser5);
        assert!(!completion.is_sound() && completion.cut.is_none(), "{completion:?}");
    }
}
