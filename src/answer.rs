//! What comes back from an attempt.

use serde::{Deserialize, Serialize};

use crate::header::HeaderValue;
use crate::units::Span;

/// Why an attempt failed, as its client sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure<'a> {
    /// The provider answered with an HTTP status that is an error.
    Status(Rejection<'a>),
    /// The connection was refused or reset before any answer.
    Reset,
    /// The client stopped waiting.
    Timeout,
    /// A streamed answer broke off after its head.
    Stream {
        /// True when a token had been delivered.
        delivered: bool,
    },
    /// The client itself did not let the attempt through; nothing was sent.
    NotSent(Gate),
}

/// What in a client can refuse an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// A circuit breaker that is open.
    Breaker,
    /// Adaptive throttling.
    Throttle,
    /// A pace that lets nobody wait.
    Pace,
}

/// An answer that is an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rejection<'a> {
    /// The status, 400 to 599.
    pub status: u16,
    /// What else it says.
    pub hint: Hint<'a>,
}

/// What an error says beside its status.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hint<'a> {
    /// Nothing.
    None,
    /// A Retry-After that the provider has worked out.
    RetryAfter(Span),
    /// What a scenario makes it say.
    Stated(&'a Statement),
}

/// Headers and error code of an answer. Headers are text: `"2"`, `"1.5"`, `"inf"`, `"soon"`;
/// `"now+3s"` and `"now-30s"` stand for an HTTP date, which has whole seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The header `retry-after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<HeaderValue>,
    /// The header `retry-after-ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<HeaderValue>,
    /// The header `x-should-retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub should_retry: Option<bool>,
    /// The error's code or type in the body, such as `insufficient_quota`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
}

impl Failure<'_> {
    /// The status that the provider answered with; 0 when there was none.
    pub fn status_code(&self) -> u16 {
        match self {
            Failure::Status(answer) => answer.status,
            _ => 0,
        }
    }

    /// An answer with `status` that says nothing else.
    pub fn status(status: u16) -> Failure<'static> {
        Failure::Status(Rejection { status, hint: Hint::None })
    }
}

impl<'a> Rejection<'a> {
    /// What a scenario makes it say.
    pub fn statement(&self) -> Option<&'a Statement> {
        match self.hint {
            Hint::Stated(statement) => Some(statement),
            Hint::None | Hint::RetryAfter(_) => None,
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// An answer was delivered.
    Succeeded,
    /// A part of an answer was delivered, and no further attempt.
    Partial,
    /// No answer, and no further attempt.
    GaveUp(Reason),
}

/// Why a request was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The attempts were used up.
    Attempts,
    /// The deadline came, or would have come during the next wait.
    Deadline,
    /// The retry budget had nothing left.
    Budget,
    /// The failure is not of a kind that is retried, or the server asked for too long a wait.
    NotRetryable,
    /// A circuit breaker was open.
    Breaker,
    /// The client throttled itself, or kept its pace.
    Throttle,
}

impl Reason {
    /// All reasons, in the order in which they are reported.
    pub const ALL: [Reason; 6] = [
        Reason::Attempts,
        Reason::Deadline,
        Reason::Budget,
        Reason::NotRetryable,
        Reason::Breaker,
        Reason::Throttle,
    ];
}

impl From<Gate> for Reason {
    fn from(gate: Gate) -> Reason {
        match gate {
            Gate::Breaker => Reason::Breaker,
            Gate::Throttle | Gate::Pace => Reason::Throttle,
        }
    }
}
