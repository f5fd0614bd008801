//! What a reader might have assumed otherwise about the limits of the provider.

use super::guards::shared_by;
use crate::client::Scope;
use crate::server::{Consumes, Counting, LimitKind, Limits, RateLimit, RetryAfterHeader, Settle};

pub(super) fn lines(limits: &Limits) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(cap) = &limits.spend {
        lines.push(format!(
            "spend cap: once {} dollars have been billed every attempt is answered 429 until the horizon, without Retry-After unless one is stated",
            cap.usd
        ));
    }
    if let Some(limit) = limits.concurrency {
        let header = match limit.retry_after {
            Some(span) => span.to_string(),
            None => "not sent".to_owned(),
        };
        lines.push(format!(
            "concurrency limit: {} attempts at the provider, in service and waiting, per {}; Retry-After is {header}",
            limit.limit,
            account(limit.shared_by)
        ));
    }
    for kind in LimitKind::ALL {
        lines.extend(limits.rate(kind).map(|limit| rate_line(kind, limit, limits)));
    }
    if let Some(growth) = limits.growth {
        lines.push(format!(
            "growth limit: in each {} at most {} times the attempts of the one before, {} in any case, per {}; Retry-After is {}",
            growth.window,
            growth.factor,
            growth.free,
            account(growth.shared_by),
            header(growth.retry_after)
        ));
    }
    lines
}

fn rate_line(kind: LimitKind, limit: &RateLimit, limits: &Limits) -> String {
    let rate = limit.rate;
    let window = limit.window.unwrap_or_default();
    let counting = match limit.counting {
        Counting::Bucket => {
            format!("token bucket of {} refilled at {rate}", limit.burst.unwrap_or(0))
        }
        Counting::FixedWindow => match limit.short_window {
            None => format!("{rate} in fixed windows of {window}"),
            Some(short) => {
                format!("{rate} in fixed windows of {window}, and its share in each {short}")
            }
        },
        Counting::SlidingWindow => format!("{rate} in any {window}"),
    };
    let taken = match kind {
        LimitKind::InputTokens => "; prompts count on arrival".to_owned(),
        LimitKind::OutputTokens | LimitKind::Tokens => reserved(limit),
        _ => String::new(),
    };
    let takes = match (limits.rejected_consumes, kind) {
        (Consumes::None, _) => "nothing",
        (Consumes::Request, LimitKind::Requests) | (Consumes::Tokens, _) => "what is left",
        (Consumes::Request, _) => "nothing",
    };
    let shared = match limit.shared_by {
        Scope::Fleet => String::new(),
        scope => format!("; one per {}", account(scope)),
    };
    let name = match kind {
        LimitKind::Requests => "request limit".to_owned(),
        LimitKind::Tokens => "token limit".to_owned(),
        kind => format!("limit on {}", kind.key().replace('_', " ")),
    };
    format!(
        "{name}: {counting}{taken}{shared}; a refused attempt takes {takes}; Retry-After is {}",
        header(limit.retry_after)
    )
}

/// How output tokens count.
fn reserved(limit: &RateLimit) -> String {
    let reserve = limit.reserve.unwrap_or(0);
    match (reserve, limit.settle.unwrap_or(Settle::AtEnd)) {
        (0, Settle::AtEnd) => "; answers count when they are finished".to_owned(),
        (0, Settle::Never) => "; answers do not count".to_owned(),
        (n, Settle::AtEnd) => {
            format!("; {n} output tokens are reserved, and the actual ones count in the end")
        }
        (n, Settle::Never) => format!("; every answer counts as {n} tokens"),
    }
}

fn header(rule: RetryAfterHeader) -> String {
    match rule {
        RetryAfterHeader::Seconds => "the time until the attempt fits, rounded up to seconds",
        RetryAfterHeader::Exact => "the exact time until the attempt fits",
        RetryAfterHeader::Whole => "the time until the limit is whole again",
        RetryAfterHeader::Absent => "not sent",
        RetryAfterHeader::Constant(span) => return format!("always {span}"),
    }
    .to_owned()
}

/// Who shares a limit.
fn account(scope: Scope) -> &'static str {
    match scope {
        Scope::Fleet => "account",
        scope => shared_by(scope),
    }
}
