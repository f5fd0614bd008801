//! Pending events, few or many: a radix heap with a sorted front.
//!
//! Keys are numbers of 16 bytes. A key that is far away lies in a bucket, named by the highest byte
//! in which it differs from a *reference* and by the value of that byte: the lowest bucket that is
//! not empty has all keys that come next. When it is small it is sorted and becomes the *front*;
//! otherwise it is spread over the buckets of the next byte in which its keys differ. So every key
//! is moved a few times, in the order of memory, whatever the number of events and however the
//! delays are distributed: there is no width of a bucket to choose, and events of one instant
//! are told apart by their ranks. Keys that are added below the end of the front, as short delays are, go
//! into a small binary heap beside it; when that gets large, both are put back into buckets.
//!
//! The radix heap is R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, "Faster algorithms for the
//! shortest path problem", J. ACM 37 (1990), <https://doi.org/10.1145/77600.77615>. That a small
//! bucket is sorted, and the heap beside it, are ours.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Key, Pending};
use crate::units::Time;

/// A bucket with at most so many keys is sorted: those of one instant that differ in the last byte of their
/// rank alone, and so would each get a bucket of its own, are among them.
const FRONT: usize = DIGITS;

/// So many keys beside the front are put back into buckets.
const BESIDE: usize = 512;

/// Bytes of a key, and values of a byte.
const LEVELS: usize = 16;
const DIGITS: usize = 256;

/// Keys of a chunk, and the name of none.
const CHUNK: usize = 32;
const NONE: u32 = u32::MAX;

/// A piece of a bucket.
type Chunk = [Key; CHUNK];

/// Keys that differ from the reference in the same byte first, and have the same value there: a
/// list of chunks, all but the first one full.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u32,
    len: u32,
}

const EMPTY: Bucket = Bucket { first: NONE, len: 0 };

/// A radix heap with a sorted front.
#[derive(Debug)]
pub struct Wheel {
    /// The keys that come next, the last of them first.
    front: Vec<Key>,
    /// Keys below the end of the front that came after it was sorted.
    beside: BinaryHeap<Reverse<Key>>,
    /// The end of the front: the least number that a key in a bucket can be.
    end: u128,
    /// Buckets are named by how they differ from this.
    reference: u128,
    buckets: Box<[[Bucket; DIGITS]; LEVELS]>,
    /// The digits of each level that have a bucket, and the levels that have any.
    digits: [[u64; DIGITS / 64]; LEVELS],
    levels: u16,
    chunks: Vec<Chunk>,
    /// The chunk that follows each.
    next: Vec<u32>,
    /// Chunks that are not in use, as a list.
    spare: u32,
}

impl Pending for Wheel {
    fn with_capacity(capacity: usize) -> Wheel {
        Wheel {
            front: Vec::with_capacity(FRONT.min(capacity)),
            beside: BinaryHeap::new(),
            end: 0,
            reference: 0,
            buckets: Box::new([[EMPTY; DIGITS]; LEVELS]),
            digits: [[0; DIGITS / 64]; LEVELS],
            levels: 0,
            chunks: Vec::with_capacity(capacity / CHUNK),
            next: Vec::with_capacity(capacity / CHUNK),
            spare: NONE,
        }
    }

    #[inline]
    fn push(&mut self, key: Key) {
        let bits = key.bits();
        if bits < self.end {
            return self.squeeze_in(key);
        }
        self.put(level_of(bits ^ self.reference), key);
    }

    #[inline]
    fn pop_before(&mut self, end: Time) -> Option<Key> {
        if self.front.is_empty() && self.beside.is_empty() && !self.refill() {
            return None;
        }
        let from_front = match (self.front.last(), self.beside.peek()) {
            (Some(front), Some(Reverse(beside))) => front < beside,
            (front, _) => front.is_some(),
        };
        if from_front {
            return self.front.pop_if(|key| key.time() < end);
        }
        match self.beside.peek() {
            Some(Reverse(key)) if key.time() < end => self.beside.pop().map(|Reverse(key)| key),
            _ => None,
        }
    }

    #[inline]
    fn soon(&self) -> &[Key] {
        &self.front
    }
}

impl Wheel {
    /// Adds a key that comes before the end of the front.
    #[inline]
    fn squeeze_in(&mut self, key: Key) {
        self.beside.push(Reverse(key));
        if self.beside.len() > BESIDE {
            self.disperse();
        }
    }

    /// Puts the front and what is beside it back into buckets. The reference moves to where they begin, so
    /// that buckets of a byte in which they differ from the old one are filed anew with them; those of
    /// higher bytes stay where they are.
    #[cold]
    fn disperse(&mut self) {
        self.front.extend(self.beside.drain().map(|Reverse(key)| key));
        let Common { all, any } = Common::OF_NONE.with(&self.front);
        let highest = level_of((all ^ self.reference) | (any ^ self.reference));
        while self.levels != 0 && self.levels.trailing_zeros() as usize <= highest {
            let bucket = self.take_lowest().1;
            self.collect(bucket);
        }
        let mut keys = std::mem::take(&mut self.front);
        self.refer_to(Common::OF_NONE.with(&keys));
        self.end = self.reference;
        keys.drain(..).for_each(|key| self.push(key));
        self.front = keys;
    }

    /// Makes a new front of the lowest bucket; false when there is none.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        while self.levels != 0 {
            let ((level, digit), bucket) = self.take_lowest();
            // All keys of a bucket of the last byte are equal.
            if bucket.len as usize > FRONT && level > 0 {
                self.spread(bucket);
                continue;
            }
            self.collect(bucket);
            self.front.sort_unstable_by(|a, b| b.cmp(a));
            self.reference = above(level, self.reference) | (digit as u128) << (8 * level);
            self.end = self.reference.saturating_add(1 << (8 * level));
            return true;
        }
        false
    }

    /// Spreads a bucket over those of the first byte in which its keys differ.
    fn spread(&mut self, bucket: Bucket) {
        let mut common = Common::OF_NONE;
        let mut rest = bucket;
        while let Some((chunk, len)) = rest.first_chunk() {
            common = common.with(&self.chunks[chunk][..len]);
            rest = rest.after(len, self.next[chunk]);
        }
        let level = self.refer_to(common);
        let mut rest = bucket;
        while let Some((chunk, len)) = rest.first_chunk() {
            let keys = self.chunks[chunk];
            rest = rest.after(len, self.next[chunk]);
            self.free(chunk);
            keys[..len].iter().for_each(|&key| self.put(level, key));
        }
    }

    /// Makes a front of a bucket.
    fn collect(&mut self, bucket: Bucket) {
        let mut rest = bucket;
        while let Some((chunk, len)) = rest.first_chunk() {
            self.front.extend_from_slice(&self.chunks[chunk][..len]);
            rest = rest.after(len, self.next[chunk]);
            self.free(chunk);
        }
    }

    /// Takes what keys have in common for the reference; the level of the first byte in which they
    /// differ.
    fn refer_to(&mut self, common: Common) -> usize {
        let level = level_of(common.all ^ common.any);
        self.reference = above(level, common.all);
        level
    }

    /// Puts a key into its bucket of a level.
    #[inline]
    fn put(&mut self, level: usize, key: Key) {
        let digit = key.bits().to_le_bytes()[level];
        let Bucket { mut first, len } = self.buckets[level][usize::from(digit)];
        let at = len as usize % CHUNK;
        if at == 0 {
            first = self.new_chunk(first);
            self.digits[level][usize::from(digit / 64)] |= 1 << (digit % 64);
            self.levels |= 1 << level;
        }
        self.chunks[first as usize][at] = key;
        self.buckets[level][usize::from(digit)] = Bucket { first, len: len + 1 };
    }

    /// Takes the lowest bucket out, of which there is one; its level and its digit as well.
    fn take_lowest(&mut self) -> ((usize, usize), Bucket) {
        let level = self.levels.trailing_zeros() as usize;
        let words = &mut self.digits[level];
        let word = words.iter().position(|word| *word != 0).unwrap_or(0);
        let digit = word * 64 + words[word].trailing_zeros() as usize;
        words[word] &= words[word] - 1;
        if *words == [0; DIGITS / 64] {
            self.levels &= !(1 << level);
        }
        ((level, digit), std::mem::replace(&mut self.buckets[level][digit], EMPTY))
    }

    /// A chunk in front of `next`.
    fn new_chunk(&mut self, next: u32) -> u32 {
        let chunk = self.spare;
        if chunk == NONE {
            self.chunks.push([Key::LEAST; CHUNK]);
            self.next.push(next);
            return self.next.len() as u32 - 1;
        }
        self.spare = std::mem::replace(&mut self.next[chunk as usize], next);
        chunk
    }

    fn free(&mut self, chunk: usize) {
        self.next[chunk] = self.spare;
        self.spare = chunk as u32;
    }
}

impl Bucket {
    /// Its first chunk, and how many keys that has.
    fn first_chunk(self) -> Option<(usize, usize)> {
        (self.len > 0).then(|| (self.first as usize, (self.len as usize - 1) % CHUNK + 1))
    }

    /// What follows its first chunk of `len` keys.
    fn after(self, len: usize, next: u32) -> Bucket {
        Bucket { first: next, len: self.len - len as u32 }
    }
}

/// What keys have in common: the bits that are set in all of them, and in any.
struct Common {
    all: u128,
    any: u128,
}

impl Common {
    const OF_NONE: Common = Common { all: !0, any: 0 };

    fn with(self, keys: &[Key]) -> Common {
        keys.iter().fold(self, |Common { all, any }, key| Common {
            all: all & key.bits(),
            any: any | key.bits(),
        })
    }
}

/// The number of the byte, from the end, of the highest bit that is set.
#[inline]
fn level_of(bits: u128) -> usize {
    // Most keys differ in their time.
    match (bits >> 64) as u64 {
        0 => (bits as u64 | 1).ilog2() as usize / 8,
        time => 8 + time.ilog2() as usize / 8,
    }
}

/// `bits` without those of level `level` and below.
fn above(level: usize, bits: u128) -> u128 {
    bits >> (8 * level) >> 8 << 8 << (8 * level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Class, Heap};
    use crate::rng::{Purpose, Stream, Streams};
    use proptest::prelude::*;

    fn at(time: Time, rank: u32) -> Key {
        Key::new(time, Class::Attempt, rank, 0)
    }

    proptest! {
        /// Any order of adding gives the same order out, duplicates included.
        #[test]
        fn pops_in_key_order(parts in prop::collection::vec((0u64..50, 0u32..50, 0u32..4), 0..3_000)) {
            let mut keys: Vec<Key> =
                parts.iter().map(|&(t, rank, step)| Key::new(t << 20, Class::Attempt, rank, step)).collect();
            let mut wheel = Wheel::with_capacity(0);
            keys.iter().for_each(|&key| wheel.push(key));
            keys.sort();
            let popped: Vec<Key> = std::iter::from_fn(|| wheel.pop_before(Time::MAX)).collect();
            prop_assert_eq!(popped, keys);
        }
    }

    /// A random length of time: none, a tie, nanoseconds, milliseconds or half a minute.
    fn delay(stream: &mut Stream) -> Time {
        const MAGNITUDES: [Time; 6] = [1, 2, 100, 40_000_000, 1_000_000_000, 30_000_000_000];
        let magnitude = stream.below(MAGNITUDES.len() as u64);
        stream.below(MAGNITUDES[magnitude as usize])
    }

    /// The oracle is the heap: the same events are added to both while they run.
    #[test]
    fn runs_as_the_heap_does() {
        for (seed, pending) in [(1, 3), (2, 200), (3, 700), (4, 3_000), (5, 40_000)] {
            let mut stream = Streams::new(seed, 0).stream(Purpose::Backoff, 0, 0);
            let (mut wheel, mut heap) = (Wheel::with_capacity(0), Heap::with_capacity(0));
            for rank in 0..pending {
                let key = at(delay(&mut stream), rank);
                wheel.push(key);
                heap.push(key);
            }
            for step in 0..8 * u64::from(pending) + 2_000 {
                let end = if step % 16 == 0 { stream.below(60_000_000_000) } else { Time::MAX };
                let key = wheel.pop_before(end);
                assert_eq!(key, heap.pop_before(end), "event {step} of {pending}");
                let Some(key) = key else { continue };
                // Storms grow and die down, and now and then one event brings about a thousand, more than
                // find room beside the front.
                let brings = if step % 701 == 0 { 1_000 } else { stream.below(3) };
                for _ in 0..brings {
                    let next = at(key.time() + delay(&mut stream), stream.bits() as u32 | 1);
                    if next > key {
                        wheel.push(next);
                        heap.push(next);
                    }
                }
            }
        }
    }

    /// Events that bring about others at the same instant, again and again: the heap beside the front
    /// never gets long, and a herd at one instant is spread by rank.
    #[test]
    fn a_storm_at_one_instant_stays_in_order() {
        let mut wheel = Wheel::with_capacity(0);
        (0..50_000).for_each(|rank| wheel.push(Key::new(7, Class::Completion, rank, 0)));
        let mut last = Key::LEAST;
        let mut popped = 0;
        while let Some(key) = wheel.pop_before(Time::MAX) {
            assert!(last < key);
            assert!(wheel.front.len() <= FRONT && wheel.beside.len() <= BESIDE);
            (last, popped) = (key, popped + 1);
            if key.class() == Class::Completion {
                let rank = key.rank().reverse_bits() >> 8;
                wheel.push(Key::new(7, Class::Attempt, rank, key.rank() & 7));
            }
        }
        assert_eq!(popped, 100_000);
    }

    /// A single event, whose front reaches far, brings about crowds, each at its own distance: what has
    /// been put back into buckets is put back again for the sake of nearer ones.
    #[test]
    fn crowds_at_any_distance_stay_in_order() {
        for seed in 0..300 {
            let mut stream = Streams::new(seed, 1).stream(Purpose::Backoff, 0, 0);
            let (mut wheel, mut heap) = (Wheel::with_capacity(0), Heap::with_capacity(0));
            let mut now = stream.below(1 << 50);
            for round in 0..20 {
                let first = at(now + stream.below(1 << 40), 0);
                wheel.push(first);
                heap.push(first);
                for _ in 0..stream.below(8) {
                    let key = wheel.pop_before(Time::MAX);
                    assert_eq!(key, heap.pop_before(Time::MAX), "seed {seed}, round {round}");
                    now = key.map_or(now, Key::time);
                }
                for crowd in 1..=stream.below(5) as u32 {
                    let distance = 1 << stream.below(38);
                    for rank in 0..stream.below(900) as u32 {
                        let time = now + distance + stream.below(distance);
                        let key = Key::new(time, Class::Attempt, rank, crowd);
                        wheel.push(key);
                        heap.push(key);
                    }
                }
                for _ in 0..stream.below(2_000) {
                    let key = wheel.pop_before(Time::MAX);
                    assert_eq!(key, heap.pop_before(Time::MAX), "seed {seed}, round {round}");
                    now = key.map_or(now, Key::time);
                }
            }
        }
    }

    #[test]
    fn chunks_are_used_again() {
        let mut wheel = Wheel::with_capacity(0);
        for round in 0..50 {
            (0..2_000).for_each(|rank| wheel.push(at(round * 1_000_000_000 + 5_000_000, rank)));
            while wheel.pop_before(Time::MAX).is_some() {}
        }
        assert!(wheel.chunks.len() < 3 * 2_000 / CHUNK, "{} chunks", wheel.chunks.len());
    }
}
