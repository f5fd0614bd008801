//! Streams that break off after the answer has begun with status 200.

use serde::{Deserialize, Serialize};

use crate::rng::Streams;

/// Each streamed answer breaks off with probability `share`. What has been made of it is billed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamError {
    /// How many, 0 to 1.
    pub share: f64,
    /// Before the first token or after it.
    pub when: When,
    /// What the client sees.
    #[serde(default)]
    pub how: How,
}

/// Where a stream breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// When the first token would come.
    BeforeFirstToken,
    /// Uniformly between the first token and the last.
    AfterFirstToken,
}

/// What the client sees of a break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// An error event, or the end of the connection.
    #[default]
    Error,
    /// Nothing: the connection stays open and nothing more comes.
    Silence,
}

/// Where and how a stream breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Break {
    /// The part of the tokens that came before it; None when not even the first one did.
    pub part: Option<f64>,
    /// What the client sees.
    pub how: How,
}

impl StreamError {
    /// Whether this fault, number `fault` of the provider, breaks the answer to the attempt that
    /// `request` sent at `step`.
    pub fn strikes(
        &self,
        (fault, request, step): (u32, u32, u32),
        streams: &Streams,
    ) -> Option<Break> {
        let mut stream = streams.fault(fault, request, step);
        if stream.unit() >= self.share {
            return None;
        }
        let part = match self.when {
            When::BeforeFirstToken => None,
            When::AfterFirstToken => Some(stream.unit()),
        };
        Some(Break { part, how: self.how })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_streams_breaks_anywhere_after_the_first_token() {
        let error = StreamError { share: 0.25, when: When::AfterFirstToken, how: How::Error };
        let streams = Streams::new(1, 0);
        let breaks: Vec<Break> =
            (0..40_000).filter_map(|r| error.strikes((0, r, 1), &streams)).collect();
        // 10,000 expected, standard deviation 86.6; the mean of the parts 0.5, its error 0.0029.
        assert!((breaks.len() as f64 - 10_000.0).abs() < 4.0 * 86.6);
        let mean = breaks.iter().filter_map(|b| b.part).sum::<f64>() / breaks.len() as f64;
        assert!((mean - 0.5).abs() < 4.0 * 0.0029);
        let before = StreamError { when: When::BeforeFirstToken, ..error };
        assert!(
            (0..1_000)
                .filter_map(|r| before.strikes((0, r, 1), &streams))
                .all(|b| b.part.is_none())
        );
    }
}
