//! Fingerprints: one number that changes when anything about a run changes.

/// A running hash of the events of a run: two runs with the same fingerprint had the same
/// trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

/// Odd constant of the multiply-and-rotate mix (the fraction of the golden ratio).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint(GOLDEN)
    }
}

impl Fingerprint {
    /// Takes one word into the hash; the order of words matters.
    #[inline]
    pub fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(GOLDEN).rotate_left(29);
    }

    /// The hash.
    pub fn value(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// FNV-1a of some bytes, 64 bits: names a document, does not protect it.
/// Source: Fowler, Noll, Vo, <http://www.isthe.com/chongo/tech/comp/fnv/>.
pub fn digest(bytes: &[u8]) -> u64 {
    let mut fnv = Fnv::new();
    fnv.add(bytes);
    fnv.value()
}

/// The same of bytes that come by and by.
#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Fnv {
    /// The hash of nothing.
    pub const fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    /// Takes bytes into the hash.
    pub fn add(&mut self, bytes: &[u8]) {
        let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, mix);
    }

    /// The hash.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_content_matter() {
        let of = |words: &[u64]| {
            let mut fingerprint = Fingerprint::default();
            words.iter().for_each(|&word| fingerprint.add(word));
            fingerprint.value()
        };
        assert_eq!(of(&[1, 2]), of(&[1, 2]));
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[1]), of(&[1, 0]));
    }

    #[test]
    fn digest_gives_the_published_values() {
        assert_eq!(digest(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
