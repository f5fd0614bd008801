//! How often our own 95 % intervals hold the truth: 1,000 experiments on the M/M/1 queue at half load,
//! whose means and quantiles are known. ±3 binomial standard errors are 92.9 to 97.1 %.

mod common;

use common::{SEED, cell, runs, watch};
use retrylab::answer::Outcome;
use retrylab::experiment::{Effort, Follow, Seed, WarmUp, steady};
use retrylab::model::Observer;
use retrylab::scenario::MemoryLimit;
use retrylab::stats::quantile;
use retrylab::stats::summary::{Summary, summarise, summarise_share};
use retrylab::theory::queue::{mm1_mean_in_system, mm1_mean_sojourn, mm1_sojourn_quantile};
use retrylab::units::{Time, seconds};

const EXPERIMENTS: u32 = 1_000;
const LOAD: f64 = 0.5;

/// M/M/1 with services of one second.
fn queue(load: f64, horizon_s: u32) -> String {
    format!(
        "workload = {{ poisson = {{ rate = \"{load}/s\" }} }}
         measure = {{ horizon = \"{horizon_s}s\", window = \"10s\" }}
         [provider]
         concurrency = 1
         service = {{ exponential = {{ mean = \"1s\" }} }}
         queue = {{ fifo = {{}} }}"
    )
}

/// Asserts that intervals hold the truth as often as they say.
fn assert_covers(what: &str, truth: f64, intervals: &[Option<(f64, f64)>]) {
    assert_eq!(intervals.len(), EXPERIMENTS as usize, "{what}");
    let holds = |interval: &Option<(f64, f64)>| {
        let (low, high) = interval.unwrap_or_else(|| panic!("{what}: no interval"));
        low <= truth && truth <= high
    };
    let share = intervals.iter().filter(|interval| holds(interval)).count() as f64 / 1_000.0;
    eprintln!("{what}: {:.1} %", 100.0 * share);
    assert!((0.929..=0.971).contains(&share), "{what}: {share}");
}

#[test]
fn intervals_over_replications() {
    // Starting empty takes 4/2,000 off the mean of 1, a twentieth of a standard error.
    let all = runs(&queue(LOAD, 2_000), 10 * EXPERIMENTS).values("mean_in_flight");
    let intervals: Vec<_> = all.chunks(10).map(|ten| summarise(ten).unwrap().ci95).collect();
    assert_covers("replications", mm1_mean_in_system(LOAD), &intervals);
}

#[test]
fn intervals_by_batch_means() {
    let cell = cell(&queue(LOAD, 20_000));
    let memory = MemoryLimit::default();
    let effort = Effort { seed: Seed(SEED), replications: EXPERIMENTS, threads: 2, memory };
    let warm_up = WarmUp::Fixed("200s".parse().unwrap());
    let found = steady(&cell, effort, Follow::Completion, warm_up).unwrap();
    let intervals: Vec<_> =
        found.iter().map(|run| run.batches.and_then(|batches| batches.summary.ci95)).collect();
    assert_covers("batch means", mm1_mean_sojourn(LOAD), &intervals);
}

/// Times in the system, in order of creation, that are far enough apart to be independent.
#[derive(Default)]
struct Apart(Vec<(Time, f64)>);

impl Observer for Apart {
    fn resolved(&mut self, now: Time, _: usize, created: Time, _: Outcome) {
        // One server, first in first out: resolved in the order of creation.
        self.0.push((created, seconds(now - created)));
    }
}

impl Apart {
    /// Every 50th after the first 100: what is left of a correlation is (4ρ/(1 + ρ)²)⁵⁰ = 0.3 %.
    fn values(&self) -> Vec<f64> {
        self.0.iter().skip(100).step_by(50).take(100).map(|(_, value)| *value).collect()
    }
}

#[test]
fn intervals_of_quantiles_and_shares() {
    let seen = watch(&queue(LOAD, 12_000), EXPERIMENTS, Apart::default);
    let samples: Vec<Vec<f64>> = seen.iter().map(|(apart, _)| apart.values()).collect();
    for q in [0.5, 0.9] {
        let truth = mm1_sojourn_quantile(LOAD, q);
        let interval = |values: &Vec<f64>| {
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            assert_eq!(sorted.len(), 100);
            quantile::interval(&sorted, q, 0.95)
        };
        let intervals: Vec<_> = samples.iter().map(interval).collect();
        assert_covers(&format!("{q} quantile"), truth, &intervals);
    }
    // Of a median, since the intervals of rarer things oscillate about 95 % from one count to the next.
    let truth = mm1_sojourn_quantile(LOAD, 0.5);
    let longer = |value: &f64| f64::from(u8::from(*value > truth));
    let share = |values: &Vec<f64>| {
        summarise_share(&values.iter().map(longer).collect::<Vec<_>>()).unwrap().ci95
    };
    let intervals: Vec<_> = samples.iter().map(share).collect();
    assert_covers("share above the median", 0.5, &intervals);
}

/// Mean of each of 200 times ten runs, as a user has them, of completion at this load.
fn means_of_ten(text: &str, warm_up: WarmUp) -> Summary {
    let cell = cell(text);
    let memory = MemoryLimit::default();
    let mean = |seed| {
        let effort = Effort { seed: Seed(seed), replications: 10, threads: 2, memory };
        let found = steady(&cell, effort, Follow::Completion, warm_up).unwrap();
        let means: Vec<f64> =
            found.iter().filter_map(|run| Some(run.batches?.summary.mean)).collect();
        summarise(&means).unwrap().mean
    };
    summarise(&(0..200).map(mean).collect::<Vec<_>>()).unwrap()
}

/// What an empty start takes off at ρ = 0.8 is less than a standard error, with and without a cut.
#[test]
fn a_start_that_is_hardly_felt_is_cut_without_harm() {
    let found = means_of_ten(&queue(0.8, 1_000), WarmUp::Mser5);
    let bias = (found.mean - mm1_mean_sojourn(0.8)).abs();
    assert!(bias < found.sd.unwrap(), "{bias} of {found:?}");
}

/// Sixty requests that wait from the start are felt for 120 s of 1,000, by ten standard errors.
#[test]
fn a_start_that_is_felt_is_cut_off() {
    let text = queue(LOAD, 1_000);
    let (workload, rest) = text.split_once('\n').unwrap();
    let backlog = "workload = { clients = 60, burst = { at = \"0s\" } }";
    let text = format!(
        "{rest}\n[[group]]\nname = \"backlog\"\n{backlog}\n[[group]]\nname = \"stream\"\n{workload}"
    );
    let cut = means_of_ten(&text, WarmUp::Mser5);
    let whole = means_of_ten(&text, WarmUp::Fixed("0s".parse().unwrap()));
    let bias = |found: &Summary| (found.mean - mm1_mean_sojourn(LOAD)).abs() / found.sd.unwrap();
    assert!(bias(&cut) < 1.0 && bias(&whole) > 10.0, "{cut:?} {whole:?}");
}
