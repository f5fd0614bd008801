//! One run, event by event: as rows, as a Chrome trace, and as the story of a request.
//!
//! ```text
//! model ─► moments ─► [Tracer] ─► events ─┬► csv, jsonl   a row per event
//!                        └► counts ───────┼► chrome       spans per client, counters
//!                                         ├► story        sentences about one request
//!                                         └► check        two runs against each other
//! ```
//! Events flow through: a log of a million requests needs no more memory than what is under way.

mod check;
mod chrome;
mod counts;
mod event;
mod jsonl;
mod names;
mod rows;
mod story;
mod tracer;

pub use check::{Comparison, compare, twice};
pub use chrome::Chrome;
pub use counts::Counts;
pub use event::{COLUMNS, Event, Kind, Value};
pub use jsonl::{JsonLines, object};
pub use names::Names;
pub use rows::Csv;
pub use story::{Sentence, Story, tell};
pub use tracer::{Keep, Sink, Tracer};
