//! Metrics: fed by observer events, read once at the end of a run.

mod catalog;
mod flow;
mod latency;
mod parts;
mod recorder;
mod table;
mod windows;

pub use catalog::{Better, GroupLayers, INDICATOR, Metric, catalog, direction};
pub use flow::FlowWatch;
pub use parts::Part;
pub use recorder::{Facts, Recorder, Watch};
pub use windows::{Series, SlidingPeak};
