//! Tasks of agents, against closed forms.

mod common;

use common::{REPLICATIONS, assert_agrees, assert_caught, runs};
use retrylab::experiment::CellRuns;

fn one(runs: &CellRuns, metric: &str) -> f64 {
    runs.values(metric)[0]
}

fn agents(clients: u32, keys: &str, rest: &str) -> String {
    format!(
        r#"
        workload = {{ clients = {clients}, agents = {{ {keys} }} }}
        request = {{ input_tokens = 9000, output_tokens = 750 }}
        measure = {{ horizon = "1h" }}
        [provider]
        service = "2s"
        {rest}
        "#
    )
}

#[test]
fn steps_follow_each_other_and_calls_of_a_step_do_not() {
    // Three steps of 2 s with 1 s between them.
    let keys = "steps = 3, fan_out = 4, think = \"1s\"";
    let found = runs(&agents(5, keys, ""), 1);
    assert_eq!((one(&found, "requests"), one(&found, "tasks_completed")), (60.0, 5.0));
    assert_eq!(one(&found, "task_completion_mean_s"), 8.0);
    assert_eq!(one(&found, "peak_in_flight"), 20.0);
    // One place: the four calls of a step come one after the other.
    let found = runs(&agents(1, keys, "concurrency = 1\nqueue = { fifo = {} }"), 1);
    assert_eq!(one(&found, "task_completion_max_s"), 3.0 * 8.0 + 2.0);
    // Two clients take five tasks: three rounds.
    let found = runs(&agents(2, &format!("{keys}, tasks = 5"), ""), 1);
    assert_eq!((one(&found, "last_resolved_s"), one(&found, "tasks_completed")), (24.0, 5.0));
}

/// T33: a call fails for good with p^m, a step goes on with (1 − p^m)^k.
#[test]
fn a_task_needs_all_its_calls() {
    let (p, m, steps, fan_out, tasks) = (0.3f64, 2, 4, 3, 2_000.0);
    let error = format!("[[provider.faults]]\nerror = {{ share = {p}, status = 503 }}");
    let layer = format!("[[client.layers]]\nname = \"sdk\"\nmax_attempts = {m}");
    let keys = format!("steps = {steps}, fan_out = {fan_out}");
    let found = runs(&agents(2_000, &keys, &format!("{error}\n{layer}")), REPLICATIONS);
    let good = 1.0 - p.powi(m);
    let step = good.powi(fan_out);
    let begun: f64 = (0..steps).map(|s| step.powi(s)).sum();
    let calls = tasks * f64::from(fan_out) * begun;
    let completed = tasks * step.powi(steps);
    assert_agrees("calls", &found.values("requests"), calls);
    assert_agrees("completed", &found.values("tasks_completed"), completed);
    assert_agrees("failed", &found.values("tasks_failed"), tasks - completed);
    // What succeeded and is not in a completed task is lost.
    let lost = calls * good - completed * f64::from(steps * fan_out);
    assert_agrees("lost", &found.values("task_lost_tokens"), 9_750.0 * lost);
    assert_caught("completed", &found.values("tasks_completed"), tasks * step.powi(steps - 1));
    assert!(found.values("wasted_tokens").iter().all(|n| *n == 0.0), "every answer was delivered");
}

#[test]
fn calls_beside_a_failed_one_run_on() {
    // The first call is refused at once, the other one is answered after 2 s.
    let limits = "limits = { requests = { rate = \"1/d\", burst = 1 } }";
    let found = runs(&agents(1, "steps = 5, fan_out = 2, tasks = 2", limits), 1);
    assert_eq!((one(&found, "requests"), one(&found, "tasks_failed")), (4.0, 2.0));
    assert_eq!(one(&found, "task_lost_tokens"), 9_750.0);
    assert_eq!(one(&found, "last_resolved_s"), 2.0);
    assert!(found.values("task_completion_mean_s").is_empty());
}
