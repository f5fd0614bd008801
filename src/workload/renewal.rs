//! A stream with a law of gaps, at one rate or at rates that change in steps.

use serde::{Deserialize, Serialize};

use super::{Curve, Gaps};
use crate::units::{Rate, Span};

/// A renewal stream: independent gaps with one law, measured by the area under the rate. The first gap is
/// what is left of one that began earlier, so the mean number of requests is that area.
///
/// At one rate that is the renewal process. Under a rate that changes, the stream is one at rate 1
/// whose clock runs at the rate: with exponential gaps a Poisson stream, with others bursty or regular
/// at every load (M. Berman, "Inhomogeneous and modulated gamma processes", Biometrika 68 (1981)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Renewal {
    /// One rate; this or `rates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How long which rate holds, one after the other, such as `[["10s", "5/s"], ["1min", "0/s"]]`; then
    /// no request comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<(Span, Rate)>>,
    /// The law of gaps; exponential without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Gaps>,
    /// No request comes at or after this instant; the horizon by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

impl Renewal {
    /// The rate by time, with its law of gaps.
    pub fn curve(&self) -> Curve {
        let steps = self.rates.as_deref().unwrap_or_default();
        let lines: Vec<_> = steps.iter().map(|(length, rate)| (*length, *rate, *rate)).collect();
        let curve = Curve::then(&lines, self.rate.unwrap_or(Rate::per_second(0)));
        curve.with_gaps(self.gaps.map(Gaps::sampler).unwrap_or_default())
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let text = match (self.rate, &self.rates) {
            (Some(rate), None) if rate.is_zero() => {
                ("rate", "a rate of 0 brings no request; write a rate above 0/s")
            }
            (None, Some(steps)) if steps.iter().all(|(_, rate)| rate.is_zero()) => {
                ("rates", "no rate is above 0, so no request comes; write one above 0/s")
            }
            (None, None) => (
                "rate",
                "a renewal stream needs a rate, or rates such as [[\"10s\", \"5/s\"], [\"1min\", \"2/s\"]]",
            ),
            (Some(_), Some(_)) => ("rates", "there are a rate and rates; keep one of them"),
            _ => {
                let problem = self.gaps.and_then(Gaps::problem);
                return problem.map(|text| ("gaps", text));
            }
        };
        Some((text.0, text.1.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::NANOS_PER_SECOND;

    fn renewal(text: &str) -> Renewal {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn steps_are_rectangles_and_then_nothing() {
        let steps = renewal("rates = [[\"2s\", \"3/s\"], [\"1s\", \"0/s\"], [\"4s\", \"0.5/s\"]]");
        assert_eq!(steps.problem(), None);
        let expected = |s: u64| steps.curve().expected(s * NANOS_PER_SECOND);
        for (s, area) in [(1, 3.0), (2, 6.0), (3, 6.0), (5, 7.0), (7, 8.0), (100, 8.0)] {
            assert!((expected(s) - area).abs() < 1e-9, "{s}");
        }
    }

    #[test]
    fn a_stream_has_one_way_to_its_rate() {
        for (text, key) in [
            ("", "rate"),
            ("rate = \"0/s\"", "rate"),
            ("rates = []", "rates"),
            ("rates = [[\"1s\", \"0/s\"]]", "rates"),
            ("rate = \"1/s\"\nrates = [[\"1s\", \"1/s\"]]", "rates"),
            ("rate = \"1/s\"\ngaps = { gamma = { cv = 0.0 } }", "gaps"),
        ] {
            assert_eq!(renewal(text).problem().map(|(key, _)| key), Some(key), "{text}");
        }
    }
}
