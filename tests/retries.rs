//! How many attempts a request costs: amplification, layers, budgets, and who wins a tie.

mod common;

use std::fmt::Write as _;

use common::{
    REPLICATIONS, assert_agrees, assert_caught, chi_square, chi_square_tail, runs, watch,
};
use retrylab::model::{Observer, Side};
use retrylab::server::Tokens;
use retrylab::theory::queue::erlang_b;
use retrylab::theory::retry::{
    amplification, budget_bound_per_request, budget_bound_per_success, failed_share, layers_product,
};
use retrylab::units::Time;

const BACKOFFS: [&str; 7] = [
    "\"no_backoff\"",
    "{ none = { base = \"1s\", cap = \"30s\" } }",
    "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
    "{ equal_jitter = { base = \"10ms\", multiplier = 3.0, cap = \"3s\" } }",
    "{ sdk_jitter = { base = \"500ms\", cap = \"8s\" } }",
    "{ additive_jitter = { base = \"1s\", cap = \"30s\" } }",
    "{ decorrelated_jitter = { base = \"1s\", cap = \"30s\" } }",
];

/// A stream of requests for 100 s against a provider that always fails, then time to drain.
fn total_failure(layers: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 10, poisson = {{ rate = "5/s", duration = "100s" }} }}
        provider = {{ faults = [{{ outage = {{ from = "0s", status = 503 }} }}] }}
        measure = {{ horizon = "2h", window = "1s" }}
        {layers}
        "#
    )
}

fn layer(name: &str, attempts: u32, more: &str) -> String {
    format!("[[client.layers]]\nname = \"{name}\"\nmax_attempts = {attempts}\n{more}\n")
}

#[test]
fn total_failure_costs_all_attempts_whatever_the_backoff() {
    for backoff in BACKOFFS {
        for attempts in 1..=6 {
            let cost = |attempts| {
                let layers = layer("client", attempts, &format!("backoff = {backoff}"));
                runs(&total_failure(&layers), 2).values("amplification")
            };
            let theory = amplification(1.0, attempts);
            assert_eq!(cost(attempts), [theory; 2], "{backoff}");
            assert_ne!(cost(attempts + 1), [theory; 2], "one attempt more passes");
        }
    }
}

#[test]
fn layers_multiply() {
    let cost = |attempts: [u32; 3]| {
        let backoff = format!("backoff = {}", BACKOFFS[2]);
        let layers = ["http", "sdk", "app"].iter().zip(attempts);
        let layers: String = layers.map(|(name, n)| layer(name, n, &backoff)).collect();
        runs(&total_failure(&layers), 2).values("amplification")
    };
    for attempts in [[3, 3, 3], [1, 1, 1], [5, 1, 2], [2, 3, 4]] {
        let theory = layers_product(&attempts.map(u64::from)).unwrap() as f64;
        assert_eq!(cost(attempts), [theory; 2]);
        let [http, sdk, app] = attempts;
        assert_ne!(cost([http, sdk + 1, app]), [theory; 2], "one attempt more passes");
    }
}

/// Attempts fail independently with probability `share`: a slow one outlasts the timeout, and
/// nobody waits for a place.
fn independent_failures(share: f64, attempts: u32) -> String {
    format!(
        r#"
        workload = {{ poisson = {{ rate = "50/s", duration = "200s" }} }}
        measure = {{ horizon = "2h", window = "1s" }}

        [provider]
        service = "100ms"
        faults = [{{ slow = {{ share = {share:?}, of = "attempts", service = "1h" }} }}]

        [[client.layers]]
        name = "client"
        max_attempts = {attempts}
        timeout = "1s"
        backoff = {{ full_jitter = {{ base = "1s", cap = "30s" }} }}
        "#
    )
}

#[test]
fn independent_failures_cost_a_geometric_series() {
    for (p, attempts) in [(0.5, 3), (0.3, 2), (0.7, 6)] {
        let good = runs(&independent_failures(p, attempts), 48);
        let bad = runs(&independent_failures(1.05 * p, attempts), 32);
        let failed = |values: Vec<f64>| values.iter().map(|s| 1.0 - s).collect::<Vec<f64>>();
        let cost = amplification(p, attempts);
        assert_agrees("attempts per request", &good.values("amplification"), cost);
        assert_caught("attempts per request", &bad.values("amplification"), cost);
        let lost = failed_share(p, attempts);
        assert_agrees("failed", &failed(good.values("success_ratio")), lost);
        assert_caught("failed", &failed(bad.values("success_ratio")), lost);
        // Giving up takes `attempts` timeouts and the mean waits between them.
        let waits: f64 = (1..attempts).map(|k| f64::from(1 << (k - 1)) / 2.0).sum();
        let after = good.values("gave_up_after_mean_s");
        assert_agrees("given up after", &after, f64::from(attempts) + waits);
    }
}

/// Attempts and first attempts in a span of time.
#[derive(Default)]
struct Traffic {
    from: Time,
    attempts: u64,
    first: u64,
}

impl Observer for Traffic {
    fn attempt(&mut self, now: Time, _: Side, number: u32) {
        if now >= self.from {
            self.attempts += 1;
            self.first += u64::from(number == 1);
        }
    }
}

/// Servers without a queue whose refused attempts come back much later.
///
/// Slow retries are a Poisson stream of their own (Cohen 1957): a share `p = B(c, aA)` is refused,
/// with `A = (1 − p^m)/(1 − p)`. Waits of 300 services on average are taken for infinite: for 20
/// services the limit is wrong by 1.8 % and for 100 by 0.4 % (M/M/5/5, truncated chain).
#[test]
fn slow_retries_of_a_loss_system_have_their_fixed_point() {
    let (servers, load, attempts) = (10, 8.0, 3);
    let mut cost = 1.0;
    for _ in 0..200 {
        cost = amplification(erlang_b(servers, load * cost), attempts);
    }
    // Counted after some ten rounds of mean waits: each round halves the distance to the fixed
    // point, which is 0.13 at first.
    let measured = |servers: u32| -> Vec<f64> {
        let text = format!(
            r#"
            workload = {{ poisson = {{ rate = "8/s" }} }}
            measure = {{ horizon = "8000s", window = "1s" }}

            [provider]
            concurrency = {servers}
            service = {{ exponential = {{ mean = "1s" }} }}

            [[client.layers]]
            name = "client"
            max_attempts = {attempts}
            backoff = {{ full_jitter = {{ base = "600s", multiplier = 1.0, cap = "600s" }} }}
            "#
        );
        let observer = || Traffic { from: 4_000_000_000_000, ..Traffic::default() };
        let ratio = |t: &Traffic| t.attempts as f64 / t.first as f64;
        watch(&text, 32, observer).iter().map(|(traffic, _)| ratio(traffic)).collect()
    };
    assert_agrees("attempts per request", &measured(servers), cost);
    assert_caught("one server less", &measured(servers - 1), cost);
}

/// N clients that fail and never stop send N attempts per timeout and mean wait (renewals).
#[test]
fn endless_retries_settle_at_one_attempt_per_timeout_and_wait() {
    let rate = |timeout: &str| -> Vec<f64> {
        let text = format!(
            r#"
            workload = {{ clients = 200, burst = {{}} }}
            provider = {{ service = "30d" }}
            measure = {{ horizon = "1100s", window = "100s" }}

            [[client.layers]]
            name = "client"
            max_attempts = 1000000
            timeout = "{timeout}"
            backoff = {{ full_jitter = {{ base = "20s", cap = "20s" }} }}
            "#
        );
        let per_second = |counts: &[u32]| counts[1..11].iter().sum::<u32>() as f64 / 1000.0;
        runs(&text, REPLICATIONS).runs.iter().map(|run| per_second(&run.retries)).collect()
    };
    let theory = 200.0 / (1.0 + 10.0);
    assert_agrees("attempts per second", &rate("1s"), theory);
    assert_caught("a timeout of 1.55 s", &rate("1.55s"), theory);
}

#[test]
fn a_ratio_budget_bounds_retries_and_is_used_up() {
    let burst = 10.0;
    let ledgers = |ratio: f64| {
        let budget = format!(
            "budget = {{ ratio = {{ of_requests = {ratio}, burst = {burst:?}, scope = \"fleet\" }} }}"
        );
        runs(&total_failure(&layer("client", 100, &budget)), REPLICATIONS)
    };
    let within = |ratio: f64| {
        let runs = ledgers(ratio);
        let counts = runs.values("requests").into_iter().zip(runs.values("attempts"));
        counts.map(|(n, attempts)| attempts - budget_bound_per_request(0.1) * n - burst).collect()
    };
    // The bucket starts full, so what the first requests bring may be lost; a token in the making
    // is left over.
    let used_up = |over: &f64| (-1.2..=1e-9).contains(over);
    let good: Vec<f64> = within(0.1);
    assert!(good.iter().all(used_up), "{good:?}");
    let bad: Vec<f64> = within(0.11);
    assert!(!bad.iter().any(used_up), "a ratio of 0.11 passes: {bad:?}");
}

#[test]
fn a_bucket_filled_by_successes_stops_retries_in_total_failure() {
    let attempts_over_requests = |capacity: f64| -> Vec<f64> {
        let budget = format!(
            "budget = {{ token_bucket = {{ capacity = {capacity:?}, refill_per_success = 0.1, cost = 5.0, scope = \"fleet\" }} }}"
        );
        let runs = runs(&total_failure(&layer("client", 100, &budget)), 8);
        let bound = budget_bound_per_success(0.1, 0.0);
        let pairs = runs.values("attempts").into_iter().zip(runs.values("requests"));
        pairs.map(|(attempts, requests)| attempts - bound * requests).collect()
    };
    // What it holds at the start, in whole retries, and nothing more.
    assert_eq!(attempts_over_requests(503.0), [100.0; 8]);
    assert_eq!(attempts_over_requests(505.0), [101.0; 8]);
}

/// Who is billed: requests are told apart by their output tokens.
struct Winners(Vec<f64>);

impl Observer for Winners {
    fn billed(&mut self, _now: Time, _: Side, tokens: Tokens) {
        self.0[tokens.output as usize] += 1.0;
    }
}

/// How often each of 40 requests gets one of 8 places, over many seeds; the `i`-th comes
/// `i · apart_ns` after the first.
fn wins(seeds: u32, apart_ns: u32) -> Vec<f64> {
    let mut rows = String::from("TIMESTAMP,ContextTokens,GeneratedTokens\n");
    for i in 0..40 {
        writeln!(rows, "2024-05-10 00:00:00.{:09},0,{i}", i * apart_ns).unwrap();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), rows).unwrap();
    let text = format!(
        "workload = {{ clients = 40, trace = {{ file = '{}' }} }}
         provider = {{ concurrency = 8, service = \"1s\" }}",
        file.path().display()
    );
    let mut wins = vec![0.0; 40];
    for (winners, _) in watch(&text, seeds, || Winners(vec![0.0; 40])) {
        wins.iter_mut().zip(winners.0).for_each(|(sum, won)| *sum += won);
    }
    wins
}

#[test]
fn ties_are_won_by_everyone_equally_often() {
    const SEEDS: u32 = 4000;
    // Eight of forty without replacement: the counts are a little less scattered than
    // independent ones, and Pearson's statistic is corrected for it.
    let tail = |wins: &[f64]| {
        let expected = f64::from(SEEDS) * 8.0 / 40.0;
        let corrected = chi_square(wins, &[expected; 40]) / (1.0 - 8.0 / 40.0) * (39.0 / 40.0);
        chi_square_tail(corrected, 39.0)
    };
    let p = tail(&wins(SEEDS, 0));
    assert!((0.001..0.999).contains(&p), "wins are not even: p = {p}");
    // In order of their numbers, as ties by raw number would have it.
    let p = tail(&wins(SEEDS, 1));
    assert!(p < 1e-9, "the planted bug passes: p = {p}");
}
