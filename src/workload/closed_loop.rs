//! Workers that draw from a queue of jobs.

use serde::{Deserialize, Serialize};

/// Every client starts a job at t = 0 and takes the next one when its last one is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClosedLoop {
    /// Jobs in the queue, at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub jobs: u32,
}
