//! Pacing: attempts are sent at a rate, fixed or found out by the client itself.
//!
//! A bucket of tokens is refilled at the rate; an attempt takes one, and waits in line where there is none.
//! `aimd` adds to the rate with every success and cuts it when the provider throttles (Chiu and Jain 1989).
//! `cubic` is the adaptive mode of botocore. A [`Pacer`] is the state of one.

mod aimd;
mod cubic;
mod pacer;

pub use aimd::Aimd;
pub use cubic::Cubic;
pub use pacer::Pacer;

use serde::{Deserialize, Serialize};

use super::Scope;
use crate::units::Rate;

/// The rate at which attempts are sent. An attempt that finds no token waits in line, first come
/// first served, with the layer's permit in hand, as long as deadlines and outer timeouts let it;
/// the layer's own `timeout` starts when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// A rate that stays.
    Fixed(FixedPace),
    /// A rate that grows by addition and shrinks by multiplication.
    Aimd(Aimd),
    /// botocore's adaptive mode.
    Cubic(Cubic),
}

/// A token bucket with a rate that stays, full at first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FixedPace {
    /// Attempts per time, above 0.
    pub rate: Rate,
    /// Tokens that can be saved up, and are there at first; 1 to 1,000,000.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000000)))]
    pub burst: u32,
    /// What happens to an attempt that finds no token.
    #[serde(default)]
    pub when_empty: WhenEmpty,
    /// Who shares it.
    pub scope: Scope,
}

/// What happens to an attempt that finds no token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhenEmpty {
    /// It waits in line.
    #[default]
    Wait,
    /// It fails at once, like one that a breaker refuses.
    Refuse,
}

fn one() -> u32 {
    1
}

impl Pace {
    /// Who shares it.
    pub fn scope(&self) -> Scope {
        match self {
            Pace::Fixed(rule) => rule.scope,
            Pace::Aimd(rule) => rule.scope,
            Pace::Cubic(rule) => rule.scope,
        }
    }

    /// True when an attempt that finds no token fails.
    pub fn refuses(&self) -> bool {
        matches!(self, Pace::Fixed(FixedPace { when_empty: WhenEmpty::Refuse, .. }))
    }

    /// True when it learns from how attempts end.
    pub fn learns(&self) -> bool {
        !matches!(self, Pace::Fixed(_))
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let no_rate = |key, rate: Rate| {
            let text = format!("a rate of {rate} lets nothing through, ever; write more than 0/s");
            rate.is_zero().then_some((key, text))
        };
        match self {
            Pace::Fixed(rule) => no_rate("rate", rule.rate).or_else(|| {
                (!(1..=1_000_000).contains(&rule.burst)).then(|| {
                    ("burst", format!("burst = {} is out of range; write 1 to 1000000", rule.burst))
                })
            }),
            Pace::Aimd(rule) => no_rate("min", rule.min).or_else(|| rule.problem()),
            Pace::Cubic(_) => None,
        }
    }
}

/// How an attempt ended, as far as a pace learns from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// With an answer.
    Answered,
    /// With a 429.
    Throttled,
    /// With another failure; botocore takes it for no throttling, and `aimd` learns nothing.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_parameters_are_named() {
        let problem = |text: &str| {
            #[derive(Deserialize)]
            struct Layer {
                pace: Pace,
            }
            let layer: Layer = toml::from_str(&format!("pace = {text}")).unwrap();
            layer.pace.problem().map(|(key, _)| key)
        };
        let aimd = |keys: &str| problem(&format!("{{ aimd = {{ {keys}, scope = \"fleet\" }} }}"));
        for (found, key) in [
            (problem("{ fixed = { rate = \"0/s\", scope = \"fleet\" } }"), "rate"),
            (problem("{ fixed = { rate = \"1/s\", burst = 0, scope = \"fleet\" } }"), "burst"),
            (aimd("start = \"1/s\", min = \"0/s\", max = \"2/s\", increase = 1"), "min"),
            (aimd("start = \"1/s\", min = \"3/s\", max = \"2/s\", increase = 1"), "max"),
            (aimd("start = \"9/s\", min = \"1/s\", max = \"2/s\", increase = 1"), "start"),
            (aimd("start = \"1/s\", min = \"1/s\", max = \"2/s\", increase = nan"), "increase"),
            (
                aimd("start = \"1/s\", min = \"1/s\", max = \"2/s\", increase = 1, decrease = 1.0"),
                "decrease",
            ),
        ] {
            assert_eq!(found, Some(key));
        }
    }
}
