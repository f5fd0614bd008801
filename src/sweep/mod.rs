//! Sweeps: the cells of a grid × replications, crash-safe and in parts.
//!
//! ```text
//! scenario + axes ─► grid ─► runs, numbered ─► journal (as they finish) ─► tables (in order)
//!                              └ shard i/n: every n-th                └ of one journal, or of all parts
//! ```

mod axis;
mod design;
mod folder;
mod grid;
mod header;
mod journal;
mod merge;
mod plan;
mod run;
mod staged;
mod tables;
mod until;

pub use axis::Axis;
pub use design::{Design, Varied};
pub use folder::{Begin, SweepFolder};
pub use grid::{Grid, MOST_CELLS};
pub use header::{Header, Shard};
pub use journal::{Damage, Journal, Record};
pub use merge::Parts;
pub use plan::Sweep;
pub use run::{Estimate, Progress, estimate, run, try_first};
pub use staged::Written;
pub use tables::{CellMetric, Made, Tables};
pub use until::{FEWEST, HalfWidth, Until};
