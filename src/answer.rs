//! What comes back from an attempt.

use crate::units::Span;

/// Why an attempt failed, as its client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The provider answered with an HTTP status that is an error.
    Status {
        /// The status, 400 to 599.
        code: u16,
        /// The Retry-After header, if the answer had one.
        retry_after: Option<Span>,
    },
    /// The connection was reset before any answer.
    Reset,
    /// The client stopped waiting.
    Timeout,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// An answer was delivered.
    Succeeded,
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
}

impl Reason {
    /// All reasons, in the order in which they are reported.
    pub const ALL: [Reason; 4] =
        [Reason::Attempts, Reason::Deadline, Reason::Budget, Reason::NotRetryable];
}
