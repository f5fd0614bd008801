//! gRPC's retryThrottling: retries stop while failures outnumber successes.
//!
//! Source: gRFC A6, <https://github.com/grpc/proposal/blob/master/A6-client-retries.md>; grpc-go
//! `clientconn.go` retryThrottler and `stream.go` shouldRetry. Every failure that could be retried takes one
//! token, also that of the last attempt; every success adds `token_ratio`. A retry is sent when more than
//! half of the tokens are left.

use serde::{Deserialize, Serialize};

use super::{Range, TOKEN, units};
use crate::client::Scope;

/// gRPC: every failure that is retried takes 1 token, also that of the last attempt; every success
/// adds `token_ratio`; a retry is sent while more than half of `max_tokens` are left, after its
/// failure was counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RetryThrottling {
    /// Tokens at the start, and most tokens; 0.001 to 1000.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000.0)))]
    pub max_tokens: f64,
    /// Tokens that a success adds, 0.001 to 1000; gRPC keeps three decimals.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000.0)))]
    pub token_ratio: f64,
    /// Who shares it; in gRPC the calls of a channel to one server name.
    pub scope: Scope,
}

impl RetryThrottling {
    pub(super) fn ranges(&self) -> Vec<Range> {
        vec![
            ("max_tokens", self.max_tokens, 0.001, 1_000.0),
            ("token_ratio", self.token_ratio, 0.001, 1_000.0),
        ]
    }
}

/// The tokens of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttling {
    most: u64,
    per_success: u64,
    tokens: u64,
    successes: u64,
    failures: u64,
    /// Units that successes brought and that found no room, and that failures found missing.
    lost: u128,
    missing: u128,
}

impl Throttling {
    pub(super) fn new(rule: &RetryThrottling) -> Throttling {
        let most = units(rule.max_tokens);
        Throttling {
            most,
            per_success: units(rule.token_ratio),
            tokens: most,
            successes: 0,
            failures: 0,
            lost: 0,
            missing: 0,
        }
    }

    #[inline]
    pub(super) fn on_success(&mut self) {
        let room = self.most - self.tokens;
        self.successes += 1;
        self.lost += u128::from(self.per_success.saturating_sub(room));
        self.tokens += self.per_success.min(room);
    }

    #[inline]
    pub(super) fn on_failure(&mut self) {
        self.failures += 1;
        self.missing += u128::from(TOKEN.saturating_sub(self.tokens));
        self.tokens -= TOKEN.min(self.tokens);
    }

    /// Whether a retry may be sent, after the failure before it was counted.
    #[inline]
    pub(super) fn allows(&self) -> bool {
        2 * self.tokens > self.most
    }

    pub(super) fn balances(&self) -> bool {
        let (per_success, token) = (u128::from(self.per_success), u128::from(TOKEN));
        let put = u128::from(self.most) + u128::from(self.successes) * per_success + self.missing;
        let taken = u128::from(self.failures) * token + self.lost;
        put == taken + u128::from(self.tokens) && self.tokens <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(max_tokens: f64, token_ratio: f64) -> Throttling {
        Throttling::new(&RetryThrottling { max_tokens, token_ratio, scope: Scope::Client })
    }

    /// From a full bucket of 10 failures leave 9, 8, 7, 6 and then 5, which is not above half.
    #[test]
    fn half_of_the_tokens_are_for_retries() {
        for (most, retries) in [(10.0, 4), (100.0, 49), (3.0, 1), (1.0, 0)] {
            let mut tokens = full(most, 0.1);
            let mut sent = 0;
            for _ in 0..200 {
                tokens.on_failure();
                sent += u32::from(tokens.allows());
            }
            assert_eq!((sent, tokens.balances()), (retries, true), "{most}");
        }
    }

    /// Failures balance successes at a share of r / (1 + r): 1 in 11 for r = 0.1.
    #[test]
    fn retries_go_on_below_the_break_even_share() {
        let allowed_at_the_end = |failures_in_1100: u32| {
            let mut tokens = full(10.0, 0.1);
            for n in 0..110_000 {
                if n % 1_100 < failures_in_1100 { tokens.on_failure() } else { tokens.on_success() }
                // Failures come in a row: look when the successes between them have come.
            }
            assert!(tokens.balances());
            tokens.tokens
        };
        assert_eq!(allowed_at_the_end(100), 10 * TOKEN);
        let mixed = |every: u32| {
            let mut tokens = full(10.0, 0.1);
            for n in 0..100_000 {
                if n % every == 0 { tokens.on_failure() } else { tokens.on_success() }
            }
            tokens.allows()
        };
        assert!(mixed(12) && !mixed(10), "one failure in 12 or in 10");
    }
}
