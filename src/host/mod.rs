//! Where clients run: what lies between a client's decision to send and the provider.
//!
//! ```text
//! innermost layer ─► connection ─► CPU of the process ─► network ─► provider
//! ```
//! Pure parts, as in [`crate::client`]: they take `now` and a stream and never schedule.

mod connections;
mod network;
mod process;

pub use connections::{Connections, PoolScope};
pub use network::{Network, Path, Way};
pub use process::{Host, Process, TimeoutStarts};
