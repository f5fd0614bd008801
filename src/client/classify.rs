//! Which failures are worth another attempt.

use serde::{Deserialize, Serialize};

use crate::answer::Failure;

/// The kinds of failure that a layer retries.
///
/// The default is the rule of the official SDKs: 408, 409, 429, every status of 500 and above,
/// resets and timeouts. Source: openai-python 3.57.0, `_base_client.py`, `_should_retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryOn {
    /// Statuses below 500 that are retried, or all that are when `server_errors` is false.
    pub statuses: Vec<u16>,
    /// Every status of 500 and above.
    pub server_errors: bool,
    /// Connections reset before an answer.
    pub resets: bool,
    /// Attempts that reached a limit of time.
    pub timeouts: bool,
}

impl Default for RetryOn {
    fn default() -> RetryOn {
        RetryOn { statuses: vec![408, 409, 429], server_errors: true, resets: true, timeouts: true }
    }
}

impl RetryOn {
    /// True when `failure` is worth another attempt.
    #[inline]
    pub fn retries(&self, failure: &Failure) -> bool {
        match failure {
            Failure::Status { code, .. } => {
                (self.server_errors && *code >= 500) || self.statuses.contains(code)
            }
            Failure::Reset => self.resets,
            Failure::Timeout => self.timeouts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_sdk_rule() {
        let rule = RetryOn::default();
        let retried = |code| rule.retries(&Failure::Status { code, retry_after: None });
        assert!([408, 409, 429, 500, 501, 503, 529, 599].into_iter().all(retried));
        assert!(![400, 401, 402, 403, 404, 413, 422, 425].into_iter().any(retried));
        assert!(rule.retries(&Failure::Reset) && rule.retries(&Failure::Timeout));
    }
}
