//! How long an answer takes.

mod prefill_decode;

pub use prefill_decode::PrefillDecode;

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Tokens;
use crate::dist::{Distribution, Exponential, Lognormal, Normal, Quantiles, Sampler, Uniform};
use crate::rng::{Purpose, Streams};
use crate::units::{LONGEST, Rate, Span};

/// Service time as a scenario states it: a span, a law, or from the tokens of the request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Service {
    /// Independent of the request.
    Drawn(Distribution<Span>),
    /// From the tokens of the answer.
    Tokens {
        /// The parameters.
        tokens: TokenService,
    },
    /// From measured tables.
    PrefillDecode {
        /// The parameters.
        prefill_decode: PrefillDecode,
    },
}

/// Time to first token, then output tokens at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TokenService {
    /// Time to first token.
    pub first: Span,
    /// Output tokens per second of one answer, above 0/s.
    pub rate: Rate,
}

/// Service times that are written as a table with one key.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "ServiceKind"))]
enum Named {
    /// Exponential law.
    Exponential(Exponential<Span>),
    /// Uniform law.
    Uniform(Uniform<Span>),
    /// Lognormal law.
    Lognormal(Lognormal<Span>),
    /// Size of a normal number.
    Normal(Normal<Span>),
    /// Shares of the values that are at most so large, such as `[[0.0, "0s"], [0.5, "20ms"], [1.0, "3s"]]`.
    Quantiles(Quantiles<Span>),
    /// From the tokens of the answer.
    Tokens(TokenService),
    /// From measured tables.
    PrefillDecode(PrefillDecode),
}

impl Default for Service {
    fn default() -> Service {
        Service::Drawn(Distribution::Constant(Span::ZERO))
    }
}

impl Service {
    /// What is wrong with the parameters.
    fn problem(&self) -> Option<String> {
        match self {
            Service::Drawn(distribution) => distribution.problem(),
            Service::Tokens { tokens } => tokens.rate.is_zero().then(|| {
                "tokens: a rate of 0 never finishes an answer; write a rate above 0/s".to_owned()
            }),
            Service::PrefillDecode { prefill_decode } => prefill_decode.problem(),
        }
    }

    /// Mean service time in seconds, given the mean tokens of a request, when `busy` are in
    /// service.
    pub fn mean_s(&self, (input, output): (f64, f64), busy: u32) -> f64 {
        match self {
            Service::Drawn(distribution) => distribution.mean() / 1e9,
            Service::Tokens { tokens } => tokens.first.seconds() + output / tokens.rate.hertz(),
            Service::PrefillDecode { prefill_decode } => {
                prefill_decode.whole(input as u64, output as u64, busy) as f64 / 1e9
            }
        }
    }

    /// Made ready for sampling.
    pub fn sampler(&self) -> ServiceSampler {
        match self {
            Service::Drawn(distribution) => ServiceSampler::Drawn(distribution.sampler()),
            Service::Tokens { tokens } => ServiceSampler::Tokens(*tokens),
            Service::PrefillDecode { prefill_decode } => {
                ServiceSampler::PrefillDecode(prefill_decode.clone())
            }
        }
    }
}

/// Service times of attempts, in nanoseconds.
#[derive(Clone, Debug)]
pub enum ServiceSampler {
    /// One draw per attempt.
    Drawn(Sampler),
    /// Computed from the tokens of the request.
    Tokens(TokenService),
    /// From tables.
    PrefillDecode(PrefillDecode),
}

impl ServiceSampler {
    /// Time to first token in nanoseconds; a drawn service time streams from its start. The
    /// prompt's tokens are asked for when they matter.
    pub fn first(&self, input: impl FnOnce() -> u64) -> u64 {
        match self {
            ServiceSampler::Drawn(_) => 0,
            ServiceSampler::Tokens(t) => t.first.nanos(),
            ServiceSampler::PrefillDecode(tables) => tables.first(input()),
        }
    }

    /// The service time of `attempt` of `request` when `busy` are in service, itself included;
    /// `tokens` are asked for when they matter.
    #[inline]
    pub fn sample(
        &self,
        streams: &Streams,
        request: u32,
        attempt: u32,
        busy: u32,
        tokens: impl FnOnce() -> Tokens,
    ) -> u64 {
        match self {
            ServiceSampler::Drawn(sampler) => {
                sampler.sample(streams.stream(Purpose::Service, request, attempt))
            }
            ServiceSampler::Tokens(t) => {
                let nanos = u128::from(tokens().output) * u128::from(t.rate.period())
                    / u128::from(t.rate.events());
                t.first.nanos() + nanos.min(u128::from(LONGEST)) as u64
            }
            ServiceSampler::PrefillDecode(tables) => {
                let Tokens { input, output, .. } = tokens();
                tables.whole(input, output, busy)
            }
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Service {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Service".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let (span, kind) = (generator.subschema_for::<Span>(), generator.subschema_for::<Named>());
        let what = "How long an answer takes: a duration, a law, or from its tokens.";
        schemars::json_schema!({ "description": what, "anyOf": [span, kind] })
    }
}

impl<'de> Deserialize<'de> for Service {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Service, D::Error> {
        let service = deserializer.deserialize_any(SpanOrKind)?;
        match service.problem() {
            Some(problem) => Err(de::Error::custom(problem)),
            None => Ok(service),
        }
    }
}

/// Accepts a plain span or a table with the name of a kind.
struct SpanOrKind;

impl<'de> Visitor<'de> for SpanOrKind {
    type Value = Service;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration, or one of tokens, prefill_decode, exponential, uniform, lognormal, normal, quantiles as a table")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Service, E> {
        let inner: StrDeserializer<'_, E> = text.into_deserializer();
        Span::deserialize(inner).map(|span| Service::Drawn(Distribution::Constant(span)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Service, E> {
        Err(E::custom(format!(
            "the duration {number} has no unit; write \"{number}s\" or \"{number}ms\""
        )))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Service, A::Error> {
        Ok(match Named::deserialize(MapAccessDeserializer::new(map))? {
            Named::Exponential(law) => Service::Drawn(Distribution::Exponential(law)),
            Named::Uniform(law) => Service::Drawn(Distribution::Uniform(law)),
            Named::Lognormal(law) => Service::Drawn(Distribution::Lognormal(law)),
            Named::Normal(law) => Service::Drawn(Distribution::Normal(law)),
            Named::Quantiles(law) => Service::Drawn(Distribution::Quantiles(law)),
            Named::Tokens(tokens) => Service::Tokens { tokens },
            Named::PrefillDecode(prefill_decode) => Service::PrefillDecode { prefill_decode },
        })
    }
}
