//! What a client makes of the server's Retry-After header.

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// The rule of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryAfter {
    /// The header is not read.
    #[default]
    Ignore,
    /// The header is obeyed to the nanosecond, up to a ceiling.
    Exact(Exact),
}

/// Parameters of the exact rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// The longest wait that is obeyed; without it every wait is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Span>,
    /// What happens beyond `max`.
    #[serde(default)]
    pub beyond: Beyond,
}

/// What a client does when the server asks for more than its ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// It waits by its own schedule instead.
    #[default]
    OwnSchedule,
    /// It gives the request up.
    Stop,
}

/// What follows from a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing: the own schedule holds.
    Nothing,
    /// Wait exactly this many nanoseconds.
    Wait(u64),
    /// Do not retry.
    Stop,
}

impl RetryAfter {
    /// What follows from `header`. A wait of 0 is not obeyed, as in the official Python SDKs.
    #[inline]
    pub fn told(&self, header: Option<Span>) -> Told {
        let (RetryAfter::Exact(rule), Some(wait)) = (self, header) else {
            return Told::Nothing;
        };
        match rule.max {
            _ if wait == Span::ZERO => Told::Nothing,
            Some(max) if wait > max && rule.beyond == Beyond::Stop => Told::Stop,
            Some(max) if wait > max => Told::Nothing,
            _ => Told::Wait(wait.nanos()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_hold() {
        let rule = |max, beyond| RetryAfter::Exact(Exact { max, beyond });
        let s = Span::from_seconds;
        let openai = rule(Some(s(120)), Beyond::Stop);
        assert_eq!(openai.told(Some(s(120))), Told::Wait(s(120).nanos()));
        assert_eq!(openai.told(Some(s(121))), Told::Stop);
        assert_eq!(openai.told(Some(s(0))), Told::Nothing);
        let older = rule(Some(s(60)), Beyond::OwnSchedule);
        assert_eq!(older.told(Some(s(61))), Told::Nothing);
        let anthropic = rule(None, Beyond::OwnSchedule);
        assert_eq!(anthropic.told(Some(s(3_600))), Told::Wait(s(3_600).nanos()));
        assert_eq!(anthropic.told(None), Told::Nothing);
        assert_eq!(RetryAfter::Ignore.told(Some(s(2))), Told::Nothing);
    }
}
