//! A backoff of one's own, written as a formula in the scenario.
//!
//! ```toml
//! backoff = { formula = "min(30s, 1s * 2^n) * uniform(0.5, 1)" }
//! backoff = { formula = { wait = "min(cap, base * 2^n) * uniform(0.5, 1)", base = "1s", cap = "30s" } }
//! ```
//! Values are numbers; a duration is a number of seconds, and so is the wait. `n` is 0 before the
//! first retry; `prev` is the last wait that the layer computed in this call, 0 at first; `status` is that of the
//! failure before, 0 where it has none. Every other key
//! of the table is a *part*: a number, a duration or a formula of its own, computed once per wait,
//! where it is first named. `last(part)` is what the part was when the wait before was computed, 0 at first.
//! `uniform(a, b)` draws from the stream of the wait, in the order of the text; both sides of an `if` are computed.
//!
//! A wait that is negative or not a number is 0; one beyond ten years is ten years. A formula whose
//! waits are so for a retry that the layer can make is refused.
//!
//! ```text
//! text ─► tree ─► a flat program per retry, with what n alone decides computed beforehand
//! ```

mod bounds;
mod condition;
mod interval;
mod names;
mod op;
mod parse;
mod program;
mod source;

pub use condition::Condition;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::client::After;
use crate::rng::Stream;
use crate::units::{NANOS_PER_SECOND, Span, round_nanos};
use program::{Cell, Program};
use source::Source;

/// Retries that have a program and bounds of their own; later ones share one.
const STEPS: u32 = 64;

/// A formula for waits.
#[derive(Clone)]
pub struct Formula {
    source: Source,
    compiled: Arc<Compiled>,
}

/// As it runs.
#[derive(Debug)]
struct Compiled {
    cells: Vec<Cell>,
    /// One for each of the first retries, then one for all others.
    programs: Vec<Program>,
    /// Their waits, where those are always the same.
    constants: Vec<Option<u64>>,
    /// The shortest and the longest wait by the same count.
    bounds: Vec<(u64, u64)>,
}

impl Formula {
    /// The wait in nanoseconds. `memory` is what the formula remembers of the call,
    /// [`Formula::memory`] cells, 0 at first.
    #[inline]
    pub fn wait(&self, after: After, memory: &mut [u64], stream: Stream) -> u64 {
        match self.compiled.constants[after.n.min(STEPS) as usize] {
            Some(wait) => wait,
            None => nanos(self.compiled.wait(after, memory, stream)),
        }
    }

    /// The shortest and the longest wait before retry `n`: every wait lies in this closed range.
    pub fn bounds(&self, n: u32) -> (u64, u64) {
        self.compiled.bounds[n.min(STEPS) as usize]
    }

    /// How many values it remembers from one wait to the next.
    pub fn memory(&self) -> usize {
        self.compiled.cells.len()
    }

    /// What is wrong with one of the first `retries` waits, found by drawing some.
    pub(super) fn problem(&self, retries: u32) -> Option<String> {
        let (retry, sentence) = bounds::doubt(&self.compiled)?;
        (retry < retries).then(|| format!("{sentence}\n    {}", self.source.wait()))
    }

    /// A part that is a duration.
    pub(super) fn span(&self, part: &str) -> Option<Span> {
        self.source.text(part)?.parse().ok()
    }
}

impl Compiled {
    /// The wait in seconds as it is computed; see [`Formula::wait`].
    #[inline]
    fn wait(&self, after: After, memory: &mut [u64], stream: Stream) -> f64 {
        let program = &self.programs[after.n.min(STEPS) as usize];
        let wait = program.run(after, memory, stream);
        for (value, cell) in memory.iter_mut().zip(&self.cells) {
            if *cell == Cell::Wait {
                *value = seconds(nanos(wait)).to_bits();
            }
        }
        wait
    }
}

/// Seconds as they are computed, in whole nanoseconds.
fn nanos(seconds: f64) -> u64 {
    round_nanos(seconds * NANOS_PER_SECOND as f64)
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / NANOS_PER_SECOND as f64
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        self.source == other.source
    }
}

impl std::str::FromStr for Formula {
    type Err = String;

    fn from_str(text: &str) -> Result<Formula, String> {
        Source::new(text).compile()
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.source.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Formula, D::Error> {
        Source::deserialize(deserializer)?.compile().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
