//! The network between the clients of a group and the provider.

use serde::{Deserialize, Serialize};

use crate::dist::{Distribution, Sampler};
use crate::rng::{Purpose, Stream, Streams};
use crate::units::Span;

/// The network to the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// A duration or a law, drawn anew for each way of each attempt: from the client to the
    /// provider, and back for all that is said to an attempt (so the parts of a streamed answer
    /// keep their order).
    pub latency: Distribution<Span>,
    /// Share of attempts, and again of what comes back, that is lost, 0 to 1; a client hears
    /// nothing and waits until a limit of time. Answers that get lost are billed.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub loss: f64,
}

impl Default for Network {
    fn default() -> Network {
        Network { latency: Distribution::Constant(Span::ZERO), loss: 0.0 }
    }
}

impl Network {
    /// The network made ready to run; None when it does nothing.
    pub fn path(&self) -> Option<Path> {
        let idle = self.latency == Distribution::Constant(Span::ZERO) && self.loss == 0.0;
        (!idle).then(|| Path { latency: self.latency.sampler(), loss: self.loss })
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        (!(0.0..=1.0).contains(&self.loss))
            .then(|| ("loss", format!("a loss of {} is out of range; write 0 to 1", self.loss)))
    }
}

/// A network ready to run.
#[derive(Clone, Debug)]
pub struct Path {
    latency: Sampler,
    loss: f64,
}

/// What becomes of something that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It arrives so many nanoseconds later.
    Takes(u64),
    /// It never arrives.
    Lost,
}

impl Path {
    /// The way to the provider of what request number `number` sends at `step`.
    pub fn there(&self, streams: &Streams, number: u32, step: u32) -> Way {
        self.way(streams.stream(Purpose::WayThere, number, step))
    }

    /// The way back of all that is said to the attempt sent at `step`: its parts do not overtake
    /// each other.
    pub fn back(&self, streams: &Streams, number: u32, step: u32) -> Way {
        self.way(streams.stream(Purpose::WayBack, number, step))
    }

    fn way(&self, mut stream: Stream) -> Way {
        if stream.unit() < self.loss {
            return Way::Lost;
        }
        Way::Takes(self.latency.sample(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_without_latency_and_loss_is_none() {
        assert!(Network::default().path().is_none());
        assert!(Network { loss: 0.1, ..Network::default() }.path().is_some());
    }

    #[test]
    fn ways_are_lost_as_often_as_stated_and_independently() {
        let path = Network { loss: 0.25, ..Network::default() }.path().unwrap();
        let streams = Streams::new(1, 0);
        let n = 40_000;
        let lost = |i: u32| {
            let there = path.there(&streams, i, 1) == Way::Lost;
            (there, path.back(&streams, i, 1) == Way::Lost)
        };
        let count = |of: fn((bool, bool)) -> bool| (0..n).filter(|i| of(lost(*i))).count() as f64;
        // Within four standard errors of n·p.
        for (found, share) in
            [(count(|l| l.0), 0.25), (count(|l| l.1), 0.25), (count(|l| l.0 && l.1), 0.0625)]
        {
            let error = (f64::from(n) * share * (1.0 - share)).sqrt();
            assert!((found - f64::from(n) * share).abs() < 4.0 * error, "{found} of {share}");
        }
    }

    #[test]
    fn a_loss_out_of_range_is_named() {
        let problem = |loss| Network { loss, ..Network::default() }.problem().map(|(key, _)| key);
        assert_eq!([problem(-0.1), problem(1.1), problem(f64::NAN)], [Some("loss"); 3]);
        assert_eq!([problem(0.0), problem(1.0)], [None; 2]);
    }
}
