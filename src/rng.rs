//! Random numbers as a function of what they are for.
//!
//! Every draw is `philox(key(master seed, replication), (draw, purpose, entity, attempt or step))`:
//! nothing is stored and nothing depends on the order of events. Adding a client, a policy or a
//! metric moves nobody else's numbers, and policies compared under one seed share them (common
//! random numbers).
//!
//! Generator: Philox4x32-10, Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
//! 1, 2, 3", SC'11, <https://doi.org/10.1145/2063384.2063405>.

use std::convert::Infallible;

use rand::TryRng;

/// What a random number is for. The value is part of the stream's address: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Time between two arrivals, or the place of an arrival inside a spread burst.
    Arrival = 1,
    /// Input and output tokens of a request.
    Tokens = 2,
    /// Service time of an attempt.
    Service = 3,
    /// Order among equals at one instant.
    Rank = 4,
    /// The streams of a group, by its name.
    Group = 5,
    /// How long a breaker stays open.
    Breaker = 6,
    /// An attempt's way through the network.
    WayThere = 7,
    /// The way back of what is said to it.
    WayBack = 8,
    /// The entry of the answer cache that a request asks for.
    CacheEntry = 9,
    /// The cells of a sweep that are drawn; of replication 0.
    Sample = 10,
    /// Which client a request belongs to.
    Client = 20,
    /// How much a client sends, against the others.
    Weight = 21,
    /// Whether a client throttles an attempt; the layer's number is added.
    Throttle = 32,
    /// Wait before a retry; the layer's number is added, so layers draw apart.
    Backoff = 64,
    /// Whether a fault strikes an attempt; the fault's number is added.
    Fault = 128,
    /// Whether an operator's action concerns an attempt; the action's number is added.
    Action = 1 << 16,
}

/// All streams of one run.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    key: [u32; 2],
}

impl Streams {
    /// The streams of replication `replication` under `seed`.
    pub fn new(seed: u64, replication: u32) -> Streams {
        let block = philox([replication, 0, 0, 0], [seed as u32, (seed >> 32) as u32]);
        Streams { key: [block[0], block[1]] }
    }

    /// The streams of the group called `name`: they depend on nothing else about the group, so
    /// that a group more or less moves nobody's numbers.
    pub fn of_group(&self, name: &str) -> Streams {
        let mut key = self.key;
        for chunk in name.as_bytes().chunks(12) {
            let mut bytes = [0; 12];
            bytes[..chunk.len()].copy_from_slice(chunk);
            let word =
                |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
            let block = philox([word(0), Purpose::Group as u32, word(4), word(8)], key);
            key = [block[0], block[1]];
        }
        Streams { key }
    }

    /// The streams of the breakers of a layer called `name`.
    pub fn of_breakers(&self, name: &str) -> Streams {
        // No group can be called so.
        self.of_group(&format!("breakers of {name}"))
    }

    /// The stream of `entity`'s `attempt` for `purpose`.
    #[inline]
    pub fn stream(&self, purpose: Purpose, entity: u32, attempt: u32) -> Stream {
        self.at(purpose as u32, entity, attempt)
    }

    /// The stream of the wait that layer number `layer` draws when `entity` is at `step`: every
    /// change of state has its own, also when nothing is sent between two waits.
    #[inline]
    pub fn backoff(&self, layer: u32, entity: u32, step: u32) -> Stream {
        self.at(Purpose::Backoff as u32 + layer, entity, step)
    }

    /// The stream by which layer number `layer` throttles `entity` at `step`.
    #[inline]
    pub fn throttle(&self, layer: u32, entity: u32, step: u32) -> Stream {
        self.at(Purpose::Throttle as u32 + layer, entity, step)
    }

    /// The stream by which fault number `fault` strikes `attempt` of `entity`.
    #[inline]
    pub fn fault(&self, fault: u32, entity: u32, attempt: u32) -> Stream {
        self.at(Purpose::Fault as u32 + fault, entity, attempt)
    }

    /// The stream by which action number `action` concerns the attempt that `entity` sent at
    /// `step`.
    #[inline]
    pub fn action(&self, action: u32, entity: u32, step: u32) -> Stream {
        self.at(Purpose::Action as u32 + action, entity, step)
    }

    #[inline]
    fn at(&self, purpose: u32, entity: u32, attempt: u32) -> Stream {
        Stream { key: self.key, counter: [0, purpose, entity, attempt], spare: None }
    }
}

/// One stream of random numbers, offered through `rand`'s traits.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    spare: Option<u64>,
}

impl Stream {
    /// The next 64 random bits. One Philox block serves two draws.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        match self.spare.take() {
            Some(spare) => spare,
            None => self.draw(),
        }
    }

    /// The first half of the next block; the second one is kept.
    #[inline(always)]
    fn draw(&mut self) -> u64 {
        let block = philox(self.counter, self.key);
        self.counter[0] = self.counter[0].wrapping_add(1);
        self.spare = Some(u64::from(block[2]) | u64::from(block[3]) << 32);
        u64::from(block[0]) | u64::from(block[1]) << 32
    }

    /// A uniform real number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A uniform integer in [0, `bound`); 0 when `bound` is 0.
    ///
    /// Multiply-shift: the bias is below `bound` / 2^64, for nanoseconds unmeasurably small.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.bits() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.bits().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// A seeded order among requests, so that low numbers have no advantage at one instant.
///
/// A request has a *number* (random streams follow it), a *rank* (its turn among equals) and a
/// *place* in the columns of the model. A herd of known size is laid out by rank, so that a wave
/// walks through memory in order; a stream is laid out as it comes.
#[derive(Clone, Copy, Debug)]
pub enum Ranks {
    /// Place = rank; the numbers are [`shuffled`] over the places.
    Herd,
    /// Place = number; the rank is a bijection of it.
    Stream {
        /// Seed of the bijection.
        mask: u32,
    },
    /// A stream that leaves room for a group's number below the rank: places and ranks have
    /// [`Ranks::MEMBER_BITS`] bits.
    Member {
        /// Seed of the bijection.
        mask: u32,
    },
}

/// Odd multipliers of the bijection and their inverses modulo 2^32 (lowbias32, Wellons 2018,
/// <https://nullprogram.com/blog/2018/07/31/>).
const MIX: [u32; 2] = [0x7feb_352d, 0x846c_a68b];
const UNMIX: [u32; 2] = [0x1d69_e2a5, 0x4302_1123];

/// The bits of a member's place, and half their number: shifting by half twice leaves nothing,
/// so that `x ^ (x >> HALF)` undoes itself.
const MEMBER_MASK: u32 = (1 << Ranks::MEMBER_BITS) - 1;
const HALF: u32 = Ranks::MEMBER_BITS / 2;

/// The numbers of a herd of `count` requests, by place.
pub fn shuffled(streams: &Streams, count: u32) -> Vec<u32> {
    let mut stream = streams.stream(Purpose::Rank, 0, 0);
    let mut numbers: Vec<u32> = (0..count).collect();
    // Fisher and Yates, as Durstenfeld 1964 has it.
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, stream.below(last as u64 + 1) as usize);
    }
    numbers
}

impl Ranks {
    /// The order of a stream of requests.
    pub fn stream(streams: &Streams) -> Ranks {
        Ranks::Stream { mask: streams.stream(Purpose::Rank, 0, 0).bits() as u32 }
    }

    /// Bits of a place and of a rank in one of several groups.
    pub const MEMBER_BITS: u32 = 26;

    /// The order of a group among several: that of its own requests depends on its streams only.
    pub fn member(streams: &Streams) -> Ranks {
        let bits = streams.stream(Purpose::Rank, 0, 0).bits() as u32;
        Ranks::Member { mask: bits & MEMBER_MASK }
    }

    /// The rank of the request at `place`.
    #[inline]
    pub fn rank(&self, place: u32) -> u32 {
        match self {
            Ranks::Herd => place,
            Ranks::Stream { mask } => {
                let mut x = place ^ mask;
                x ^= x >> 16;
                x = x.wrapping_mul(MIX[0]);
                x ^= x >> 16;
                x = x.wrapping_mul(MIX[1]);
                x ^ (x >> 16)
            }
            Ranks::Member { mask } => {
                let mut x = place ^ mask;
                x ^= x >> HALF;
                x = x.wrapping_mul(MIX[0]) & MEMBER_MASK;
                x ^= x >> HALF;
                x = x.wrapping_mul(MIX[1]) & MEMBER_MASK;
                x ^ (x >> HALF)
            }
        }
    }

    /// The place of the request with `rank`: the inverse of [`Ranks::rank`].
    #[inline]
    pub fn place(&self, rank: u32) -> u32 {
        match self {
            Ranks::Herd => rank,
            Ranks::Stream { mask } => {
                let mut x = rank ^ (rank >> 16);
                x = x.wrapping_mul(UNMIX[1]);
                x ^= x >> 16;
                x = x.wrapping_mul(UNMIX[0]);
                x ^= x >> 16;
                x ^ mask
            }
            Ranks::Member { mask } => {
                let mut x = rank ^ (rank >> HALF);
                x = x.wrapping_mul(UNMIX[1]) & MEMBER_MASK;
                x ^= x >> HALF;
                x = x.wrapping_mul(UNMIX[0]) & MEMBER_MASK;
                x ^= x >> HALF;
                x ^ mask
            }
        }
    }
}

/// Philox4x32-10: 128 random bits for a counter under a key.
#[inline]
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
    #[test]
    fn philox_gives_the_published_known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn multipliers_have_their_inverses() {
        for (m, u) in MIX.iter().zip(UNMIX) {
            assert_eq!(m.wrapping_mul(u), 1, "{m:#x}");
        }
    }

    #[test]
    fn ranks_of_a_stream_are_a_bijection() {
        let ranks = Ranks::stream(&Streams::new(7, 3));
        for place in (0..2_000).chain([u32::MAX, u32::MAX - 1, 1 << 31]) {
            assert_eq!(ranks.place(ranks.rank(place)), place);
        }
    }

    #[test]
    fn ranks_of_a_member_are_a_bijection_of_its_bits() {
        let ranks = Ranks::member(&Streams::new(7, 3).of_group("batch"));
        for place in (0..2_000).chain([MEMBER_MASK, MEMBER_MASK - 1, 1 << 25]) {
            assert!(ranks.rank(place) <= MEMBER_MASK);
            assert_eq!(ranks.place(ranks.rank(place)), place);
        }
    }

    /// Chi-square over which of 20 members of either of two groups has the least rank; 39
    /// degrees of freedom, 99.9 % point 72.05.
    #[test]
    fn no_member_and_no_group_is_first_more_often() {
        let mut first = [0u32; 40];
        for seed in 0..40_000 {
            let streams = Streams::new(seed, 0);
            let of = |name| Ranks::member(&streams.of_group(name));
            let (one, two) = (of("one"), of("two"));
            let rank = |i: usize| if i < 20 { one.rank(i as u32) } else { two.rank(i as u32 - 20) };
            let winner = (0..40).min_by_key(|&i| rank(i)).unwrap();
            first[winner] += 1;
        }
        let off = |n: u32| (f64::from(n) - 1_000.0) * (f64::from(n) - 1_000.0) / 1_000.0;
        let chi: f64 = first.iter().map(|&n| off(n)).sum();
        assert!(chi < 72.05, "{chi}");
    }

    #[test]
    fn numbers_of_a_herd_are_a_permutation() {
        for count in [1, 2, 3, 5, 40, 1_000, 1_024, 1_025] {
            let mut numbers = shuffled(&Streams::new(7, count), count);
            numbers.sort_unstable();
            assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        }
    }

    /// Over seeds every client is as often first; chi-square with 39 degrees of freedom, 99.9 %
    /// point 72.05.
    #[test]
    fn nobody_is_first_more_often() {
        let mut first = [0u32; 40];
        for seed in 0..40_000 {
            first[shuffled(&Streams::new(seed, 0), 40)[0] as usize] += 1;
        }
        let off = |n: u32| (f64::from(n) - 1_000.0) * (f64::from(n) - 1_000.0) / 1_000.0;
        let chi: f64 = first.iter().map(|&n| off(n)).sum();
        assert!(chi < 72.05, "{chi}");
    }

    #[test]
    fn streams_differ_in_every_part_of_their_address() {
        let here = Streams::new(1, 0);
        let first = |mut s: Stream| s.bits();
        let base = first(here.stream(Purpose::Service, 5, 1));
        assert_eq!(base, first(here.stream(Purpose::Service, 5, 1)));
        for other in [
            here.stream(Purpose::Tokens, 5, 1),
            here.stream(Purpose::Service, 6, 1),
            here.stream(Purpose::Service, 5, 2),
            here.backoff(0, 5, 1),
            here.backoff(1, 5, 1),
            here.fault(0, 5, 1),
            here.fault(1, 5, 1),
            Streams::new(1, 1).stream(Purpose::Service, 5, 1),
            Streams::new(2, 0).stream(Purpose::Service, 5, 1),
            here.of_group("a").stream(Purpose::Service, 5, 1),
            here.of_group("b").stream(Purpose::Service, 5, 1),
            here.of_group("a-name-longer-than-a-block").stream(Purpose::Service, 5, 1),
        ] {
            assert_ne!(base, first(other));
        }
    }

    /// Chi-square with 100 cells over first draws of 10^5 streams: 99.9 % point of 99 degrees
    /// of freedom is 148.2.
    #[test]
    fn first_draws_of_many_streams_are_uniform() {
        let streams = Streams::new(0x5eed, 0);
        let mut cells = [0u32; 100];
        for entity in 0..100_000 {
            cells[streams.stream(Purpose::Service, entity, 1).below(100) as usize] += 1;
        }
        let chi: f64 = cells.iter().map(|&n| (f64::from(n) - 1_000.0).powi(2) / 1_000.0).sum();
        assert!(chi < 148.2, "{chi}");
    }
}
