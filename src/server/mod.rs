//! What a provider does with an attempt: pure state machines.
//!
//! ```text
//! arrival ─► backlog ─► fault? ─► operator? ─► repeat? ─► limits ─► free place? ─► service ─► billing
//!              │          │          │            │           │          └► queue ─┘
//!              reset      status     status       attached    429          └ full: overload status
//! ```
//! Nothing here schedules an event: times are arguments and results.

mod actions;
mod admission;
mod answer_cache;
mod backlog;
mod billing;
mod faults;
mod idempotency;
mod limits;
mod prompt_cache;
mod queue;
mod row;
mod service;

pub use actions::{
    Action, CutOff, Pause, PausedArrivals, Ramp, SetConcurrency, SetLimit, SetTimeout,
};
pub use admission::{Admission, Job, Place};
pub use answer_cache::{AnswerCache, Entries, FilledBy};
pub use backlog::{AcceptQueue, Backlog};
pub use billing::{Billing, BillingRule, Price, Tokens, output_so_far};
pub use faults::{
    Break, CacheLoss, Capacity, ErrorRate, Fault, How, Outage, Pace, Refuse, Share, Slow, SlowDown,
    StreamError, Strikes, When, Work,
};
pub use idempotency::{Idempotency, Keys, Repeat};
pub use limits::{
    Caller, ConcurrencyLimit, Consumes, Counting, Denied, GrowthLimit, Kind as LimitKind, Limiter,
    Limits, RateLimit, RetryAfterHeader, Settle, SpendCap, Standing,
};
pub use prompt_cache::PromptCache;
pub use queue::{CancelledWork, Line, Queue, WhenFull};
pub use row::{Row, Rows};
pub use service::{PrefillDecode, Service, ServiceSampler, TokenService};
