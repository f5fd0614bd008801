//! A layer: one place in the client that retries.
//!
//! Layers nest: an SDK inside an application inside a gateway inside a job queue. A failure that
//! a layer does not retry becomes the failure of one attempt of the layer around it.

use serde::{Deserialize, Serialize};

use super::{
    Backoff, BreakerRule, Budget, Hedge, Pace, RetryAfter, RetryOn, SemaphoreSpec, ThrottleRule,
};
use crate::units::Span;

/// One place in the client that retries. A failure that a layer does not retry becomes the failure
/// of one attempt of the layer around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// Its name in `--set client.layers.NAME.…`, tables and CSV: letters, digits, `-`, `_`.
    pub name: String,
    /// The preset that gives every key not written here; see `retrylab presets`. An SDK is also
    /// found by any version that a preset covers: `openai-python-2.46.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Attempts of a call, the first one included; 1 (no retry) to 1,000,000.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000000)))]
    pub max_attempts: u32,
    /// Wait before a retry.
    #[serde(default = "no_backoff")]
    pub backoff: Backoff,
    /// Whether it waits once more after its last attempt, for nothing, before it gives up, as
    /// LiteLLM's router does.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub wait_after_last: bool,
    /// What is retried; without a word, by the rule of the official SDKs.
    #[serde(default)]
    pub retry_on: RetryOn,
    /// What is made of the server's Retry-After.
    #[serde(default)]
    pub retry_after: RetryAfter,
    /// Limit of one attempt of this layer, above 0s; without it, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// Innermost layer only: limit of the time until the provider has accepted the attempt, counted
    /// from the moment it is sent; then only `timeout` goes on. With hedges it ends when one of the
    /// attempts is accepted. A preset gives it only to the innermost layer, and only where no
    /// `timeout` is written. It matters where a `backlog` is slow to accept and where a `network`
    /// is slow or loses attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<Span>,
    /// What the timeout limits of a streamed answer.
    #[serde(default, skip_serializing_if = "TimeoutOf::is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "attempt")))]
    pub timeout_of: TimeoutOf,
    /// Whether a reply at the very instant of the timeout is in time.
    #[serde(default)]
    pub reply_at_timeout: ReplyAtTimeout,
    /// Limit of a call over all its attempts, above 0s; checked before sleeping. Without it, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// Whether it knows how much time the layers around it leave (their deadlines and timeouts) and
    /// gives up at once rather than sleep past them.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub inherit_deadline: bool,
    /// Bounds the number of this layer's retries; without it, nothing does but `max_attempts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Circuit breaker: lets nothing through for a while after too many failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerRule>,
    /// Adaptive throttling: a client that is refused sends less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_throttle: Option<ThrottleRule>,
    /// Innermost layer only: attempts that take long get another one beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedge: Option<Hedge>,
    /// The rate at which attempts are sent; without it, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Limit of calls under way at once; without it, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semaphore: Option<SemaphoreSpec>,
    /// Whether each attempt goes to the next provider: the first to `[provider]`, the others to the
    /// `[[fallback]]` in their order, and then from the start again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub fallback: bool,
}

/// What a layer's timeout limits. It makes a difference for streamed answers only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeoutOf {
    /// The whole attempt.
    #[default]
    Attempt,
    /// The time since the last sign of life, as read timeouts do.
    Silence,
    /// The time until the head of the answer.
    Head,
}

impl TimeoutOf {
    fn is_default(&self) -> bool {
        *self == TimeoutOf::default()
    }
}

/// Whether a reply at the very instant of the timeout is in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplyAtTimeout {
    /// It is delivered.
    #[default]
    InTime,
    /// It is late.
    Late,
}

fn one() -> u32 {
    1
}

fn is_false(truth: &bool) -> bool {
    !truth
}

fn no_backoff() -> Backoff {
    Backoff::NoBackoff
}

impl Layer {
    /// Most attempts of one call that are accepted.
    pub const MAX_ATTEMPTS: u32 = 1_000_000;

    /// True when nothing but a semaphore and a budget stands between it and its attempts, one at a time.
    pub fn is_plain(&self) -> bool {
        let gates =
            self.breaker.is_some() || self.adaptive_throttle.is_some() || self.pace.is_some();
        !gates && self.hedge.is_none() && !self.fallback
    }

    /// A layer that sends once and never retries.
    pub fn single_attempt() -> Layer {
        Layer {
            name: "client".to_owned(),
            preset: None,
            max_attempts: 1,
            backoff: Backoff::NoBackoff,
            wait_after_last: false,
            retry_on: RetryOn::default(),
            retry_after: RetryAfter::Ignore,
            timeout: None,
            connect_timeout: None,
            timeout_of: TimeoutOf::default(),
            reply_at_timeout: ReplyAtTimeout::default(),
            deadline: None,
            inherit_deadline: false,
            budget: None,
            breaker: None,
            adaptive_throttle: None,
            hedge: None,
            pace: None,
            semaphore: None,
            fallback: false,
        }
    }

    /// The failures that its breaker counts.
    pub fn breaker_counts(&self) -> &RetryOn {
        self.breaker.as_ref().and_then(|breaker| breaker.on.as_ref()).unwrap_or(&self.retry_on)
    }

    /// The failures that its throttle takes for refusals of the provider.
    pub fn throttle_counts(&self) -> &RetryOn {
        let throttle = self.adaptive_throttle.as_ref();
        throttle.and_then(|throttle| throttle.on.as_ref()).unwrap_or(&self.retry_on)
    }

    /// What is wrong with the parameters: the path below the layer and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let at = |key, text: String| Some((vec![key], text));
        if !(1..=Layer::MAX_ATTEMPTS).contains(&self.max_attempts) {
            let text = format!(
                "max_attempts = {} is out of range; write 1 (no retry) to {}",
                self.max_attempts,
                Layer::MAX_ATTEMPTS
            );
            return at("max_attempts", text);
        }
        let limits = [
            ("timeout", self.timeout),
            ("connect_timeout", self.connect_timeout),
            ("deadline", self.deadline),
        ];
        for (key, span) in limits {
            if span == Some(Span::ZERO) {
                return at(
                    key,
                    format!("a {key} of 0s leaves no time at all; write more, or leave it out"),
                );
            }
        }
        if self.semaphore.is_some_and(|s| s.permits == 0) {
            let text = "a semaphore with 0 permits never lets a call through; write 1 or more";
            return Some((vec!["semaphore", "permits"], text.to_owned()));
        }
        if let Some((key, text)) = self.backoff.problem(self.max_attempts - 1) {
            return Some((vec!["backoff", "", key], text));
        }
        if let Some((key, text)) = self.retry_after.problem() {
            return Some((vec!["retry_after", "", key], text));
        }
        if let Some((key, text)) = self.budget.as_ref().and_then(Budget::problem) {
            return Some((vec!["budget", "", key], text));
        }
        if let Some((key, text)) = self.adaptive_throttle.as_ref().and_then(ThrottleRule::problem) {
            return Some((vec!["adaptive_throttle", key], text));
        }
        if let Some((key, text)) = self.pace.as_ref().and_then(Pace::problem) {
            return Some((vec!["pace", "", key], text));
        }
        if let Some((below, text)) = self.hedge.as_ref().and_then(Hedge::problem) {
            return Some(([&["hedge"], &below[..]].concat(), text));
        }
        let (below, text) = self.breaker.as_ref()?.problem()?;
        Some(([&["breaker"], &below[..]].concat(), text))
    }
}
