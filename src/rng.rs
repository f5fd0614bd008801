//! Random numbers as a function of what they are for.
//!
//! Every draw is `philox(key(master seed, replication), (draw, purpose, entity, attempt))`:
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
    /// Whether a fault strikes an attempt.
    Fault = 5,
    /// Wait before a retry; the layer's number is added, so layers draw apart.
    Backoff = 64,
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

    /// The stream of `entity`'s `attempt` for `purpose`.
    #[inline]
    pub fn stream(&self, purpose: Purpose, entity: u32, attempt: u32) -> Stream {
        self.at(purpose as u32, entity, attempt)
    }

    /// The stream of the wait before retry `n` of layer number `layer`, drawn after `attempt` of
    /// `entity`. Both numbers count: an outer layer may run out of time twice while nothing is sent.
    #[inline]
    pub fn backoff(&self, layer: u32, n: u32, entity: u32, attempt: u32) -> Stream {
        let mut stream = self.at(Purpose::Backoff as u32 + layer, entity, attempt);
        stream.counter[0] = n;
        stream
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
    #[inline]
    pub fn bits(&mut self) -> u64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
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

/// A seeded order among entities, so that low numbers have no advantage at one instant.
///
/// A bijection of the 32-bit numbers (two rounds of odd multiplication and xor-shift), so ranks
/// are unique and an entity is found again from its rank.
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    mask: u32,
}

/// Odd multipliers of the bijection and their inverses modulo 2^32.
const MIX: [u32; 2] = [0x7feb_352d, 0x846c_a68b];
const UNMIX: [u32; 2] = [0x1d69_e2a5, 0x4302_1123];

impl Ranks {
    /// The order that belongs to `streams`.
    pub fn new(streams: &Streams) -> Ranks {
        Ranks { mask: streams.stream(Purpose::Rank, 0, 0).bits() as u32 }
    }

    /// The rank of `entity`.
    #[inline]
    pub fn rank(self, entity: u32) -> u32 {
        let mut x = entity ^ self.mask;
        x ^= x >> 16;
        x = x.wrapping_mul(MIX[0]);
        x ^= x >> 16;
        x = x.wrapping_mul(MIX[1]);
        x ^ (x >> 16)
    }

    /// The entity with `rank`: the inverse of [`Ranks::rank`].
    #[inline]
    pub fn entity(self, rank: u32) -> u32 {
        let mut x = rank ^ (rank >> 16);
        x = x.wrapping_mul(UNMIX[1]);
        x ^= x >> 16;
        x = x.wrapping_mul(UNMIX[0]);
        x ^= x >> 16;
        x ^ self.mask
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
    fn ranks_are_a_bijection() {
        let ranks = Ranks::new(&Streams::new(7, 3));
        for entity in (0..2_000).chain([u32::MAX, u32::MAX - 1, 1 << 31]) {
            assert_eq!(ranks.entity(ranks.rank(entity)), entity);
        }
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
            here.backoff(0, 0, 5, 1),
            here.backoff(0, 1, 5, 1),
            here.backoff(1, 0, 5, 1),
            Streams::new(1, 1).stream(Purpose::Service, 5, 1),
            Streams::new(2, 0).stream(Purpose::Service, 5, 1),
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
