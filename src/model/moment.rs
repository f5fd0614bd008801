//! The moments of a request's life, for those who tell its story.

use super::Observer;
use super::simulation::Simulation;
use crate::answer::{Failure, Gate, Outcome, Reason};
use crate::client::Told;
use crate::engine::Pending;
use crate::server::{LimitKind, Tokens};
use crate::units::Time;

/// Whose moment it is; numbers count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The group.
    pub group: usize,
    /// The client in its group.
    pub client: u32,
    /// The request in its group, the number that its random numbers follow.
    pub request: u32,
}

/// What refuses an attempt that has reached the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuser {
    /// No connection is accepted: a fault, an operator, or a listen backlog that is full.
    Connections,
    /// A fault.
    Fault,
    /// An operator.
    Operator,
    /// A limit.
    Limit(LimitKind),
    /// The want of a place.
    Load,
}

/// How service ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service<'a> {
    /// With a good answer.
    Answer,
    /// With an error.
    Error(Failure<'a>),
    /// In the middle of a stream.
    Broken,
}

/// Something that happens to a request. A `layer` is a number in its group's plan; a `step` names
/// the attempt that was sent at it, and lengths of time are in nanoseconds.
#[expect(missing_docs, reason = "fields are named alike and told of above")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment<'a> {
    /// It comes into being.
    Created,
    /// A call into a layer begins.
    CallBegins { layer: usize },
    /// It gets in line for a permit of a layer.
    WaitsForPermit { layer: usize },
    /// It has a permit of a layer.
    GotPermit { layer: usize },
    /// It gives the permit of a layer back.
    GaveBackPermit { layer: usize },
    /// It gets in line for its turn in the pace of a layer.
    WaitsForTurn { layer: usize },
    /// It is its turn.
    GotTurn { layer: usize },
    /// A layer does not let it through; nothing is sent.
    HeldBack { layer: usize, gate: Gate },
    /// It gets in line for a connection of its host.
    WaitsForConnection,
    /// It has been given a connection.
    GotConnection,
    /// Its process will send it when it has time.
    WaitsForProcess,
    /// Attempt number `number` (1 is the first) is sent to a provider.
    Sent { step: u32, number: u32, provider: usize, hedge: bool },
    /// A hedge is due, and its budget refuses.
    HedgeRefused,
    /// The network loses an attempt.
    LostAttempt { step: u32 },
    /// The network loses what is said to an attempt.
    LostAnswer { step: u32 },
    /// An attempt reaches the provider.
    Arrived { step: u32, number: u32, provider: usize },
    /// Its connection waits to be accepted, until then.
    InBacklog { step: u32, until: Time },
    /// It is accepted, or gone from the network, after its client has gone away.
    GoneBeforeAccept { step: u32 },
    /// The provider refuses an attempt.
    Refused { step: u32, by: Refuser, failure: Failure<'a> },
    /// The provider takes an attempt and never answers.
    Swallowed { step: u32 },
    /// An attempt repeats work that the provider knows by its key: it waits for it, or is answered.
    Attached { step: u32, answered: bool },
    /// The provider admits an attempt; it is served at this instant or waits in the queue.
    Admitted { step: u32 },
    /// Its service starts, of what the answer cache holds or in full, and will end then.
    Started { step: u32, hit: bool, until: Time },
    /// The head of a streamed answer arrives.
    HeadArrives { step: u32 },
    /// A stream falls silent, after a token or before.
    Hung { delivered: bool },
    /// Its service ends.
    Served { step: u32, end: Service<'a> },
    /// The provider drops it from its queue.
    Dropped { step: u32 },
    /// The provider stops work whose client has gone.
    TakenBack { step: u32, in_service: bool },
    /// Work is lost with its place.
    Lost { step: u32, in_service: bool },
    /// Tokens are billed.
    Billed { step: u32, tokens: Tokens },
    /// A good answer comes, and nobody waits for it.
    Late { step: u32 },
    /// The client learns that an attempt has failed.
    AttemptFailed { step: u32, failure: Failure<'a> },
    /// A limit of time of a layer is reached: of an attempt, or its deadline.
    TimedOut { layer: usize, deadline: bool },
    /// A layer has chosen how long it would wait before its next attempt, by what the server told.
    Chose { layer: usize, wait: u64, told: Told },
    /// A layer waits after so many attempts of its call.
    Sleeps { layer: usize, attempts: u32, wait: u64 },
    /// A breaker opens because of how it ended, until then.
    BreakerOpens { layer: usize, until: Time },
    /// A layer gives up.
    GivesUp { layer: usize, reason: Reason, failure: Failure<'a> },
    /// The one good answer is delivered.
    Delivered { step: u32, tokens: Tokens },
    /// It has its outcome.
    Resolved { outcome: Outcome },
}

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// Tells the observer of a moment of `request`, if it wants to hear of them.
    #[inline(always)]
    pub(super) fn tell_of(&mut self, request: u32, moment: Moment<'_>) {
        if O::HEARS_MOMENTS {
            let (g, place) = self.split(request);
            let group = &self.groups[g];
            let (client, request) = (|| group.client_number(place), || group.number(place));
            let who = || Who { group: g, client: client(), request: request() };
            self.observer.moment(self.events.now(), who, moment);
        }
    }
}
