//! Limits that a provider sets to those who call it; beyond one of them the answer is 429.
//!
//! | limit | counts |
//! | --- | --- |
//! | `spend` | dollars of what has been billed |
//! | `concurrency` | attempts at the provider |
//! | `requests` | attempts |
//! | `input_tokens` | prompt tokens, on arrival |
//! | `output_tokens` | tokens of answers: reserved on arrival, settled at the end, or both |
//! | `tokens` | both kinds of tokens |
//! | `growth` | attempts, against those of the window before |
//!
//! An attempt has to fit all of them; the first of this order that it does not fit answers.
//! How vendors count: the Claude API by token buckets that refill continuously
//! (<https://platform.claude.com/docs/en/api/rate-limits>), OpenAI counts failed requests as well
//! and may enforce a minute's limit in shorter periods (help article 5955604), Azure checks
//! requests per minute in windows of 1 or 10 seconds
//! (<https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/quota>), and Bedrock
//! reserves `max_tokens` and settles at the end
//! (<https://docs.aws.amazon.com/bedrock/latest/userguide/quotas-token-burndown.html>).

mod bucket;
mod growth;
mod header;
mod limiter;
mod rate;
mod spend;
mod window;

pub use growth::GrowthLimit;
pub use header::RetryAfterHeader;
pub use limiter::{Caller, Denied, Limiter, Standing};
pub use rate::{Counting, RateLimit, Settle};
pub use spend::SpendCap;

use serde::{Deserialize, Serialize};

use crate::client::Scope;
use crate::units::Span;

/// Limits that an attempt has to fit, all of them; the first that it does not fit, in the order of
/// this list, answers 429. An attempt that is let through and finds no place has taken what it
/// takes, but for its reservation. What is larger than a bucket or a window never fits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The limits of a tier by name; see `retrylab presets`. What is written beside it wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Dollars until nothing more is let through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spend: Option<SpendCap>,
    /// Attempts at the provider at once, in service and waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<ConcurrencyLimit>,
    /// Attempts per time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<RateLimit>,
    /// Prompt tokens per time, counted on arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<RateLimit>,
    /// Tokens of answers per time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<RateLimit>,
    /// Both together per time: prompt and reservation on arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<RateLimit>,
    /// Attempts, against those of the window before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<GrowthLimit>,
    /// What a refused attempt takes from limits on requests and tokens all the same.
    #[serde(default)]
    pub rejected_consumes: Consumes,
}

/// What a refused attempt takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Consumes {
    /// Nothing.
    #[default]
    None,
    /// What is left of one request: a storm of retries keeps the limit exhausted.
    Request,
    /// The same, and what is left of its tokens.
    Tokens,
}

/// At most so many attempts at the provider at once, in service and waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConcurrencyLimit {
    /// Attempts at once, 1 or more.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub limit: u32,
    /// The Retry-After of a refusal; none without it, since nobody knows when a place is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Span>,
    /// Who shares it.
    #[serde(default = "everyone")]
    pub shared_by: Scope,
}

/// The account: all clients together.
fn everyone() -> Scope {
    Scope::Fleet
}

/// The kinds of limit, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "LimitKind"))]
pub enum Kind {
    /// Dollars.
    Spend,
    /// Attempts at once.
    Concurrency,
    /// Attempts per time.
    Requests,
    /// Prompt tokens per time.
    InputTokens,
    /// Tokens of answers per time.
    OutputTokens,
    /// All tokens per time.
    Tokens,
    /// Growth of attempts.
    Growth,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] = [
        Kind::Spend,
        Kind::Concurrency,
        Kind::Requests,
        Kind::InputTokens,
        Kind::OutputTokens,
        Kind::Tokens,
        Kind::Growth,
    ];

    /// Its key in a scenario.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Spend => "spend",
            Kind::Concurrency => "concurrency",
            Kind::Requests => "requests",
            Kind::InputTokens => "input_tokens",
            Kind::OutputTokens => "output_tokens",
            Kind::Tokens => "tokens",
            Kind::Growth => "growth",
        }
    }
}

impl Limits {
    /// The limit on what is counted per time, if there is one of this kind.
    pub fn rate(&self, kind: Kind) -> Option<&RateLimit> {
        match kind {
            Kind::Requests => self.requests.as_ref(),
            Kind::InputTokens => self.input_tokens.as_ref(),
            Kind::OutputTokens => self.output_tokens.as_ref(),
            Kind::Tokens => self.tokens.as_ref(),
            Kind::Spend | Kind::Concurrency | Kind::Growth => None,
        }
    }

    /// The kinds that are set.
    pub fn kinds(&self) -> Vec<Kind> {
        let set = |kind: &Kind| match kind {
            Kind::Spend => self.spend.is_some(),
            Kind::Concurrency => self.concurrency.is_some(),
            Kind::Growth => self.growth.is_some(),
            _ => self.rate(*kind).is_some(),
        };
        Kind::ALL.into_iter().filter(set).collect()
    }

    /// Who shares each of them.
    pub fn scopes(&self) -> Vec<Scope> {
        let rates = Kind::ALL.into_iter().filter_map(|kind| self.rate(kind));
        let rates = rates.map(|limit| limit.shared_by);
        let places = self.concurrency.iter().map(|limit| limit.shared_by);
        rates.chain(places).chain(self.growth.iter().map(|limit| limit.shared_by)).collect()
    }

    /// What is wrong with the parameters: the path below `limits` and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let rates = Kind::ALL.into_iter().find_map(|kind| {
            let (key, text) = self.rate(kind)?.problem(kind)?;
            Some((vec![kind.key(), key], text))
        });
        let places = self.concurrency.filter(|limit| limit.limit == 0).map(|_| {
            let text = "a limit of 0 lets nothing through, ever; write 1 or more".to_owned();
            (vec!["concurrency", "limit"], text)
        });
        let growth = self.growth.and_then(|growth| growth.problem());
        let growth = growth.map(|(key, text)| (vec!["growth", key], text));
        let spend = self.spend.as_ref().and_then(SpendCap::problem);
        let spend = spend.map(|(key, text)| (vec!["spend", key], text));
        rates.or(places).or(growth).or(spend)
    }
}
