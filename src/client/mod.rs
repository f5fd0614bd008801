//! What a client does about a failure: pure state machines.
//!
//! Every part takes what it needs as arguments (a failure, an attempt number, a stream) and
//! returns a decision. Nothing here schedules an event or reads a clock.

mod at_once;
mod backoff;
mod breaker;
mod budget;
mod classify;
mod formula;
mod hedge;
mod layer;
mod pace;
mod retry_after;
mod semaphore;
mod table;
mod throttle;
mod window;

pub use at_once::AtOnce;
pub use backoff::{Additive, After, Backoff, Decorrelated, POLICIES, Schedule};
pub use breaker::{
    Breaker, BreakerRule, Consecutive, Counts, FailureRatio, HalfOpen, Stops, Ticket, Verdict,
};
pub use budget::{
    Active, ActiveBase, ActiveRetries, Budget, Deposit, Held, PermitTaken, Ratio, RecentRatio,
    RetryQuota, RetryThrottling, TokenBucket, Vault,
};
pub use classify::{BrokenStreams, RetryOn, UnknownCodes};
pub use formula::{Condition, Formula};
pub use hedge::{Flight, Hedge};
pub use layer::{Layer, ReplyAtTimeout, TimeoutOf};
pub use pace::{Aimd, Cubic, FixedPace, Pace, Pacer, Sign, WhenEmpty};
pub use retry_after::{
    Added, AtMax, Beyond, Dates, Infinite, Obey, Otherwise, Reading, RetryAfter, Seconds, Told,
    ZeroMillis,
};
pub use semaphore::{Semaphore, SemaphoreSpec};
pub use table::{Choice, WaitTable};
pub use throttle::{Throttle, ThrottleRule};
pub use window::SlidingCounts;

use serde::{Deserialize, Serialize};

/// Who shares something. Without `[[group]]` all clients are one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Each client has its own.
    Client,
    /// All clients of a group share one.
    Group,
    /// All clients share one; of a layer, those of the same name in all groups, which must state
    /// the same.
    Fleet,
}
