//! The command line as its help shows it. `TRYCMD=overwrite cargo test --test cli` writes the
//! expected outputs of tests/cli anew.

mod command;

use std::fs;
use std::process::{Command, Stdio};

use command::{SMALL, here, names, run, run_with};

const COMMANDS: [&str; 21] = [
    "reproduce",
    "run",
    "compare",
    "sweep",
    "merge",
    "diff",
    "tune",
    "steady",
    "metastable",
    "plot",
    "trace",
    "stub",
    "validate",
    "fit",
    "init",
    "check",
    "presets",
    "schedule",
    "schema",
    "completions",
    "man",
];

/// A queue that a pause makes collapse.
const QUEUE: &str = r#"
workload = { poisson = { rate = "0.5/s" } }
client   = { layers = [{ name = "client", max_attempts = 3, timeout = "10s" }] }
measure  = { window = "1s", horizon = "600s", replications = 2 }

[provider]
concurrency = 1
queue       = { fifo = {} }
service     = "1s"
faults      = [{ capacity = { from = "100s", to = "160s", concurrency = 0 } }]

[trigger]
to      = "160s"
without = ["provider.faults=[]"]
"#;

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .case("tests/cli/*.trycmd")
        .run();
}

/// The commands under "Examples:" in a help.
fn examples(help: &str) -> Vec<String> {
    let after = help.split("Examples:").nth(1).unwrap_or_default();
    let lines = after.lines().skip(1).take_while(|line| line.starts_with("  "));
    // What it does stands far to the right.
    lines.map(|line| line.trim().split("   ").next().unwrap().to_owned()).collect()
}

#[test]
fn every_example_in_the_help_works() {
    let home = tempfile::tempdir().unwrap();
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_retrylab"), bin.join("retrylab")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let own = home.path().join("experiments/published/my-experiment");
    fs::create_dir_all(&own).unwrap();
    for file in ["experiment.toml", "scenario.toml"] {
        fs::copy(here("experiments/published/retry-layers").join(file), own.join(file)).unwrap();
    }
    fs::write(home.path().join("queue.toml"), QUEUE).unwrap();
    fs::copy(here("tests/data/logs/afternoon.csv"), home.path().join("requests.csv")).unwrap();
    let mut count = 0;
    for command in [""].iter().chain(&COMMANDS) {
        let help = run(
            home.path(),
            &[command, "--help"].into_iter().filter(|a| !a.is_empty()).collect::<Vec<_>>(),
        );
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{command}");
        let found = examples(&help.out);
        assert!(!found.is_empty(), "{command} has no examples");
        for example in found {
            fs::write(home.path().join("storm.toml"), SMALL.replace("\"app\"", "\"sdk2\""))
                .unwrap();
            let needs_init =
                example.contains("init storm.toml") || example.contains("> storm.toml");
            if needs_init {
                fs::remove_file(home.path().join("storm.toml")).unwrap();
            }
            // A server does not end by itself; tests/stub.rs has it.
            if example.contains("retrylab stub")
                || example.contains("--all")
                || example.contains("/etc/")
                || example.contains("~/")
            {
                continue;
            }
            // Not every machine has jq.
            let example =
                example.replace(" | jq .metrics.peak_bin.mean", "").replace(" | jq .agrees", "");
            if example.contains("validate") {
                let log = ["trace", "storm.toml", "-q", "-o", "wire.csv"];
                assert_eq!(run(home.path(), &log).code, 0);
            }
            // The examples run whole experiments; a few replications show as well that they work.
            let shell = match example.contains("thousand-clients") {
                true => format!("{example} -r 20"),
                false => example.clone(),
            };
            let output = Command::new("sh")
                .args(["-c", &shell])
                .current_dir(home.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            assert!(output.status.success(), "{example}: {output:?}");
            count += 1;
        }
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn every_command_is_in_the_help_and_knows_help() {
    let home = tempfile::tempdir().unwrap();
    let help = run(home.path(), &["--help"]).out;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        assert_eq!(run(home.path(), &["help", command]).code, 0, "{command}");
    }
    assert!(help.contains("Exit codes: 0 ok, 1 a check said no, 2 bad input, 3 output failed"));
    let none: [&str; 0] = [];
    let ran = run(home.path(), &none);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("Examples:"));
}

#[test]
fn check_marks_what_is_not_written_and_its_output_is_the_same_scenario() {
    let home = tempfile::tempdir().unwrap();
    let text = "[workload]\nburst = {}\n\n[[client.layers]]\nname = \"sdk\"\n\
                preset = \"anthropic-python-2.14\"\nmax_attempts = 5\n";
    fs::write(home.path().join("storm.toml"), text).unwrap();
    let first = run(home.path(), &["check", "storm.toml"]);
    assert_eq!((first.code, first.err.as_str()), (0, ""));
    let line = |start: &str| first.out.lines().find(|l| l.starts_with(start)).unwrap().to_owned();
    assert!(line("clients = 1").ends_with("# default"), "{}", first.out);
    assert!(line("format = 1").ends_with("# default"), "{}", first.out);
    assert!(line("timeout = \"600s\"").ends_with("# preset"), "{}", first.out);
    assert!(line("burst = ").contains("# default: at, spread"), "{}", first.out);
    assert_eq!(line("max_attempts = 5"), "max_attempts = 5");
    assert_eq!(line("name = "), "name = \"sdk\"");
    // Its output is a scenario, all of it written, with the same digest.
    fs::write(home.path().join("storm.toml"), &first.out).unwrap();
    let second = run(home.path(), &["check", "storm.toml"]);
    assert_eq!((second.code, second.err.as_str()), (0, ""));
    assert_eq!(second.out.lines().next(), first.out.lines().next());
    assert!(
        !second.out.contains("# default") && !second.out.contains("# preset"),
        "{}",
        second.out
    );
}

#[test]
fn compare_reads_standard_input_once() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let compared = |scenario: &str, input: &[u8]| {
        let options = ["--policies", "none,full", "-r", "2", "--csv", "-q"];
        run_with(home.path(), &[&["compare", scenario], &options[..]].concat(), input)
    };
    let piped = compared("-", SMALL.as_bytes());
    assert_eq!((piped.code, piped.err.as_str()), (0, ""));
    assert_eq!(piped.out, compared("storm.toml", b"").out);
}

#[test]
fn check_and_run_agree_on_the_digest_however_it_is_spelt() {
    let home = tempfile::tempdir().unwrap();
    let digest = |text: &str| {
        let json =
            run_with(home.path(), &["run", "-", "--json", "-r", "1"], text.as_bytes()).json();
        let digest = json["scenario_digest"].as_str().unwrap().to_owned();
        let checked = run_with(home.path(), &["check", "-"], text.as_bytes()).out;
        assert!(checked.starts_with(&format!("# standard input: resolved, digest {digest}\n")));
        digest
    };
    let plain = digest(SMALL);
    assert_eq!(
        digest(&SMALL.replace("\"10min\"", "\"600s\"").replace("\"100ms\"", "\"0.1s\"")),
        plain
    );
    assert_eq!(digest(&format!("# a comment\n{SMALL}")), plain);
    assert_ne!(digest(&SMALL.replace("clients = 20", "clients = 21")), plain);
}

#[test]
fn every_json_is_one_document_and_quiet_is_quiet() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    for (args, schema) in [
        (vec!["run", "storm.toml"], "retrylab.run/1"),
        (vec!["run", "storm.toml", "-o", "out", "-q"], "retrylab.run/1"),
        (vec!["compare", "storm.toml"], "retrylab.compare/1"),
        (vec!["reproduce", "retry-layers", "-q"], "retrylab.reproduce/1"),
        (vec!["presets"], "retrylab.presets/1"),
    ] {
        let ran = run(home.path(), &[&args[..], &["--json"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        assert_eq!(ran.json()["schema"], schema, "{args:?}");
        assert!(ran.out.ends_with("}\n"), "{args:?}");
    }
    let manifest = fs::read_to_string(home.path().join("out/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["schema"], "retrylab.manifest/1");
    for file in manifest["files"].as_array().unwrap() {
        let bytes = fs::read(home.path().join("out").join(file["name"].as_str().unwrap())).unwrap();
        assert_eq!(file["bytes"], bytes.len());
        assert_eq!(file["fnv1a"], format!("{:016x}", retrylab::engine::digest(&bytes)));
    }
}

#[test]
fn the_folder_one_stands_in_is_an_experiment_with_a_name() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("mine");
    fs::create_dir(&folder).unwrap();
    for file in ["experiment.toml", "scenario.toml"] {
        fs::copy(here("experiments/published/retry-layers").join(file), folder.join(file)).unwrap();
    }
    for path in [".", "./"] {
        let ran = run(&folder, &["reproduce", path, "--json", "-q"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_eq!(ran.json()["experiment"], "mine");
        assert_eq!(names(&folder.join("results")), ["mine"]);
    }
}

#[test]
fn csv_has_a_header_and_a_row_per_metric() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let ran = run(home.path(), &["run", "storm.toml", "--csv", "-o", "out", "-q"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("policy,metric,unit,n,mean,sd,ci95_low,ci95_high,min,max\n"));
    assert_eq!(ran.out, fs::read_to_string(home.path().join("out/summary.csv")).unwrap());
    for format in [["--json", "--csv"], ["--csv", "--markdown"], ["--json", "--markdown"]] {
        assert_eq!(run(home.path(), &[&["run", "storm.toml"], &format[..]].concat()).code, 2);
    }
}

#[test]
fn a_dry_run_checks_everything_and_writes_nothing() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let ran = run(home.path(), &["run", "storm.toml", "--dry-run", "-o", "out", "-r", "1000000"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("would run 1000000 replications from seed 0x2a"));
    assert_eq!(names(home.path()), ["storm.toml"]);
}

#[test]
fn plot_writes_both_pictures_whatever_the_ending() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    for (output, files) in [
        ("a.svg", ["a.png", "a.svg"]),
        ("b.png", ["b.png", "b.svg"]),
        ("c", ["c.png", "c.svg"]),
        ("d.v1", ["d.v1.png", "d.v1.svg"]),
    ] {
        let ran = run(home.path(), &["plot", "load", "storm.toml", "-q", "-o", output]);
        assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (0, "", ""), "{output}");
        for file in files {
            let bytes = fs::read(home.path().join(file)).unwrap();
            let magic: &[u8] = if file.ends_with("png") { b"\x89PNG\r\n" } else { b"<svg" };
            assert!(bytes.windows(magic.len()).take(200).any(|w| w == magic), "{file}");
        }
    }
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["man"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains(".TH retrylab 1"), "{}", ran.out);
    let ran = run(home.path(), &["man", "-o", "share/man1"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    for command in COMMANDS {
        let page = home.path().join(format!("share/man1/retrylab-{command}.1"));
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains("Examples:") && page.contains(".SH SYNOPSIS"), "{page}");
    }
    fs::write(home.path().join("file"), "").unwrap();
    assert_eq!(run(home.path(), &["man", "-o", "file"]).code, 3);
}

#[test]
fn completions_are_scripts_that_their_shells_can_read() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = run(home.path(), &["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{shell}");
        assert!(COMMANDS.iter().all(|command| ran.out.contains(command)), "{shell}");
        let file = home.path().join(shell);
        fs::write(&file, &ran.out).unwrap();
        let parse = Command::new(shell)
            .arg("-n")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output();
        match parse {
            Ok(output) if ["bash", "zsh", "fish"].contains(&shell) => {
                assert!(
                    output.status.success(),
                    "{shell}: {}",
                    String::from_utf8_lossy(&output.stderr)
                );
            }
            _ => eprintln!("not parsed: no {shell} here"),
        }
    }
}
