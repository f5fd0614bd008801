//! The hold model of an event list: n events are pending; the next is taken and put back later.
//!
//! D. W. Jones, "An empirical comparison of priority-queue and event-set implementations", CACM 29
//! (1986), <https://doi.org/10.1145/5684.5686>.

use retrylab::engine::{Class, Key, Pending};
use retrylab::rng::{Purpose, Stream, Streams};

/// An event list under the hold model.
pub struct Hold<P> {
    list: P,
    stream: Stream,
    spread: u64,
}

impl<P: Pending> Hold<P> {
    /// `pending` events, each a second and up to `spread` nanoseconds away; a spread of 0 is lockstep.
    pub fn new(pending: u32, spread: u64) -> Hold<P> {
        let stream = Streams::new(42, 0).stream(Purpose::Backoff, 0, 0);
        let list = P::with_capacity(pending as usize);
        let mut hold = Hold { list, stream, spread };
        for rank in 0..pending {
            let delay = hold.delay();
            hold.list.push(Key::new(delay, Class::Attempt, rank, 0));
        }
        hold
    }

    fn delay(&mut self) -> u64 {
        1_000_000_000 + self.stream.below(self.spread)
    }

    /// So many times: takes the next event and puts it back.
    pub fn rounds(&mut self, rounds: u64) {
        for _ in 0..rounds {
            let key = self.list.pop_before(u64::MAX).expect("the list never empties");
            let time = key.time() + self.delay();
            self.list.push(Key::new(time, Class::Attempt, key.rank(), 0));
        }
    }
}
