//! The total order of events.

use crate::units::Time;

/// What happens first among the events of one instant: lower classes before higher ones. The
/// numbers leave room between the classes that every scenario has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A fault or an operator changes the provider or a client.
    Timeline = 0,
    /// Work is finished: places become free before anyone asks for one.
    Completion = 0x10,
    /// The head of a streamed answer comes out of the network.
    Head = 0x11,
    /// A good answer comes out of the network.
    Answer = 0x12,
    /// What else the provider says comes out of the network: a failure, or silence.
    Word = 0x13,
    /// A process has read a good answer.
    AnswerRead = 0x14,
    /// A process has read what else the provider says.
    WordRead = 0x15,
    /// A connection is taken from the listen backlog.
    Accept = 0x20,
    /// An attempt comes out of the network.
    Arrival = 0x21,
    /// A client sends, or a new request comes into being.
    Attempt = 0x30,
    /// A limit of time is reached. After completions, so a reply at the limit is in time.
    Timeout = 0x40,
    /// Places that clients have left by going away are taken by whoever waits: after all who go
    /// at this instant have gone.
    Refill = 0x50,
}

impl Class {
    const ALL: [Class; 12] = [
        Class::Timeline,
        Class::Completion,
        Class::Head,
        Class::Answer,
        Class::Word,
        Class::AnswerRead,
        Class::WordRead,
        Class::Accept,
        Class::Arrival,
        Class::Attempt,
        Class::Timeout,
        Class::Refill,
    ];

    /// The class of every number: reading it takes no branch.
    const OF_BITS: [Class; 256] = {
        let mut of_bits = [Class::Refill; 256];
        let mut i = 0;
        while i < Class::ALL.len() {
            of_bits[Class::ALL[i] as usize] = Class::ALL[i];
            i += 1;
        }
        of_bits
    };
}

/// An event: (time, class, rank, step) packed into 128 bits, compared as one number.
///
/// At most one event exists for an entity, class and step, so keys are unique and the order of
/// the run does not depend on the order in which events were inserted. The step counts an
/// entity's changes of state: an event whose step has passed is stale and means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// The largest step that fits (24 bits).
    pub const MAX_STEP: u32 = (1 << 24) - 1;

    /// The key of an event.
    #[inline]
    pub fn new(time: Time, class: Class, rank: u32, step: u32) -> Key {
        debug_assert!(step <= Key::MAX_STEP);
        let low = (class as u64) << 56 | u64::from(rank) << 24 | u64::from(step);
        Key(u128::from(time) << 64 | u128::from(low))
    }

    /// The least key.
    pub(super) const LEAST: Key = Key(0);

    /// The number that is compared.
    #[inline]
    pub(super) fn bits(self) -> u128 {
        self.0
    }

    /// When it happens.
    #[inline]
    pub fn time(self) -> Time {
        (self.0 >> 64) as u64
    }

    /// Its class.
    #[inline]
    pub fn class(self) -> Class {
        Class::OF_BITS[usize::from((self.0 >> 56) as u8)]
    }

    /// The rank of its entity.
    #[inline]
    pub fn rank(self) -> u32 {
        (self.0 >> 24) as u32
    }

    /// Its step.
    #[inline]
    pub fn step(self) -> u32 {
        self.0 as u32 & Key::MAX_STEP
    }

    /// The two halves, for the fingerprint. The halves of the class's byte change places: so the
    /// classes that every scenario has count 1, 2, 3, as they did before there were others.
    #[inline]
    pub fn halves(self) -> (u64, u64) {
        let low = self.0 as u64;
        let class = u64::from(((low >> 56) as u8).rotate_left(4));
        ((self.0 >> 64) as u64, class << 56 | low << 8 >> 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        let key = Key::new(123_456_789_012, Class::Attempt, u32::MAX, Key::MAX_STEP);
        assert_eq!(key.time(), 123_456_789_012);
        assert_eq!(key.class(), Class::Attempt);
        assert_eq!(key.rank(), u32::MAX);
        assert_eq!(key.step(), Key::MAX_STEP);
    }

    #[test]
    fn order_is_time_then_class_then_rank_then_step() {
        let sorted = [
            Key::new(1, Class::Timeout, 9, 9),
            Key::new(2, Class::Timeline, 9, 9),
            Key::new(2, Class::Completion, 9, 9),
            Key::new(2, Class::Head, 0, 0),
            Key::new(2, Class::Answer, 0, 0),
            Key::new(2, Class::Word, 0, 0),
            Key::new(2, Class::AnswerRead, 0, 0),
            Key::new(2, Class::WordRead, 0, 0),
            Key::new(2, Class::Accept, 0, 0),
            Key::new(2, Class::Arrival, 0, 0),
            Key::new(2, Class::Attempt, 0, 1),
            Key::new(2, Class::Attempt, 1, 0),
            Key::new(2, Class::Timeout, 0, 0),
            Key::new(2, Class::Refill, 0, 0),
        ];
        assert!(sorted.is_sorted());
        let classes = Class::ALL.map(|class| Key::new(2, class, 0, 0).class());
        assert_eq!(classes, Class::ALL);
        assert!(sorted.iter().all(|key| Class::ALL.contains(&key.class())));
    }
}
