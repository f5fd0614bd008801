//! `retrylab validate`: what a real fleet did at a stub, beside what the simulation says of it.
//!
//! Both are read in the same way: as the events of a log ([`Seen`]), one from a file, the others from runs
//! of the scenario over many seeds. Four things have to agree: how many calls requests make, how long clients
//! wait, how much of the retries comes in the busiest window, and what is billed.

mod compare;
mod picture;
mod seen;
mod wire;

pub use compare::{Agreement, Check, Verdict, compare};
pub use picture::figure;
pub use seen::Seen;
pub use wire::{WireLog, read};
