//! When retries come, against the exact distribution of sums of uniform waits.
//!
//! Every client fails at t = 0 and at each retry. Planted bugs are a base that is a few percent
//! off, or a jitter of another shape, in the scenario and not in the theory.

mod common;

use common::{
    REPLICATIONS, assert_agrees, assert_caught, judge, kolmogorov_smirnov, mean_and_error, runs,
    seconds, watch,
};
use retrylab::experiment::CellRuns;
use retrylab::model::{Observer, Side};
use retrylab::theory::decorrelated;
use retrylab::theory::multinomial_max::{binomial, largest_cell};
use retrylab::theory::uniform_sum::{
    Wait, cdf, equal_jitter, expected_bin, full_jitter, mean, no_jitter, sdk_jitter,
};
use retrylab::units::Time;

const CLIENTS: u32 = 1000;
const WINDOW_S: f64 = 0.1;

/// Replications where single bins are looked at: 4 standard errors of a bin of 150 are 2 %.
const MANY: u32 = 300;

const FULL: &str = "{ full_jitter = { base = \"1s\", cap = \"30s\" } }";
const FULL_OFF: &str = "{ full_jitter = { base = \"1.05s\", cap = \"30s\" } }";
const EQUAL: &str = "{ equal_jitter = { base = \"1s\", cap = \"30s\" } }";
const EQUAL_OFF: &str = "{ equal_jitter = { base = \"1.05s\", cap = \"30s\" } }";
const SDK: &str = "{ sdk_jitter = { base = \"500ms\", cap = \"8s\" } }";
const SDK_OFF: &str = "{ sdk_jitter = { base = \"525ms\", cap = \"8s\" } }";
const NONE: &str = "{ none = { base = \"1s\", cap = \"30s\" } }";
const NONE_OFF: &str = "{ none = { base = \"1.05s\", cap = \"30s\" } }";
const DECORRELATED: &str = "{ decorrelated_jitter = { base = \"1s\", cap = \"30s\" } }";
const DECORRELATED_OFF: &str = "{ decorrelated_jitter = { base = \"1.05s\", cap = \"30s\" } }";

fn herd_of(clients: u32, backoff: &str, retries: u32, window: &str) -> String {
    let attempts = retries + 1;
    format!(
        r#"
        workload = {{ clients = {clients}, burst = {{}} }}
        provider = {{ faults = [{{ outage = {{ from = "0s", status = 503 }} }}] }}
        client = {{ layers = [{{ name = "client", max_attempts = {attempts}, backoff = {backoff} }}] }}
        measure = {{ window = "{window}", horizon = "1h", per_retry = {retries} }}
        "#
    )
}

fn herd(backoff: &str) -> String {
    herd_of(CLIENTS, backoff, 4, "100ms")
}

/// Retries of every replication in one bin.
fn bin(runs: &CellRuns, index: usize) -> Vec<f64> {
    let at = |counts: &Vec<u32>| f64::from(counts.get(index).copied().unwrap_or(0));
    runs.runs.iter().map(|run| at(&run.retries)).collect()
}

/// Bins of the first 40 windows whose mean is not that of the theory.
///
/// 160 bins are judged (4 policies), each at 4.7 standard errors: by Bonferroni the chance of any
/// false alarm is below 160 · 2.6e-6 = 4.2e-4. Bins without spread must be exact.
fn wrong_bins(runs: &CellRuns, waits: &[Wait]) -> Vec<usize> {
    let wrong = |&index: &usize| {
        let (mean, error) = mean_and_error(&bin(runs, index));
        let theory = expected_bin(waits, f64::from(CLIENTS), WINDOW_S, index as u64);
        (mean - theory).abs() > 4.7 * error + 1e-9
    };
    (0..40).filter(wrong).collect()
}

#[test]
fn every_bin_holds_what_the_sum_of_uniforms_says() {
    let policies = [
        (FULL, FULL_OFF, full_jitter(1.0, 30.0, 4)),
        (EQUAL, EQUAL_OFF, equal_jitter(1.0, 30.0, 4)),
        (SDK, SDK_OFF, sdk_jitter(0.5, 8.0, 4)),
        (NONE, NONE_OFF, no_jitter(1.0, 30.0, 4)),
    ];
    for (backoff, planted, waits) in policies {
        let wrong = wrong_bins(&runs(&herd(backoff), MANY), &waits);
        assert!(wrong.is_empty(), "{backoff}: bins {wrong:?}");
        let wrong = wrong_bins(&runs(&herd(planted), REPLICATIONS), &waits);
        assert!(wrong.len() >= 2, "{planted} passes but for bins {wrong:?}");
    }
    let wrong = wrong_bins(&runs(&herd(FULL), REPLICATIONS), &equal_jitter(1.0, 30.0, 4));
    assert!(wrong.len() >= 20, "full passes for equal but for bins {wrong:?}");
}

#[test]
fn the_fullest_bins_are_the_published_ones() {
    let cases = [
        (FULL, FULL_OFF, full_jitter(1.0, 30.0, 4), 9..10),
        (EQUAL, EQUAL_OFF, equal_jitter(1.0, 30.0, 4), 5..10),
        (SDK, SDK_OFF, sdk_jitter(0.5, 8.0, 4), 4..5),
    ];
    for (backoff, planted, waits, bins) in cases {
        let (good, bad) = (runs(&herd(backoff), MANY), runs(&herd(planted), MANY));
        let theory = |index| expected_bin(&waits, f64::from(CLIENTS), WINDOW_S, index as u64);
        for index in bins.clone() {
            assert_agrees(&format!("{backoff} bin {index}"), &bin(&good, index), theory(index));
        }
        assert_caught(planted, &bin(&bad, bins.start), theory(bins.start));
    }
}

#[test]
fn the_mean_time_of_each_retry_is_the_sum_of_mean_waits() {
    let sum = |waits: Vec<Wait>| (1..=4).map(|k| mean(&waits[..k])).collect::<Vec<f64>>();
    let decorrelated = (1..=4).map(|k| decorrelated::mean_retry_time(1.0, 30.0, k)).collect();
    let policies = [
        (NONE, NONE_OFF, sum(no_jitter(1.0, 30.0, 4))),
        (SDK, SDK_OFF, sum(sdk_jitter(0.5, 8.0, 4))),
        (EQUAL, EQUAL_OFF, sum(equal_jitter(1.0, 30.0, 4))),
        (FULL, FULL_OFF, sum(full_jitter(1.0, 30.0, 4))),
        (DECORRELATED, DECORRELATED_OFF, decorrelated),
    ];
    for (backoff, planted, times) in policies {
        let (good, bad) = (runs(&herd(backoff), REPLICATIONS), runs(&herd(planted), REPLICATIONS));
        for (k, time) in (1..).zip(times) {
            let metric = format!("retry_{k}_mean_s");
            assert_agrees(&format!("{backoff} {metric}"), &good.values(&metric), time);
            assert_caught(&format!("{planted} {metric}"), &bad.values(&metric), time);
        }
    }
}

#[test]
fn decorrelated_waits_without_a_cap_grow_by_half() {
    let waits = |base: &str| {
        let backoff = format!("{{ decorrelated_jitter = {{ base = \"{base}\", cap = \"30d\" }} }}");
        let runs = runs(&herd(&backoff), REPLICATIONS);
        let time = |k: usize| match k {
            0 => vec![0.0; REPLICATIONS as usize],
            _ => runs.values(&format!("retry_{k}_mean_s")),
        };
        let wait = |k| time(k).iter().zip(time(k - 1)).map(|(a, b)| a - b).collect::<Vec<f64>>();
        (1..=4).map(wait).collect::<Vec<Vec<f64>>>()
    };
    let (good, bad) = (waits("1s"), waits("1.1s"));
    for k in 1..=4 {
        let theory = decorrelated::mean_wait_uncapped(1.0, k);
        assert_agrees(&format!("wait {k}"), &good[k - 1], theory);
        assert_caught(&format!("wait {k}"), &bad[k - 1], theory);
    }
}

#[test]
fn the_peak_of_equal_jitter_is_the_largest_of_five_even_bins() {
    let theory = largest_cell(CLIENTS, 5).unwrap();
    let peaks = runs(&herd(EQUAL), MANY).values("peak_bin");
    assert_agrees("mean", &peaks, theory.mean);
    let sd = mean_and_error(&peaks).1 * f64::from(MANY).sqrt();
    // The standard error of a standard deviation is 4 % here.
    assert!((sd / theory.sd - 1.0).abs() < 4.0 * 0.041, "{sd} for {}", theory.sd);
    let fewer = herd_of(CLIENTS * 97 / 100, EQUAL, 4, "100ms");
    assert_caught("3 % fewer clients", &runs(&fewer, MANY).values("peak_bin"), theory.mean);
}

#[test]
fn the_peak_of_the_sdk_rule_is_binomial() {
    let theory = binomial(CLIENTS, 0.8);
    let peaks = runs(&herd(SDK), MANY).values("peak_bin");
    assert_agrees("mean", &peaks, theory.mean);
    let sd = mean_and_error(&peaks).1 * f64::from(MANY).sqrt();
    assert!((sd / theory.sd - 1.0).abs() < 4.0 * 0.041, "{sd} for {}", theory.sd);
    let fewer = herd_of(CLIENTS * 98 / 100, SDK, 4, "100ms");
    assert_caught("2 % fewer clients", &runs(&fewer, MANY).values("peak_bin"), theory.mean);
}

/// Waves 1 to 3 of full jitter together reach their highest load, 1.5625 N/b, at t = b.
#[test]
fn the_first_three_waves_peak_at_the_base() {
    const BIG: u32 = 4000;
    let wave = |base: &str| {
        let backoff = format!("{{ full_jitter = {{ base = \"{base}\", cap = \"30s\" }} }}");
        runs(&herd_of(BIG, &backoff, 3, "50ms"), 3 * REPLICATIONS)
    };
    let waits = full_jitter(1.0, 30.0, 3);
    let theory = |index| expected_bin(&waits, f64::from(BIG), 0.05, index);
    assert!((theory(19) / (1.5625 * 0.05 * f64::from(BIG)) - 1.0).abs() < 0.02);
    let (good, bad) = (wave("1s"), wave("1.05s"));
    assert_agrees("bin before the base", &bin(&good, 19), theory(19));
    assert_caught("base 5 % off", &bin(&bad, 19), theory(19));
    let means: Vec<f64> = (0..140).map(|index| mean_and_error(&bin(&good, index)).0).collect();
    assert!(means.iter().all(|&mean| mean <= means[19]), "the fullest bin is not that at the base");
}

/// Instants of one retry of all clients, in seconds.
struct RetryTimes {
    number: u32,
    times: Vec<f64>,
}

impl Observer for RetryTimes {
    fn attempt(&mut self, now: Time, _: Side, number: u32) {
        if number == self.number {
            self.times.push(seconds(now));
        }
    }
}

fn retry_times(backoff: &str, retry: u32, replications: u32) -> Vec<Vec<f64>> {
    let observer = || RetryTimes { number: retry + 1, times: Vec::new() };
    watch(&herd(backoff), replications, observer).into_iter().map(|(o, _)| o.times).collect()
}

#[test]
fn the_second_retry_of_full_jitter_has_its_distribution() {
    let waits = full_jitter(1.0, 30.0, 2);
    // 0.1 % critical value of Kolmogorov and Smirnov.
    let critical = 1.95 / 1e5_f64.sqrt();
    let distance = |backoff| {
        let mut sample = retry_times(backoff, 2, 100).concat();
        assert_eq!(sample.len(), 100_000);
        kolmogorov_smirnov(&mut sample, |t| cdf(&waits, t))
    };
    let good = distance(FULL);
    assert!(good < critical, "{good}");
    let bad = distance(FULL_OFF);
    assert!(bad > 2.0 * critical, "a base 5 % off passes: {bad}");
}

#[test]
fn the_fourth_retry_of_one_client_has_its_variance() {
    // Of independent uniform waits: Σ a²/12.
    let variance = |waits: &[Wait]| waits.iter().map(|w| w.spread_s * w.spread_s / 12.0).sum();
    let sample_variances = |backoff| -> Vec<f64> {
        let sd = |times: &Vec<f64>| mean_and_error(times).1 * (times.len() as f64).sqrt();
        retry_times(backoff, 4, 150).iter().map(|times| sd(times) * sd(times)).collect()
    };
    for (backoff, planted, waits) in [
        (FULL, FULL_OFF, full_jitter(1.0, 30.0, 4)),
        (EQUAL, EQUAL_OFF, equal_jitter(1.0, 30.0, 4)),
        (SDK, SDK_OFF, sdk_jitter(0.5, 8.0, 4)),
    ] {
        assert_agrees(backoff, &sample_variances(backoff), variance(&waits));
        assert_caught(planted, &sample_variances(planted), variance(&waits));
    }
}

/// The criterion itself refuses what it must: too few replications have no power.
#[test]
fn too_few_replications_do_not_pass() {
    let bins = bin(&runs(&herd(FULL), 4), 9);
    assert!(judge(&bins, mean_and_error(&bins).0).unwrap_err().contains("no power"));
}

/// With base 1 and cap c, the first decorrelated wait is U(1, 3), and the second is at the cap
/// with probability 1/2 · ∫ (1 - (c - 1)/(3w - 1)) dw over w from c/3 to 3.
#[test]
fn a_cap_gives_different_clients_the_same_wait() {
    let shared = |backoff: &str, retry: u32| {
        runs(&herd(backoff), MANY).values(&format!("retry_{retry}_shared_waits"))
    };
    let at_cap = |c: f64| 0.5 * (3.0 - c / 3.0 - (c - 1.0) / 3.0 * (8.0 / (c - 1.0)).ln());
    let capped =
        |cap: &str| format!("{{ decorrelated_jitter = {{ base = \"1s\", cap = \"{cap}\" }} }}");
    assert_agrees("second decorrelated wait", &shared(&capped("4s"), 2), at_cap(4.0));
    assert_caught("a cap of 4.2 s", &shared(&capped("4.2s"), 2), at_cap(4.0));
    let same = |backoff: &str, retry, share: f64| {
        let values = shared(backoff, retry);
        // Two of a thousand draws of nanoseconds may be the same by chance.
        assert!(values.iter().all(|v| (v - share).abs() < 0.01), "{backoff} {retry}: {values:?}");
    };
    same(NONE, 1, 1.0);
    same("\"no_backoff\"", 2, 1.0);
    same(FULL, 4, 0.0);
    let inside = "{ formula = \"min(4s, 1s * 2^n + uniform(0, 1))\" }";
    let after = "{ formula = \"min(4s, 1s * 2^n) + uniform(0, 1)\" }";
    for (retry, share) in [(1, 0.0), (2, 0.0), (3, 1.0), (4, 1.0)] {
        same(inside, retry, share);
        same(after, retry, 0.0);
    }
}
