//! Load per window: aligned bins and the sliding peak.

use crate::units::Time;

/// Arrivals counted in the aligned windows [i·w, (i+1)·w), from t = 0, and the most of them in any
/// window [t, t + w), t anywhere.
///
/// A sliding window reaches over two aligned ones at most. So it is looked for when an aligned one is over,
/// and only if that and the one before have more arrivals together than the peak so far.
#[derive(Clone, Debug)]
pub struct Load {
    window: u64,
    /// Arrivals of the windows that are over.
    counts: Vec<u32>,
    /// The number of the current window, its end, and its arrivals.
    index: usize,
    end: Time,
    here: u32,
    /// Instants of the current window with their counts, and those of the window before; a herd is
    /// one entry.
    instants: Vec<(Time, u32)>,
    before: Vec<(Time, u32)>,
    sliding: u32,
}

impl Load {
    /// Windows of `window` nanoseconds.
    pub fn new(window: u64) -> Load {
        Load {
            window,
            counts: Vec::new(),
            index: 0,
            end: window,
            here: 0,
            instants: Vec::new(),
            before: Vec::new(),
            sliding: 0,
        }
    }

    /// Counts one arrival; `now` never goes back.
    #[inline]
    pub fn add(&mut self, now: Time) {
        if now >= self.end {
            self.turn_to(now);
        }
        self.here += 1;
        match self.instants.last_mut() {
            Some((at, count)) if *at == now => *count += 1,
            _ => self.instants.push((now, 1)),
        }
    }

    /// The window of `now` becomes the current one.
    #[inline(never)]
    fn turn_to(&mut self, now: Time) {
        self.close();
        std::mem::swap(&mut self.before, &mut self.instants);
        self.instants.clear();
        let index = now / self.window;
        if index > self.index as u64 + 1 {
            self.before.clear();
        }
        self.index = index as usize;
        self.end = (index + 1).saturating_mul(self.window);
    }

    /// The current window is over; there are no more arrivals in it.
    pub fn close(&mut self) {
        if self.here == 0 {
            return;
        }
        let before = self.counts.get(self.index.wrapping_sub(1)).copied().unwrap_or(0);
        if before.saturating_add(self.here) > self.sliding {
            self.slide(before);
        }
        self.counts.resize(self.index, 0);
        self.counts.push(self.here);
        self.here = 0;
    }

    /// Looks for the sliding peak among the windows that end in the current one, where `inside` arrivals are
    /// those of the window before.
    fn slide(&mut self, mut inside: u32) {
        let mut first = self.before.iter().chain(&self.instants).peekable();
        for &(now, count) in &self.instants {
            inside += count;
            while let Some((_, gone)) = first.next_if(|(at, _)| at + self.window <= now) {
                inside -= gone;
            }
            self.sliding = self.sliding.max(inside);
        }
    }

    /// The fullest aligned window; [`Load::close`] comes first.
    pub fn peak(&self) -> u32 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// The fullest window anywhere; [`Load::close`] comes first.
    pub fn peak_sliding(&self) -> u32 {
        self.sliding
    }

    /// All arrivals; [`Load::close`] comes first.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&n| u64::from(n)).sum()
    }

    /// The counts, from the first window to the last one that is not empty; [`Load::close`] comes
    /// first.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn load(window: u64, times: &[Time]) -> Load {
        let mut load = Load::new(window);
        times.iter().for_each(|&t| load.add(t));
        load.close();
        load
    }

    #[test]
    fn windows_are_half_open() {
        let load = load(100, &[0, 99, 100, 199, 199, 450]);
        assert_eq!(load.counts(), [2, 3, 0, 0, 1]);
        // [100, 200) holds three; [99, 199) holds 99 and 100 only.
        assert_eq!(load.peak_sliding(), 3);
    }

    proptest! {
        #[test]
        fn the_sliding_peak_is_that_of_all_windows(mut times in prop::collection::vec(0u64..1_000, 1..80)) {
            times.sort_unstable();
            let load = load(50, &times);
            let inside = |start: u64| times.iter().filter(|&&t| t >= start && t < start + 50).count();
            let brute = times.iter().map(|&t| inside(t)).max().unwrap();
            prop_assert_eq!(load.peak_sliding() as usize, brute);
            let aligned = (0..20).map(|i| inside(50 * i)).max().unwrap();
            prop_assert_eq!(load.peak() as usize, aligned);
            prop_assert_eq!(load.total() as usize, times.len());
        }
    }
}
