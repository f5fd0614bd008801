//! A swarm: random scenarios with every part drawn, hostile constants included.
//!
//! A run checks its conservation laws itself, so `Ok` says that they hold. Every scenario is run a
//! second time on the heap, with nothing left out of it, and must give the same fingerprint.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::PathBuf;

use rayon::prelude::*;
use retrylab::answer::Outcome;
use retrylab::client::{Layer, Scope};
use retrylab::experiment::Seed;
use retrylab::metrics::{CurveWatch, CurveWindow, Curves};
use retrylab::model::{self, Arrivals, GroupPlan, Ledger, Observer, Report, RunError, Side};
use retrylab::rng::Streams;
use retrylab::scenario::Document;
use retrylab::server::Tokens;
use retrylab::trace::{Chrome, Counts, Event, Keep, Kind, Names, Sink, Tracer};
use retrylab::units::Time;

use common::{SEED, cell};

const SCENARIOS: u64 = 5000;

/// A small generator of its own (splitmix64), apart from the one under test.
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Times on a coarse grid, so that many things happen at one instant.
const SPANS: [&str; 8] = ["0s", "1ns", "1ms", "50ms", "100ms", "150ms", "1s", "3s"];
const LIMITS: [&str; 6] = ["1ns", "50ms", "100ms", "150ms", "1s", "4s"];
const SCOPES: [&str; 3] = ["client", "group", "fleet"];

/// A scenario with so many groups; 0 is the short form.
fn scenario(dice: &mut Dice, groups: usize) -> String {
    let mut text = String::new();
    if groups == 0 {
        clients(dice, "workload", "request", &mut text);
    }
    provider(dice, &mut text);
    let fallbacks = if dice.chance(20) { 1 + dice.below(3) } else { 0 };
    for number in 0..fallbacks {
        fallback(dice, number, &mut text);
    }
    if groups == 0 {
        writeln!(text, "[client]").unwrap();
        host(dice, &mut text);
        layers(dice, fallbacks > 0, "client", &mut text);
    }
    for group in 0..groups {
        writeln!(text, "[[group]]\nname = \"group{group}\"").unwrap();
        if text.contains("\nqueue = ") && dice.chance(30) {
            writeln!(text, "priority = {}", dice.below(4)).unwrap();
        }
        host(dice, &mut text);
        clients(dice, "group.workload", "group.request", &mut text);
        layers(dice, fallbacks > 0, "group", &mut text);
    }
    (0..dice.below(3)).for_each(|_| action(dice, &mut text));
    let horizon = dice.one_of(&["1ns", "100ms", "3s", "10s", "20s"]);
    writeln!(text, "[measure]\nhorizon = \"{horizon}\"\nwindow = \"10ms\"").unwrap();
    writeln!(text, "events_per_instant = 5000").unwrap();
    text
}

/// One more provider.
fn fallback(dice: &mut Dice, number: usize, text: &mut String) {
    let mut own = String::new();
    provider(dice, &mut own);
    let head = format!("[[fallback]]\nname = \"other{number}\"");
    text.push_str(&own.replace("[provider]", &head).replace("[[provider.", "[[fallback."));
}

/// A few layers, with one that falls back at any place among them.
fn layers(dice: &mut Dice, falls_back: bool, client: &str, text: &mut String) {
    let count = dice.below(4);
    let router = if falls_back { dice.below(count + 1) } else { usize::MAX };
    for l in 0..=count {
        if l == router {
            let attempts = dice.one_of(&[2, 3, 5]);
            writeln!(
                text,
                "[[{client}.layers]]\nname = \"router\"\nmax_attempts = {attempts}\nfallback = true\nretry_on = {{ refusals = true }}\n"
            )
            .unwrap();
        }
        if l < count {
            layer(dice, l, client, text);
        }
    }
}

/// Where clients run: keys of `[client]` or of a group.
fn host(dice: &mut Dice, text: &mut String) {
    if dice.chance(25) {
        let processes = dice.one_of(&[1, 2, 9]);
        let cpu = dice.one_of(&["0s", "1ns", "50ms", "400ms"]);
        let answer = dice.one_of(&["0s", "0s", "1ns", "50ms"]);
        let starts = dice.one_of(&["at_call", "at_send"]);
        let scope = dice.one_of(&["client", "process", "group"]);
        let limit = dice.one_of(&[1, 2, 9]);
        let connections = match dice.chance(60) {
            true => format!(", connections = {{ limit = {limit}, scope = \"{scope}\" }}"),
            false => String::new(),
        };
        writeln!(
            text,
            "host = {{ processes = {processes}, cpu_per_attempt = \"{cpu}\", cpu_per_answer = \"{answer}\", timeout_starts = \"{starts}\"{connections} }}"
        )
        .unwrap();
    }
    if dice.chance(30) {
        let latency = dice.one_of(&[
            "\"0s\"",
            "\"1ns\"",
            "\"50ms\"",
            "{ uniform = { low = \"0s\", high = \"3s\" } }",
            "{ exponential = { mean = \"50ms\" } }",
        ]);
        let loss = dice.one_of(&["", "", ", loss = 0.2"]);
        writeln!(text, "network = {{ latency = {latency}{loss} }}").unwrap();
    }
}

fn clients(dice: &mut Dice, workload_section: &str, request_section: &str, text: &mut String) {
    let clients = dice.one_of(&[1, 2, 7, 30]);
    let duration = format!("duration = \"{}\"", dice.one_of(&["1s", "8s", "1h"]));
    let workload = match dice.below(10) {
        0 => "burst = { at = \"0s\" }".to_owned(),
        1 => format!(
            "burst = {{ at = \"{}\", spread = \"{}\" }}",
            dice.one_of(&SPANS),
            dice.one_of(&SPANS)
        ),
        2 => {
            format!("poisson = {{ rate = \"{}/s\", {duration} }}", dice.one_of(&["0.5", "5", "30"]))
        }
        3 => format!(
            "ramp = {{ from = \"{}/s\", to = \"{}/s\", over = \"{}\", {}{duration} }}",
            dice.one_of(&["0", "5", "30"]),
            dice.one_of(&["1", "40"]),
            dice.one_of(&["1ns", "1s", "8s"]),
            dice.one_of(&["", "", "back = \"1ns\", ", "back = \"3s\", "])
        ),
        4 => format!(
            "on_off = {{ rate = \"{}/s\", on = \"{}\", off = \"{}\", {duration} }}",
            dice.one_of(&["0.5", "30"]),
            dice.one_of(&["1ns", "300ms", "4s"]),
            dice.one_of(&["1ns", "1s", "1h"])
        ),
        5 => format!(
            "spike = {{ rate = \"1/s\", peak = \"{}/s\", from = \"{}\", to = \"5s\", {duration} }}",
            dice.one_of(&["2", "100"]),
            dice.one_of(&["0s", "2s", "4999ms"])
        ),
        6 => {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/arrivals.jsonl");
            let keys = dice.one_of(&["", ", spread = \"3s\"", ", empty = \"drop\", rows = 20"]);
            format!("trace = {{ file = {file:?}{keys} }}")
        }
        7 => format!(
            "agents = {{ tasks = {}, steps = {}, fan_out = {}, think = \"{}\" }}",
            dice.one_of(&[1, 2, 40]),
            dice.one_of(&[1, 2, 5]),
            dice.one_of(&[1, 3]),
            dice.one_of(&["0s", "1ns", "500ms"])
        ),
        8 => format!(
            "renewal = {{ rates = [[\"1ns\", \"5/s\"], [\"4s\", \"{}/s\"], [\"{}\", \"3/s\"]], {}{duration} }}",
            dice.one_of(&["0", "0.5", "40"]),
            dice.one_of(&["1ns", "2s", "1h"]),
            dice.one_of(&[
                "",
                "gaps = { gamma = { cv = 5.0 } }, ",
                "gaps = { weibull = { cv = 0.2 } }, ",
                "gaps = { lognormal = { cv = 2.0 } }, "
            ])
        ),
        _ => format!("closed_loop = {{ jobs = {} }}", dice.one_of(&[1, 2, 5, 60])),
    };
    writeln!(text, "[{workload_section}]\nclients = {clients}\n{workload}").unwrap();
    if dice.chance(30) && (workload.contains(&duration) || workload.contains("trace")) {
        let shares = ["{ zipf = { exponent = 1.5 } }", "{ lognormal = { sigma = 2.0 } }"];
        writeln!(text, "shares = {}", dice.one_of(&shares)).unwrap();
    }
    writeln!(text).unwrap();
    writeln!(text, "[{request_section}]\ninput_tokens = 10").unwrap();
    let output = ["5", "{ uniform = { low = 0, high = 40 } }", "{ exponential = { mean = 20 } }"];
    writeln!(text, "output_tokens = {}", dice.one_of(&output)).unwrap();
    match dice.below(10) {
        0..3 => text.push_str("stream = true\n"),
        3..5 => writeln!(text, "idempotency_key = {}", dice.chance(70)).unwrap(),
        _ => {}
    }
    text.push('\n');
}

fn provider(dice: &mut Dice, text: &mut String) {
    let mut lost = String::new();
    writeln!(text, "[provider]").unwrap();
    if dice.chance(80) {
        writeln!(text, "concurrency = {}", dice.one_of(&[0, 1, 2, 5, 40])).unwrap();
    }
    if dice.chance(70) {
        queue(dice, text);
    }
    if dice.chance(30) {
        writeln!(text, "cancelled_work = \"removed\"").unwrap();
    }
    writeln!(text, "overload_status = {}", dice.one_of(&[429, 503, 529, 404])).unwrap();
    if dice.chance(15) {
        let lifetime = dice.one_of(&SPANS);
        let rule = dice.one_of(&["strict", "cancel_aware", "free_errors"]);
        writeln!(
            text,
            "billing = {{ price = \"gpt-4o\", rule = \"{rule}\", cache_lifetime = \"{lifetime}\" }}"
        )
        .unwrap();
    }
    if dice.chance(15) && text.contains("\nconcurrency") {
        writeln!(text, "slower_when_full = {}", dice.one_of(&["1.0", "2.5", "1000.0"])).unwrap();
    }
    let service = match dice.below(8) {
        0 => "{ exponential = { mean = \"80ms\" } }".to_owned(),
        1 => "{ uniform = { low = \"0s\", high = \"200ms\" } }".to_owned(),
        2 => "{ lognormal = { median = \"50ms\", p90 = \"400ms\" } }".to_owned(),
        3 => "{ tokens = { first = \"20ms\", rate = \"200/s\" } }".to_owned(),
        5 => "{ normal = { mean = \"20ms\", sd = \"40ms\" } }".to_owned(),
        4 => "{ prefill_decode = { prefill = [[5, \"10ms\"], [20, \"40ms\"]], decode = [[1, \"1ms\"], [4, \"3ms\"]] } }"
            .to_owned(),
        _ => format!("\"{}\"", dice.one_of(&SPANS)),
    };
    writeln!(text, "service = {service}").unwrap();
    if dice.chance(30) {
        let (limit, accept) = (dice.one_of(&[0, 1, 5]), dice.one_of(&["0s", "1ns", "50ms", "1s"]));
        writeln!(text, "backlog = {{ limit = {limit}, accept = \"{accept}\" }}").unwrap();
    }
    if dice.chance(30) {
        let lifetime = dice.one_of(&LIMITS);
        writeln!(text, "idempotency = {{ lifetime = \"{lifetime}\" }}").unwrap();
    }
    if dice.chance(15) {
        let (entries, filled) = (dice.one_of(&[1, 7, 1000]), dice.one_of(&["0.0", "0.5", "1.0"]));
        let lifetime = dice.one_of(&["", ", lifetime = \"50ms\"", ", lifetime = \"2s\""]);
        let (hit, by) = (dice.one_of(&SPANS), dice.one_of(&["awaited", "done"]));
        writeln!(
            text,
            "cache = {{ entries = {entries}, hit = \"{hit}\", filled = {filled}, filled_by = \"{by}\"{lifetime} }}"
        )
        .unwrap();
        writeln!(lost, "[[provider.faults]]\ncache_loss = {{ at = \"1s\", part = [0.2, 0.9] }}\n")
            .unwrap();
    }
    if dice.chance(15) {
        let (status, scope) = (dice.one_of(&[409, 503]), dice.one_of(&SCOPES));
        writeln!(text, "row = {{ status = {status}, shared_by = \"{scope}\" }}").unwrap();
    }
    if dice.chance(45) {
        limits(dice, text);
    }
    text.push('\n');
    text.push_str(&lost);
    for _ in 0..dice.below(4) {
        fault(dice, text);
    }
}

fn limits(dice: &mut Dice, text: &mut String) {
    let mut keys = Vec::new();
    for (key, percent, scale) in [
        ("requests", 60, 1),
        ("input_tokens", 25, 10),
        ("output_tokens", 25, 10),
        ("tokens", 25, 20),
    ] {
        if dice.chance(percent) {
            keys.push(format!("{key} = {}", rate_limit(dice, key, scale)));
        }
    }
    let scope = dice.one_of(&SCOPES);
    if dice.chance(20) {
        let limit = dice.one_of(&[1, 2, 10]);
        let header = dice.one_of(&["", ", retry_after = \"1s\""]);
        keys.push(format!("concurrency = {{ limit = {limit}, shared_by = \"{scope}\"{header} }}"));
    }
    if dice.chance(20) {
        let (free, factor) = (dice.one_of(&[1, 5]), dice.one_of(&["1.0", "1.5"]));
        keys.push(format!(
            "growth = {{ window = \"1s\", free = {free}, factor = {factor}, shared_by = \"{scope}\" }}"
        ));
    }
    if dice.chance(15) {
        if !text.contains("\nbilling") {
            writeln!(text, "billing = {{ price = \"gpt-4o\" }}").unwrap();
        }
        keys.push(format!("spend = {{ usd = {} }}", dice.one_of(&["0.0", "0.0001", "1.0"])));
    }
    keys.push(format!("rejected_consumes = \"{}\"", dice.one_of(&["none", "request", "tokens"])));
    writeln!(text, "limits = {{ {} }}", keys.join(", ")).unwrap();
}

fn rate_limit(dice: &mut Dice, key: &str, scale: u64) -> String {
    let header = dice.one_of(&[
        "\"seconds\"",
        "\"exact\"",
        "\"whole\"",
        "\"absent\"",
        "{ constant = \"300ms\" }",
    ]);
    let scope = dice.one_of(&SCOPES);
    let rate = scale * dice.one_of(&[0, 1, 7, 100]);
    let counted = match dice.below(4) {
        0 if rate > 0 => {
            "counting = \"fixed_window\", window = \"2s\", short_window = \"1s\"".to_owned()
        }
        1 if rate > 0 => "counting = \"sliding_window\", window = \"2s\"".to_owned(),
        _ => format!("burst = {}", scale * dice.one_of(&[1, 2, 3, 10])),
    };
    let output = ["output_tokens", "tokens"].contains(&key);
    let reserved = match (output, counted.contains("sliding")) {
        (false, _) => "",
        (true, true) => ", reserve = 10, settle = \"never\"",
        (true, false) => dice.one_of(&[
            "",
            ", reserve = 10, settle = \"never\"",
            ", reserve = 10, settle = \"at_end\"",
        ]),
    };
    format!(
        "{{ rate = \"{rate}/s\", {counted}{reserved}, retry_after = {header}, shared_by = \"{scope}\" }}"
    )
}

fn queue(dice: &mut Dice, text: &mut String) {
    let mut keys = Vec::new();
    if dice.chance(60) {
        keys.push(format!("limit = {}", dice.one_of(&[0, 1, 4])));
        keys.push(format!("when_full = \"{}\"", dice.one_of(&["refuse", "drop_oldest"])));
    }
    if dice.chance(25) {
        keys.push(format!("max_wait = \"{}\"", dice.one_of(&SPANS)));
    }
    keys.push(format!("drop_gone = {}", dice.chance(25)));
    let kind = dice.one_of(&["fifo", "fifo", "lifo"]);
    writeln!(text, "queue = {{ {kind} = {{ {} }} }}", keys.join(", ")).unwrap();
}

const PERIODS: [(&str, &str); 5] =
    [("0s", "1ns"), ("0s", "1s"), ("50ms", "150ms"), ("1s", "1s"), ("1s", "3s")];

/// "from = …, to = …", sometimes without an end.
fn period(dice: &mut Dice) -> String {
    let (from, to) = dice.one_of(&PERIODS);
    let to = if dice.chance(15) { String::new() } else { format!(", to = \"{to}\"") };
    format!("from = \"{from}\"{to}")
}

fn fault(dice: &mut Dice, text: &mut String) {
    writeln!(text, "[[provider.faults]]").unwrap();
    let share = dice.one_of(&["0.0", "0.3", "1.0"]);
    let always = dice.chance(50);
    let period = period(dice);
    let some_time = if always { String::new() } else { format!(", {period}") };
    let fault = match dice.below(8) {
        7 => {
            let when = dice.one_of(&["before_first_token", "after_first_token"]);
            let how = dice.one_of(&["error", "silence"]);
            match dice.chance(60) {
                true => format!(
                    "stream_error = {{ share = {share}, when = \"{when}\", how = \"{how}\" }}"
                ),
                false => format!("stream_error = {{ per_token = {share}, how = \"{how}\" }}"),
            }
        }
        0 => {
            let (of, service) = (dice.one_of(&["requests", "attempts"]), dice.one_of(&SPANS));
            format!(
                "slow = {{ share = {share}, of = \"{of}\", service = \"{service}\"{some_time} }}"
            )
        }
        1 => {
            let strikes = dice.one_of(&["on_arrival", "after_service"]);
            format!(
                "error = {{ share = {share}, status = 500, strikes = \"{strikes}\"{some_time} }}"
            )
        }
        2 => {
            let factor = dice.one_of(&["0.001", "0.5", "3.0", "1000.0"]);
            format!("slow_down = {{ factor = {factor}, {period} }}")
        }
        3 | 6 => {
            let work = ["kept", "lost", "lost"];
            let (in_service, waiting) = (dice.one_of(&work), dice.one_of(&work));
            let left = if period.contains("to") { dice.one_of(&[0, 1, 3]) } else { 1 };
            format!(
                "capacity = {{ concurrency = {left}, in_service = \"{in_service}\", waiting = \"{waiting}\", {period} }}"
            )
        }
        4 => format!("refuse_connections = {{ {period} }}"),
        _ => outage(dice, &period),
    };
    writeln!(text, "{fault}\n").unwrap();
}

fn outage(dice: &mut Dice, period: &str) -> String {
    if dice.chance(20) {
        return format!("outage = {{ {period}, silence = true }}");
    }
    let status = dice.one_of(&[400, 408, 429, 503]);
    let answer = dice.one_of(&[
        "",
        ", attempts = 2",
        ", answer = { retry_after = \"1\" }",
        ", answer = { retry_after = \"0.2\", retry_after_ms = \"0\", should_retry = true }",
        ", answer = { retry_after = \"now+3s\", error_code = \"insufficient_quota\" }",
        ", answer = { retry_after = \"inf\" }",
    ]);
    format!("outage = {{ {period}, status = {status}{answer} }}")
}

/// Where a provider limits requests.
const LIMITED: &str = "limits = { requests";

fn action(dice: &mut Dice, text: &mut String) {
    let (from, to) = dice.one_of(&PERIODS);
    let period = format!("from = \"{from}\", to = \"{to}\"");
    let action = match dice.below(6) {
        0 => {
            let arrivals = dice.one_of(&["refused", "held"]);
            format!("pause = {{ {period}, arrivals = \"{arrivals}\" }}")
        }
        1 => {
            let shares = ["0.0", "0.5", "1.0"];
            let (start, end) = (dice.one_of(&shares), dice.one_of(&shares));
            format!("ramp = {{ {period}, start = {start}, end = {end} }}")
        }
        2 => format!("cut_off = {{ {period} }}"),
        3 => {
            let places = dice.one_of(&[1, 3, 40]);
            format!("concurrency = {{ at = \"{from}\", places = {places} }}")
        }
        // Of the first provider.
        4 if text.split("[[fallback]]").next().is_some_and(|p| p.contains(LIMITED)) => {
            let rate = dice.one_of(&["1/s", "100/s"]);
            format!("limit = {{ at = \"{from}\", of = \"requests\", rate = \"{rate}\" }}")
        }
        _ if text.contains("name = \"layer0\"") => {
            let timeout = dice.one_of(&LIMITS);
            format!("timeout = {{ at = \"{from}\", layer = \"layer0\", timeout = \"{timeout}\" }}")
        }
        _ => return,
    };
    writeln!(text, "[[provider.actions]]\n{action}\n").unwrap();
}

/// Also with a memory, many draws, and waits of nothing.
const FORMULAS: [&str; 5] = [
    "\"min(1s, 50ms * 2^n) * uniform(0.5, 1)\"",
    "\"uniform(-50ms, 50ms)\"",
    "\"min(2, 0.05 + prev + uniform(0, prev) * uniform(0, 1) * uniform(0, 1))\"",
    "{ wait = \"f - last(f)\", f = \"2^t * tanh(sqrt(4 * t))\", t = \"n + uniform(0, 1)\" }",
    "\"if(n >= 2, 1e12, 0.1)\"",
];

fn layer(dice: &mut Dice, number: usize, client: &str, text: &mut String) {
    writeln!(text, "[[{client}.layers]]\nname = \"layer{number}\"").unwrap();
    writeln!(text, "max_attempts = {}", dice.one_of(&[1, 2, 3, 6])).unwrap();
    let backoff = match dice.below(9) {
        0 => "\"no_backoff\"".to_owned(),
        1 => "{ decorrelated_jitter = { base = \"50ms\", cap = \"1s\" } }".to_owned(),
        2 => format!("{{ formula = {} }}", dice.one_of(&FORMULAS)),
        3 => "{ table = { waits = [\"50ms\", [\"100ms\", \"150ms\", \"1s\"]] } }".to_owned(),
        kind => {
            let name =
                ["none", "full_jitter", "equal_jitter", "sdk_jitter", "additive_jitter"][kind - 4];
            let (base, cap) =
                dice.one_of(&[("0s", "0s"), ("1ns", "5ns"), ("50ms", "100ms"), ("100ms", "2s")]);
            let multiplier = dice.one_of(&["1.0", "1.5", "2.0", "10.0"]);
            format!(
                "{{ {name} = {{ base = \"{base}\", multiplier = {multiplier}, cap = \"{cap}\" }} }}"
            )
        }
    };
    writeln!(text, "backoff = {backoff}").unwrap();
    if dice.chance(50) {
        writeln!(text, "timeout = \"{}\"", dice.one_of(&LIMITS)).unwrap();
        let of = dice.one_of(&["attempt", "silence", "head"]);
        writeln!(text, "timeout_of = \"{of}\"").unwrap();
        writeln!(text, "reply_at_timeout = \"{}\"", dice.one_of(&["in_time", "late"])).unwrap();
    }
    // A router may stand inside it.
    if number == 0 && !text.contains("\"router\"") && dice.chance(20) {
        writeln!(text, "connect_timeout = \"{}\"", dice.one_of(&LIMITS)).unwrap();
    }
    if dice.chance(35) {
        writeln!(text, "deadline = \"{}\"", dice.one_of(&LIMITS)).unwrap();
    }
    // What groups share they must state alike.
    let shared = |scope: &str| client == "group" && scope == "fleet";
    if dice.chance(70) {
        budget(dice, client, text);
    }
    if dice.chance(40) {
        let (permits, scope) = (dice.one_of(&[1, 2, 9]), dice.one_of(&SCOPES));
        let permits = if shared(scope) { 2 } else { permits };
        writeln!(text, "semaphore = {{ permits = {permits}, scope = \"{scope}\" }}").unwrap();
    }
    if dice.chance(40) {
        let beyond = dice.one_of(&["own_schedule", "stop", "max", "at_once"]);
        let max = match dice.one_of(&["", "50ms", "2s"]) {
            "" => String::new(),
            max => format!("max = \"{max}\", beyond = \"{beyond}\", "),
        };
        let extra = dice.one_of(&[
            "reading = { zero = \"at_once\", dates = \"whole\" }",
            "jitter = { fraction = 0.2, max = \"1s\" }",
            "window = \"5s\"",
        ]);
        writeln!(text, "retry_after = {{ obey = {{ {max}{extra} }} }}").unwrap();
    }
    match dice.below(5) {
        0 => {
            let streams = dice.one_of(&["never", "before_first_token", "restart"]);
            writeln!(text, "retry_on = {{ statuses = [429], server_errors = false, timeouts = true, broken_streams = \"{streams}\" }}")
                .unwrap();
        }
        1 => text.push_str(
            "retry_on = { refusals = true }
",
        ),
        _ => {}
    }
    if dice.chance(35) {
        breaker(dice, client, text);
    }
    if dice.chance(20) {
        pace(dice, client, text);
    }
    // A router stands inside all others.
    let hedgeable = ["stream = true", "host = {", "\"router\""].iter().all(|k| !text.contains(k));
    if number == 0 && hedgeable && dice.chance(30) {
        let (after, most) = (dice.one_of(&["1ns", "50ms", "100ms"]), dice.one_of(&[1, 3]));
        let budget = match dice.chance(40) {
            true => ", budget = { of_requests = 0.3, burst = 2, scope = \"client\" }",
            false => "",
        };
        writeln!(text, "hedge = {{ after = \"{after}\", max = {most}{budget} }}").unwrap();
    }
    if dice.chance(10) {
        text.push_str("wait_after_last = true\n");
    }
    if dice.chance(10) {
        text.push_str("inherit_deadline = true\n");
    }
    text.push('\n');
}

fn budget(dice: &mut Dice, client: &str, text: &mut String) {
    let ratio = dice.one_of(&["0.1", "0.7", "1.0"]);
    let kind = dice.below(6);
    let (name, keys) = match kind {
        0 => {
            let burst = dice.one_of(&["0.0", "0.5", "4.0"]);
            ("ratio", format!("of_requests = {}, burst = {burst}", dice.one_of(&["0.0", ratio])))
        }
        1 => {
            let (capacity, refill) =
                (dice.one_of(&["0.0", "1.0", "10.0"]), dice.one_of(&["0.0", "0.1", "2.0"]));
            let cost = dice.one_of(&["0.0", "1.0", "5.0"]);
            let keys =
                format!("capacity = {capacity}, refill_per_success = {refill}, cost = {cost}");
            ("token_bucket", keys)
        }
        2 => {
            let most = dice.one_of(&["1.0", "3.0", "20.0"]);
            ("retry_throttling", format!("max_tokens = {most}, token_ratio = {ratio}"))
        }
        3 => {
            let (taken_at, base) =
                (dice.one_of(&["decision", "send"]), dice.one_of(&["attempts", "calls"]));
            let floor = dice.one_of(&[0, 1, 3]);
            let keys = format!(
                "ratio = {ratio}, floor = {floor}, taken_at = \"{taken_at}\", base = \"{base}\", whole = {}",
                dice.chance(50)
            );
            ("active_retries", keys)
        }
        4 => {
            let keys = "cost = 5, throttled_cost = 1, timeout_cost = 7, first_success = 0.5";
            ("retry_quota", format!("capacity = {}, {keys}", dice.one_of(&[0, 5, 30])))
        }
        _ => {
            let (deposit, parts) = (dice.one_of(&["call", "success"]), dice.one_of(&[1, 1_000]));
            let reserve = dice.one_of(&["0", "0.5", "3"]);
            let keys = format!(
                "ratio = {ratio}, window = \"1s\", slices = 3, reserve_per_s = {reserve}, deposit = \"{deposit}\", parts = {parts}"
            );
            ("recent_ratio", keys)
        }
    };
    // What groups share they must state alike.
    let scopes = if client == "group" { &SCOPES[..2] } else { &SCOPES };
    let scope = dice.one_of(scopes);
    writeln!(text, "budget = {{ {name} = {{ {keys}, scope = \"{scope}\" }} }}").unwrap();
    if dice.chance(20) {
        let (k, window) = (dice.one_of(&["1.0", "2.0"]), dice.one_of(&["100ms", "2min"]));
        writeln!(
            text,
            "adaptive_throttle = {{ k = {k}, window = \"{window}\", scope = \"{scope}\" }}"
        )
        .unwrap();
    }
}

fn pace(dice: &mut Dice, client: &str, text: &mut String) {
    // What groups share they must state alike.
    let scopes = if client == "group" { &SCOPES[..2] } else { &SCOPES };
    let scope = dice.one_of(scopes);
    let (rate, burst) = (dice.one_of(&["1/s", "20/s", "90/min"]), dice.one_of(&[1, 3]));
    let (name, keys) = match dice.below(4) {
        0 => ("fixed", format!("rate = \"{rate}\", burst = {burst}, when_empty = \"refuse\", ")),
        1 => ("fixed", format!("rate = \"{rate}\", burst = {burst}, ")),
        2 => {
            let hold = dice.one_of(&["0s", "1s"]);
            let keys = format!(
                "start = \"5/s\", min = \"1/s\", max = \"50/s\", increase = 1.5, hold = \"{hold}\", "
            );
            ("aimd", keys)
        }
        _ => ("cubic", String::new()),
    };
    writeln!(text, "pace = {{ {name} = {{ {keys}scope = \"{scope}\" }} }}").unwrap();
}

fn breaker(dice: &mut Dice, client: &str, text: &mut String) {
    let rule = dice.one_of(&[
        "consecutive = { failures = 1 }",
        "consecutive = { failures = 3 }",
        "ratio = { failures = 0.5, min_calls = 2, window = \"1s\", slices = 3 }",
        "ratio = { failures = 0.3, min_calls = 3, last = 4 }",
    ]);
    let half_open = dice.one_of(&[
        "{}",
        "{ probes = 2, trials = 5, failures = 3, verdict = \"complete\" }",
        "{ probes = \"unlimited\", trials = 2 }",
    ]);
    let (open, jitter) =
        (dice.one_of(&["1ns", "50ms", "150ms", "3s"]), dice.one_of(&["0.0", "0.5"]));
    let counts = dice.one_of(&["attempts", "calls"]);
    let on = dice.one_of(&["", "on = { statuses = [], server_errors = false }, "]);
    // What groups share they must state alike.
    let scopes = if client == "group" { &SCOPES[..2] } else { &SCOPES };
    let scope = dice.one_of(scopes);
    let stops = match counts {
        "attempts" => dice.one_of(&["", "", "stops = \"retries\", "]),
        _ => "",
    };
    writeln!(
        text,
        "breaker = {{ {stops}{rule}, open = \"{open}\", open_jitter = {jitter}, half_open = {half_open}, {on}counts = \"{counts}\", scope = \"{scope}\" }}"
    )
    .unwrap();
}

/// What can be seen from outside: the clock never goes back, everything adds up, and the limits of
/// the client hold.
struct Auditor {
    limits: Limits,
    /// Those of each group.
    groups: Vec<Limits>,
    now: Time,
    attempts: u64,
    started: u64,
    resolved: u64,
    billed: u64,
    useful: u64,
    tasks: u64,
}

#[derive(Clone, Copy)]
struct Limits {
    /// The outermost deadline: every outcome comes within it.
    deadline: Time,
    /// Attempts of one request: the product over layers.
    attempts: u32,
    /// Attempts at the provider at once: permits that all clients share, as long as no client
    /// goes away while its work goes on.
    present: u32,
}

impl Limits {
    fn of(layers: &[Layer]) -> Limits {
        let patient = layers
            .iter()
            .all(|l| [l.timeout, l.connect_timeout, l.deadline].iter().all(Option::is_none));
        // Every attempt of the innermost layer may have hedges beside it.
        let hedges = layers.first().and_then(|l| l.hedge).map_or(1, |hedge| 1 + hedge.max);
        let shared = layers.iter().filter_map(|l| l.semaphore).filter(|s| s.scope != Scope::Client);
        Limits {
            deadline: layers.last().and_then(|l| l.deadline).map_or(Time::MAX, |d| d.nanos()),
            attempts: hedges * layers.iter().map(|l| l.max_attempts).product::<u32>(),
            present: shared
                .map(|s| s.permits)
                .min()
                .filter(|_| patient && hedges == 1)
                .unwrap_or(u32::MAX),
        }
    }

    /// What holds for all groups together.
    fn together(groups: &[Limits]) -> Limits {
        Limits {
            deadline: groups.iter().map(|l| l.deadline).max().unwrap(),
            attempts: groups.iter().map(|l| l.attempts).max().unwrap(),
            present: groups.iter().map(|l| l.present).fold(0, u32::saturating_add),
        }
    }
}

impl Auditor {
    fn new(groups: Vec<Limits>) -> Auditor {
        let limits = Limits::together(&groups);
        Auditor {
            limits,
            groups,
            now: 0,
            attempts: 0,
            started: 0,
            resolved: 0,
            billed: 0,
            useful: 0,
            tasks: 0,
        }
    }

    fn at(&mut self, now: Time) {
        assert!(now >= self.now, "the clock goes back");
        self.now = now;
    }
}

impl Observer for Auditor {
    fn attempt(&mut self, now: Time, (group, _): Side, number: u32) {
        self.at(now);
        assert!((1..=self.groups[group].attempts).contains(&number), "attempt {number}");
        self.attempts += 1;
    }

    fn present(&mut self, now: Time, present: u32) {
        self.at(now);
        assert!(present <= self.limits.present, "{present} at the provider");
    }

    fn started(&mut self, now: Time, _: Side, waited: u64) {
        self.at(now);
        assert!(waited <= now, "it waited since before the start");
        self.started += 1;
    }

    fn billed(&mut self, now: Time, _: Side, _tokens: Tokens) {
        self.at(now);
        self.billed += 1;
    }

    fn delivered(&mut self, now: Time, _: Side, _tokens: Tokens) {
        self.at(now);
        self.useful += 1;
    }

    fn task_over(&mut self, now: Time, _group: usize, started: Time, _done: bool, _spent: Tokens) {
        self.at(now);
        assert!(started <= now, "it began later");
        self.tasks += 1;
    }

    fn resolved(&mut self, now: Time, group: usize, created: Time, _outcome: Outcome) {
        self.at(now);
        assert!((0..=self.groups[group].deadline).contains(&(now - created)), "past its deadline");
        self.resolved += 1;
    }
}

/// How a scenario is run.
enum Way {
    /// As everywhere.
    Usual,
    /// On the plain set of pending events, and with nothing left out.
    Oracle,
}

fn run(text: &str, way: Way) -> Result<Result<Report, RunError>, String> {
    run_within(text, way, Limits::of)
}

fn run_within(
    text: &str,
    way: Way,
    limits: impl Fn(&[Layer]) -> Limits,
) -> Result<Result<Report, RunError>, String> {
    let document = Document::parse("swarm", text.to_owned(), PathBuf::from("."));
    let scenario = document.and_then(|d| d.scenario()).map_err(|e| e.to_string())?;
    let plan = scenario.plan(&PathBuf::from(".")).map_err(|e| e.to_string())?;
    let impatient = text.contains("\ntimeout = {");
    let limits = |group: &GroupPlan| {
        let limits = limits(&group.layers);
        // An operator may make clients impatient.
        Limits { present: if impatient { u32::MAX } else { limits.present }, ..limits }
    };
    let auditor = Auditor::new(plan.groups.iter().map(limits).collect());
    let mut both = (auditor, CurveWatch::new(plan.horizon.div_ceil(1000)));
    let streams = Streams::new(SEED, 0);
    let result = match way {
        Way::Usual => model::watch(&plan, streams, &mut both),
        Way::Oracle => model::watch_in_full(&plan, streams, &mut both),
    };
    let Ok(report) = &result else { return Ok(result) };
    let (auditor, curves) = (both.0, both.1.close());
    let ledger = &report.ledger;
    check_curves(&curves, ledger)?;
    let finished = ledger.completed - ledger.failed;
    let unsure = ledger.stopped + ledger.failed;
    let least = if text.contains("free_errors") { ledger.delivered } else { finished };
    let pairs = [
        ("attempts", auditor.attempts, ledger.arrived()),
        ("starts", auditor.started, ledger.started),
        ("outcomes", auditor.resolved, ledger.succeeded + ledger.partial + ledger.gave_up_total()),
        // Stopped work is billed unless it was stopped at once; broken streams are, errors not.
        ("bills", auditor.billed.clamp(least, finished + unsure), auditor.billed),
        ("deliveries", auditor.useful, ledger.succeeded),
    ];
    let tasks = |group: &GroupPlan| match group.arrivals {
        Arrivals::Agents { tasks, .. } => u64::from(tasks),
        _ => 0,
    };
    let all = plan.groups.iter().map(tasks).sum();
    let drained = text.contains("horizon = \"300d\"") && ledger.open == 0;
    if auditor.tasks > all || (drained && auditor.tasks < all) {
        return Err(format!("{} of {all} tasks are over", auditor.tasks));
    }
    match pairs.iter().find(|(_, seen, booked)| seen != booked) {
        Some((what, seen, booked)) => Err(format!("{seen} {what} seen, {booked} in the books")),
        None if report.end > plan.horizon => Err("it ends after its horizon".to_owned()),
        None => Ok(result),
    }
}

/// Curves add up to the books.
fn check_curves(curves: &Curves, ledger: &Ledger) -> Result<(), String> {
    let total = |count: fn(&CurveWindow) -> u32| -> u64 {
        curves.windows.iter().map(|window| u64::from(count(window))).sum()
    };
    let end = curves.window(usize::MAX);
    let waited = ledger.dropped + ledger.removed + ledger.lost_waiting;
    let served = ledger.completed + ledger.stopped + ledger.lost_served;
    let pairs = [
        ("attempts", total(|w| w.waves.iter().sum()), ledger.arrived()),
        ("requests", total(|w| w.requests), ledger.created),
        ("answers", total(|w| w.answers), ledger.succeeded),
        ("queue", end.queue.into(), ledger.admitted - ledger.started - waited),
        ("in flight", end.in_flight.into(), ledger.admitted - served - waited),
    ];
    match pairs.iter().find(|(_, seen, booked)| seen != booked) {
        Some((what, seen, booked)) => Err(format!("curves: {what} {seen}, {booked} in the books")),
        None => Ok(()),
    }
}

/// The same scenario with time enough for everything to end, where it can: a request without an
/// outcome has then been forgotten, say by a permit that nobody gave back.
fn check_drained(text: &str) -> Result<(), String> {
    let endless = [
        "duration = \"1h\"",
        "\nconcurrency = 0",
        "silence = true",
        "how = \"silence\"",
        "1e12",
        "loss",
    ];
    if endless.iter().any(|part| text.contains(part)) {
        return Ok(());
    }
    let lines = text.lines().map(|line| match line.split(' ').next() {
        Some("horizon") => "horizon = \"300d\"\n".to_owned(),
        Some("window") => "window = \"1h\"\n".to_owned(),
        _ => format!("{line}\n"),
    });
    match run(&lines.collect::<String>(), Way::Usual)? {
        Ok(report) if report.ledger.open > 0 => {
            Err(format!("{} are forgotten", report.ledger.open))
        }
        _ => Ok(()),
    }
}

/// Nothing bounds the work at one instant when a layer may retry at once; then, and only then, a
/// run may be stopped as a livelock.
fn may_stand_still(text: &str) -> bool {
    ["no_backoff", "cap = \"0s\"", "uniform(-50ms", "closed_loop"]
        .iter()
        .any(|at| text.contains(at))
}

fn check(text: &str) -> Result<Option<Report>, String> {
    check_drained(text)?;
    let (first, second) = (run(text, Way::Usual)?, run(text, Way::Oracle)?);
    match (first, second) {
        (Ok(a), Ok(b)) if a.fingerprint == b.fingerprint && a.events == b.events => Ok(Some(a)),
        (Err(a), Err(b)) if a == b && may_stand_still(text) => match a {
            RunError::Livelock { .. } => Ok(None),
            other => Err(other.to_string()),
        },
        (Err(a), _) => Err(a.to_string()),
        _ => Err("two runs differ".to_owned()),
    }
}

/// Two of three scenarios are in the short form.
fn swarm_scenario(number: u64) -> String {
    let groups = [0, 0, 0, 0, 2, 3][(number % 6) as usize];
    scenario(&mut Dice(number.wrapping_mul(0x0123_4567_89ab_cdef)), groups)
}

#[test]
fn random_scenarios_keep_all_laws_and_run_alike_twice() {
    let failures: Vec<String> = (0..SCENARIOS)
        .into_par_iter()
        .filter_map(|number| {
            let text = swarm_scenario(number);
            let checked = std::panic::catch_unwind(|| check(&text));
            let problem = match checked {
                Ok(Ok(_)) => return None,
                Ok(Err(problem)) => problem,
                Err(_) => "it panics".to_owned(),
            };
            Some(format!("scenario {number}: {problem}\n{text}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} fail; the first:\n{}", failures.len(), failures[0]);
}

/// The swarm is worth little when most of its scenarios do nothing.
#[test]
fn the_swarm_reaches_every_kind_of_end() {
    let mut seen: Vec<u32> = Vec::new();
    for number in 0..SCENARIOS {
        let Ok(Some(report)) = check(&swarm_scenario(number)) else { continue };
        let l = &report.ledger;
        let counts = [
            l.gave_up[0],
            l.gave_up[1],
            l.gave_up[2],
            l.gave_up[3],
            l.gave_up[4],
            l.gave_up[5],
            l.succeeded,
            l.partial,
            l.late,
            l.reset,
            l.refused_by_limit[0],
            l.refused_by_limit[1],
            l.refused_by_limit[2],
            l.refused_by_limit[3],
            l.refused_by_limit[4],
            l.refused_by_limit[5],
            l.refused_by_limit[6],
            l.gone_before_accept,
            l.dropped,
            l.removed,
            l.stopped,
            l.unanswered,
            l.lost_waiting,
            l.lost_served,
            l.refused_by_operator,
            l.lost_attempts,
            l.lost_answers,
            l.lost_words,
            l.attached,
            l.replayed,
            l.repeated_effects,
            l.on_the_way + l.on_the_way_back,
            l.cache_hits,
            l.conflicts,
            l.hedges - l.hedges_won,
            l.hedges_won,
            l.hedges_refused,
            l.layers.iter().map(|layer| layer.throttle_refused).sum(),
            l.layers.iter().map(|layer| layer.pace_waited).sum(),
            l.layers.iter().map(|layer| layer.pace_refused).sum(),
        ];
        seen.resize(counts.len(), 0);
        counts.iter().zip(&mut seen).for_each(|(&n, seen)| *seen += u32::from(n > 0));
    }
    assert!(seen.iter().all(|&n| n >= 5), "scenarios per kind of end: {seen:?}");
}

/// Counts the events of a log by kind, and writes a Chrome trace.
struct Log<'n> {
    kinds: BTreeMap<Kind, u64>,
    chrome: Chrome<'n, Vec<u8>>,
}

impl Sink for Log<'_> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        *self.kinds.entry(event.kind).or_default() += 1;
        self.chrome.event(event)
    }

    fn counts(&mut self, counts: &Counts) -> io::Result<()> {
        self.chrome.counts(counts)
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        self.chrome.finish(end)
    }
}

/// A log tells of all that the books count, its spans nest, and its counters add up.
fn check_log(text: &str) -> Result<(), String> {
    let cell = cell(text);
    let names = Names::of(&cell);
    let chrome = Chrome::new(&names, cell.scenario.measure.window, Vec::new());
    let log = Log { kinds: BTreeMap::new(), chrome: chrome.map_err(|e| e.to_string())? };
    let mut tracer = Tracer::new(&cell, Keep::All, log);
    let Ok(report) = cell.watch(Seed(SEED), 0, &mut tracer) else { return Ok(()) };
    let log = tracer.finish(report.end).map_err(|e| e.to_string())?;
    let trace = common::chrome::read(&log.chrome.into_inner())?;
    let l = &report.ledger;
    let seen = |kinds: &[Kind]| -> u64 {
        kinds.iter().map(|kind| log.kinds.get(kind).copied().unwrap_or_default()).sum()
    };
    let refused = l.refused_by_limit.iter().sum::<u64>() + l.refused_by_load + l.refused_by_fault;
    let answered = trace.outcomes.get("answered").copied().unwrap_or_default();
    let span = |category: &str| trace.spans.get(category).copied().unwrap_or_default();
    let load: u64 = trace.counters.get("load").into_iter().flatten().sum();
    let pairs = [
        ("created", seen(&[Kind::Created]), l.created),
        ("sent", seen(&[Kind::Sent, Kind::Hedged]), l.attempts),
        ("hedged", seen(&[Kind::Hedged]), l.hedges),
        ("hedges refused", seen(&[Kind::HedgeRefused]), l.hedges_refused),
        ("arrived", seen(&[Kind::Arrived]), l.arrived()),
        ("refused", seen(&[Kind::Refused]), refused + l.refused_by_operator + l.reset),
        ("swallowed", seen(&[Kind::Swallowed]), l.unanswered),
        ("gone", seen(&[Kind::Gone]), l.gone_before_accept),
        ("attached", seen(&[Kind::Attached]), l.attached),
        ("started", seen(&[Kind::Started]), l.started),
        ("served", seen(&[Kind::Served]), l.completed),
        ("dropped", seen(&[Kind::Dropped]), l.dropped),
        ("taken back", seen(&[Kind::TakenBack]), l.removed + l.stopped),
        ("lost", seen(&[Kind::Lost]), l.lost_waiting + l.lost_served),
        ("lost on the way", seen(&[Kind::LostOnTheWay]), l.lost_attempts),
        ("lost on the way back", seen(&[Kind::LostOnTheWayBack]), l.lost_answers + l.lost_words),
        ("late", seen(&[Kind::Late]), l.late),
        ("delivered", seen(&[Kind::Delivered]), l.delivered),
        ("resolved", seen(&[Kind::Resolved]), l.succeeded + l.partial + l.gave_up_total()),
        ("spans of requests", span("request"), l.created),
        ("spans of attempts", span("attempt"), l.attempts),
        ("spans of attempts that are answered", answered, l.delivered),
        ("load", load, l.arrived()),
    ];
    match pairs.iter().find(|(_, seen, booked)| seen != booked) {
        Some((what, seen, booked)) => {
            Err(format!("{seen} {what} in the log, {booked} in the books"))
        }
        None => Ok(()),
    }
}

/// Every tenth scenario of the swarm, as logs take time.
#[test]
fn logs_of_random_scenarios_tell_what_the_books_count() {
    let failures: Vec<String> = (0..SCENARIOS / 10)
        .into_par_iter()
        .filter_map(|number| {
            let text = swarm_scenario(number * 10 + number % 6);
            let problem = check_log(&text).err()?;
            Some(format!("scenario {number}: {problem}\n{text}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} fail; the first:\n{}", failures.len(), failures[0]);
}

/// An auditor whose limits are one too narrow must find something: so good ones are looked at.
#[test]
fn limits_that_are_one_too_narrow_are_broken() {
    let planted: [fn(Limits) -> Limits; 3] = [
        |l| Limits { deadline: l.deadline - 1, ..l },
        |l| Limits { attempts: l.attempts - 1, ..l },
        |l| Limits { present: l.present - 1, ..l },
    ];
    for narrow in planted {
        let found = (0..SCENARIOS).into_par_iter().any(|number| {
            let text = swarm_scenario(number);
            let audited = || run_within(&text, Way::Usual, |layers| narrow(Limits::of(layers)));
            std::panic::catch_unwind(audited).is_err()
        });
        assert!(found, "a planted bug passes");
    }
}
