//! `steady`: what it prints, and when it says that a run is too short.

mod command;

use std::fs;

use command::{Ran, run};

const STREAM: &str = r#"
workload = { poisson = { rate = "5/s" } }
measure = { horizon = "20min", window = "1s" }
provider = { concurrency = 10, service = { exponential = { mean = "1s" } }, queue = { fifo = {} } }
"#;

fn steady(more: &[&str]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("stream.toml"), STREAM).unwrap();
    run(home.path(), &[&["steady", "stream.toml"], more].concat())
}

#[test]
fn a_long_run_is_sound_and_its_mean_right() {
    for (follow, mean) in [("completion", 1.0072), ("attempts", 5.0), ("answers", 5.0)] {
        let ran = steady(&["--follow", follow, "-r", "8", "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let found = ran.json();
        assert_eq!(
            (&found["schema"], &found["follow"]),
            (&"retrylab.steady/1".into(), &follow.into())
        );
        let all = &found["mean_of_runs"];
        let [low, high] = [0, 1].map(|i| all["ci95"][i].as_f64().unwrap());
        assert!(low - 0.02 * mean < mean && mean < high + 0.02 * mean, "{follow}: {all}");
        assert_eq!(found["runs"].as_array().unwrap().len(), 8);
    }
}

#[test]
fn a_short_run_says_so() {
    let fewer = steady(&["--set", "measure.horizon=10s", "-r", "2"]);
    assert_eq!(fewer.code, 1, "{fewer:?}");
    assert!(fewer.out.contains("fewer than 60 values"), "{}", fewer.out);
    let late = steady(&["--warm-up", "1h", "-r", "1"]);
    assert!(late.code == 1 && late.out.contains("fewer than 60 values"), "{late:?}");
    let overload = steady(&["--set", "workload.poisson.rate=20/s", "-r", "1"]);
    assert!(overload.code == 1 && overload.out.contains("too short"), "{overload:?}");
    let bad = steady(&["--warm-up", "soon"]);
    assert!(bad.code == 2 && bad.err.contains("or write mser5"), "{bad:?}");
}
