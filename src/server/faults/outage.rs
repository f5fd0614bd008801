//! A total outage: an answer that is an error, or no answer at all.

use serde::{Deserialize, Serialize};

use super::{covers, no_error};
use crate::answer::{Failure, Hint, Rejection, Statement};
use crate::units::Span;

/// Every attempt that arrives in [from, to) is refused at once, or never answered; admitted work
/// goes on and is billed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// Its start.
    pub from: Span,
    /// Its end; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
    /// The status of every answer, 400 to 599; this or `silence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: Option<u16>,
    /// Attempts are accepted and never answered, also when the outage is over: a client without a
    /// timeout waits for ever.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub silence: bool,
    /// What an answer says beside its status; nothing without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Statement>,
    /// Only the first so many attempts of a request are struck; without it all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

impl Outage {
    /// True when attempt number `attempt` (1 is the first) of a request is struck at `now`.
    #[inline]
    pub fn strikes(&self, now: u64, attempt: u32) -> bool {
        covers(Some(self.from), self.to, now) && self.attempts.is_none_or(|most| attempt <= most)
    }

    /// What an attempt is answered; None is silence.
    pub fn failure(&self) -> Option<Failure<'_>> {
        let hint = self.answer.as_ref().map_or(Hint::None, Hint::Stated);
        self.status.map(|status| Failure::Status(Rejection { status, hint }))
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        match (self.status, self.silence) {
            (None, false) => {
                let text = "an outage answers or is silent; write status = 503, or silence = true";
                Some(("", text.to_owned()))
            }
            (Some(status), true) => {
                let text = format!("silence has no status; leave out silence or status = {status}");
                Some(("silence", text))
            }
            (None, true) if self.answer.is_some() => {
                Some(("answer", "silence says nothing; leave out answer or silence".to_owned()))
            }
            (None, true) => None,
            (Some(status), false) => no_error(status),
        }
    }
}
