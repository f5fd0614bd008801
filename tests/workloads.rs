//! Streams whose rate changes, and unequal clients, against closed forms.

mod common;

use common::{
    REPLICATIONS, assert_agrees, assert_caught, chi_square, chi_square_tail, kolmogorov_smirnov,
    runs, seconds, watch,
};
use retrylab::model::{Observer, Side};
use retrylab::units::Time;

/// Instants of all attempts, in seconds.
#[derive(Default)]
struct Seen(Vec<f64>);

impl Observer for Seen {
    fn attempt(&mut self, now: Time, _side: Side, _number: u32) {
        self.0.push(seconds(now));
    }
}

fn text(workload: &str) -> String {
    format!("workload = {{ {workload} }}\nmeasure = {{ horizon = \"30s\" }}\n")
}

fn arrivals(workload: &str, replications: u32) -> Vec<Vec<f64>> {
    watch(&text(workload), replications, Seen::default)
        .into_iter()
        .map(|(seen, _)| seen.0)
        .collect()
}

/// Workloads, and the area under their rate up to an instant.
type Stream = (&'static str, fn(f64) -> f64);

const STREAMS: [Stream; 6] = [
    // 2 to 12/s in 20 s, then 12/s.
    (r#"ramp = { from = "2/s", to = "12/s", over = "20s" }"#, |t| {
        let on = t.min(20.0);
        2.0 * on + 0.25 * on * on + 12.0 * (t - on)
    }),
    // 2 to 12/s in 10 s, back in 5 s, then 2/s.
    (r#"ramp = { from = "2/s", to = "12/s", over = "10s", back = "5s" }"#, |t| {
        let (up, down) = (t.min(10.0), (t - 10.0).clamp(0.0, 5.0));
        2.0 * up + 0.5 * up * up + 12.0 * down - down * down + 2.0 * (t - 15.0).max(0.0)
    }),
    // 10/s to nothing in 25 s.
    (r#"ramp = { from = "10/s", to = "0/s", over = "25s" }"#, |t| {
        let on = t.min(25.0);
        10.0 * on - 0.2 * on * on
    }),
    (r#"on_off = { rate = "15/s", off_rate = "1/s", on = "3s", off = "4s" }"#, |t| {
        let (turns, rest) = ((t / 7.0).floor(), t % 7.0);
        turns * 49.0 + 15.0 * rest.min(3.0) + (rest - 3.0).max(0.0)
    }),
    (r#"spike = { rate = "3/s", peak = "40/s", from = "12s", to = "14.5s" }"#, |t| {
        3.0 * t + 37.0 * (t - 12.0).clamp(0.0, 2.5)
    }),
    (r#"renewal = { rates = [["6s", "2/s"], ["2s", "20/s"], ["30s", "5/s"]] }"#, |t| {
        2.0 * t.min(6.0) + 20.0 * (t - 6.0).clamp(0.0, 2.0) + 5.0 * (t - 8.0).max(0.0)
    }),
];

/// Streams with a law of gaps: their mean number of requests is the area under the rate however bursty they are, because the
/// first gap is what is left of one. Variance over mean goes to cv² (D. R. Cox, "Renewal Theory", 1962, ch. 4).
#[test]
fn bursty_streams_bring_the_area_and_their_cv() {
    for (law, cv) in [("gamma", 0.5), ("gamma", 2.0), ("weibull", 1.5), ("lognormal", 2.0)] {
        let gaps = format!("gaps = {{ {law} = {{ cv = {cv:?} }} }}");
        let flat = format!(r#"renewal = {{ rate = "100/s", {gaps} }}"#);
        let counts = runs(&text(&flat), 600).values("requests");
        assert_agrees(&flat, &counts, 3_000.0);
        let mean = counts.iter().sum::<f64>() / 600.0;
        let dispersion = counts.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 599.0 / mean;
        // Its standard error is 5.8 %; 3,000 requests are nearly all there is to come.
        assert!((dispersion / (cv * cv) - 1.0).abs() < 0.24, "{flat}: {dispersion}");
        let steps = format!(
            r#"renewal = {{ rates = [["5s", "400/s"], ["10s", "0/s"], ["9s", "50/s"]], {gaps} }}"#
        );
        assert_agrees(&steps, &runs(&text(&steps), 600).values("requests"), 2_450.0);
        let area = |t: f64| 400.0 * t.min(5.0) + 50.0 * (t - 15.0).clamp(0.0, 9.0);
        let mut gaps: Vec<f64> = Vec::new();
        for run in arrivals(&steps, 100) {
            assert!(run.iter().all(|at| !(5.0..15.0).contains(at) && *at < 24.0));
            gaps.extend(run.windows(2).map(|pair| area(pair[1]) - area(pair[0])));
        }
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 0.02, "{steps}: {mean}");
        assert!((square.sqrt() / cv - 1.0).abs() < 0.05, "{steps}: {}", square.sqrt());
    }
}

/// T31: the number of requests in a span is Poisson, with the area under the rate as its mean.
#[test]
fn counts_are_the_area_under_the_rate() {
    let runs = 300;
    for (workload, area) in STREAMS {
        let seen = arrivals(workload, runs);
        let mut counts = [0.0; 30];
        seen.iter().flatten().for_each(|at| counts[*at as usize] += 1.0);
        let expected = |scale: f64| -> Vec<f64> {
            let second = |s: u8| area(f64::from(s) + 1.0) - area(f64::from(s));
            // A second without any is tested by its neighbours.
            (0..30).map(|s| f64::from(runs) * scale * second(s).max(1e-3)).collect()
        };
        let tail = |scale| chi_square_tail(chi_square(&counts, &expected(scale)), 30.0);
        assert!(tail(1.0) > 1e-3, "{workload}: {}", tail(1.0));
        assert!(tail(1.05) < 1e-6, "{workload}: 5 % more would be seen");
        // The whole: variance and mean alike.
        let mean = area(30.0);
        let spread = |seen: &Vec<f64>| (seen.len() as f64 - mean).powi(2) / mean;
        let dispersion = chi_square_tail(seen.iter().map(spread).sum(), f64::from(runs));
        assert!((5e-4..1.0 - 5e-4).contains(&dispersion), "{workload}: {dispersion}");
    }
}

/// T32: measured by the area between them, gaps are exponential with mean 1 (time rescaling).
#[test]
fn gaps_are_exponential_in_the_area() {
    for (workload, area) in STREAMS {
        let gaps = |area: &dyn Fn(f64) -> f64| -> Vec<f64> {
            let of_run = |run: Vec<f64>| {
                let areas: Vec<f64> = [0.0].into_iter().chain(run).map(area).collect();
                areas.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>()
            };
            // The last gap is cut off by the horizon, but long runs hardly notice.
            arrivals(workload, 300).into_iter().flat_map(of_run).collect()
        };
        let distance = |mut gaps: Vec<f64>| {
            let n = gaps.len() as f64;
            kolmogorov_smirnov(&mut gaps, |x| 1.0 - (-x).exp()) * n.sqrt()
        };
        // The 0.1 % point is 1.95.
        assert!(distance(gaps(&area)) < 1.95, "{workload}");
        assert!(distance(gaps(&|t| 1.05 * area(t))) > 1.95, "{workload}: 5 % would be seen");
    }
}

#[test]
fn means_of_requests_are_areas() {
    let of = |workload: &str| runs(&text(workload), REPLICATIONS).values("requests");
    let ramp = of(r#"ramp = { from = "0/s", to = "60/s", over = "20s", duration = "25s" }"#);
    assert_agrees("ramp", &ramp, 600.0 + 300.0);
    assert_caught("ramp", &ramp, 840.0);
    let wave = of(r#"on_off = { rate = "100/s", on = "2s", off = "1s" }"#);
    assert_agrees("on_off", &wave, 2_000.0);
    let spike = of(r#"spike = { rate = "20/s", peak = "400/s", from = "29s", to = "32s" }"#);
    assert_agrees("spike", &spike, 29.0 * 20.0 + 400.0);
}

#[test]
fn a_flat_ramp_is_a_poisson_stream() {
    let flat = arrivals(r#"ramp = { from = "7/s", to = "7/s", over = "4s" }"#, 8);
    let plain = arrivals(r#"poisson = { rate = "7/s" }"#, 8);
    for (flat, plain) in flat.iter().zip(&plain) {
        assert_eq!(flat.len(), plain.len());
        // A nanosecond of rounding per request, and what crosses from the ramp to the plateau.
        assert!(flat.iter().zip(plain).all(|(a, b)| (a - b).abs() < 1e-6), "{flat:?} {plain:?}");
    }
}

/// Mean of the lesser of `most` and a Poisson number with `mean`.
fn mean_at_most(mean: f64, most: u32) -> f64 {
    let mut weight = (-mean).exp();
    let mut sum = f64::from(most);
    for k in 0..most {
        sum -= weight * f64::from(most - k);
        weight *= mean / f64::from(k + 1);
    }
    sum
}

/// A client has so many requests and no more, so what succeeds tells the shares of all.
#[test]
fn shares_divide_the_stream() {
    let succeeded = |shares: &str| {
        let workload = format!("clients = 8, poisson = {{ rate = \"4/s\" }}{shares}");
        let limits =
            r#"limits = { requests = { rate = "1/d", burst = 10, shared_by = "client" } }"#;
        let text = format!("{}[provider]\n{limits}\n", text(&workload));
        runs(&text, 400).values("succeeded")
    };
    let theory = |exponent: f64| {
        let weights: Vec<f64> = (1..=8).map(|k| f64::from(k).powf(-exponent)).collect();
        let all: f64 = weights.iter().sum();
        weights.iter().map(|w| mean_at_most(120.0 * w / all, 10)).sum::<f64>()
    };
    let found = succeeded(", shares = { zipf = { exponent = 1.2 } }");
    assert_agrees("zipf", &found, theory(1.2));
    assert_caught("zipf", &found, theory(1.0));
    let equal = succeeded(", shares = { zipf = { exponent = 0.0 } }");
    assert_agrees("equal", &equal, theory(0.0));
    // One after the other, everybody has 15 of 120, so nearly always more than 10.
    assert!(succeeded("").iter().sum::<f64>() / 400.0 > 79.0);
}
