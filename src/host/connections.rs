//! Connection pools.

use serde::{Deserialize, Serialize};

/// A connection pool; first come, first served. An attempt holds a connection until its client has
/// the answer or gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// Connections at once, at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub limit: u32,
    /// Who shares the pool.
    pub scope: PoolScope,
}

/// Who shares a connection pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PoolScope {
    /// Each client has its own.
    Client,
    /// The clients of a process share one.
    Process,
    /// All clients of the group share one.
    Group,
}
