//! Presets against what the real SDKs did: recorded runs, drawn waits and fleets.
//!
//! The measurements under `tests/data/sdk` are of real packages against a stub server on one machine. Every
//! expected value here comes out of a simulation: the answer of the stub goes through
//! classification, layer and clock, never through a table of recorded counts.

mod common;

use std::collections::BTreeMap;
use std::io::Read;

use common::{runs, watch};
use retrylab::answer::{Failure, Outcome};
use retrylab::model::{Observer, Side};
use retrylab::units::Time;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Simulated runs per row; their shortest and longest gaps are the bounds.
const SIMULATED: u32 = 200;

/// What a recorded gap may exceed the policy's longest wait by: the client and the stub take time.
const OVERHEAD_OWN_S: f64 = 0.10;
/// The same when the server named the wait.
const OVERHEAD_TOLD_S: f64 = 0.25;
/// No recorded gap comes earlier than this before the policy's shortest wait.
const EARLY_S: f64 = 0.0015;

#[derive(Debug, Deserialize)]
struct Row {
    sdk: String,
    version: String,
    scenario: String,
    calls: usize,
    gap1_s: Option<f64>,
    gap2_s: Option<f64>,
    exception: String,
}

fn read_csv<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("a gzip file");
    text
}

/// The preset of a build, found by its version.
fn preset(sdk: &str, version: &str) -> String {
    let package = match sdk {
        "openai" => "openai-python",
        "anthropic" => "anthropic-python",
        "anthropic-ts" => "anthropic-node",
        other => other,
    };
    format!("{package}-{version}")
}

/// What the stub server does in a recorded scenario, as a provider.
fn stub(scenario: &str) -> Option<String> {
    let outage = |status: u16, more: &str| {
        format!("provider.faults = [{{ outage = {{ from = \"0s\", status = {status}{more} }} }}]")
    };
    let answer = |keys: &str| outage(429, &format!(", answer = {{ {keys} }}"));
    Some(match scenario {
        "ok" => "provider = {}".to_owned(),
        "fail1_ok" => outage(429, ", attempts = 1"),
        "plain429" | "stream_429" => outage(429, ""),
        "spend" => answer("error_code = \"enforced_spend_limit_reached\""),
        "insufficient_quota" => answer("error_code = \"insufficient_quota\""),
        "refused" | "drop" => {
            "provider.faults = [{ refuse_connections = { from = \"0s\" } }]".to_owned()
        }
        "read_timeout_1s" => {
            "provider.faults = [{ outage = { from = \"0s\", silence = true } }]".to_owned()
        }
        "stream_err_before" => broken_stream("before_first_token", "error"),
        "stream_err_after" | "stream_drop_after" => broken_stream("after_first_token", "error"),
        "stream_hang_after_1s" => broken_stream("after_first_token", "silence"),
        "ra_both" => answer("retry_after = \"2\", retry_after_ms = \"700\""),
        "ra_bothms0" => answer("retry_after = \"2\", retry_after_ms = \"0\""),
        "ra_date3" => answer("retry_after = \"now+3s\""),
        "ra_date90" => answer("retry_after = \"now+90s\""),
        "ra_date_past" => answer("retry_after = \"now-30s\""),
        "ra_garbage" => answer("retry_after = \"soon\""),
        "xsr_false_429" => answer("should_retry = false"),
        "xsr_false_500" => outage(500, ", answer = { should_retry = false }"),
        "xsr_true_400" => outage(400, ", answer = { should_retry = true }"),
        "xsr_true_429_ra2" => answer("should_retry = true, retry_after = \"2\""),
        "xsr_true_429_ra121" => answer("should_retry = true, retry_after = \"121\""),
        _ => {
            if let Some(status) = scenario.strip_prefix("st").and_then(|s| s.parse().ok()) {
                outage(status, "")
            } else if let Some(ms) = scenario.strip_prefix("ra_ms") {
                answer(&format!("retry_after_ms = \"{ms}\""))
            } else {
                let seconds = scenario.strip_prefix("ra_")?.replace('p', ".");
                answer(&format!("retry_after = \"{seconds}\""))
            }
        }
    })
}

/// Every answer streams, and breaks off.
fn broken_stream(when: &str, how: &str) -> String {
    format!(
        "request = {{ stream = true, output_tokens = 100 }}\n\
         provider = {{ service = {{ tokens = {{ first = \"10ms\", rate = \"10000/s\" }} }}, \
         faults = [{{ stream_error = {{ share = 1.0, when = \"{when}\", how = \"{how}\" }} }}] }}"
    )
}

/// One client in one run: when its attempts arrive, and how it ends.
#[derive(Default)]
struct Client {
    arrivals: Vec<Time>,
    ended: Option<String>,
}

impl Observer for Client {
    fn attempt(&mut self, now: Time, _: Side, _number: u32) {
        self.arrivals.push(now);
    }

    fn resolved(&mut self, _now: Time, _group: usize, _created: Time, outcome: Outcome) {
        if outcome == Outcome::Succeeded {
            self.ended = Some("none".to_owned());
        }
    }

    fn gave_up(&mut self, _now: Time, _group: usize, failure: &Failure<'_>) {
        self.ended = Some(match failure {
            Failure::Status(answer) => format!("({})", answer.status),
            Failure::Reset => "connection".to_owned(),
            Failure::Timeout => "timeout".to_owned(),
            Failure::Stream { delivered: false } => "broken stream".to_owned(),
            Failure::Stream { delivered: true } => "partial".to_owned(),
            Failure::NotSent(_) => "not sent".to_owned(),
        });
    }
}

impl Client {
    fn gap_s(&self, retry: usize) -> Option<f64> {
        let [before, after] = [self.arrivals.get(retry)?, self.arrivals.get(retry + 1)?];
        Some((after - before) as f64 / 1e9)
    }
}

/// The class of a recorded exception, in the words of [`Client`].
fn ended(exception: &str) -> &str {
    match exception {
        "none" => "none",
        "STILL_WAITING_AT_260s" => "waiting",
        "APITimeoutError" | "APIConnectionTimeoutError" => "timeout",
        "APIConnectionError" => "connection",
        "APIError" | "APIStatusError(200)" => "broken stream",
        after if after.contains(" after ") => "partial",
        status => &status[status.find('(').unwrap_or(0)..],
    }
}

fn simulated(row: &Row, server: &str, layer: &str) -> Vec<Client> {
    let timeout = if row.scenario.ends_with("_1s") { "timeout = \"1s\"" } else { "" };
    let text = format!(
        "{server}\nmeasure.horizon = \"261s\"\nworkload = {{ clients = 1, burst = {{ spread = \"1s\" }} }}\n\
         [[client.layers]]\nname = \"sdk\"\npreset = \"{}\"\n{timeout}\n{layer}\n",
        preset(&row.sdk, &row.version)
    );
    watch(&text, SIMULATED, Client::default).into_iter().map(|(client, _)| client).collect()
}

/// Shortest and longest simulated gap before a retry.
fn range(clients: &[Client], retry: usize) -> Option<(f64, f64)> {
    let gaps: Vec<f64> = clients.iter().filter_map(|client| client.gap_s(retry)).collect();
    let least = gaps.iter().copied().reduce(f64::min)?;
    Some((least, gaps.iter().copied().fold(least, f64::max)))
}

/// What a recorded run and its simulations disagree about.
fn disagreement(row: &Row) -> Option<String> {
    let Some(server) = stub(&row.scenario) else {
        return Some("no provider plays this scenario".to_owned());
    };
    let clients = simulated(row, &server, "");
    for client in &clients {
        if client.arrivals.len() != row.calls {
            return Some(format!(
                "{} calls simulated, {} recorded",
                client.arrivals.len(),
                row.calls
            ));
        }
        let end = client.ended.as_deref().unwrap_or("waiting");
        if end != ended(&row.exception) {
            return Some(format!("ends with {end}, recorded {}", row.exception));
        }
    }
    let deaf = simulated(row, &server, "retry_after = \"ignore\"");
    for (retry, gap) in [row.gap1_s, row.gap2_s].into_iter().enumerate() {
        let Some(gap) = gap else { continue };
        let Some((low, high)) = range(&clients, retry) else {
            return Some(format!("no retry {} is simulated", retry + 1));
        };
        // A header is obeyed when not reading it would have made another gap.
        let own = range(&deaf, retry) == Some((low, high));
        // How far into a second the clock is at a date's second visit depends on what overhead
        // came before, which the simulated client does not have; so any phase will do, as at the
        // first.
        let dated = row.scenario.starts_with("ra_date") && !own;
        let low =
            if dated { range(&clients, 0).map_or(low, |first| first.0.min(low)) } else { low };
        let overhead = if own { OVERHEAD_OWN_S } else { OVERHEAD_TOLD_S };
        // The extremes of so many draws stop short of the bounds by about so much.
        let unseen = (high - low) * 10.0 / f64::from(SIMULATED);
        if !(low - unseen - EARLY_S..=high + unseen + overhead).contains(&gap) {
            return Some(format!("gap {} of {gap} s outside {low:.4} to {high:.4} s", retry + 1));
        }
    }
    None
}

#[test]
fn every_recorded_run_is_met() {
    use rayon::prelude::*;
    let rows: Vec<Row> = read_csv(include_str!("data/sdk/ground_truth.csv"));
    assert_eq!(rows.len(), 874, "no row is dropped");
    let not_met: Vec<String> = rows
        .par_iter()
        .filter_map(|row| {
            let why = disagreement(row)?;
            Some(format!("{} {} {}: {why}", row.sdk, row.version, row.scenario))
        })
        .collect();
    assert!(not_met.is_empty(), "{} rows not met:\n{}", not_met.len(), not_met.join("\n"));
}

#[derive(Debug, Deserialize)]
struct SixRetries {
    sdk: String,
    version: String,
    gap1_s: f64,
    gap2_s: f64,
    gap3_s: f64,
    gap4_s: f64,
    gap5_s: f64,
    gap6_s: f64,
}

#[test]
fn six_recorded_retries_lie_in_the_schedule() {
    let rows: Vec<SixRetries> = read_csv(include_str!("data/sdk/six_retries.csv"));
    assert_eq!(rows.len(), 16);
    for row in &rows {
        let text = format!(
            "{}\nworkload = {{ clients = 1, burst = {{}} }}\n[[client.layers]]\nname = \"sdk\"\npreset = \"{}\"\nmax_attempts = 7",
            stub("plain429").unwrap(),
            preset(&row.sdk, &row.version)
        );
        let clients: Vec<Client> = watch(&text, SIMULATED, Client::default)
            .into_iter()
            .map(|(client, _)| client)
            .collect();
        let gaps = [row.gap1_s, row.gap2_s, row.gap3_s, row.gap4_s, row.gap5_s, row.gap6_s];
        for (retry, gap) in gaps.into_iter().enumerate() {
            let (low, high) = range(&clients, retry).unwrap();
            let unseen = (high - low) * 10.0 / f64::from(SIMULATED);
            assert!(
                (low - unseen - EARLY_S..=high + unseen + OVERHEAD_OWN_S).contains(&gap),
                "{row:?}: gap {} outside {low} to {high}",
                retry + 1
            );
        }
    }
}

#[derive(Debug, Deserialize)]
struct Wait {
    sdk: String,
    version: String,
    retry: usize,
    wait_us: f64,
}

/// Largest distance between the distribution functions of two samples.
fn two_sample_distance(a: &mut [f64], b: &mut [f64]) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let share = |sample: &[f64], x: f64| {
        sample.partition_point(|value| *value <= x) as f64 / sample.len() as f64
    };
    let at = |x: &f64| (share(a, *x) - share(b, *x)).abs();
    a.iter().chain(b.iter()).map(at).fold(0.0, f64::max)
}

/// Two samples of one law are this far apart or less in 999 of 1000 cases (Smirnov 1939).
fn critical_distance(n: usize, m: usize) -> f64 {
    1.949 * ((n + m) as f64 / (n as f64 * m as f64)).sqrt()
}

#[test]
fn drawn_waits_have_the_simulated_law() {
    let draws: Vec<Wait> = read_csv(&unpacked(include_bytes!("data/sdk/waits.csv.gz")));
    assert_eq!(draws.len(), 44_000);
    let mut sets: BTreeMap<(String, String, usize), Vec<f64>> = BTreeMap::new();
    for draw in draws {
        let set = sets.entry((draw.sdk, draw.version, draw.retry)).or_default();
        set.push(draw.wait_us / 1e6);
    }
    assert_eq!(sets.len(), 22);
    for ((sdk, version, retry), mut drawn) in sets {
        let mut waits = waits(&preset(&sdk, &version), retry);
        let distance = two_sample_distance(&mut drawn, &mut waits);
        let critical = critical_distance(drawn.len(), waits.len());
        assert!(distance < critical, "{sdk} {version} retry {retry}: {distance} > {critical}");
        // A law that is 5 % off is found.
        let mut off: Vec<f64> = waits.iter().map(|wait| wait * 1.05).collect();
        assert!(two_sample_distance(&mut drawn, &mut off) > critical);
    }
}

/// Simulated waits before a retry of a preset.
fn waits(preset: &str, retry: usize) -> Vec<f64> {
    let text = format!(
        "{}\nworkload = {{ clients = 1, burst = {{}} }}\n[[client.layers]]\nname = \"sdk\"\npreset = \"{preset}\"",
        stub("plain429").unwrap()
    );
    let clients = watch(&text, 5_000, Client::default);
    clients.iter().filter_map(|(client, _)| client.gap_s(retry - 1)).collect()
}

#[derive(Debug, Deserialize)]
struct Arrival {
    sdk: String,
    version: String,
    scenario: String,
    clients: u32,
    scale: u32,
    #[serde(rename = "run")]
    _run: u32,
    attempt: u32,
    arrival_us: u64,
}

/// The largest share of sorted instants in any window.
fn busiest_share(instants: &mut [u64], window: u64) -> f64 {
    instants.sort_unstable();
    let fullest = (0..instants.len()).map(|last| {
        let from = instants.partition_point(|t| t + window <= instants[last]);
        last + 1 - from
    });
    fullest.max().unwrap_or(0) as f64 / instants.len() as f64
}

/// Fleets that can be compared with a simulation whose clients cost nothing: small ones, and a
/// large one with all waits twenty-fold. 200 clients in one process are limited by its CPU.
#[test]
fn recorded_fleets_are_as_busy_as_simulated_ones() {
    let rows: Vec<Arrival> = read_csv(&unpacked(include_bytes!("data/sdk/fleet_arrivals.csv.gz")));
    let mut fleets: BTreeMap<(String, String, String, u32, u32), Vec<u64>> = BTreeMap::new();
    for row in rows.into_iter().filter(|row| row.clients == 10 || row.scale == 20) {
        let fleet = (preset(&row.sdk, &row.version), row.scenario, row.sdk, row.scale, row.attempt);
        fleets.entry(fleet).or_default().push(row.arrival_us);
    }
    let mut compared = 0;
    for ((preset, scenario, _, scale, attempt), mut instants) in fleets {
        if attempt == 0 {
            continue;
        }
        let recorded = busiest_share(&mut instants, u64::from(scale) * 100_000);
        let clients = instants.len();
        let base = if scale == 20 {
            "backoff = { sdk_jitter = { base = \"10s\", cap = \"160s\" } }"
        } else {
            ""
        };
        let text = format!(
            "{}\nworkload = {{ clients = {clients}, burst = {{}} }}\nmeasure = {{ window = \"{}ms\", per_retry = 2 }}\n\
             [[client.layers]]\nname = \"sdk\"\npreset = \"{preset}\"\n{base}\n",
            stub(&scenario).unwrap(),
            scale * 100
        );
        let mut shares: Vec<f64> = runs(&text, 600)
            .values(&format!("retry_{attempt}_peak_sliding"))
            .iter()
            .map(|peak| peak / clients as f64)
            .collect();
        shares.sort_by(f64::total_cmp);
        let (low, high) = (shares[3], shares[596]);
        assert!(
            (low..=high).contains(&recorded),
            "{preset} {scenario} x{scale}, retry {attempt}: {recorded} outside {low} to {high}"
        );
        compared += 1;
    }
    assert_eq!(compared, 12, "two SDKs, two retries, three fleets each");
}

/// What an attempt and an answer cost the one process of a recorded fleet, in milliseconds: fitted
/// to its arrivals, two numbers for all means of an SDK.
const CPU_MS: [(&str, f64, f64); 2] = [("openai", 2.2, 1.8), ("anthropic", 1.0, 2.2)];

/// 200 clients in one process are not 200 machines: the first answer is read when all have sent,
/// and retries wait for each other.
#[test]
fn two_hundred_clients_in_one_process_come_as_late_as_recorded() {
    let rows: Vec<Arrival> = read_csv(&unpacked(include_bytes!("data/sdk/fleet_arrivals.csv.gz")));
    let mut fleets: BTreeMap<(String, String, String, u32), [Vec<f64>; 3]> = BTreeMap::new();
    for row in rows.into_iter().filter(|row| row.clients == 200) {
        let fleet = (row.sdk, row.version, row.scenario, row.scale);
        fleets.entry(fleet).or_default()[row.attempt as usize].push(row.arrival_us as f64 / 1e6);
    }
    assert_eq!(fleets.len(), 7, "three builds, three fleets at most");
    for ((sdk, version, scenario, scale), arrivals) in fleets {
        let (_, attempt, answer) = CPU_MS.into_iter().find(|(name, ..)| *name == sdk).unwrap();
        let backoff = match scale {
            20 => "backoff = { sdk_jitter = { base = \"10s\", cap = \"160s\" } }",
            _ => "",
        };
        let text = |host: &str| {
            format!(
                "{}\nworkload = {{ clients = 200, burst = {{}} }}\nmeasure = {{ per_retry = 2 }}\n[client]\n{host}\n\
                 [[client.layers]]\nname = \"sdk\"\npreset = \"{}\"\n{backoff}\n",
                stub(&scenario).unwrap(),
                preset(&sdk, &version),
            )
        };
        let costs = format!(
            "host = {{ cpu_per_attempt = \"{attempt}ms\", cpu_per_answer = \"{answer}ms\" }}"
        );
        let [one_process, machines] = [text(&costs), text("")].map(|text| runs(&text, 50));
        for retry in [1, 2] {
            let recorded = arrivals[retry].iter().sum::<f64>() / arrivals[retry].len() as f64;
            let off = |runs: &retrylab::experiment::CellRuns| {
                let means = runs.values(&format!("retry_{retry}_mean_s"));
                means.iter().sum::<f64>() / means.len() as f64 - recorded
            };
            let (found, without) = (off(&one_process), off(&machines));
            assert!(found.abs() < 0.2, "{sdk} {scenario} x{scale}, retry {retry}: {found} s off");
            // Waits are long beside the CPU's time only in the fleet that is slowed down.
            assert!(scale == 20 || without < -0.25, "{sdk} {scenario}, retry {retry}: {without}");
        }
    }
}
