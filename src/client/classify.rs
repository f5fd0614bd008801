//! Which failures are worth another attempt.

use serde::{Deserialize, Serialize};

use crate::answer::{Failure, Rejection};

/// The kinds of failure that a layer retries. It decides in this order: `should_retry_header`,
/// `never_codes`, `codes`, `unknown_codes`, then the status or the kind of failure.
///
/// The default is the rule of the official SDKs: what the header `x-should-retry` says, else 408,
/// 409, 429, every status of 500 and above, resets and timeouts. Source: openai-python 3.57.0,
/// `_base_client.py`, `_should_retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RetryOn {
    /// Statuses below 500 that are retried, or all that are when `server_errors` is false.
    pub statuses: Vec<u16>,
    /// Whether every status of 500 and above is retried.
    pub server_errors: bool,
    /// Whether connections are retried that were refused, or reset before an answer.
    pub resets: bool,
    /// Whether attempts are retried that reached a limit of time.
    pub timeouts: bool,
    /// Which streams that broke off are asked for again.
    #[serde(skip_serializing_if = "BrokenStreams::is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "never")))]
    pub broken_streams: BrokenStreams,
    /// Whether failures are retried that a layer further inside has retried as long as it could
    /// (its attempts, budget or deadline used up); `false` makes them final, so that layers do not
    /// multiply.
    #[serde(skip_serializing_if = "is_true")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = true)))]
    pub exhausted: bool,
    /// Whether attempts are retried that a breaker, adaptive throttling or a refusing pace of the
    /// client did not send, this layer's or one further inside.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub refusals: bool,
    /// Whether `x-should-retry` (`true` or `false`) decides before everything else.
    pub should_retry_header: bool,
    /// Error codes that are never retried, whatever the status: a spend cap is not lifted by
    /// asking again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub never_codes: Vec<String>,
    /// Error codes that are retried, whatever the status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub codes: Vec<String>,
    /// What an error code means that is in neither list.
    #[serde(skip_serializing_if = "UnknownCodes::is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "by_status")))]
    pub unknown_codes: UnknownCodes,
}

/// What an error code that is in no list means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnknownCodes {
    /// The status decides.
    #[default]
    ByStatus,
    /// No retry.
    NotRetried,
}

/// Which streamed answers that broke off are asked for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BrokenStreams {
    /// None: the official SDKs' retries end at the head of the answer.
    #[default]
    Never,
    /// Those of which nobody has seen a token.
    BeforeFirstToken,
    /// All, from the beginning: what had been delivered is waste.
    Restart,
}

impl BrokenStreams {
    fn is_default(&self) -> bool {
        *self == BrokenStreams::default()
    }
}

fn is_true(truth: &bool) -> bool {
    *truth
}

fn is_false(truth: &bool) -> bool {
    !truth
}

impl UnknownCodes {
    fn is_default(&self) -> bool {
        *self == UnknownCodes::default()
    }
}

impl Default for RetryOn {
    fn default() -> RetryOn {
        RetryOn {
            statuses: vec![408, 409, 429],
            server_errors: true,
            resets: true,
            timeouts: true,
            broken_streams: BrokenStreams::default(),
            exhausted: true,
            refusals: false,
            should_retry_header: true,
            never_codes: Vec::new(),
            codes: Vec::new(),
            unknown_codes: UnknownCodes::default(),
        }
    }
}

impl RetryOn {
    /// True when `failure` is worth another attempt.
    #[inline]
    pub fn retries(&self, failure: &Failure<'_>) -> bool {
        match failure {
            Failure::Status(answer) => match answer.statement() {
                None => self.retries_status(answer.status),
                Some(_) => self.retries_statement(answer),
            },
            Failure::Reset => self.resets,
            Failure::Timeout => self.timeouts,
            Failure::Stream { delivered } => match self.broken_streams {
                BrokenStreams::Never => false,
                BrokenStreams::BeforeFirstToken => !delivered,
                BrokenStreams::Restart => true,
            },
            Failure::NotSent(_) => self.refusals,
        }
    }

    /// The rule in words.
    pub fn in_words(&self) -> String {
        let mut kinds: Vec<String> = self.statuses.iter().map(u16::to_string).collect();
        let flags = [
            (self.server_errors, "every status of 500 and above"),
            (self.resets, "refused and reset connections"),
            (self.timeouts, "timeouts"),
        ];
        kinds.extend(flags.iter().filter(|(on, _)| *on).map(|(_, words)| (*words).to_owned()));
        let header = if self.should_retry_header { "; x-should-retry decides first" } else { "" };
        let list = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
        format!("retries {list}{header}")
    }

    #[inline]
    fn retries_status(&self, status: u16) -> bool {
        (self.server_errors && status >= 500) || self.statuses.contains(&status)
    }

    /// The header first, then the error code, then the status.
    fn retries_statement(&self, answer: &Rejection<'_>) -> bool {
        let statement = answer.statement();
        let header = statement.and_then(|s| s.should_retry).filter(|_| self.should_retry_header);
        if let Some(decided) = header {
            return decided;
        }
        let by_status = self.retries_status(answer.status);
        let Some(code) = statement.and_then(|s| s.error_code.as_ref()) else { return by_status };
        if self.never_codes.contains(code) {
            return false;
        }
        match self.unknown_codes {
            _ if self.codes.contains(code) => true,
            UnknownCodes::ByStatus => by_status,
            UnknownCodes::NotRetried => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Hint, Statement};

    #[test]
    fn the_default_is_the_sdk_rule() {
        let rule = RetryOn::default();
        let retried = |status| rule.retries(&Failure::status(status));
        assert!([408, 409, 429, 500, 501, 503, 529, 599].into_iter().all(retried));
        assert!(![400, 401, 402, 403, 404, 413, 422, 425].into_iter().any(retried));
        assert!(rule.retries(&Failure::Reset) && rule.retries(&Failure::Timeout));
    }

    #[test]
    fn the_header_decides_first_then_the_code_then_the_status() {
        let list = |code: &str| vec![code.to_owned()];
        let rule = RetryOn {
            never_codes: list("insufficient_quota"),
            codes: list("overloaded_error"),
            ..RetryOn::default()
        };
        let retried = |rule: &RetryOn, status, should_retry, code: &str| {
            let error_code = (!code.is_empty()).then(|| code.to_owned());
            let statement = Statement { should_retry, error_code, ..Statement::default() };
            rule.retries(&Failure::Status(Rejection { status, hint: Hint::Stated(&statement) }))
        };
        assert!(retried(&rule, 400, Some(true), "insufficient_quota"));
        assert!(!retried(&rule, 500, Some(false), ""));
        assert!(!retried(&rule, 429, None, "insufficient_quota"));
        assert!(retried(&rule, 400, None, "overloaded_error"));
        assert!(retried(&rule, 429, None, "slow_down"));
        let strict = RetryOn { unknown_codes: UnknownCodes::NotRetried, ..rule.clone() };
        assert!(!retried(&strict, 429, None, "slow_down"));
        let deaf = RetryOn { should_retry_header: false, ..rule };
        assert!(!retried(&deaf, 400, Some(true), ""));
    }
}
