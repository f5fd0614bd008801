//! What is billed.
//!
//! | event | strict | cancel_aware | free_errors |
//! | --- | --- | --- | --- |
//! | an answer that is delivered | in full | in full | in full |
//! | one that is finished after its client has gone | in full | in full | free |
//! | service that is stopped because its client has gone | in full | prompt and output so far | free |
//! | a stream that breaks off | prompt and output so far | the same | free |
//! | a refusal (429, 529, an outage), an error, a reset, lost or dropped work | free | free | free |
//!
//! Evidence: Microsoft Q&A 1632971 (429 is not billed); <https://novita.ai/docs/guides/llm-billing.md>
//! (500, 503 and 504 are not; a client that goes away is, because inference had begun);
//! <https://docs.laozhang.ai/en/faq/request-timeout> (a dropped request usually completes and is
//! billed); <https://www.truefoundry.com/docs/ai-gateway/stream-disconnect-cost-accounting.md>
//! (cancelled streams: providers that stop, that run on, and few that bill nothing). How errors
//! inside a stream are billed is documented nowhere.

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// What is billed at which price. Refusals, errors, resets and lost work are free under every rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Billing {
    /// Which work is billed.
    #[serde(default)]
    pub rule: BillingRule,
    /// A price list by name; see `retrylab presets`. What is written beside it wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// US dollars per million input tokens, 0 to 1,000,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1000000.0)))]
    pub input_usd_per_mtok: Option<f64>,
    /// US dollars per million input tokens that are read from the prompt cache, 0 to 1,000,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1000000.0)))]
    pub cached_input_usd_per_mtok: Option<f64>,
    /// US dollars per million output tokens, 0 to 1,000,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1000000.0)))]
    pub output_usd_per_mtok: Option<f64>,
    /// How long the provider remembers the prompt of a request after its last use: a retry within
    /// it pays the cached price for its prompt. Without it, nothing is remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_lifetime: Option<Span>,
    /// With `cancel_aware`: how long output is still generated, and billed, after its client has
    /// gone; the place is free at once. 0s without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_lag: Option<Span>,
}

/// Which events are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BillingRule {
    /// Work that is finished, and work that is stopped because its client has gone, in full.
    #[default]
    Strict,
    /// Stopped work with its prompt and the output so far; the rest in full.
    CancelAware,
    /// Only answers whose client still waits when they are finished, or that are kept for a repeat
    /// (`idempotency`).
    FreeErrors,
}

impl Billing {
    /// What `tokens` cost in US dollars; None without a price.
    pub fn usd(&self, tokens: Tokens) -> Option<f64> {
        let price = self.input_usd_per_mtok?;
        let cached = tokens.cached as f64 * self.cached_input_usd_per_mtok.unwrap_or(price);
        let input = (tokens.input - tokens.cached) as f64 * price;
        let output = tokens.output as f64 * self.output_usd_per_mtok?;
        Some((input + cached + output) / 1e6)
    }

    /// The price of a token; None without a price.
    pub fn price(&self) -> Option<Price> {
        // A dollar per million tokens is a million picodollars per token.
        let per_token = |usd: f64| (usd * 1e6 + 0.5) as u64;
        let input = self.input_usd_per_mtok?;
        Some(Price {
            input: per_token(input),
            cached: per_token(self.cached_input_usd_per_mtok.unwrap_or(input)),
            output: per_token(self.output_usd_per_mtok?),
        })
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let prices = [
            ("input_usd_per_mtok", self.input_usd_per_mtok),
            ("cached_input_usd_per_mtok", self.cached_input_usd_per_mtok),
            ("output_usd_per_mtok", self.output_usd_per_mtok),
        ];
        for (key, price) in prices {
            if let Some(price) = price.filter(|p| !(0.0..=1e6).contains(p)) {
                let text = format!("{key} = {price} is out of range; write 0 to 1000000 dollars");
                return Some((key, text));
            }
        }
        let one_missing = self.input_usd_per_mtok.is_some() != self.output_usd_per_mtok.is_some();
        if self.cache_lifetime.is_some() && self.cached_input_usd_per_mtok.is_none() {
            let text = "a prompt cache needs a price for what is read from it; write cached_input_usd_per_mtok, or a price preset";
            return Some(("cache_lifetime", text.to_owned()));
        }
        if self.cancel_lag.is_some() && self.rule != BillingRule::CancelAware {
            let text =
                "only rule = \"cancel_aware\" knows a lag; write it, or leave cancel_lag out";
            return Some(("cancel_lag", text.to_owned()));
        }
        one_missing.then(|| {
            let text = "one of input_usd_per_mtok and output_usd_per_mtok is missing; write both, or a price preset";
            ("input_usd_per_mtok", text.to_owned())
        })
    }
}

/// The price of a token in picodollars (1e-12), so that sums are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Of the prompt.
    pub input: u64,
    /// Of what is read of it from the cache.
    pub cached: u64,
    /// Of an answer.
    pub output: u64,
}

impl Price {
    /// What `tokens` cost.
    pub fn of(self, tokens: Tokens) -> u128 {
        u128::from(tokens.input - tokens.cached) * u128::from(self.input)
            + u128::from(tokens.cached) * u128::from(self.cached)
            + u128::from(tokens.output) * u128::from(self.output)
    }
}

/// Tokens of `output` that are there `elapsed` nanoseconds after the start of a service of `whole`,
/// whose first token comes after `first`.
pub fn output_so_far(output: u64, elapsed: u64, first: u64, whole: u64) -> u64 {
    let decoding = u128::from(whole.saturating_sub(first).max(1));
    let passed = u128::from(elapsed.saturating_sub(first));
    (u128::from(output) * passed / decoding).min(output.into()) as u64
}

/// Tokens of a request, or a sum of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Prompt tokens.
    pub input: u64,
    /// Those of them that are read from the prompt cache.
    pub cached: u64,
    /// Tokens of the answer.
    pub output: u64,
}

impl Tokens {
    /// Input and output together.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

impl std::ops::Sub for Tokens {
    type Output = Tokens;

    fn sub(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input - other.input,
            cached: self.cached - other.cached,
            output: self.output - other.output,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_evenly_after_the_first() {
        let at = |elapsed| output_so_far(100, elapsed, 200, 1_200);
        assert_eq!([0, 200, 210, 700, 1_200, 9_000].map(at), [0, 0, 1, 50, 100, 100]);
        assert_eq!(output_so_far(100, 5, 0, 10), 50);
        assert_eq!(output_so_far(7, 0, 0, 0), 0);
    }

    #[test]
    fn dollars_follow_the_price() {
        let tokens = Tokens { input: 1_155_000, cached: 0, output: 211_000 };
        let billing = Billing {
            input_usd_per_mtok: Some(3.0),
            output_usd_per_mtok: Some(15.0),
            ..Billing::default()
        };
        assert!((billing.usd(tokens).unwrap() - 6.63).abs() < 1e-9);
        assert_eq!(Billing::default().usd(tokens), None);
        assert_eq!(billing.price().unwrap().of(tokens), 6_630_000_000_000);
        let cached = Tokens { cached: 1_000_000, ..tokens };
        let billing = Billing { cached_input_usd_per_mtok: Some(0.3), ..billing };
        assert!((billing.usd(cached).unwrap() - 3.93).abs() < 1e-9);
        assert_eq!(billing.price().unwrap().of(cached), 3_930_000_000_000);
    }
}
