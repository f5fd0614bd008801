//! A cache beside the work: what it holds is served fast, what it lacks takes the whole service and
//! fills it.
//!
//! With it the load depends on its own history: at the same arrivals a full cache stays full, and an
//! empty one stays empty when misses are too many to be finished in time, as at Slack in 2022
//! (<https://slack.engineering/slacks-incident-on-2-22-22/>).

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::rng::{Purpose, Streams};
use crate::units::{Span, Time};

/// A cache of answers. Each request asks for one of its entries, all equally often, and its retries
/// for the same one. What is held takes `hit` in place of the service, and a place like other work;
/// what is not takes the whole service and fills the cache when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AnswerCache {
    /// What can be asked for, and held; 1 to 100,000,000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100000000)))]
    pub entries: u32,
    /// Service time of a request whose entry is held.
    pub hit: Span,
    /// Share of the entries that is held at the start, 0 to 1.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub filled: f64,
    /// How long an entry is held after it was filled; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Span>,
    /// Which work fills it.
    #[serde(default)]
    pub filled_by: FilledBy,
}

/// Which work fills the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FilledBy {
    /// Work whose client still waits when it is done: the client fills the cache (look-aside).
    #[default]
    Awaited,
    /// All work that is done: the provider fills it (read-through).
    Done,
}

impl AnswerCache {
    /// Most entries.
    pub const MOST: u32 = 100_000_000;

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if !(1..=AnswerCache::MOST).contains(&self.entries) {
            let text =
                format!("{} entries are out of range; write 1 to {}", self.entries, Self::MOST);
            return Some(("entries", text));
        }
        if !(0.0..=1.0).contains(&self.filled) {
            let text = format!("filled = {} is out of range; write 0 to 1", self.filled);
            return Some(("filled", text));
        }
        let text = "what is held for 0s is never found; write more, or leave it out";
        (self.lifetime == Some(Span::ZERO)).then(|| ("lifetime", text.to_owned()))
    }

    /// The entries in the part from `from` to `to` of the whole.
    fn part(&self, [from, to]: [f64; 2]) -> Range<usize> {
        let index = |share: f64| (share * f64::from(self.entries)).round() as usize;
        index(from)..index(to)
    }

    /// Until when an entry is held that is filled at `now`.
    fn held_until(&self, now: Time) -> Time {
        self.lifetime.map_or(Time::MAX, |lifetime| now.saturating_add(lifetime.nanos()))
    }

    /// The entry that the request of this number asks for.
    fn entry(&self, streams: &Streams, number: u32) -> usize {
        streams.stream(Purpose::CacheEntry, number, 0).below(self.entries.into()) as usize
    }
}

/// What is held.
#[derive(Clone, Debug)]
pub struct Entries {
    rule: AnswerCache,
    /// By entry: until when it is held.
    until: Vec<Time>,
    /// Requests and steps of the work in service for entries that were not held.
    misses: BTreeSet<(u32, u32)>,
}

impl Entries {
    /// The cache at the start.
    pub fn new(rule: AnswerCache) -> Entries {
        let mut until = vec![0; rule.entries as usize];
        until[rule.part([0.0, rule.filled])].fill(rule.held_until(0));
        Entries { rule, until, misses: BTreeSet::new() }
    }

    /// Service of the attempt that request `number`, which is at `key` with its step, starts: how
    /// long it takes when its entry is held.
    pub fn look_up(
        &mut self,
        now: Time,
        streams: &Streams,
        number: u32,
        key: (u32, u32),
    ) -> Option<Time> {
        if now < self.until[self.rule.entry(streams, number)] {
            return Some(self.rule.hit.nanos());
        }
        self.misses.insert(key);
        None
    }

    /// The work of that attempt is done.
    pub fn fill(
        &mut self,
        now: Time,
        streams: &Streams,
        number: u32,
        key: (u32, u32),
        awaited: bool,
    ) {
        let missed = self.misses.remove(&key);
        if missed && (awaited || self.rule.filled_by == FilledBy::Done) {
            self.until[self.rule.entry(streams, number)] = self.rule.held_until(now);
        }
    }

    /// The work of that attempt comes to nothing.
    pub fn forget(&mut self, key: (u32, u32)) {
        self.misses.remove(&key);
    }

    /// Pieces of work in service for entries that were not held.
    pub fn misses(&self) -> usize {
        self.misses.len()
    }

    /// How many entries are held, of how many.
    pub fn held(&self, now: Time) -> (usize, usize) {
        (self.until.iter().filter(|until| now < **until).count(), self.until.len())
    }

    /// A part of the entries is lost.
    pub fn lose(&mut self, part: [f64; 2]) {
        self.until[self.rule.part(part)].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: AnswerCache = AnswerCache {
        entries: 10,
        hit: Span::from_nanos(3),
        filled: 0.0,
        lifetime: Some(Span::from_nanos(100)),
        filled_by: FilledBy::Awaited,
    };

    fn streams() -> Streams {
        Streams::new(1, 0)
    }

    #[test]
    fn an_entry_is_held_from_the_end_of_a_miss_for_its_lifetime() {
        let (mut cache, streams) = (Entries::new(RULE), streams());
        assert_eq!(cache.look_up(5, &streams, 7, (7, 1)), None);
        assert_eq!(cache.look_up(6, &streams, 7, (7, 3)), None, "the first is not done yet");
        cache.fill(20, &streams, 7, (7, 1), true);
        assert_eq!(cache.look_up(119, &streams, 7, (7, 5)), Some(3));
        assert_eq!(cache.look_up(120, &streams, 7, (7, 7)), None);
    }

    #[test]
    fn a_hit_does_not_renew_and_gone_clients_do_not_fill() {
        let (mut cache, streams) = (Entries::new(RULE), streams());
        assert_eq!(cache.look_up(0, &streams, 7, (7, 1)), None);
        cache.fill(1, &streams, 7, (7, 1), false);
        assert_eq!(cache.look_up(2, &streams, 7, (7, 3)), None);
        cache.fill(3, &streams, 7, (7, 3), true);
        assert_eq!(cache.look_up(100, &streams, 7, (7, 5)), Some(3));
        cache.fill(101, &streams, 7, (7, 5), true);
        assert_eq!(cache.look_up(103, &streams, 7, (7, 7)), None);
        let mut through = Entries::new(AnswerCache { filled_by: FilledBy::Done, ..RULE });
        through.look_up(0, &streams, 7, (7, 1));
        through.fill(1, &streams, 7, (7, 1), false);
        assert_eq!(through.look_up(2, &streams, 7, (7, 3)), Some(3));
    }

    #[test]
    fn a_part_of_the_entries_is_held_at_the_start_and_a_part_can_be_lost() {
        let held = |cache: &Entries| cache.held(0).0;
        let mut cache = Entries::new(AnswerCache { filled: 0.8, ..RULE });
        assert_eq!(held(&cache), 8);
        cache.lose([0.6, 1.0]);
        assert_eq!(held(&cache), 6);
        cache.lose([0.0, 0.25]);
        assert_eq!(held(&cache), 3);
    }
}
