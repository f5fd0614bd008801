//! Streams that break off after the answer has begun with status 200.

use serde::{Deserialize, Serialize};

use super::no_share;
use crate::math::ln_1p;
use crate::rng::Streams;

/// Streamed answers break off: a share of them, or any of them with a hazard at every token.
/// Service ends there; input and the tokens made so far are billed. Needs `request.stream`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamError {
    /// The probability that an answer breaks off, 0 to 1; this and `when`, or `per_token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub share: Option<f64>,
    /// Where those break.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// The probability that a token is not delivered and nothing after it, 0 to 1: n tokens are
    /// whole with probability (1 - `per_token`)^n, so that long answers break more often than short
    /// ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub per_token: Option<f64>,
    /// What the client sees.
    #[serde(default)]
    pub how: How,
}

/// Where a stream breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// When the first token would come.
    BeforeFirstToken,
    /// Uniformly between the first token and the last.
    AfterFirstToken,
}

/// What the client sees of a break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let one_kind = "write share and when, or per_token alone";
        match (self.share, self.when, self.per_token) {
            (Some(share), Some(_), None) => no_share(share),
            (None, None, Some(hazard)) => {
                let text = || format!("per_token = {hazard} is out of range; write 0 to 1");
                (!(0.0..=1.0).contains(&hazard)).then(|| ("per_token", text()))
            }
            (Some(_), None, None) => Some((
                "when",
                "the key `when` is missing; write \"before_first_token\" or \"after_first_token\""
                    .to_owned(),
            )),
            (Some(_), _, Some(_)) => {
                Some(("per_token", format!("share is written too; {one_kind}")))
            }
            (None, Some(_), _) | (None, None, None) => {
                Some(("share", format!("which streams break is not said; {one_kind}")))
            }
        }
    }

    /// Whether this fault, number `fault` of the provider, breaks the answer to the attempt that
    /// `request` sent at `step`; its tokens are asked for when they matter.
    pub fn strikes(
        &self,
        (fault, request, step): (u32, u32, u32),
        streams: &Streams,
        tokens: impl FnOnce() -> u64,
    ) -> Option<Break> {
        let mut stream = streams.fault(fault, request, step);
        let how = self.how;
        if let Some(hazard) = self.per_token {
            return broken_at(delivered(hazard, stream.unit()), tokens(), how);
        }
        if stream.unit() >= self.share.unwrap_or(0.0) {
            return None;
        }
        let part = match self.when {
            Some(When::AfterFirstToken) => Some(stream.unit()),
            Some(When::BeforeFirstToken) | None => None,
        };
        Some(Break { part, how })
    }
}

/// The tokens that come before one that does not: geometric, by inversion of `unit`.
fn delivered(hazard: f64, unit: f64) -> f64 {
    if hazard <= 0.0 { f64::INFINITY } else { (ln_1p(-unit) / ln_1p(-hazard)).floor() }
}

/// An answer of so many tokens that breaks after `delivered` of them, in the middle of the next one,
/// if it is that long.
fn broken_at(delivered: f64, tokens: u64, how: How) -> Option<Break> {
    let part = (delivered > 0.0).then(|| (delivered + 0.5) / tokens as f64);
    (delivered < tokens as f64).then_some(Break { part, how })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_streams_breaks_anywhere_after_the_first_token() {
        let error = StreamError {
            share: Some(0.25),
            when: Some(When::AfterFirstToken),
            per_token: None,
            how: How::Error,
        };
        let streams = Streams::new(1, 0);
        let breaks: Vec<Break> =
            (0..40_000).filter_map(|r| error.strikes((0, r, 1), &streams, || 100)).collect();
        // 10,000 expected, standard deviation 86.6; the mean of the parts 0.5, its error 0.0029.
        assert!((breaks.len() as f64 - 10_000.0).abs() < 4.0 * 86.6);
        let mean = breaks.iter().filter_map(|b| b.part).sum::<f64>() / breaks.len() as f64;
        assert!((mean - 0.5).abs() < 4.0 * 0.0029);
        let before = StreamError { when: Some(When::BeforeFirstToken), ..error };
        assert!(
            (0..1_000)
                .filter_map(|r| before.strikes((0, r, 1), &streams, || 100))
                .all(|b| b.part.is_none())
        );
    }

    #[test]
    fn every_token_breaks_the_answer_with_the_same_probability() {
        assert_eq!(delivered(0.0, 0.999), f64::INFINITY);
        assert_eq!([0.0, 0.5].map(|unit| delivered(1.0, unit)), [0.0; 2]);
        // The first token is missing with probability 0.1, the second one with 0.1 · 0.9.
        assert_eq!([0.09, 0.11, 0.18, 0.2].map(|unit| delivered(0.1, unit)), [0.0, 1.0, 1.0, 2.0]);
        assert_eq!(broken_at(5.0, 5, How::Error), None, "all of them came");
        assert_eq!(broken_at(4.0, 5, How::Error).unwrap().part, Some(0.9));
        assert_eq!(broken_at(0.0, 5, How::Error).unwrap().part, None);
    }
}
