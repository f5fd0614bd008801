//! What a provider does with an attempt: pure state machines.
//!
//! ```text
//! arrival ─► backlog ─► fault? ─► request limit ─► free place? ─► service ─► billing
//!              │          │            │               └► queue ─┘
//!              reset      status       429               └ full: overload status
//! ```
//! Nothing here schedules an event: times are arguments and results.

mod actions;
mod admission;
mod backlog;
mod billing;
mod faults;
mod limits;
mod queue;
mod service;

pub use actions::{Action, CutOff, Pause, PausedArrivals, Ramp, SetConcurrency, SetTimeout};
pub use admission::{Admission, Job, Place};
pub use backlog::{AcceptQueue, Backlog};
pub use billing::{Billing, BillingRule, Tokens};
pub use faults::{
    Break, Capacity, ErrorRate, Fault, How, Outage, Pace, Refuse, Share, Slow, SlowDown,
    StreamError, Strikes, When, Work,
};
pub use limits::{Bucket, Limits, RequestLimit, RetryAfterHeader};
pub use queue::{CancelledWork, Line, Queue, WhenFull};
pub use service::{Service, ServiceSampler, TokenService};
