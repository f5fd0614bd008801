//! Metrics: fed by observer events, read once at the end of a run.

mod catalog;
mod latency;
mod recorder;
mod windows;

pub use catalog::{Better, GroupLayers, Metric, Part, catalog};
pub use recorder::{Facts, Recorder, Watch};
pub use windows::{Series, SlidingPeak};
