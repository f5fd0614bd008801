//! The event engine: a clock, a total order, and nothing about retries.
//!
//! SimPy's kernel in a screenful: an event is a [`Key`], the list gives the least key, the clock
//! moves to it. What an event means is known to the caller alone.

mod fingerprint;
mod key;
mod list;
mod pending;
mod wheel;

pub use fingerprint::{Fingerprint, Fnv, digest};
pub use key::{Class, Key};
pub use list::EventList;
pub use pending::{Heap, Pending};
pub use wheel::Wheel;
