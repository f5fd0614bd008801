//! Classical queues: Poisson arrivals, no retries, times in mean services of one second.
//!
//! Runs start empty. For M/M/1 at ρ = 0.8 the missing area of L is E[N(N+1)]/(2(μ−λ)) = 100
//! (Poisson's equation, g(n) = n(n+1)/(2(μ−λ))), so a horizon of 60,000 s is 0.04 % too low, a
//! tenth of a standard error; the other systems relax faster: at ρ = 0.5 the area is 4, and the
//! systems of ten servers reach their steady state within some ten services.

mod common;

use common::{Metrics, REPLICATIONS, assert_agrees, assert_caught, runs, runs_and_watch};
use retrylab::experiment::CellRuns;
use retrylab::model::{Observer, Side};
use retrylab::theory::queue::{
    erlang_b, mm1_mean_in_system, mm1_mean_sojourn, mm1_mean_wait, mm1_mean_wait_of_class,
    mm1_wait_tail, mmc_mean_wait, mmc_wait_tail, mmck,
};
use retrylab::theory::retry::product_form;
use retrylab::units::Time;

const EXPONENTIAL: &str = "{ exponential = { mean = \"1s\" } }";
/// The planted bug: service 5 % too slow.
const SLOWER: &str = "{ exponential = { mean = \"1.05s\" } }";
const UNBOUNDED: &str = "queue = { fifo = {} }";

fn system(rate: f64, servers: u32, queue: &str, service: &str, horizon_s: u32) -> String {
    format!(
        r#"
        workload = {{ poisson = {{ rate = "{rate}/s" }} }}
        measure = {{ horizon = "{horizon_s}s", window = "10s" }}
        [provider]
        concurrency = {servers}
        service = {service}
        {queue}
        "#
    )
}

/// Share of attempts that waited longer than a limit.
struct LongWaits {
    limit: Time,
    longer: u32,
    all: u32,
}

impl Observer for LongWaits {
    fn started(&mut self, _now: Time, _: Side, waited: u64) {
        self.all += 1;
        self.longer += u32::from(waited > self.limit);
    }
}

/// Metrics of a system, and its shares of waits longer than a limit.
fn waits(text: &str, limit_ms: u64) -> (Metrics, Vec<f64>) {
    let observer = || LongWaits { limit: limit_ms * 1_000_000, longer: 0, all: 0 };
    let (metrics, seen) = runs_and_watch(text, REPLICATIONS, observer);
    let share = |seen: &LongWaits| f64::from(seen.longer) / f64::from(seen.all);
    (metrics, seen.iter().map(share).collect())
}

fn check_mm1(load: f64, horizon_s: u32, planted_horizon_s: u32, limit_s: u32) {
    let limit_ms = 1000 * u64::from(limit_s);
    let system = |service, horizon_s| system(load, 1, UNBOUNDED, service, horizon_s);
    let (good, good_tail) = waits(&system(EXPONENTIAL, horizon_s), limit_ms);
    let (bad, bad_tail) = waits(&system(SLOWER, planted_horizon_s), limit_ms);
    for (metric, theory) in [
        ("mean_in_flight", mm1_mean_in_system(load)),
        ("completion_mean_s", mm1_mean_sojourn(load)),
        ("queue_wait_mean_s", mm1_mean_wait(load)),
    ] {
        assert_agrees(metric, &good.values(metric), theory);
        assert_caught(metric, &bad.values(metric), theory);
    }
    let theory = mm1_wait_tail(load, f64::from(limit_s));
    assert_agrees("long waits", &good_tail, theory);
    assert_caught("long waits", &bad_tail, theory);
}

#[test]
fn one_server_at_half_load() {
    check_mm1(0.5, 60_000, 10_000, 1);
}

#[test]
fn one_server_at_four_fifths() {
    check_mm1(0.8, 120_000, 20_000, 5);
}

#[test]
fn ten_servers_with_a_queue() {
    let (servers, load) = (10, 8.0);
    let system = |service, horizon_s| system(load, servers, UNBOUNDED, service, horizon_s);
    let (good, good_tail) = waits(&system(EXPONENTIAL, 32_000), 200);
    let (bad, bad_tail) = waits(&system(SLOWER, 2_000), 200);
    let theory = mmc_mean_wait(servers, load);
    assert_agrees("mean wait", &good.values("queue_wait_mean_s"), theory);
    assert_caught("mean wait", &bad.values("queue_wait_mean_s"), theory);
    let theory = mmc_wait_tail(servers, load, 0.2);
    assert_agrees("long waits", &good_tail, theory);
    assert_caught("long waits", &bad_tail, theory);
}

#[test]
fn classes_wait_as_cobham_says() {
    let loads = [0.2, 0.2, 0.2];
    let run = |priorities: [u8; 3], horizon_s: u32| {
        let groups: String = (0..3)
            .map(|class| {
                format!(
                    "[[group]]\nname = \"c{class}\"\npriority = {}\n\
                     workload = {{ poisson = {{ rate = \"{}/s\" }} }}\n",
                    priorities[class], loads[class]
                )
            })
            .collect();
        let text = format!(
            "measure = {{ horizon = \"{horizon_s}s\", window = \"10s\" }}\n\
             provider = {{ concurrency = 1, service = {EXPONENTIAL}, {UNBOUNDED} }}\n{groups}"
        );
        runs(&text, REPLICATIONS)
    };
    let (good, bad) = (run([0, 1, 2], 120_000), run([0, 0, 0], 5_000));
    for class in 0..3 {
        let metric = format!("group_c{class}_queue_wait_mean_s");
        let theory = mm1_mean_wait_of_class(&loads, class);
        assert_agrees(&metric, &good.values(&metric), theory);
        assert_caught(&metric, &bad.values(&metric), theory);
    }
}

/// Refused attempts per attempt.
fn loss(runs: &CellRuns) -> Vec<f64> {
    let pairs = runs.values("refused_by_load").into_iter().zip(runs.values("attempts"));
    pairs.map(|(refused, attempts)| refused / attempts).collect()
}

#[test]
fn finite_queues_lose_and_hold_what_birth_and_death_say() {
    // Load, servers, places in service and in the queue, and a horizon for 4 SE = 2 %.
    for (load, servers, places, horizon_s) in
        [(0.8, 1, 5, 45_000), (1.2, 1, 7, 20_000), (12.0, 10, 13, 1_500), (9.0, 10, 12, 4_000)]
    {
        let run = |places: u32| {
            let queue = format!("queue = {{ fifo = {{ limit = {} }} }}", places - servers);
            runs(&system(load, servers, &queue, EXPONENTIAL, horizon_s), REPLICATIONS)
        };
        let (good, bad) = (run(places), run(places + 1));
        let theory = mmck(servers, places, load);
        let what = format!("M/M/{servers}/{places} at {load}");
        assert_agrees(&format!("{what}: loss"), &loss(&good), theory.loss);
        assert_caught(&format!("{what}: loss"), &loss(&bad), theory.loss);
        let held = |runs: &CellRuns| runs.values("mean_in_flight");
        assert_agrees(&format!("{what}: held"), &held(&good), theory.mean_in_system);
        assert_caught(&format!("{what}: held"), &held(&bad), theory.mean_in_system);
    }
}

/// Erlang's loss depends on the mean of service alone.
#[test]
fn the_loss_is_insensitive_to_the_service_law() {
    let (servers, load) = (10, 8.0);
    let theory = erlang_b(servers, load);
    // A lognormal law with sigma = 1 of the logarithm and mean 1 s.
    let median_ns = (-0.5_f64).exp() * 1e9;
    let p90_ns = median_ns * 1.281_551_565_544_600_4_f64.exp();
    let lognormal =
        format!("{{ lognormal = {{ median = \"{median_ns:.0}ns\", p90 = \"{p90_ns:.0}ns\" }} }}");
    let laws = ["\"1s\"", EXPONENTIAL, "{ uniform = { low = \"0s\", high = \"2s\" } }", &lognormal];
    for service in laws {
        let lost = loss(&runs(&system(load, servers, "", service, 4_500), REPLICATIONS));
        assert_agrees(service, &lost, theory);
        let fewer = loss(&runs(&system(load, servers - 1, "", service, 1_000), REPLICATIONS));
        assert_caught(service, &fewer, theory);
    }
    let slower = loss(&runs(&system(load, servers, "", SLOWER, 1_000), REPLICATIONS));
    assert_caught(SLOWER, &slower, theory);
}

/// T13, retries after a server's error: the station stays M/M/1 at the rate of all attempts,
/// whatever the backoff (product form; Jackson 1963, Baskett, Chandy, Muntz, Palacios 1975).
fn retried(jitter: &str, share: f64) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ poisson = {{ rate = "0.4/s" }} }}
        measure = {{ horizon = "80000s", window = "10s" }}
        [provider]
        concurrency = 1
        service = {EXPONENTIAL}
        queue = {{ fifo = {{}} }}
        [[provider.faults]]
        error = {{ share = {share}, status = 500 }}
        [[client.layers]]
        name = "client"
        max_attempts = 3
        backoff = {{ {jitter} = {{ base = "20s", cap = "40s" }} }}
        "#
    );
    runs(&text, REPLICATIONS)
}

#[test]
fn retries_after_errors_have_product_form() {
    let theory = product_form(0.4, 1.0, 0.5, &[10.0, 20.0]);
    let per_request = theory.attempt_rate / 0.4;
    let bug = retried("full_jitter", 0.55);
    for jitter in ["full_jitter", "none"] {
        let found = retried(jitter, 0.5);
        assert_agrees("mean in flight", &found.values("mean_in_flight"), theory.mean_in_system);
        assert_agrees("attempts per request", &found.values("amplification"), per_request);
        let failed: Vec<f64> = found.values("success_ratio").iter().map(|s| 1.0 - s).collect();
        assert_agrees("given up", &failed, theory.failed_share);
    }
    assert_caught("mean in flight", &bug.values("mean_in_flight"), theory.mean_in_system);
    assert_caught("attempts per request", &bug.values("amplification"), per_request);
}
