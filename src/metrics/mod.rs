//! Metrics and curves: fed by observer events, read once at the end of a run.

mod catalog;
mod curves;
mod directions;
mod flow;
mod latency;
mod nearest;
mod parts;
mod recorder;
mod table;
mod windows;

pub use catalog::{Better, GroupLayers, INDICATOR, Metric, catalog};
pub use curves::{CurveWatch, CurveWindow, Curves, WAVES};
pub use directions::Directions;
pub use flow::FlowWatch;
pub use latency::shares;
pub use nearest::nearest;
pub use parts::Part;
pub use recorder::{Facts, Recorder, Watch};
pub use windows::Load;
