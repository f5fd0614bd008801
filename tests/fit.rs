//! `retrylab fit`: logs in every format, logs drawn from known laws, and logs that are refused.

mod command;
mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use command::{here, names, run};
use retrylab::answer::Outcome;
use retrylab::fit::{Fit, Law, Log};
use retrylab::model::{Observer, Side};
use retrylab::server::Tokens;
use retrylab::units::{Time, seconds};
use retrylab::workload::log::formats;
use retrylab::workload::{Gaps, Shape};

use common::watch;

/// The log in the data folder with this format.
fn sample(format: &str) -> PathBuf {
    let folder = here("tests/data/logs");
    let found = names(&folder).into_iter().find(|name| name.split('.').next() == Some(format));
    folder.join(found.unwrap_or_else(|| panic!("no log of the format {format}")))
}

/// The same sixty requests in every format: what it has of them is the same.
#[test]
fn every_format_is_known_by_its_columns() {
    let home = tempfile::tempdir().unwrap();
    for format in formats() {
        let file = sample(&format.name);
        let ran = run(home.path(), &["fit".as_ref(), file.as_os_str(), "--json".as_ref()]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", format.name);
        let fit = ran.json();
        assert_eq!(fit["format"], format.name.as_str());
        assert_eq!(fit["requests"], 60);
        assert!((fit["period_s"].as_f64().unwrap() - 28.518).abs() < 1e-6, "{}", fit["period_s"]);
        if format.latency.is_some() || format.end.is_some() {
            let figures = &fit["latency_s"]["figures"];
            assert!(
                (figures["p50"].as_f64().unwrap() - 2.649).abs() < 1e-6,
                "{}: {figures}",
                format.name
            );
        }
        if format.status.is_some() || format.empty.is_some() {
            let errors = fit["errors"].as_array().unwrap();
            let failed: u64 = errors.iter().map(|error| error["count"].as_u64().unwrap()).sum();
            assert_eq!(failed, 4, "{}: {errors:?}", format.name);
            let codes = errors.iter().map(|error| error["status"].as_u64().unwrap());
            let words = !format.words.is_empty() || format.empty.is_some();
            assert!(codes.eq(if words { vec![500] } else { vec![429, 500] }), "{}", format.name);
        }
        let by_name = ["fit".as_ref(), file.as_os_str(), "--format".as_ref(), format.name.as_ref()];
        assert_eq!(run(home.path(), &by_name).code, 0, "{}", format.name);
    }
    assert!(names(home.path()).is_empty());
}

#[test]
fn the_scenario_is_checked_run_and_like_the_log() {
    let home = tempfile::tempdir().unwrap();
    let log = here("tests/data/logs/afternoon.csv");
    let args =
        ["fit".as_ref(), log.as_os_str(), "-o".as_ref(), "like.toml".as_ref(), "--json".as_ref()];
    let ran = run(home.path(), &args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let fit = ran.json();
    assert_eq!(fit["schema"], "retrylab.fit/1");
    let text = fs::read_to_string(home.path().join("like.toml")).unwrap();
    assert_eq!(fit["scenario"], text.as_str());
    assert_eq!(run(home.path(), &["check", "like.toml"]).code, 0);
    let again = run(home.path(), &["run", "like.toml", "-r", "5", "--json", "-q"]);
    assert_eq!(again.code, 0, "{again:?}");
    let metrics = &again.json()["metrics"];
    // The horizon is late enough for all but the longest of answers.
    assert!(metrics["open"]["mean"].as_f64().unwrap() < 1.0);
    let requests = metrics["requests"]["mean"].as_f64().unwrap();
    // Five runs of 1,200 bursty requests: 4 standard errors are 12 %.
    assert!((requests / 1_199.0 - 1.0).abs() < 0.12, "{requests}");
    // The same log gives the same bytes, and the scenario alone goes to standard output.
    let plain = run(home.path(), &["fit".as_ref(), log.as_os_str()]);
    assert_eq!((plain.code, plain.out.as_str()), (0, text.as_str()));
    assert!(plain.err.contains("Not in the scenario:"), "{}", plain.err);
    let silent = run(home.path(), &["fit".as_ref(), log.as_os_str(), "-q".as_ref()]);
    assert_eq!((silent.out, silent.err.as_str()), (text, ""));
}

/// A log that the simulator writes of itself.
#[derive(Default)]
struct Writer {
    rows: Vec<(Time, f64, u16, u64, u64)>,
    open: Vec<Time>,
    tokens: (u64, u64),
}

impl Observer for Writer {
    fn attempt(&mut self, now: Time, _side: Side, _number: u32) {
        self.open.push(now);
    }

    fn delivered(&mut self, _now: Time, _side: Side, tokens: Tokens) {
        self.tokens = (tokens.input, tokens.output);
    }

    fn resolved(&mut self, now: Time, _group: usize, created: Time, outcome: Outcome) {
        let answered = outcome == Outcome::Succeeded;
        let (status, (input, output)) = if answered { (200, self.tokens) } else { (503, (0, 0)) };
        self.rows.push((created, seconds(now - created), status, input, output));
    }
}

/// Logs of a scenario, one per replication.
fn logs(home: &Path, scenario: &str, count: u32) -> Vec<Log> {
    let written = watch(scenario, count, Writer::default);
    let read = |(i, (writer, _)): (usize, &(Writer, _))| {
        let mut text = "at_s,latency_s,status,input_tokens,output_tokens\n".to_owned();
        for (at, latency, status, input, output) in &writer.rows {
            writeln!(text, "{:.9},{latency:.9},{status},{input},{output}", seconds(*at)).unwrap();
        }
        let file = home.join(format!("{i}.csv"));
        fs::write(&file, text).unwrap();
        Log::read(&file, None, None).unwrap()
    };
    written.iter().enumerate().map(read).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Round trip over eight seeds: what a scenario says is found in the logs that it writes, each number within four standard errors
/// of its mean.
#[test]
fn a_log_tells_the_scenario_that_wrote_it() {
    let home = tempfile::tempdir().unwrap();
    let scenario = r#"
workload = { renewal = { rate = "10/s", gaps = { gamma = { cv = 2.0 } }, duration = "400s" } }
request  = { input_tokens = { lognormal = { median = 900, p90 = 3000 } }, output_tokens = { exponential = { mean = 200 } } }
measure  = { horizon = "1000s" }
[provider]
service = { tokens = { first = "400ms", rate = "50/s" } }
faults  = [{ error = { share = 0.05, status = 503, strikes = "on_arrival" } }]
"#;
    let (mut rates, mut cvs, mut medians, mut p90s, mut means, mut shares) =
        (vec![], vec![], vec![], vec![], vec![], vec![]);
    for log in logs(home.path(), scenario, 8) {
        let fit = Fit::of(log, 500).unwrap();
        let best = &fit.arrivals.candidates[0];
        let Some(Gaps::Gamma(Shape { cv })) = best.gaps else { panic!("{best:?}") };
        let [piece] = best.pieces[..] else { panic!("{best:?}") };
        rates.push(piece.rate);
        cvs.push(cv);
        let law = |size: &Option<retrylab::fit::Size>| {
            size.as_ref().unwrap().taken().unwrap().law.clone()
        };
        let Law::Lognormal(median, p90) = law(&fit.input) else { panic!("{:?}", fit.input) };
        medians.push(median);
        p90s.push(p90);
        let Law::Exponential(mean) = law(&fit.output) else { panic!("{:?}", fit.output) };
        means.push(mean);
        let line = fit.service.as_ref().unwrap().taken_line().unwrap();
        assert!((line.first_s - 0.4).abs() < 1e-3 && (line.per_output_s * 50.0 - 1.0).abs() < 1e-3);
        assert_eq!(line.per_input_s, 0.0);
        let [error] = fit.errors.by_status[..] else { panic!("{:?}", fit.errors) };
        assert!(error.status == 503 && error.at_once);
        shares.push(error.share);
        // What is written is as near to the log.
        let compared = fit.compare(&fit.scenario()).unwrap();
        for row in compared.iter().filter(|row| !row.figure.contains("dispersion")) {
            // The 99 % point of 3,800 lognormal tokens has a standard error of 6 %.
            let bound = if row.figure.ends_with("p99") { 0.25 } else { 0.12 };
            assert!(row.difference().abs() < bound, "{row:?}");
        }
    }
    // About 4,000 requests in a log, 32,000 in all.
    for (what, values, truth, error) in [
        ("rate", rates, 10.0, 2.0 / 32_000_f64.sqrt()),
        // Half of that of the variance, whose kurtosis is 3 + 6 cv².
        ("cv", cvs, 2.0, (26.0 / 32_000_f64).sqrt() / 2.0),
        ("median", medians, 900.0, 1.25 * 0.94 / 32_000_f64.sqrt()),
        ("p90", p90s, 3_000.0, 1.71 * 0.94 / 32_000_f64.sqrt()),
        ("mean", means, 200.0, 1.0 / 32_000_f64.sqrt()),
        ("share", shares, 0.05, (0.95 / 0.05 / 32_000_f64).sqrt()),
    ] {
        let found = mean(&values);
        assert!((found / truth - 1.0).abs() < 4.0 * error, "{what}: {found} of {values:?}");
        assert!(
            (found / (1.15 * truth) - 1.0).abs() > 4.0 * error,
            "{what}: 15 % more would be seen"
        );
    }
}

#[test]
fn a_bad_log_is_refused_by_file_line_and_key() {
    let home = tempfile::tempdir().unwrap();
    let own = "at_s,latency_s,status,input_tokens,output_tokens\n";
    let json = r#"{"start_time": "2026-03-02T09:00:00.000Z", "response_code": 200, "duration": 5}"#;
    for (content, line, parts) in [
        (String::new(), 1, ["the file is empty", "at_s"]),
        ("when,what\n1,2\n".to_owned(), 1, ["when,what", "(litellm)"]),
        (format!("{own}0,1,200,1,1\n1,1,200,1\n"), 3, ["4 fields instead of 5", "cut off"]),
        (format!("{own}0,1,200,1,1\nsoon,1,200,1,1\n"), 3, ["at_s = \"soon\"", "5.25 (seconds)"]),
        (
            format!("{own}0,1,200,1,1\r\n\r\n1,-1,200,1,1\r\n"),
            4,
            ["latency_s = \"-1\"", "length of time"],
        ),
        (format!("{own}0,1,200,1,1\n1,1,fine,1,1\n"), 3, ["status = \"fine\"", "100 to 599"]),
        (format!("{own}0,1,200,1,1\n1,1,200,1,x\n"), 3, ["output_tokens = \"x\"", "whole number"]),
        (format!("{json}\n{{\"start_time\": 1}}\n"), 2, ["`response_code`", "a line is {"]),
        (format!("{json}\nnot json\n"), 2, ["expected", "a line is {"]),
        (format!("[{json}]"), 1, ["JSON list", "jq"]),
    ] {
        fs::write(home.path().join("log"), &content).unwrap();
        let ran = run(home.path(), &["fit", "log", "-o", "like.toml"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{content:?}: {ran:?}");
        let place = format!("log:{line}: ");
        for part in parts.iter().chain([&place.as_str()]) {
            assert!(ran.err.contains(part), "{content:?}: no {part} in {}", ran.err);
        }
        assert_eq!(names(home.path()), ["log"]);
    }
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("none.csv"), "at_s\n").unwrap();
    fs::write(home.path().join("one.csv"), "at_s\n5\n").unwrap();
    fs::write(home.path().join("same.csv"), "at_s\n5\n5\n").unwrap();
    fs::write(home.path().join("two.csv"), "at_s\n5\n6\n").unwrap();
    fs::write(home.path().join("here.toml"), "").unwrap();
    for (args, parts) in [
        (vec!["fit"], ["<LOG>", "required"]),
        (vec!["fit", "nowhere.csv"], ["nowhere.csv", "No such file"]),
        (vec!["fit", "."], ["not a plain file", "request log"]),
        (vec!["fit", "none.csv"], ["no requests", "two instants"]),
        (vec!["fit", "one.csv"], ["one request", "two instants"]),
        (vec!["fit", "same.csv"], ["all 2 requests", "one instant"]),
        (vec!["fit", "two.csv", "--format", "litelm"], ["litelm", "did you mean `litellm`?"]),
        (
            vec!["fit", "two.csv", "--format", "azure"],
            ["no column is called TIMESTAMP", "found at_s"],
        ),
        (vec!["fit", "two.csv", "-o", "here.toml"], ["here.toml", "the file exists"]),
        (vec!["fit", "two.csv", "--steps", "0"], ["--steps", "1..=4096"]),
    ] {
        let ran = run(home.path(), &args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{args:?}: {}", ran.err);
    }
    // Two requests are few, but a scenario.
    let two = run(home.path(), &["fit", "two.csv", "-o", "two.toml"]);
    assert_eq!((two.code, two.err.as_str()), (0, ""), "{two:?}");
    assert_eq!(run(home.path(), &["run", "two.toml", "-r", "2", "-q"]).code, 0);
    let formats = run(home.path(), &["fit", "--formats"]);
    assert!(formats.code == 0 && formats.out.contains("LiteLLM_SpendLogs"), "{formats:?}");
}
