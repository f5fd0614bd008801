//! How the Retry-After of a 429 is computed.

use serde::{Deserialize, Serialize};

use crate::units::{NANOS_PER_SECOND, Span};

/// How Retry-After is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryAfterHeader {
    /// Time until this attempt would fit, rounded up to whole seconds.
    #[default]
    Seconds,
    /// The same to the nanosecond, as `retry-after-ms` gives it.
    Exact,
    /// Time until the limit is whole again, rounded up to whole seconds.
    Whole,
    /// Always the same.
    Constant(Span),
    /// No header.
    Absent,
}

/// When what does not fit now will fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// Nanoseconds until it fits, if nothing else comes; None is never.
    pub(super) fits: Option<u64>,
    /// Nanoseconds until the limit is whole again; None is never.
    pub(super) whole: Option<u64>,
}

impl RetryAfterHeader {
    /// The header for a wait.
    pub(super) fn of(self, wait: Wait) -> Option<Span> {
        let seconds = |nanos: u64| Span::from_seconds(nanos.div_ceil(NANOS_PER_SECOND));
        match self {
            RetryAfterHeader::Seconds => wait.fits.map(seconds),
            RetryAfterHeader::Exact => wait.fits.map(Span::from_nanos),
            RetryAfterHeader::Whole => wait.whole.map(seconds),
            RetryAfterHeader::Constant(span) => Some(span),
            RetryAfterHeader::Absent => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_its_wait() {
        let second = NANOS_PER_SECOND;
        let wait = Wait { fits: Some(second / 2), whole: Some(5 * second) };
        let seconds = |s| Some(Span::from_seconds(s));
        for (header, expected) in [
            (RetryAfterHeader::Seconds, seconds(1)),
            (RetryAfterHeader::Exact, Some(Span::from_nanos(second / 2))),
            (RetryAfterHeader::Whole, seconds(5)),
            (RetryAfterHeader::Constant(Span::from_seconds(20)), seconds(20)),
            (RetryAfterHeader::Absent, None),
        ] {
            assert_eq!(header.of(wait), expected);
        }
        let never = Wait { fits: None, whole: None };
        assert_eq!(RetryAfterHeader::Seconds.of(never), None);
    }
}
