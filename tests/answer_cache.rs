//! The answer cache against closed forms.

mod common;

use common::{REPLICATIONS, assert_agrees, assert_caught, runs};
use retrylab::experiment::CellRuns;

#[test]
fn who_asks_one_after_the_other_collects_entries_like_coupons() {
    let found = runs(
        r#"
        workload = { clients = 1, closed_loop = { jobs = 5000 } }
        [provider]
        service = "100ms"
        cache = { entries = 2500, hit = "1ms" }
        "#,
        REPLICATIONS,
    );
    // 5,000 draws of one in 2,500; every entry that is held was missed once.
    let held = 1.0 - (1.0f64 - 1.0 / 2500.0).powi(5000);
    assert_agrees("held", &found.values("cache_held_ratio"), held);
    assert_agrees("hits", &found.values("cache_hit_ratio"), 1.0 - held / 2.0);
    assert_caught("hits", &found.values("cache_hit_ratio"), 1.0 - held / 2.1);
    // A miss takes 100 ms, a hit 1 ms.
    let time = 2500.0 * (held * 0.1 + (2.0 - held) * 0.001);
    assert_agrees("time", &found.values("last_resolved_s"), time);
}

#[test]
fn entries_that_expire_are_hit_as_often_as_renewal_theory_says() {
    let found = runs(
        r#"
        workload = { clients = 1, poisson = { rate = "50/s" } }
        provider = { cache = { entries = 10, hit = "0s", lifetime = "400ms" } }
        measure = { horizon = "1000s" }
        "#,
        REPLICATIONS,
    );
    // Each entry is asked for 5 times per second. A cycle is a miss and what comes in the 0.4 s
    // after it, 2 on the mean: Jung, Berger, Balakrishnan, "Modeling TTL-based Internet caches",
    // INFOCOM 2003, https://doi.org/10.1109/INFCOM.2003.1208693.
    assert_agrees("hits", &found.values("cache_hit_ratio"), 2.0 / 3.0);
    assert_caught("hits", &found.values("cache_hit_ratio"), 0.67);
}

/// 800 requests a second; a miss takes 100 ms of 20 places and a hit 1 ms; clients wait for 1 s.
fn storm(filled: f64, rest: &str) -> CellRuns {
    let text = format!(
        r#"
        workload = {{ clients = 100, poisson = {{ rate = "800/s" }} }}
        measure = {{ horizon = "3min" }}
        [provider]
        concurrency = 20
        queue = {{ fifo = {{ limit = 1000 }} }}
        service = "100ms"
        cache = {{ entries = 10000, hit = "1ms", filled = {filled} {rest} }}
        [[client.layers]]
        name = "client"
        timeout = "1s"
        "#
    );
    runs(&text, 3)
}

#[test]
fn a_cache_has_two_stable_states_at_the_same_load() {
    // 800 (0.1 - 0.099 h) places are needed: 20 of them at a hit ratio of 0.758.
    let ends = |filled, rest| storm(filled, rest).values("cache_held_ratio");
    assert!(ends(0.82, "").iter().all(|held| *held > 0.99));
    // At 0.5 the queue takes a second to be as long as the timeout: some 400 places of 10,000 are
    // filled by then, and none later.
    assert!(ends(0.5, "").iter().all(|held| (0.5..0.54).contains(held)));
    // A provider that fills it whoever waits has one state only.
    assert!(ends(0.5, ", filled_by = \"done\"").iter().all(|held| *held > 0.99));
}

#[test]
fn a_retry_asks_for_the_same_entry() {
    let run = |filled_by: &str| {
        runs(
            &format!(
                r#"
                workload = {{ clients = 100, burst = {{}} }}
                [provider]
                service = "1s"
                cache = {{ entries = 100000000, hit = "1ms", filled_by = "{filled_by}" }}
                [[client.layers]]
                name = "client"
                max_attempts = 4
                timeout = "900ms"
                backoff = {{ none = {{ base = "200ms", multiplier = 1.0, cap = "200ms" }} }}
                "#
            ),
            1,
        )
    };
    // The work is done at 1 s, and the retry comes at 1.1 s.
    let found = run("done");
    assert_eq!(found.values("succeeded"), [100.0]);
    assert_eq!(found.values("cache_hit_ratio"), [0.5]);
    assert_eq!(found.values("last_resolved_s"), [1.101]);
    assert_eq!(run("awaited").values("succeeded"), [0.0]);
}

#[test]
fn what_is_lost_is_asked_for_again() {
    let text = r#"
        workload = { clients = 1, poisson = { rate = "20000/s", duration = "3s" } }
        [provider]
        service = "100ms"
        cache = { entries = 2000, hit = "1ms", filled = 1.0 }
        [[provider.faults]]
        cache_loss = { at = "500ms", part = [0.2, 0.6] }
    "#;
    let found = runs(text, REPLICATIONS);
    assert!(found.values("cache_held_ratio").iter().all(|held| *held == 1.0));
    // Each of 800 entries is missed until the first miss is done, 100 ms later: by 1 + 10/s · 100 ms.
    let misses: Vec<f64> = (found.values("cache_hit_ratio").iter())
        .zip(found.values("requests"))
        .map(|(hits, requests)| (1.0 - hits) * requests)
        .collect();
    assert_agrees("misses", &misses, 800.0 * 2.0);
    // When nobody asks any more it stays lost.
    let found = runs(&text.replace("500ms", "11s"), 1);
    assert_eq!(found.values("cache_held_ratio"), [0.6]);
}

#[test]
fn the_next_in_line_finds_what_has_just_been_done() {
    let found = runs(
        r#"
        workload = { clients = 3, burst = {} }
        [provider]
        concurrency = 1
        queue = { fifo = {} }
        service = "100ms"
        cache = { entries = 1, hit = "1ms" }
        "#,
        1,
    );
    assert_eq!(found.values("cache_hit_ratio"), [2.0 / 3.0]);
    assert_eq!(found.values("last_resolved_s"), [0.102]);
}

#[test]
fn only_who_gets_the_answer_fills() {
    let held = |provider: &str, layer: &str| {
        let text = format!(
            r#"
            workload = {{ clients = 100, burst = {{}} }}
            request = {{ idempotency_key = true }}
            [provider]
            service = "1s"
            cache = {{ entries = 100000, hit = "1ms" }}
            {provider}
            [[client.layers]]
            name = "client"
            {layer}
            "#
        );
        (runs(&text, 1).values("cache_held_ratio")[0] * 100_000.0).round()
    };
    let answered = held("", "timeout = \"1s\"");
    assert!((98.0..=100.0).contains(&answered), "two may ask for the same: {answered}");
    assert_eq!(held("", "timeout = \"1s\"\nreply_at_timeout = \"late\""), 0.0);
    // All have gone, though the provider keeps the answer for whoever asks again.
    let keeps = "idempotency = { lifetime = \"1h\" }";
    assert_eq!(held(keeps, "timeout = \"900ms\""), 0.0);
    // The repeat waits for the work of the first attempt.
    assert_eq!(held(keeps, "timeout = \"900ms\"\nmax_attempts = 2"), answered);
}
