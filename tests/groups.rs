//! Groups of clients: each has its own requests, layers and books, and they share the provider.

mod common;

use std::path::PathBuf;

use common::{REPLICATIONS, assert_agrees, assert_caught, runs};
use retrylab::client::Backoff;
use retrylab::experiment::{CellRuns, NamedPolicy, Place, swap};
use retrylab::scenario::{Document, Scenario};
use retrylab::theory::retry::amplification;

/// A patient group beside one that hammers, where every attempt fails.
const TOTAL_FAILURE: &str = r#"
    provider = { concurrency = 0 }

    [[group]]
    name = "good"
    workload = { clients = 100, burst = {} }
    layers = [{ name = "sdk", max_attempts = 3, backoff = { none = { base = "1s", cap = "8s" } } }]

    [[group]]
    name = "bad"
    workload = { clients = 50, burst = { at = "10s" } }
    layers = [
        { name = "sdk", max_attempts = 2 },
        { name = "loop", max_attempts = 5, backoff = { none = { base = "1s", multiplier = 1.0, cap = "1s" } } },
    ]
"#;

#[test]
fn counts_peaks_and_times_are_those_of_the_group() {
    let found = runs(TOTAL_FAILURE, 1);
    let value = |name: &str| found.values(name)[0];
    for (name, expected) in [
        ("requests", 150.0),
        ("attempts", 800.0),
        ("group_good_requests", 100.0),
        ("group_good_attempts", 300.0),
        ("group_good_retries", 200.0),
        ("group_good_peak_bin", 100.0),
        ("group_good_gave_up_attempts", 100.0),
        ("group_good_gave_up_after_mean_s", 3.0),
        ("group_good_last_resolved_s", 3.0),
        ("group_good_layer_sdk_attempts", 3.0),
        ("group_good_refused_by_load", 300.0),
        ("group_bad_requests", 50.0),
        ("group_bad_attempts", 500.0),
        // Two at once from each of 50, of which one was not the first.
        ("group_bad_peak_attempts_bin", 100.0),
        ("group_bad_peak_bin", 100.0),
        ("group_bad_gave_up_after_mean_s", 4.0),
        ("group_bad_last_resolved_s", 14.0),
        ("group_bad_layer_sdk_attempts", 2.0),
        ("group_bad_layer_loop_attempts", 5.0),
        // 300 + 500 attempts of 100 + 250 calls into the layers called sdk.
        ("layer_sdk_attempts", 800.0 / 350.0),
        ("layer_loop_attempts", 5.0),
        ("last_resolved_s", 14.0),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    let metrics = &found.cell.metrics;
    for absent in ["group_good_peak_in_flight", "group_good_layer_loop_attempts"] {
        assert!(metrics.iter().all(|m| m.name != absent), "{absent}");
    }
}

#[test]
fn one_group_alone_has_no_columns_of_its_own() {
    let one = r#"
        [[group]]
        name = "only"
        workload = { clients = 5, burst = {} }
    "#;
    assert!(runs(one, 1).cell.metrics.iter().all(|m| m.of_group().is_none()));
}

/// Attempts that fail independently: every group has its own closed form.
#[test]
fn each_group_has_the_amplification_of_its_own_layers() {
    let text = |hasty: u32| {
        let group = |name: &str, rate: &str, attempts: u32| {
            format!(
                "[[group]]\nname = \"{name}\"\n\
                 workload = {{ poisson = {{ rate = \"{rate}\", duration = \"200s\" }} }}\n\
                 layers = [{{ name = \"sdk\", max_attempts = {attempts}, backoff = {{ full_jitter = {{ base = \"1s\", cap = \"8s\" }} }} }}]\n"
            )
        };
        format!(
            "provider = {{ service = \"10ms\", faults = [{{ error = {{ share = 0.4, status = 500 }} }}] }}\n{}{}",
            group("calm", "20/s", 2),
            group("hasty", "30/s", hasty)
        )
    };
    let (good, bad) = (runs(&text(4), REPLICATIONS), runs(&text(3), REPLICATIONS));
    assert_agrees("calm", &good.values("group_calm_amplification"), amplification(0.4, 2));
    assert_agrees("hasty", &good.values("group_hasty_amplification"), amplification(0.4, 4));
    assert_agrees("calm", &bad.values("group_calm_amplification"), amplification(0.4, 2));
    let hasty = bad.values("group_hasty_amplification");
    assert_caught("one attempt less", &hasty, amplification(0.4, 4));
    let all = good.values("amplification");
    assert_agrees("all", &all, 0.4 * amplification(0.4, 2) + 0.6 * amplification(0.4, 4));
}

/// Groups that meet nowhere, with everything drawn and many ties.
const APART: &str = r#"
    [provider]
    service = { tokens = { first = "50ms", rate = "100/s" } }
    [[provider.faults]]
    error = { share = 0.3, status = 500 }
    [[provider.faults]]
    slow = { share = 0.2, service = "1s", of = "attempts" }
    [measure]
    horizon = "1h"
    per_retry = 2
"#;

/// Three groups, one for each kind of workload but the trace.
const GROUPS: [&str; 3] = [
    r#"
    [[group]]
    name = "herd"
    workload = { clients = 40, burst = {} }
    request = { input_tokens = 9, output_tokens = { exponential = { mean = 30 } } }
    [[group.layers]]
    name = "sdk"
    max_attempts = 3
    timeout = "700ms"
    backoff = { full_jitter = { base = "1s", cap = "8s" } }
    semaphore = { permits = 3, scope = "group" }
    "#,
    r#"
    [[group]]
    name = "stream"
    workload = { clients = 7, poisson = { rate = "5/s", duration = "30s" } }
    request = { output_tokens = { uniform = { low = 0, high = 60 } } }
    [[group.layers]]
    name = "sdk"
    max_attempts = 4
    backoff = { decorrelated_jitter = { base = "100ms", cap = "8s" } }
    budget = { ratio = { of_requests = 0.2, scope = "group" } }
    "#,
    r#"
    [[group]]
    name = "workers"
    workload = { clients = 5, closed_loop = { jobs = 60 } }
    request = { output_tokens = { lognormal = { median = 20, p90 = 60 } } }
    [[group.layers]]
    name = "sdk"
    max_attempts = 2
    [[group.layers]]
    name = "app"
    max_attempts = 3
    deadline = "5s"
    backoff = { equal_jitter = { base = "50ms", cap = "1s" } }
    semaphore = { permits = 2, scope = "fleet" }
    "#,
];

fn assert_group_unchanged(name: &str, alone: &CellRuns, together: &CellRuns) {
    let mut compared = 0;
    for metric in &together.cell.metrics {
        let Some((group, base)) = metric.of_group() else { continue };
        if together.cell.scenario.groups[group].name.as_deref() != Some(name) {
            continue;
        }
        assert_eq!(alone.values(base), together.values(&metric.name), "{}", metric.name);
        compared += 1;
    }
    assert!(compared > 40, "{compared} metrics of {name}");
}

#[test]
fn groups_that_share_nothing_do_not_know_of_each_other() {
    let alone = GROUPS.map(|group| runs(&format!("{APART}{group}"), 10));
    let [herd, stream, workers] = GROUPS;
    let more = herd.replace("clients = 40", "clients = 60");
    for order in [
        format!("{APART}{herd}{stream}{workers}"),
        format!("{APART}{workers}{stream}{herd}"),
        format!("{APART}{more}{stream}{workers}"),
    ] {
        let together = runs(&order, 10);
        for (name, alone) in ["herd", "stream", "workers"].iter().zip(&alone) {
            if *name != "herd" || !order.contains("clients = 60") {
                assert_group_unchanged(name, alone, &together);
            }
        }
    }
    let other = runs(&format!("{APART}{}", stream.replace("\"stream\"", "\"other\"")), 10);
    assert_ne!(alone[1].values("attempts"), other.values("attempts"), "names mean nothing");
}

/// Two groups of ten calls of 100 ms, in layers of these names and scopes.
fn with_semaphores(scope: &str, second_layers: &str) -> CellRuns {
    let semaphore = format!("semaphore = {{ permits = 3, scope = \"{scope}\" }}");
    let text = format!(
        r#"
        provider = {{ service = "100ms" }}
        [[group]]
        name = "one"
        workload = {{ clients = 10, burst = {{}} }}
        layers = [{{ name = "app", {semaphore} }}]
        [[group]]
        name = "two"
        workload = {{ clients = 10, burst = {{}} }}
        layers = [{second_layers}{{ name = "app", {semaphore} }}]
        "#
    );
    runs(&text, 5)
}

#[test]
fn a_semaphore_is_shared_as_far_as_its_scope_says() {
    for (scope, inside, peak, last) in [
        ("fleet", "", 3.0, 0.7),
        // The same layer at another depth.
        ("fleet", "{ name = \"sdk\" }, ", 3.0, 0.7),
        ("group", "", 6.0, 0.4),
        ("client", "", 20.0, 0.1),
    ] {
        let found = with_semaphores(scope, inside);
        assert_eq!(found.values("peak_in_flight"), [peak; 5], "{scope} {inside}");
        assert_eq!(found.values("last_resolved_s"), [last; 5], "{scope} {inside}");
        assert_eq!(found.values("group_two_succeeded"), [10.0; 5]);
    }
}

#[test]
fn a_budget_is_shared_as_far_as_its_scope_says() {
    let retries = |scope: &str| {
        let layer = format!(
            "layers = [{{ name = \"sdk\", max_attempts = 9, budget = {{ token_bucket = {{ capacity = 5, refill_per_success = 1, scope = \"{scope}\" }} }} }}]"
        );
        let group = |name| {
            format!(
                "[[group]]\nname = \"{name}\"\nworkload = {{ clients = 4, burst = {{}} }}\n{layer}\n"
            )
        };
        let text = format!("provider = {{ concurrency = 0 }}\n{}{}", group("one"), group("two"));
        let found = runs(&text, 20);
        let each = ["group_one_retries", "group_two_retries"].map(|name| found.values(name));
        (found.values("retries"), each)
    };
    assert_eq!(retries("fleet").0, [5.0; 20]);
    assert_eq!(retries("group"), ([10.0; 20].to_vec(), [[5.0; 20].to_vec(), [5.0; 20].to_vec()]));
    assert_eq!(retries("client").0, [40.0; 20]);
    // Nobody is served first only because of the place of its group in the document.
    let [one, two] = retries("fleet").1;
    assert!(one.iter().zip(&two).any(|(a, b)| a > b) && one.iter().zip(&two).any(|(a, b)| a < b));
}

/// Forty at one instant for eight places: a group of ten gets a quarter of them.
#[test]
fn ties_are_won_by_groups_in_proportion() {
    let text = |few: u32| {
        format!(
            r#"
            provider = {{ concurrency = 8, service = "1s" }}
            [[group]]
            name = "few"
            workload = {{ clients = {few}, burst = {{}} }}
            [[group]]
            name = "many"
            workload = {{ clients = 30, burst = {{}} }}
            "#
        )
    };
    let won = |few| runs(&text(few), 16_000).values("group_few_succeeded");
    assert_agrees("places", &won(10), 2.0);
    assert_caught("one client more", &won(11), 2.0);
}

fn scenario(document: &Document) -> Scenario {
    document.scenario().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_policy_is_put_into_every_group_that_has_the_layer() {
    let document = Document::parse("test", TOTAL_FAILURE.to_owned(), PathBuf::new()).unwrap();
    let policy = NamedPolicy::parse("full").unwrap();
    let jittered = |layer: Option<&str>, group: Option<&str>| -> Vec<String> {
        let place = Place { layer: layer.map(str::to_owned), group: group.map(str::to_owned) };
        let swapped = swap(&document, &policy, &place).unwrap_or_else(|error| panic!("{error}"));
        let groups = scenario(&swapped).groups.into_iter();
        let layers = groups.flat_map(|group| {
            let name = group.name.unwrap_or_default();
            group.client.layers.into_iter().map(move |layer| (name.clone(), layer))
        });
        layers
            .filter(|(_, layer)| matches!(layer.backoff, Backoff::FullJitter(_)))
            .map(|(group, layer)| format!("{group}/{}", layer.name))
            .collect()
    };
    // By default the outermost of each.
    assert_eq!(jittered(None, None), ["good/sdk", "bad/loop"]);
    assert_eq!(jittered(Some("sdk"), None), ["good/sdk", "bad/sdk"]);
    assert_eq!(jittered(Some("loop"), None), ["bad/loop"]);
    assert_eq!(jittered(None, Some("bad")), ["bad/loop"]);
    assert_eq!(jittered(Some("sdk"), Some("bad")), ["bad/sdk"]);
    for (layer, group) in [(Some("gateway"), None), (Some("loop"), Some("good")), (None, Some("x"))]
    {
        let place = Place { layer: layer.map(str::to_owned), group: group.map(str::to_owned) };
        assert!(swap(&document, &policy, &place).is_err(), "{layer:?} {group:?}");
    }
}

#[test]
fn settings_reach_groups_and_their_layers_by_name() {
    let document = Document::parse("test", TOTAL_FAILURE.to_owned(), PathBuf::new()).unwrap();
    let settings = [
        "group.bad.workload.clients=7",
        "group.bad.layers.loop.max_attempts=9",
        "group.good.request.input_tokens=11",
        "group.0.workload.poisson.rate=5/s",
        "group.good.layers.sdk.preset=openai-python-3.57",
    ];
    let changed = document.with(&settings.map(str::to_owned)).unwrap();
    let [good, bad] = &scenario(&changed).groups[..] else { panic!("two groups") };
    assert_eq!((bad.workload.clients, bad.client.layers[1].max_attempts), (7, 9));
    assert!(good.workload.poisson.is_some() && good.workload.burst.is_none());
    assert_eq!(good.request.input_tokens.mean(), 11.0);
    // What is written stays, what is not comes from the preset.
    assert_eq!(good.client.layers[0].max_attempts, 3);
    assert!(good.client.layers[0].timeout.is_some());
}
