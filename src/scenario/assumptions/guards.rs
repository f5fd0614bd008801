//! Budgets, breakers and throttles.

use crate::client::{
    ActiveBase, ActiveRetries, AtOnce, BreakerRule, Budget, Counts, Deposit, Hedge, Layer, Pace,
    PermitTaken, RecentRatio, RetryQuota, Scope, Stops, ThrottleRule, WhenEmpty,
};

/// What holds a layer's attempts back.
pub(super) fn lines(layer: &Layer) -> Vec<String> {
    let parts = [
        layer.budget.as_ref().map(budget),
        layer.breaker.as_ref().map(breaker),
        layer.adaptive_throttle.as_ref().map(throttle),
        layer.pace.as_ref().map(pace),
        layer.hedge.as_ref().map(hedge),
    ];
    parts.into_iter().flatten().map(|line| format!("layer {}: {line}", layer.name)).collect()
}

fn budget(budget: &Budget) -> String {
    let rule = match budget {
        Budget::Ratio(r) => format!(
            "{} retries earned per call, at most {} saved up, full at first",
            r.of_requests, r.burst
        ),
        Budget::TokenBucket(b) => format!(
            "{} tokens earned per success, {} per retry, at most {} saved up, full at first",
            b.refill_per_success, b.cost, b.capacity
        ),
        Budget::RetryThrottling(t) => format!(
            "retries as long as more than half of {} tokens are left; every failure that could be retried takes 1, also that of a last attempt, every success adds {}",
            t.max_tokens, t.token_ratio
        ),
        Budget::ActiveRetries(a) => active(a),
        Budget::RetryQuota(q) => quota(q),
        Budget::RecentRatio(r) => recent(r),
    };
    let scope = shared_by(budget.scope());
    format!(
        "a budget per {scope}: {rule}; it counts this layer's retries only, and a refused retry gives the call up"
    )
}

fn active(rule: &ActiveRetries) -> String {
    let base = match rule.base {
        ActiveBase::Attempts => "attempts under way, of which one that fails is none any more",
        ActiveBase::Calls => "calls that are not over",
    };
    let from = match rule.taken_at {
        PermitTaken::Decision => "its decision on, through its backoff",
        PermitTaken::Send => "when it is sent",
    };
    format!(
        "active retries up to {} of the {base}, and at least {}; a retry is active from {from}",
        rule.ratio, rule.floor
    )
}

fn quota(rule: &RetryQuota) -> String {
    format!(
        "{} tokens, full at first; a retry takes {} unless its failure has a cost of its own, a success gives the last amount back, or {} without a retry",
        rule.capacity, rule.cost, rule.first_success
    )
}

fn recent(rule: &RecentRatio) -> String {
    let per = match rule.deposit {
        Deposit::Call => "call",
        Deposit::Success => "success",
    };
    format!(
        "{} retries per {per} of the last {}, and {} per second in reserve; what is taken expires too",
        rule.ratio, rule.window, rule.reserve_per_s
    )
}

fn breaker(rule: &BreakerRule) -> String {
    let counts = match rule.counts {
        Counts::Attempts => "every attempt counts",
        Counts::Calls => "a call counts once, whatever its retries",
    };
    let stops = match rule.stops {
        Stops::All => "",
        Stops::Retries => "stops retries only; it ",
    };
    let probes = match rule.half_open.probes {
        AtOnce::Most(most) => format!("at most {most} at once"),
        AtOnce::Unlimited => "everything".to_owned(),
    };
    let jitter = match rule.open_jitter {
        0.0 => String::new(),
        share => format!(" and up to {share} of it more"),
    };
    format!(
        "a breaker per {} {stops}is open for {}{jitter}; {counts}; half-open it lets {probes} through; what it refuses is retried where retry_on says refusals",
        shared_by(rule.scope),
        rule.open,
    )
}

fn throttle(rule: &ThrottleRule) -> String {
    format!(
        "adaptive throttling per {}: about {} attempts are sent for each accepted one of the last {}",
        shared_by(rule.scope),
        rule.k,
        rule.window
    )
}

fn pace(rule: &Pace) -> String {
    let scope = shared_by(rule.scope());
    let (rate, empty) = match rule {
        Pace::Fixed(fixed) => (
            format!("{} with at most {} saved up, full at first", fixed.rate, fixed.burst),
            match fixed.when_empty {
                WhenEmpty::Wait => "waits in line, first come first served, and holds its permit",
                WhenEmpty::Refuse => "fails at once",
            },
        ),
        Pace::Aimd(aimd) => (
            format!(
                "{} at first; a success adds {} per second, a 429 multiplies with {}",
                aimd.start, aimd.increase, aimd.decrease
            ),
            "waits in line, first come first served, and holds its permit",
        ),
        Pace::Cubic(_) => (
            "botocore's adaptive rate, unlimited until the first 429".to_owned(),
            "waits in line, first come first served, and holds its permit",
        ),
    };
    format!("a pace per {scope} of {rate}; an attempt that finds no token {empty}")
}

fn hedge(rule: &Hedge) -> String {
    let most = if rule.max == 1 { "one".to_owned() } else { format!("up to {}", rule.max) };
    format!(
        "an attempt that takes longer than {} gets {most} beside it; the first answer wins, and what becomes of the others is provider.cancelled_work",
        rule.after
    )
}

pub(super) fn shared_by(scope: Scope) -> &'static str {
    match scope {
        Scope::Client => "client",
        Scope::Group => "group",
        Scope::Fleet => "fleet",
    }
}
