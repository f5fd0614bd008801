//! Pacing, against closed forms.

mod common;

use common::{runs, watch};
use retrylab::model::{Observer, Side};
use retrylab::units::Time;

/// A herd that a pace lets through one by one.
fn paced(clients: u32, pace: &str, more: &str) -> String {
    format!(
        r#"
        workload = {{ clients = {clients}, burst = {{}} }}
        provider = {{ service = "1ms" }}
        measure = {{ horizon = "1h", window = "1s" }}
        [[client.layers]]
        name = "client"
        pace = {{ {pace} }}
        {more}
        "#
    )
}

/// Instants of all attempts.
#[derive(Default)]
struct Sent(Vec<Time>);

impl Observer for Sent {
    fn attempt(&mut self, now: Time, _: Side, _: u32) {
        self.0.push(now);
    }
}

fn sent(text: &str) -> Vec<Time> {
    watch(text, 1, Sent::default).remove(0).0.0
}

#[test]
fn a_fixed_pace_sends_its_burst_and_then_one_per_period() {
    let times = sent(&paced(50, "fixed = { rate = \"8/s\", burst = 10, scope = \"fleet\" }", ""));
    assert_eq!(times.len(), 50);
    assert!(times[..10].iter().all(|&t| t == 0));
    for (n, time) in times[10..].iter().enumerate() {
        let expected = (n as u64 + 1) * 125_000_000;
        assert!(time.abs_diff(expected) <= n as u64 + 1, "{n}: {time} for {expected}");
    }
    // Each client has its own: nobody waits.
    let own = sent(&paced(50, "fixed = { rate = \"8/s\", scope = \"client\" }", ""));
    assert!(own.iter().all(|&t| t == 0));
}

#[test]
fn who_cannot_wait_leaves_the_line_and_takes_no_token() {
    let pace = "fixed = { rate = \"10/s\", scope = \"fleet\" }";
    let text = paced(100, pace, "deadline = \"2s\"");
    let found = runs(&text, 2);
    // One at first and one per 100 ms before 2 s.
    assert_eq!(found.values("attempts"), [20.0; 2]);
    assert_eq!(found.values("gave_up_deadline"), [80.0; 2]);
    assert_eq!(found.values("pace_waited"), [19.0; 2]);
    let refusing =
        "fixed = { rate = \"10/s\", burst = 5, when_empty = \"refuse\", scope = \"fleet\" }";
    let found = runs(&paced(100, refusing, ""), 2);
    assert_eq!(found.values("attempts"), [5.0; 2]);
    assert_eq!(found.values("gave_up_throttle"), [95.0; 2]);
    assert_eq!(found.values("pace_refused"), [95.0; 2]);
}

/// A backlog of calls, and a provider that takes 20 per second.
fn adaptive(pace: &str) -> String {
    format!(
        r#"
        workload = {{ clients = 40, closed_loop = {{ jobs = 100000 }} }}
        measure = {{ horizon = "300s", window = "1s" }}
        [provider]
        service = "10ms"
        limits = {{ requests = {{ rate = "20/s", burst = 20, retry_after = "absent" }} }}
        [[client.layers]]
        name = "client"
        pace = {{ {pace} }}
        "#
    )
}

/// AIMD and CUBIC find the provider's rate without knowing it: most of what they send is answered, and they use
/// most of what there is.
#[test]
fn adaptive_paces_find_the_providers_rate() {
    for (pace, least_used, most_refused) in [
        (
            "aimd = { start = \"5/s\", min = \"1/s\", max = \"1000/s\", increase = 0.05, decrease = 0.8, hold = \"1s\", scope = \"fleet\" }",
            0.9,
            0.1,
        ),
        ("cubic = { scope = \"fleet\" }", 0.8, 0.25),
    ] {
        let found = runs(&adaptive(pace), 4);
        let used = found.values("succeeded").iter().map(|n| n / 6_020.0).fold(1.0, f64::min);
        let sent = found.values("attempts");
        let refused = found.values("refused_by_limit");
        let share = refused.iter().zip(&sent).map(|(r, s)| r / s).fold(0.0, f64::max);
        assert!(used > least_used, "{pace}: {used} of the rate is used");
        assert!(share < most_refused, "{pace}: {share} of the attempts are refused");
    }
    // Without a pace nearly everything is refused.
    let unpaced = adaptive("fixed = { rate = \"400/s\", burst = 40, scope = \"fleet\" }");
    let found = runs(&unpaced, 2);
    let share = found.values("refused_by_limit")[0] / found.values("attempts")[0];
    assert!(share > 0.9, "{share}");
}
