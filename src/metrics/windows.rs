//! Load per window: aligned bins and the sliding peak.

use std::collections::VecDeque;

use crate::units::Time;

/// Counts in the aligned windows [i·w, (i+1)·w), from t = 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    window: u64,
    counts: Vec<u32>,
}

impl Series {
    /// Windows of `window` nanoseconds.
    pub fn new(window: u64) -> Series {
        Series { window, counts: Vec::new() }
    }

    /// Counts one arrival.
    #[inline]
    pub fn add(&mut self, now: Time) {
        let index = (now / self.window) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// The fullest window.
    pub fn peak(&self) -> u32 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// All arrivals.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&n| u64::from(n)).sum()
    }

    /// The counts, from the first window to the last one that is not empty.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }
}

/// The most arrivals in any window [t, t + w), t anywhere.
#[derive(Clone, Debug)]
pub struct SlidingPeak {
    window: u64,
    /// Instants of the last window with their counts; a herd is one entry.
    recent: VecDeque<(Time, u32)>,
    inside: u32,
    peak: u32,
}

impl SlidingPeak {
    /// Windows of `window` nanoseconds.
    pub fn new(window: u64) -> SlidingPeak {
        SlidingPeak { window, recent: VecDeque::new(), inside: 0, peak: 0 }
    }

    /// Counts one arrival; `now` never goes back.
    #[inline]
    pub fn add(&mut self, now: Time) {
        while let Some(&(at, count)) = self.recent.front()
            && at + self.window <= now
        {
            self.inside -= count;
            self.recent.pop_front();
        }
        match self.recent.back_mut() {
            Some((at, count)) if *at == now => *count += 1,
            _ => self.recent.push_back((now, 1)),
        }
        self.inside += 1;
        self.peak = self.peak.max(self.inside);
    }

    /// The fullest window so far.
    pub fn peak(&self) -> u32 {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn windows_are_half_open() {
        let mut bins = Series::new(100);
        let mut sliding = SlidingPeak::new(100);
        for now in [0, 99, 100, 199, 199] {
            bins.add(now);
            sliding.add(now);
        }
        assert_eq!(bins.counts(), [2, 3]);
        // [100, 200) holds three; [99, 199) holds 99 and 100 only.
        assert_eq!(sliding.peak(), 3);
    }

    proptest! {
        #[test]
        fn the_sliding_peak_is_that_of_all_windows(mut times in prop::collection::vec(0u64..1_000, 1..80)) {
            times.sort_unstable();
            let mut sliding = SlidingPeak::new(50);
            let mut bins = Series::new(50);
            times.iter().for_each(|&t| { sliding.add(t); bins.add(t); });
            let inside = |start: u64| times.iter().filter(|&&t| t >= start && t < start + 50).count();
            let brute = times.iter().map(|&t| inside(t)).max().unwrap();
            prop_assert_eq!(sliding.peak() as usize, brute);
            prop_assert!(sliding.peak() >= bins.peak());
            prop_assert_eq!(bins.total() as usize, times.len());
        }
    }
}
