//! Hedging, against closed forms.
//!
//! Sources: Dean and Barroso, "The Tail at Scale", CACM 56(2), 2013; clawvisor pull request 355 and the objections in
//! grafana/loki pull request 4826.

mod common;

use common::{assert_agrees, assert_caught, kolmogorov_smirnov, runs, seconds, watch};
use retrylab::answer::Outcome;
use retrylab::model::Observer;
use retrylab::units::Time;

/// A stream of calls to a provider with unlimited places and exponential service of 1 s.
fn unlimited(hedge: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 100, poisson = {{ rate = "20/s", duration = "500s" }} }}
        provider = {{ service = {{ exponential = {{ mean = "1s" }} }} }}
        measure = {{ horizon = "1h", window = "1s" }}
        [[client.layers]]
        name = "client"
        hedge = {{ {hedge} }}
        "#
    )
}

/// Times from creation to answer.
#[derive(Default)]
struct Times(Vec<f64>);

impl Observer for Times {
    fn resolved(&mut self, now: Time, _: usize, created: Time, _: Outcome) {
        self.0.push(seconds(now - created));
    }
}

/// P(T > t) = e^-t before the delay d and e^-t · e^-(t-d) after it; a share e^-d of the calls is hedged.
#[test]
fn a_hedge_halves_the_tail_behind_its_delay() {
    let delay = 1.0;
    let text = unlimited("after = \"1s\"");
    let mut times =
        watch(&text, 8, Times::default).into_iter().flat_map(|(t, _)| t.0).collect::<Vec<_>>();
    let critical = 1.95 / (times.len() as f64).sqrt();
    let law = |d: f64| move |t: f64| 1.0 - if t < d { (-t).exp() } else { (-t - (t - d)).exp() };
    let distance = kolmogorov_smirnov(&mut times, law(delay));
    assert!(distance < critical, "{distance}");
    assert!(kolmogorov_smirnov(&mut times, law(1.2)) > 3.0 * critical, "another delay passes");

    let found = runs(&text, 32);
    let share = |metric: &str| -> Vec<f64> {
        let pairs = found.values(metric).into_iter().zip(found.values("requests"));
        pairs.map(|(n, all)| n / all).collect()
    };
    assert_agrees("hedges", &share("hedges"), (-delay).exp());
    // Both have the same time left, so every other hedge wins.
    assert_agrees("won", &share("hedges_won"), (-delay).exp() / 2.0);
    assert_caught("a delay of 1.1 s", &share("hedges"), (-1.1_f64).exp());
    for (load, hedges) in found.values("amplification").iter().zip(share("hedges")) {
        assert!((load - 1.0 - hedges).abs() < 1e-12, "{load} for {hedges}");
    }
}

/// The loser is computed and billed, or stopped; useful tokens are the same.
#[test]
fn what_losers_cost_is_the_providers_matter() {
    let bill = |cancelled: &str| {
        let text = unlimited("after = \"1s\"")
            .replace("provider = {", &format!("request = {{ input_tokens = 100 }}\nprovider = {{ cancelled_work = \"{cancelled}\","));
        let found = runs(&text, 8);
        (found.values("billed_per_useful"), found.values("hedges"), found.values("requests"))
    };
    let (computed, hedges, requests) = bill("computed");
    for ((billed, hedges), requests) in computed.iter().zip(&hedges).zip(&requests) {
        assert!((billed - 1.0 - hedges / requests).abs() < 1e-12, "{billed}");
    }
    // Stopped work is billed too, as far as it has come: prompts are read at once.
    let (removed, ..) = bill("removed");
    assert!(removed.iter().zip(&computed).all(|(r, c)| r <= c), "{removed:?}");
}

/// A global slow-down makes everything hedge: twice the load. A budget of 5 % bounds that.
#[test]
fn a_budget_bounds_what_a_slow_down_does() {
    let slow = |budget: &str| {
        let text = unlimited(&format!("after = \"1s\"{budget}"))
            .replace("mean = \"1s\"", "mean = \"100s\"");
        runs(&text, 4).values("amplification")
    };
    assert!(slow("").iter().all(|a| *a > 1.98), "{:?}", slow(""));
    let bounded = slow(", budget = { of_requests = 0.05, burst = 10, scope = \"fleet\" }");
    assert!(bounded.iter().all(|a| (1.045..1.055).contains(a)), "{bounded:?}");
}

/// A failure counts only when nothing else is in flight, and a timeout ends all of them.
#[test]
fn a_flight_fails_as_one() {
    let text = |service: &str, more: &str| {
        format!(
            r#"
            workload = {{ clients = 100, burst = {{}} }}
            provider = {{ service = "{service}", faults = [{{ outage = {{ from = "1s", status = 503 }} }}] }}
            measure = {{ horizon = "1h", window = "1s" }}
            [[client.layers]]
            name = "client"
            hedge = {{ after = "2s", max = 3 }}
            {more}
            "#
        )
    };
    // Hedges meet the outage that the first attempt was there before.
    let found = runs(&text("10s", ""), 2);
    assert_eq!(found.values("succeeded"), [100.0; 2]);
    assert_eq!(found.values("refused_by_outage"), [300.0; 2]);
    let found = runs(&text("10s", "timeout = \"5s\""), 2);
    assert_eq!(found.values("gave_up"), [100.0; 2]);
    assert_eq!(found.values("hedges"), [200.0; 2]);
    assert_eq!(found.values("gave_up_after_max_s"), [5.0; 2]);
}

/// An attempt gets through both ways with probability (1 - q)²; a call with h hedges fails when none of the 1 + h does. Without
/// a timeout nobody would ever know.
#[test]
fn a_hedge_rescues_what_the_network_loses() {
    let found = |max: u32| {
        let text = format!(
            r#"
            workload = {{ clients = 10000, burst = {{}} }}
            provider = {{ service = "100ms" }}
            measure = {{ horizon = "1h", window = "1s" }}
            [client]
            network = {{ latency = "100ms", loss = 0.2 }}
            [[client.layers]]
            name = "client"
            timeout = "10s"
            hedge = {{ after = "1s", max = {max} }}
            "#
        );
        let found = runs(&text, 16);
        let share: Vec<f64> = found.values("succeeded").iter().map(|n| n / 10_000.0).collect();
        let hedges: Vec<f64> = found.values("hedges").iter().map(|n| n / 10_000.0).collect();
        (share, hedges)
    };
    let lost = 1.0 - 0.64;
    let (share, hedges) = found(1);
    assert_agrees("one hedge", &share, 1.0 - lost * lost);
    assert_agrees("hedges", &hedges, lost);
    let (share, hedges) = found(3);
    assert_agrees("three hedges", &share, 1.0 - f64::powi(lost, 4));
    assert_agrees("hedges", &hedges, lost + lost * lost + f64::powi(lost, 3));
    assert_caught("none lost on the way back", &share, 1.0 - f64::powi(0.2, 4));
}

/// Two refusals on their way back at once: the client hears both, in any order, and gives up with the later one. With
/// latencies uniform up to 1 s each way, that is the later of T and 0.2 s + T', both triangular on 0 to 2 s.
#[test]
fn words_to_several_attempts_are_all_heard() {
    let text = r#"
        workload = { clients = 1000, burst = {} }
        provider = { faults = [{ outage = { from = "0s", status = 503 } }] }
        measure = { horizon = "1h", window = "1s" }
        [client]
        network = { latency = { uniform = { low = "0s", high = "1s" } } }
        [[client.layers]]
        name = "client"
        hedge = { after = "200ms" }
        "#;
    let found = runs(text, 16);
    assert_eq!(found.values("gave_up"), [1_000.0; 16]);
    let triangular = |t: f64| match t {
        t if t <= 0.0 => 0.0,
        t if t <= 1.0 => t * t / 2.0,
        t if t <= 2.0 => 1.0 - (2.0 - t) * (2.0 - t) / 2.0,
        _ => 1.0,
    };
    // Calls that were refused within 0.2 s have no hedge: ∫ t f(t) up to 0.2 s is 0.2³ / 3. Of the others the mean is 0.2 s and the
    // integral of 1 - P(both heard by t).
    let steps = 200_000;
    let dt = 2.2 / f64::from(steps);
    let early = triangular(0.2);
    let late: f64 = (0..steps)
        .map(|i| (f64::from(i) + 0.5) * dt)
        .filter(|t| *t >= 0.2)
        .map(|t| (1.0 - early - (triangular(t) - early) * triangular(t - 0.2)) * dt)
        .sum();
    let mean = f64::powi(0.2, 3) / 3.0 + 0.2 * (1.0 - early) + late;
    assert_agrees("given up after", &found.values("gave_up_after_mean_s"), mean);
}
