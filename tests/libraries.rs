//! Presets of retry libraries: the ranges of their waits as their sources have them, and recorded runs.
//!
//! The measurements under `tests/data/libraries` are of real packages against a stub server on one machine.

mod common;

use common::{seconds, watch};
use retrylab::answer::Outcome;
use retrylab::model::{Observer, Side};
use retrylab::presets::{self, Kind};
use retrylab::units::Time;
use serde::Deserialize;

/// Instants of the attempts of one request, and when it was over.
#[derive(Default)]
struct Call {
    sent: Vec<Time>,
    over: Time,
}

impl Observer for Call {
    fn attempt(&mut self, now: Time, _: Side, _: u32) {
        self.sent.push(now);
    }

    fn resolved(&mut self, now: Time, _: usize, _: Time, _: Outcome) {
        self.over = now;
    }
}

impl Call {
    fn gaps(&self) -> Vec<f64> {
        self.sent.windows(2).map(|pair| seconds(pair[1] - pair[0])).collect()
    }
}

/// One call of one client, again and again, against a fault that never ends.
fn calls(layers: &str, fault: &str) -> Vec<Call> {
    let text = format!(
        r#"
        workload = {{ burst = {{}} }}
        provider = {{ faults = [{{ {fault} }}] }}
        measure = {{ horizon = "2h", window = "1s" }}
        {layers}
        "#
    );
    watch(&text, 600, Call::default).into_iter().map(|(call, _)| call).collect()
}

fn layer(preset: &str, more: &str) -> String {
    format!(
        "[[client.layers]]\nname = \"{}\"\npreset = \"{preset}\"\n{more}\n",
        preset.replace('.', "-")
    )
}

fn answering(status: u16) -> String {
    format!("outage = {{ from = \"0s\", status = {status} }}")
}

const REFUSED: &str = "refuse_connections = { from = \"0s\" }";

/// What a preset does: what it meets, and the least and the longest wait before each retry.
type Expected = (&'static str, &'static str, &'static [(f64, f64)]);

const R1: (f64, f64) = (0.0, 1.0);

/// From the sources that the files name. "503", "429" and "reset" are what every attempt meets.
const WAITS: [Expected; 37] = [
    ("google-genai-python-3.6", "503", &[]),
    (
        "google-genai-python-3.6-retry-options",
        "503",
        &[(1.0, 2.0), (2.0, 3.0), (4.0, 5.0), (8.0, 9.0)],
    ),
    ("google-genai-node-3.3", "503", &[]),
    (
        "google-genai-node-3.3-retry-options",
        "503",
        &[(1.0, 2.0), (2.0, 4.0), (4.0, 8.0), (8.0, 16.0)],
    ),
    ("aws-python-legacy", "503", &[R1, (0.0, 2.0), (0.0, 4.0), (0.0, 8.0)]),
    ("aws-python-standard-1.40", "503", &[R1, (0.0, 2.0)]),
    ("aws-python-standard-1.40", "429", &[]),
    ("aws-python-adaptive-1.40", "503", &[R1, (0.0, 2.0)]),
    ("aws-python-standard-2026", "503", &[(0.0, 0.05), (0.0, 0.1)]),
    ("aws-python-standard-2026", "429", &[R1, (0.0, 2.0)]),
    ("aws-node-smithy-3.41", "503", &[(0.0, 0.05), (0.0, 0.1)]),
    ("aws-rust-smithy-1.16", "503", &[R1, (0.0, 2.0)]),
    ("grpc-go-1.69", "503", &[(0.08, 0.12), (0.16, 0.24), (0.32, 0.48)]),
    ("grpc-go-1.68", "503", &[(0.0, 0.1), (0.0, 0.2), (0.0, 0.4)]),
    ("envoy", "503", &[(0.0, 0.024)]),
    ("finagle-requeue", "reset", &[(0.0, 0.0); 20]),
    ("finagle-requeue", "503", &[]),
    ("tower-0.5", "503", &[(0.05, 0.0995), (0.1, 0.199)]),
    ("polly-8", "503", &[(2.0, 2.0); 3]),
    ("resilience4j-2", "503", &[(0.5, 0.5); 2]),
    ("resilience4j-2-randomized", "503", &[(0.25, 0.75), (0.375, 1.125)]),
    ("resilience4j-2-circuit-breaker", "503", &[]),
    (
        "tenacity-9.2-cookbook",
        "503",
        &[(1.0, 1.0), (1.0, 2.0), (1.0, 4.0), (1.0, 8.0), (1.0, 16.0)],
    ),
    (
        "tenacity-9.2-exponential-jitter",
        "503",
        &[(1.0, 2.0), (2.0, 3.0), (4.0, 5.0), (8.0, 9.0), (16.0, 17.0)],
    ),
    (
        "tenacity-9.2-random-exponential",
        "503",
        &[R1, (0.0, 2.0), (0.0, 4.0), (0.0, 8.0), (0.0, 16.0)],
    ),
    ("python-backoff-2.2", "503", &[R1, (0.0, 2.0), (0.0, 4.0), (0.0, 8.0), (0.0, 16.0)]),
    ("litellm-router-1.110", "503", &[(0.5, 1.25), (1.0, 1.75)]),
    ("vercel-ai-6", "503", &[(2.0, 2.0), (4.0, 4.0)]),
    ("langchain-core-1.8-with-retry", "503", &[(1.0, 2.0), (2.0, 3.0)]),
    ("urllib3-2.8", "reset", &[(0.0, 0.0); 3]),
    (
        "urllib3-2.8-backoff",
        "503",
        &[
            (0.0, 0.0),
            (2.0, 2.0),
            (4.0, 4.0),
            (8.0, 8.0),
            (16.0, 16.0),
            (32.0, 32.0),
            (64.0, 64.0),
            (120.0, 120.0),
            (120.0, 120.0),
            (120.0, 120.0),
        ],
    ),
    ("rust-backon-1.6", "503", &[(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)]),
    ("rust-backon-1.6-jitter", "503", &[(1.0, 2.0), (2.0, 4.0), (4.0, 8.0)]),
    ("reqwest-retry-0.9", "503", &[R1, (0.0, 2.0), (0.0, 4.0)]),
    ("reqwest-retry-0.9-bounded", "503", &[(0.5, 1.0), (0.5, 2.0), (0.5, 4.0)]),
    ("hystrix-1.5", "503", &[]),
    ("google-sre-throttling", "503", &[]),
];

/// All draws lie in the range, and some near each end of it.
#[test]
fn waits_fill_the_ranges_of_their_sources() {
    for (preset, met, ranges) in WAITS {
        let fault = match met {
            "reset" => REFUSED.to_owned(),
            status => answering(status.parse().unwrap()),
        };
        let calls = calls(&layer(preset, ""), &fault);
        assert!(
            calls.iter().all(|call| call.sent.len() == ranges.len() + 1),
            "{preset}: {}",
            calls[0].sent.len()
        );
        for (retry, (least, most)) in ranges.iter().enumerate() {
            let gaps: Vec<f64> = calls.iter().map(|call| call.gaps()[retry]).collect();
            let found = (
                gaps.iter().copied().fold(f64::MAX, f64::min),
                gaps.iter().copied().fold(0.0, f64::max),
            );
            // Of 600 uniform draws the extremes are within 3 % of the ends but for a chance of 1e-8.
            let near = 0.03 * (most - least) + 1e-9;
            assert!(
                (least - 1e-9..=least + near).contains(&found.0),
                "{preset} {retry}: {found:?}"
            );
            assert!((most - near..=most + 1e-9).contains(&found.1), "{preset} {retry}: {found:?}");
        }
    }
}

/// Presets whose waits have no plain range, or that never stop.
#[test]
fn the_others_are_checked_by_what_they_promise() {
    // The k-th retry of Polly comes within [F(k - 1), F(k)) · base / 1.4, F(t) = 2^t tanh √(4t).
    let f = |t: f64| 2f64.powf(t) * (4.0 * t).sqrt().tanh() * 2.0 / 1.4;
    for preset in ["polly-8-exponential-jitter", "polly-http-resilience"] {
        for call in calls(&layer(preset, ""), &answering(503)) {
            assert_eq!(call.sent.len(), 4, "{preset}");
            for (k, &at) in call.sent[1..].iter().enumerate() {
                let (from, to) = (f(k as f64), f(k as f64 + 1.0));
                assert!((from - 1e-6..to + 1e-6).contains(&seconds(at)), "{preset} {k}: {at}");
            }
        }
    }
    // Half as long to half as long again, after the ceiling; 15 min in all.
    for call in calls(&layer("rust-backoff-0.4", ""), &answering(503)) {
        assert!(call.over < 900_000_000_000 && seconds(call.over) > 700.0, "{}", call.over);
        for (n, gap) in call.gaps().iter().enumerate() {
            let d = (0.5 * 1.5f64.powi(n as i32)).min(60.0);
            assert!((0.5 * d - 1e-9..1.5 * d + 1e-9).contains(gap), "{n}: {gap}");
        }
    }
}

#[test]
fn every_preset_of_a_library_is_looked_at() {
    let others = ["polly-8-exponential-jitter", "polly-http-resilience", "rust-backoff-0.4"];
    let sdks = ["openai-", "anthropic-"];
    for name in Kind::Layer.names() {
        let known = WAITS.iter().any(|(preset, ..)| *preset == name)
            || others.contains(&name)
            || sdks.iter().any(|sdk| name.starts_with(sdk));
        assert!(known, "{name} has no expectation here");
        assert!(presets::find(Kind::Layer, name).is_some());
    }
}

#[derive(Debug, Deserialize)]
struct Row {
    lib: String,
    run: String,
    calls: usize,
    elapsed_s: f64,
    gaps_s: Option<String>,
}

/// The layers that a recorded run had, and what its stub did.
fn scenario(row: &Row) -> Option<(String, String)> {
    let told = |seconds: &str| {
        format!(
            "outage = {{ from = \"0s\", status = 429, answer = {{ retry_after = \"{seconds}\" }} }}"
        )
    };
    let (library, run) = (row.lib.split([' ', '(']).next()?, row.run.as_str());
    Some(match (library, run) {
        ("ai", "plain") => (layer("vercel-ai-6", ""), answering(429)),
        ("ai", "mr4") => (layer("vercel-ai-6", "max_attempts = 5"), answering(429)),
        ("ai", "400" | "409" | "529") => (layer("vercel-ai-6", ""), answering(run.parse().ok()?)),
        ("ai", told_s) => (layer("vercel-ai-6", ""), told(told_s.strip_prefix("ra")?)),
        ("google-genai" | "@google/genai", run) => {
            let name = if library == "google-genai" {
                "google-genai-python-3.6"
            } else {
                "google-genai-node-3.3"
            };
            let status =
                ["409", "529", "503"].into_iter().find(|s| run.contains(s)).unwrap_or("429");
            let met = if run.contains("ra2") { told("2") } else { answering(status.parse().ok()?) };
            if run.starts_with("default") {
                (layer(name, ""), met)
            } else {
                // These two runs had three attempts.
                let attempts = if run.contains("ra2") { "max_attempts = 3" } else { "" };
                (layer(&format!("{name}-retry-options"), attempts), met)
            }
        }
        ("langchain-openai", "plain-429") => (layer("openai-python-3.57", ""), answering(429)),
        ("langchain-openai", run) => {
            let status = run.strip_prefix("withretry-")?.parse().ok()?;
            let layers =
                layer("openai-python-3.57", "") + &layer("langchain-core-1.8-with-retry", "");
            (layers, answering(status))
        }
        ("litellm", "acompletion/sdk") => (layer("openai-python-3.57", ""), answering(429)),
        ("litellm", "router1-plain/r1") => (layer("litellm-router-1.110", ""), answering(429)),
        ("litellm", "router1-503/r1503") => (layer("litellm-router-1.110", ""), answering(503)),
        ("litellm", "router1-nr4/r1n4") => {
            (layer("litellm-router-1.110", "max_attempts = 5"), answering(429))
        }
        ("litellm", "router1-ra2/r1ra2") => (layer("litellm-router-1.110", ""), told("2")),
        // Two deployments: a router's cooldowns are not modelled.
        _ => return None,
    })
}

/// What a recorded gap may exceed the policy's longest wait by: the first one has the start of the package in it.
const OVERHEAD_S: [f64; 2] = [0.45, 0.15];
/// No recorded gap comes earlier than this before the shortest wait: arrivals are rounded to 1 ms.
const EARLY_S: f64 = 0.005;

#[test]
fn recorded_runs_of_libraries_lie_where_the_presets_say() {
    let text = include_str!("data/libraries/ground_truth.csv");
    let rows: Vec<Row> =
        csv::Reader::from_reader(text.as_bytes()).deserialize().map(|r| r.unwrap()).collect();
    let mut checked = 0;
    for row in &rows {
        let Some((layers, fault)) = scenario(row) else { continue };
        checked += 1;
        let calls = calls(&layers, &fault);
        assert!(
            calls.iter().all(|c| c.sent.len() == row.calls),
            "{row:?}: {} calls",
            calls[0].sent.len()
        );
        let recorded = row.gaps_s.as_deref().unwrap_or("").split_whitespace();
        for (retry, gap) in recorded.map(|gap| gap.parse::<f64>().unwrap()).enumerate() {
            let gaps = calls.iter().map(|call| call.gaps()[retry]);
            let (least, most) =
                gaps.fold((f64::MAX, 0.0_f64), |(a, b), gap| (a.min(gap), b.max(gap)));
            let most = most + OVERHEAD_S[retry.min(1)];
            assert!(
                (least - EARLY_S..=most).contains(&gap),
                "{row:?} {retry}: not in {least}..{most}"
            );
        }
        // LiteLLM sleeps once more after the last failure.
        let over = calls.iter().map(|call| seconds(call.over));
        let (least, most) = over.fold((f64::MAX, 0.0_f64), |(a, b), t| (a.min(t), b.max(t)));
        assert!(
            (least - 0.01..most + 1.3).contains(&row.elapsed_s),
            "{row:?}: not in {least}..{most}"
        );
    }
    assert_eq!((checked, rows.len()), (25, 29));
}
