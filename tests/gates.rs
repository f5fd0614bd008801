//! Gates for CI: `[expect]` and `--fail-if`.

mod command;

use std::fs;

use command::{SMALL, run};

const EXPECT: &str = "\n[expect]\nsuccess_ratio = \">= 0.9\"\npeak_bin = \"<= 2 * capacity\"\n";

#[test]
fn what_a_scenario_expects_decides_the_exit_code() {
    let home = tempfile::tempdir().unwrap();
    // 20 clients, capacity 50 per window, a peak of retries below 20.
    fs::write(home.path().join("storm.toml"), format!("{SMALL}{EXPECT}")).unwrap();
    let good = run(home.path(), &["run", "storm.toml"]);
    assert_eq!(good.code, 0, "{good:?}");
    assert!(good.out.contains("check: success_ratio >= 0.9: met (0.975 against 0.9)"), "{good:?}");
    let slow = "provider.service=20s";
    let bad = run(home.path(), &["run", "storm.toml", "--json", "--set", slow]);
    assert_eq!(bad.code, 1);
    let checks = bad.json()["checks"].clone();
    assert_eq!(checks[0]["check"], "peak_bin <= 2 * capacity");
    assert_eq!(checks[0]["met"], false);
    assert_eq!(checks[0]["right"], 0.05);

    // An expectation survives the round trip of a resolved scenario.
    let resolved = run(home.path(), &["check", "storm.toml"]);
    assert!(resolved.out.contains("[expect]\npeak_bin = \"<= 2 * capacity\""), "{}", resolved.out);
}

#[test]
fn a_condition_that_holds_fails_run_compare_and_sweep() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let code = |args: &[&str]| {
        let ran = run(home.path(), args);
        (ran.code, ran.out + &ran.err)
    };
    assert_eq!(code(&["run", "storm.toml", "--fail-if", "success_ratio < 0.9"]).0, 0);
    let (failed, said) = code(&["run", "storm.toml", "--fail-if", "amplification > 1.2"]);
    assert_eq!(failed, 1);
    assert!(said.contains("check: not amplification > 1.2: not met ("), "{said}");
    let policies = ["compare", "storm.toml", "--layer", "sdk", "--policies", "full,no-retry"];
    let (failed, said) = code(&[&policies[..], &["--fail-if", "success_ratio <= 0.5"]].concat());
    assert_eq!(failed, 1);
    assert!(said.contains("full: check: not success_ratio <= 0.5: met"), "{said}");
    assert!(said.contains("no-retry: check: not success_ratio <= 0.5: not met"), "{said}");
    let vary = ["sweep", "storm.toml", "--vary", "client.layers.sdk.max_attempts=1,3", "-q"];
    let check = ["--fail-if", "success_ratio <= 0.5", "-o", "out", "--json"];
    let ran = run(home.path(), &[&vary[..], &check].concat());
    assert_eq!((ran.code, &ran.json()["checks_not_met"]), (1, &1.into()));
    assert!(ran.err.contains("cell 0: check: not success_ratio <= 0.5"), "{}", ran.err);
    assert!(home.path().join("out/runs.csv").exists(), "the results are there all the same");
    // Nothing succeeds: there is no completion time to be held against.
    let (failed, said) = code(&[
        "run",
        "storm.toml",
        "--set",
        "client.layers.sdk.max_attempts=1",
        "--fail-if",
        "completion_p99_s > 1min",
    ]);
    assert_eq!(failed, 1);
    assert!(said.contains("it has no value"), "{said}");
}

#[test]
fn what_is_no_check_is_refused_before_anything_runs() {
    let home = tempfile::tempdir().unwrap();
    let expect = |line: &str| format!("{SMALL}\n[expect]\n{line}\n");
    for (line, said) in [
        ("peak_bim = \"<= 5\"", "did you mean `peak_bin`?"),
        ("peak_bin = \"5\"", "expect.peak_bin"),
        ("peak_bin = 5", "expect.peak_bin"),
        ("peak_bin = \"<= 5 +\"", "a value is missing"),
    ] {
        fs::write(home.path().join("storm.toml"), expect(line)).unwrap();
        let ran = run(home.path(), &["run", "storm.toml"]);
        assert_eq!((ran.code, &ran.out[..]), (2, ""), "{line}: {ran:?}");
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
    }
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    for (condition, said) in [
        ("peak_bim > 5", "did you mean `peak_bin`?"),
        ("peak_bin", "compares nothing"),
        ("peak_bin > ", "a value is missing"),
    ] {
        let ran = run(home.path(), &["run", "storm.toml", "--fail-if", condition]);
        assert_eq!((ran.code, &ran.out[..]), (2, ""), "{condition}: {ran:?}");
        assert!(ran.err.contains(said), "{condition}: {}", ran.err);
    }
    let endless = "workload = { burst = {} }\n";
    fs::write(home.path().join("endless.toml"), endless).unwrap();
    let ran = run(home.path(), &["run", "endless.toml", "--fail-if", "peak_bin > capacity"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("compare with a number"), "{}", ran.err);
}

#[test]
fn a_metric_whose_name_is_not_one_word_can_be_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let group = |name: &str| {
        format!("[[group]]\nname = \"{name}\"\nworkload = {{ clients = 3, burst = {{}} }}\n")
    };
    let text = format!("{}{}[expect]\ngroup_a-b_requests = \"== 3\"\n", group("a-b"), group("c"));
    fs::write(home.path().join("two.toml"), text).unwrap();
    let ran = run(home.path(), &["run", "two.toml", "-r", "2"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("check: `group_a-b_requests` == 3: met (3 against 3)"), "{ran:?}");
    let fail_if = |condition: &str| run(home.path(), &["run", "two.toml", "--fail-if", condition]);
    assert_eq!(fail_if("`group_a-b_requests` > group_c_requests").code, 0);
    assert_eq!(fail_if("`group_a-b_requests` == group_c_requests").code, 1);
    for (condition, said) in [
        ("group_a-b_requests > 3", "write the name in backquotes: `group_a-b_requests`"),
        ("`group_a-c_requests` > 3", "did you mean `group_a-b_requests`?"),
        ("`group_a-b_requests > 3", "the ` is not closed"),
    ] {
        let ran = fail_if(condition);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
        assert!(ran.err.len() < 600, "{}", ran.err);
    }
}
