//! Places are missing for a while: instances lost, a restart.

use serde::{Deserialize, Serialize};

use super::covers;
use crate::units::{Span, Time};

/// At most `concurrency` places are left during [from, to). A restart is a capacity of 0 whose work
/// is lost, beside `refuse_connections` of the same period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Its start.
    pub from: Span,
    /// Its end; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
    /// Places that are left.
    pub concurrency: u32,
    /// What becomes of work in service for which no place is left at the start; which work that
    /// is, is drawn.
    #[serde(default)]
    pub in_service: Work,
    /// What becomes of all waiting work at the start.
    #[serde(default)]
    pub waiting: Work,
}

/// What becomes of work when places go missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// It is finished, or goes on waiting.
    #[default]
    Kept,
    /// It is lost, unbilled; its client sees a reset.
    Lost,
}

impl Capacity {
    /// True when places are missing at `now`.
    pub fn covers(&self, now: Time) -> bool {
        covers(Some(self.from), self.to, now)
    }

    /// True when it takes work with it.
    pub fn loses(&self) -> bool {
        self.in_service == Work::Lost || self.waiting == Work::Lost
    }
}
