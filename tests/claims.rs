//! Published experiments come out, and a policy that is wrong is found out.

mod command;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use command::{here, run};
use retrylab::theory::{decorrelated, multinomial_max, uniform_sum};
use serde_json::Value;

const POLICIES: [&str; 5] = ["none", "sdk", "equal", "full", "decorrelated"];
const KINDS: [&str; 3] = ["peak_bin", "peak_sliding", "mean_kth_retry_s"];
const FOLDER: &str = "experiments/published/thousand-clients";

/// Verdicts by claim.
fn verdicts(document: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let claims = document["claims"].as_array().unwrap();
    claims.iter().map(|claim| (text(&claim["id"]), text(&claim["verdict"]))).collect()
}

#[test]
fn a_thousand_clients_are_reproduced_and_say_so_in_json() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["reproduce", "thousand-clients", "-r", "20", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.starts_with("wrote ") && ran.err.lines().count() == 1, "{}", ran.err);
    let document = ran.json();
    assert_eq!(document["schema"], "retrylab.reproduce/1");
    assert_eq!(document["experiment"], "thousand-clients");
    assert_eq!(document["seed"], "0x2a");
    assert_eq!(document["replications"], 20);
    assert_eq!(document["verdict"], "reproduced");
    let claims = document["claims"].as_array().unwrap();
    let mut ids: Vec<String> =
        KINDS.iter().flat_map(|kind| POLICIES.map(|policy| format!("{kind}/{policy}"))).collect();
    ids.sort();
    assert_eq!(verdicts(&document).into_keys().collect::<Vec<_>>(), ids);
    assert_eq!(claims.len(), 15);
    for claim in claims {
        for number in ["mean", "sd", "min", "max"] {
            assert!(claim[number].is_f64(), "{number}: {claim}");
        }
        let basis = claim["basis"].as_str().unwrap();
        assert!(["published", "closed_form", "monte_carlo"].contains(&basis), "{claim}");
        assert!(claim["published"].is_null() || claim["published"].is_f64(), "{claim}");
        assert!(claim["reference"].is_f64() && claim["unit"].is_string(), "{claim}");
        assert_eq!(claim["verdict"], "reproduced", "{claim}");
        let ci = claim["ci95"].as_array().unwrap();
        let (low, high) = (ci[0].as_f64().unwrap(), ci[1].as_f64().unwrap());
        let mean = claim["mean"].as_f64().unwrap();
        assert!(low <= mean && mean <= high && ci.len() == 2, "{claim}");
    }
}

#[test]
fn one_replication_has_no_spread_and_decides_nothing_but_exact_values() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["reproduce", "thousand-clients", "-r", "1", "--json", "-q"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let document = ran.json();
    assert_eq!(document["verdict"], "inconclusive");
    for claim in document["claims"].as_array().unwrap() {
        assert!(claim.get("sd").unwrap().is_null(), "{claim}");
        assert!(claim.get("ci95").unwrap().is_null(), "{claim}");
        assert!(claim["mean"].is_f64() && claim["mean"] == claim["min"], "{claim}");
        let exact = claim["policy"] == "none";
        assert_eq!(claim["verdict"], if exact { "reproduced" } else { "inconclusive" }, "{claim}");
    }
}

/// Reproduces the thousand clients with one text of the experiment changed, as a bug in a policy
/// would, and gives the claims that are not reproduced.
fn not_reproduced_with(old: &str, new: &str) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(here(FOLDER).join("experiment.toml")).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{old}");
    fs::write(home.path().join("experiment.toml"), text.replace(old, new)).unwrap();
    fs::copy(here(FOLDER).join("scenario.toml"), home.path().join("scenario.toml")).unwrap();
    let path = format!("{}/", home.path().display());
    // 100 seeds: the smallest of these bugs moves its mean by 7 standard errors, and 4 decide.
    let ran = run(home.path(), &["reproduce", &path, "-r", "100", "--json", "-o", "out"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let document = ran.json();
    assert_eq!(document["verdict"], "not_reproduced");
    let all = verdicts(&document);
    assert_eq!(all.len(), 15);
    assert!(!all.values().any(|verdict| verdict == "inconclusive"), "{all:?}");
    all.into_iter().filter(|(_, verdict)| verdict == "not_reproduced").map(|(id, _)| id).collect()
}

fn all_of(policy: &str) -> Vec<String> {
    let mut ids: Vec<String> = KINDS.iter().map(|kind| format!("{kind}/{policy}")).collect();
    ids.sort();
    ids
}

#[test]
fn equal_jitter_in_the_place_of_full_jitter_is_found_out() {
    let found =
        not_reproduced_with("full_jitter = { base = \"1s\"", "equal_jitter = { base = \"1s\"");
    assert_eq!(found, all_of("full"));
}

#[test]
fn a_wrong_base_is_found_out() {
    let found =
        not_reproduced_with("full_jitter = { base = \"1s\"", "full_jitter = { base = \"1.2s\"");
    assert_eq!(found, all_of("full"));
}

#[test]
fn a_missing_jitter_of_the_sdk_is_found_out() {
    let found = not_reproduced_with("sdk_jitter = { base = \"500ms\"", "none = { base = \"500ms\"");
    assert_eq!(found, all_of("sdk"));
}

#[test]
fn a_decorrelated_wait_without_its_cap_moves_only_what_the_cap_moves() {
    let found = not_reproduced_with(
        "decorrelated_jitter = { base = \"1s\", cap = \"30s\"",
        "decorrelated_jitter = { base = \"1s\", cap = \"300s\"",
    );
    assert_eq!(found, ["mean_kth_retry_s/decorrelated"]);
}

#[test]
fn the_other_published_experiments_are_reproduced() {
    for name in
        ["retry-layers", "forty-workers", "timeout-cost", "nightly-job", "five-hundred-agents"]
    {
        let home = tempfile::tempdir().unwrap();
        // As many as tell the claims apart, at most as many as by default.
        let replications = if name == "five-hundred-agents" { "100" } else { "20" };
        let ran = run(home.path(), &["reproduce", name, "--json", "-q", "-r", replications]);
        let document = ran.json();
        assert_eq!(ran.code, 0, "{name}: {:?}", verdicts(&document));
    }
}

/// Standard errors between ours and the original, both with theirs: the mean of 100 runs has a tenth of
/// the standard deviation of one.
#[test]
fn the_row_of_2015_is_that_of_the_original() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["reproduce", "aws-2015", "--json", "-q"]);
    let document = ran.json();
    assert_eq!(ran.code, 0, "{:?}", verdicts(&document));
    let n = document["replications"].as_f64().unwrap();
    let claims = document["claims"].as_array().unwrap();
    let (mut times, mut calls) = (0, 0);
    for claim in claims {
        let number = |key: &str| claim[key].as_f64().unwrap();
        if let Some(reference) = claim["reference"].as_f64() {
            let error = number("sd") * (1.0 / n + 1.0 / 100.0).sqrt();
            let z = (number("mean") - reference) / error;
            assert!(z.abs() <= 3.0, "z = {z}: {claim}");
            assert!(error <= 0.03 * reference, "too few runs to tell: {claim}");
            times += 1;
        } else if claim["id"].as_str().unwrap().starts_with("calls/") {
            let middle = (number("at_least") + number("at_most")) / 2.0;
            assert!((number("mean") / middle - 1.0).abs() < 0.01, "{claim}");
            calls += 1;
        }
    }
    assert_eq!((times, calls), (15, 15));
}

/// A counter of attempts that starts at 0 halves every wait.
#[test]
fn a_counter_of_attempts_that_starts_at_0_is_found_out() {
    let home = tempfile::tempdir().unwrap();
    let folder = here("experiments/published/aws-2015");
    let text = fs::read_to_string(folder.join("experiment.toml")).unwrap();
    let old = "equal_jitter = { base = \"10ms\"";
    assert_eq!(text.matches(old).count(), 3);
    let new = text.replace(old, "equal_jitter = { base = \"5ms\"");
    fs::write(home.path().join("experiment.toml"), new).unwrap();
    fs::copy(folder.join("scenario.toml"), home.path().join("scenario.toml")).unwrap();
    let path = format!("{}/", home.path().display());
    let ran = run(home.path(), &["reproduce", &path, "-r", "60", "--json", "-q", "-o", "out"]);
    assert_eq!(ran.code, 1);
    let all = verdicts(&ran.json());
    let wrong: Vec<&String> =
        all.iter().filter(|(_, verdict)| *verdict == "not_reproduced").map(|(id, _)| id).collect();
    assert!(wrong.len() >= 3 && wrong.iter().all(|id| id.ends_with("/equal")), "{wrong:?}");
}

#[test]
fn several_experiments_are_one_document() {
    let home = tempfile::tempdir().unwrap();
    let args = ["reproduce", "retry-layers", "forty-workers", "--json", "-q", "-o", "all"];
    let ran = run(home.path(), &[&args[..], &["-r", "5"]].concat());
    let document = ran.json();
    assert_eq!(document["schema"], "retrylab.reproduce-all/1");
    assert_eq!(document["experiments"].as_array().unwrap().len(), 2);
    assert_eq!(command::names(&home.path().join("all")), ["forty-workers", "retry-layers"]);
}

/// An experiment with one claim about a policy that is twice as large as another.
fn claiming(home: &Path, claim: &str) -> String {
    let text = format!(
        r#"
        title = "t"
        question = "q"
        source = "s"
        replications = 5
        [[policy]]
        name = "three"
        set = {{ "workload.clients" = 3, "client.layers.client.max_attempts" = 4 }}
        [[policy]]
        name = "six"
        set = {{ "workload.clients" = 6 }}
        [[claim]]
        id = "c"
        policy = "six"
        basis = "closed_form"
        source = "s"
        {claim}
        "#
    );
    fs::write(home.join("experiment.toml"), text).unwrap();
    let scenario = "workload = { burst = {} }\n[[provider.faults]]\noutage = { from = \"0s\", status = 503 }\n\
                    [[client.layers]]\nname = \"client\"\nmax_attempts = 2\n";
    fs::write(home.join("scenario.toml"), scenario).unwrap();
    format!("{}/", home.display())
}

#[test]
fn ratios_of_metrics_and_policies_are_taken_run_by_run() {
    // Six requests of two attempts against three of four.
    for (claim, mean) in [
        ("metric = \"attempts\"\nover = { metric = \"requests\" }\nreference = 2", 2.0),
        ("metric = \"requests\"\nover = { policy = \"three\" }\nat_least = 2", 2.0),
        (
            "metric = \"retries\"\nover = { policy = \"three\", metric = \"attempts\" }\nat_most = 0.5",
            0.5,
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let path = claiming(home.path(), claim);
        let ran = run(home.path(), &["reproduce", &path, "--json", "-q", "-o", "out"]);
        assert_eq!(ran.code, 0, "{claim}: {ran:?}");
        let document = ran.json();
        let found = &document["claims"][0];
        assert_eq!((&found["mean"], &found["unit"]), (&Value::from(mean), &Value::from("ratio")));
        assert!(found["over"]["policy"].is_string() && found["over"]["metric"].is_string());
    }
}

#[test]
fn a_bound_that_is_not_kept_is_not_reproduced() {
    let home = tempfile::tempdir().unwrap();
    for (bound, shown) in [("at_least = 3", "≥ 3"), ("at_most = 1.5", "≤ 1.5")] {
        let claim = format!("metric = \"attempts\"\nover = {{ metric = \"requests\" }}\n{bound}");
        let path = claiming(home.path(), &claim);
        let ran = run(home.path(), &["reproduce", &path, "-q", "-o", "out"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.out.contains(shown) && ran.out.contains("not reproduced"), "{}", ran.out);
    }
    let zero = claiming(
        home.path(),
        "metric = \"attempts\"\nover = { metric = \"succeeded\" }\nat_least = 0",
    );
    let ran = run(home.path(), &["reproduce", &zero, "--json", "-q", "-o", "out"]);
    // Nothing succeeded, so there is no ratio.
    assert_eq!((ran.code, &ran.json()["claims"][0]["n"]), (1, &Value::from(0)));
}

#[test]
fn all_experiments_are_one_document_with_a_verdict_each() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["reproduce", "--all", "--json", "-q", "-r", "5", "-o", "all"]);
    let document = ran.json();
    assert_eq!(document["schema"], "retrylab.reproduce-all/1");
    assert_eq!(document.as_object().unwrap().len(), 2);
    let experiments = document["experiments"].as_array().unwrap();
    let found: Vec<&str> = experiments.iter().map(|e| e["experiment"].as_str().unwrap()).collect();
    let names: Vec<&str> =
        retrylab::experiment::names().into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, names);
    for experiment in experiments {
        assert_eq!(experiment["schema"], "retrylab.reproduce/1");
        let verdict = experiment["verdict"].as_str().unwrap();
        assert!(["reproduced", "not_reproduced", "inconclusive"].contains(&verdict), "{verdict}");
        assert!(!experiment["claims"].as_array().unwrap().is_empty());
    }
    let mut folders: Vec<&str> = names;
    folders.sort_unstable();
    assert_eq!(command::names(&home.path().join("all")), folders);
}

#[test]
fn a_room_is_run_alone() {
    let home = tempfile::tempdir().unwrap();
    let rooms = |room: &str| run(home.path(), &["reproduce", "--list", "--room", room]);
    let (published, incidents) = (rooms("published"), rooms("incidents"));
    assert!(published.out.contains("thousand-clients") && !published.out.contains("incidents"));
    assert!(incidents.out.contains("incidents") && !incidents.out.contains("thousand-clients"));
    let ran = rooms("incident");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `incidents`?"), "{}", ran.err);
}

#[test]
fn names_of_experiments_are_unique_and_say_where_they_are() {
    let names: Vec<&str> =
        retrylab::experiment::names().into_iter().map(|(name, _)| name).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "{names:?}");
    for (name, room) in retrylab::experiment::names() {
        let folder = here("experiments").join(room).join(name);
        assert!(folder.join("experiment.toml").is_file(), "{room}/{name}");
        assert!(folder.join("scenario.toml").is_file(), "{room}/{name}");
    }
}

/// The number that is typed as `key` of a claim, and its digits.
fn typed(experiment: &Path, id: &str, key: &str) -> (f64, usize) {
    let text = fs::read_to_string(experiment.join("experiment.toml")).unwrap();
    let claim = text.split("[[claim]]").find(|c| c.contains(&format!("\"{id}\""))).unwrap();
    assert!(claim.contains("\"closed_form\""), "{id}");
    let line = claim.lines().find(|l| l.split('=').next().unwrap().trim() == key).unwrap();
    let digits = line.split('=').nth(1).unwrap().trim();
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    (digits.parse().unwrap(), decimals)
}

#[test]
fn typed_references_are_what_the_theory_gives_to_their_last_digit() {
    let folder = here(FOLDER);
    let (base, cap) = (1.0, 30.0);
    let last = |waits: Vec<uniform_sum::Wait>| uniform_sum::mean(&waits);
    for (id, computed) in [
        ("peak_bin/none", 1_000.0),
        ("peak_bin/sdk", multinomial_max::binomial(1_000, 0.8).mean),
        ("peak_bin/equal", multinomial_max::largest_cell(1_000, 5).unwrap().mean),
        ("peak_sliding/none", 1_000.0),
        ("mean_kth_retry_s/none", last(uniform_sum::no_jitter(base, cap, 4))),
        ("mean_kth_retry_s/sdk", last(uniform_sum::sdk_jitter(0.5, 8.0, 4))),
        ("mean_kth_retry_s/equal", last(uniform_sum::equal_jitter(base, cap, 4))),
        ("mean_kth_retry_s/full", last(uniform_sum::full_jitter(base, cap, 4))),
        ("mean_kth_retry_s/decorrelated", decorrelated::mean_retry_time(base, cap, 4)),
    ] {
        let (reference, decimals) = typed(&folder, id, "reference");
        let half_a_digit = 0.5 * 10f64.powi(-(decimals as i32)) + 1e-9;
        assert!((reference - computed).abs() <= half_a_digit, "{id}: {reference}, not {computed}");
    }
    // Every closed form of the file is in the table above.
    let text = fs::read_to_string(folder.join("experiment.toml")).unwrap();
    assert_eq!(text.matches("\"closed_form\"").count(), 9);
}
