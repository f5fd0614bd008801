//! Connection pools.

use serde::{Deserialize, Serialize};

/// A connection pool as a scenario states it. An attempt holds a connection from before it is
/// sent until its client has heard of it or has given up; first come, first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// Connections at once, at least 1.
    pub limit: u32,
    /// Who shares the pool.
    pub scope: PoolScope,
}

/// Who shares a connection pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolScope {
    /// Each client has its own.
    Client,
    /// The clients of a process share one.
    Process,
    /// All clients of the group share one.
    Group,
}
