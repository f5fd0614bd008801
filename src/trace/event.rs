//! The event of a log, and its columns.

use super::Names;
use crate::server::Tokens;
use crate::units::Time;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The request comes into being.
    Created,
    /// A call into a layer begins.
    Call,
    /// It gets in line for a permit of a layer's semaphore.
    PermitWait,
    /// It has the permit.
    Permit,
    /// It gives the permit back.
    PermitBack,
    /// It gets in line for its turn in a layer's pace.
    TurnWait,
    /// It is its turn.
    Turn,
    /// A layer does not let it through: breaker, throttle or pace.
    HeldBack,
    /// It gets in line for a connection of its host.
    ConnectionWait,
    /// It has a connection.
    Connection,
    /// It waits for its process.
    ProcessWait,
    /// An attempt is sent.
    Sent,
    /// An attempt is sent beside one that is under way.
    Hedged,
    /// A hedge is due and its budget refuses.
    HedgeRefused,
    /// The network loses an attempt.
    LostOnTheWay,
    /// The network loses what is said to an attempt.
    LostOnTheWayBack,
    /// An attempt reaches the provider.
    Arrived,
    /// Its connection waits to be accepted, for `wait_ns`.
    Backlog,
    /// It is found to have no client any more before it is accepted.
    Gone,
    /// The provider refuses it.
    Refused,
    /// The provider takes it and never answers.
    Swallowed,
    /// It repeats work known by its key, and waits for that, or is answered.
    Attached,
    /// It is admitted: served at once or in the queue.
    Admitted,
    /// Its service starts.
    Started,
    /// The head of a streamed answer arrives.
    Head,
    /// A stream falls silent.
    Hung,
    /// Its service ends.
    Served,
    /// It is dropped from the queue.
    Dropped,
    /// Its work is stopped, as its client has gone.
    TakenBack,
    /// Its work is lost with its place.
    Lost,
    /// Tokens are billed.
    Billed,
    /// A good answer comes that nobody waits for.
    Late,
    /// The client learns that an attempt has failed.
    Failed,
    /// A limit of time of a layer is reached.
    TimedOut,
    /// A layer waits before its next attempt.
    Wait,
    /// A breaker opens.
    BreakerOpens,
    /// A layer gives up.
    GivesUp,
    /// The answer is delivered.
    Delivered,
    /// The request has its outcome.
    Resolved,
}

impl Kind {
    /// All kinds with their names in files.
    pub const ALL: [(Kind, &'static str); 39] = [
        (Kind::Created, "created"),
        (Kind::Call, "call"),
        (Kind::PermitWait, "permit_wait"),
        (Kind::Permit, "permit"),
        (Kind::PermitBack, "permit_back"),
        (Kind::TurnWait, "turn_wait"),
        (Kind::Turn, "turn"),
        (Kind::HeldBack, "held_back"),
        (Kind::ConnectionWait, "connection_wait"),
        (Kind::Connection, "connection"),
        (Kind::ProcessWait, "process_wait"),
        (Kind::Sent, "sent"),
        (Kind::Hedged, "hedged"),
        (Kind::HedgeRefused, "hedge_refused"),
        (Kind::LostOnTheWay, "lost_on_the_way"),
        (Kind::LostOnTheWayBack, "lost_on_the_way_back"),
        (Kind::Arrived, "arrived"),
        (Kind::Backlog, "backlog"),
        (Kind::Gone, "gone"),
        (Kind::Refused, "refused"),
        (Kind::Swallowed, "swallowed"),
        (Kind::Attached, "attached"),
        (Kind::Admitted, "admitted"),
        (Kind::Started, "started"),
        (Kind::Head, "head"),
        (Kind::Hung, "hung"),
        (Kind::Served, "served"),
        (Kind::Dropped, "dropped"),
        (Kind::TakenBack, "taken_back"),
        (Kind::Lost, "lost"),
        (Kind::Billed, "billed"),
        (Kind::Late, "late"),
        (Kind::Failed, "failed"),
        (Kind::TimedOut, "timed_out"),
        (Kind::Wait, "wait"),
        (Kind::BreakerOpens, "breaker_opens"),
        (Kind::GivesUp, "gives_up"),
        (Kind::Delivered, "delivered"),
        (Kind::Resolved, "resolved"),
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Kind::ALL[self as usize].1
    }

    /// True for what the provider or the network does, whatever the client is doing meanwhile.
    pub fn is_elsewhere(self) -> bool {
        matches!(
            self,
            Kind::LostOnTheWay
                | Kind::LostOnTheWayBack
                | Kind::Arrived
                | Kind::Backlog
                | Kind::Gone
                | Kind::Refused
                | Kind::Swallowed
                | Kind::Attached
                | Kind::Admitted
                | Kind::Started
                | Kind::Served
                | Kind::Dropped
                | Kind::TakenBack
                | Kind::Lost
                | Kind::Billed
                | Kind::Late
        )
    }
}

/// Something that has happened to a request. Numbers of clients, requests, attempts and retries
/// count from 1; groups, layers and providers are places in the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When, in nanoseconds.
    pub time: Time,
    /// The group.
    pub group: usize,
    /// The client.
    pub client: u32,
    /// The request.
    pub request: u32,
    /// What.
    pub kind: Kind,
    /// The attempt of the request that it concerns.
    pub attempt: Option<u32>,
    /// The layer that it concerns.
    pub layer: Option<usize>,
    /// The retry of that layer's call that follows.
    pub retry: Option<u32>,
    /// The provider that the attempt was sent to.
    pub provider: Option<usize>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The reason, rule or outcome, one word.
    pub why: Option<&'static str>,
    /// How long it waits from now on, or would, in nanoseconds.
    pub wait: Option<u64>,
    /// Tokens that are billed or delivered.
    pub tokens: Option<Tokens>,
    /// What they cost.
    pub usd: Option<f64>,
}

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// None.
    Empty,
    /// A whole number.
    Whole(u64),
    /// A real number.
    Real(f64),
    /// A word.
    Text(&'a str),
}

/// The columns of a log.
pub const COLUMNS: [&str; 16] = [
    "time_ns",
    "group",
    "client",
    "request",
    "event",
    "attempt",
    "layer",
    "retry",
    "provider",
    "status",
    "why",
    "wait_ns",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "usd",
];

impl Event {
    /// That this has happened to a request of a client, and nothing more.
    pub fn new(time: Time, (group, client, request): (usize, u32, u32), kind: Kind) -> Event {
        Event {
            time,
            group,
            client,
            request,
            kind,
            attempt: None,
            layer: None,
            retry: None,
            provider: None,
            status: None,
            why: None,
            wait: None,
            tokens: None,
            usd: None,
        }
    }

    /// Its values in the order of [`COLUMNS`].
    pub fn values<'a>(&self, names: &'a Names) -> [Value<'a>; COLUMNS.len()] {
        let whole = |value: Option<u64>| value.map_or(Value::Empty, Value::Whole);
        let number = |value: Option<u32>| whole(value.map(u64::from));
        let text = |value: Option<&'a str>| value.map_or(Value::Empty, Value::Text);
        let tokens = |of: fn(Tokens) -> u64| whole(self.tokens.map(of));
        [
            Value::Whole(self.time),
            text(names.group(self.group)),
            number(Some(self.client)),
            number(Some(self.request)),
            Value::Text(self.kind.name()),
            number(self.attempt),
            text(self.layer.map(|layer| names.layer(self.group, layer))),
            number(self.retry),
            text(self.provider.map(|provider| names.provider(provider))),
            number(self.status.map(u32::from)),
            text(self.why),
            whole(self.wait),
            tokens(|tokens| tokens.input),
            tokens(|tokens| tokens.cached),
            tokens(|tokens| tokens.output),
            self.usd.map_or(Value::Empty, Value::Real),
        ]
    }

    /// The event as it stands in a log of lines, for a sentence.
    pub fn show(&self, names: &Names) -> String {
        let values = COLUMNS.iter().zip(self.values(names));
        let shown = values.filter_map(|(column, value)| match value {
            Value::Empty => None,
            Value::Whole(n) => Some(format!("{column}={n}")),
            Value::Real(x) => Some(format!("{column}={x}")),
            Value::Text(text) => Some(format!("{column}={text}")),
        });
        shown.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_at_their_places() {
        for (place, (kind, name)) in Kind::ALL.into_iter().enumerate() {
            assert_eq!((kind as usize, kind.name()), (place, name));
        }
    }
}
