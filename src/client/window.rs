//! Two counts over a sliding window of time, kept in slices.

use crate::units::{Span, Time};

/// Counts of two kinds of event in the last while. The window moves by whole slices, aligned to t = 0: it covers
/// the slice under way and those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlidingCounts {
    width: u64,
    /// The number of the slice under way.
    newest: u64,
    slices: Box<[[u64; 2]]>,
    sums: [u64; 2],
}

impl SlidingCounts {
    /// An empty window of `length` in so many slices, at least one.
    pub fn new(length: Span, slices: u32) -> SlidingCounts {
        let slices = slices.max(1);
        SlidingCounts {
            width: (length.nanos() / u64::from(slices)).max(1),
            newest: 0,
            slices: vec![[0; 2]; slices as usize].into(),
            sums: [0; 2],
        }
    }

    /// Counts `amount` of kind `kind` (0 or 1) at `now`.
    #[inline]
    pub fn add(&mut self, now: Time, kind: usize, amount: u64) {
        self.advance(now);
        let at = self.place(self.newest);
        self.slices[at][kind] += amount;
        self.sums[kind] += amount;
    }

    /// The counts in the window at `now`.
    #[inline]
    pub fn sums(&mut self, now: Time) -> [u64; 2] {
        self.advance(now);
        self.sums
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slices.fill([0; 2]);
        self.sums = [0; 2];
    }

    fn place(&self, slice: u64) -> usize {
        (slice % self.slices.len() as u64) as usize
    }

    fn advance(&mut self, now: Time) {
        let current = now / self.width;
        if current <= self.newest {
            return;
        }
        let passed = (current - self.newest).min(self.slices.len() as u64);
        for slice in current + 1 - passed..=current {
            let at = self.place(slice);
            let old = std::mem::take(&mut self.slices[at]);
            self.sums = [self.sums[0] - old[0], self.sums[1] - old[1]];
        }
        self.newest = current;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_leave_one_by_one() {
        let mut window = SlidingCounts::new(Span::from_nanos(10), 5);
        window.add(0, 0, 1);
        window.add(3, 0, 10);
        window.add(3, 1, 7);
        window.add(9, 0, 100);
        assert_eq!(window.sums(9), [111, 7]);
        assert_eq!(window.sums(10), [110, 7]);
        assert_eq!(window.sums(12), [100, 0]);
        assert_eq!(window.sums(17), [100, 0]);
        assert_eq!(window.sums(18), [0, 0]);
        window.add(1_000_000, 1, 5);
        assert_eq!(window.sums(1_000_009), [0, 5]);
        window.clear();
        assert_eq!(window.sums(1_000_009), [0, 0]);
    }
}
