//! Experiments: cells × replications, rows, claims and verdicts.
//!
//! ```text
//! experiment.toml ─► cells ─► runs (in parallel) ─► rows ─► summaries ─► claims ─► verdict
//! ```

mod check;
mod claim;
mod curves;
mod definition;
mod diff;
mod policies;
mod runner;
mod schedule;
mod seed;
mod stability;
mod steady;
mod summary;

pub use check::{Check, Finding};
pub use claim::{Basis, Claim, Judged, Over, Verdict, judge, overall};
pub use curves::{CompletionRow, Counts, WaveRow, WindowRow, completions, waves, windows};
pub use definition::{Experiment, PolicySettings, names};
pub use diff::{Change, MetricChange, Rows, change};
pub use policies::{NamedPolicy, Place, Target, swap};
pub use runner::{
    Cell, CellRuns, Effort, FirstAttempts, Progress, Run, execute, execute_with_curves,
};
pub use schedule::{Retry, Schedule, Spread, Survival};
pub use seed::Seed;
pub use stability::{Execute, Loads, Stability, loads};
pub use steady::{Follow, Steady, WarmUp, steady};
pub use summary::{MetricSummary, summaries, summary_of};
