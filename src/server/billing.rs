//! What is billed.
//!
//! Every attempt whose service finishes is billed in full, whether or not its client still
//! waits; refusals (429, 529, an outage's status) and resets are not billed. Sources: Microsoft
//! Q&A 1632971 (429 is not billed), <https://novita.ai/docs/guides/llm-billing.md> (a client
//! that goes away is billed, because inference had begun).

use serde::{Deserialize, Serialize};

/// Billing as a scenario states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Billing {
    /// Which events are billed.
    #[serde(default)]
    pub rule: BillingRule,
    /// A price list by name; see `retrylab presets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// US dollars per million input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_usd_per_mtok: Option<f64>,
    /// US dollars per million output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_usd_per_mtok: Option<f64>,
}

/// Which events are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BillingRule {
    /// All finished work in full, also when its client has gone.
    #[default]
    Strict,
}

impl Billing {
    /// What `tokens` cost in US dollars; None without a price.
    pub fn usd(&self, tokens: Tokens) -> Option<f64> {
        let input = tokens.input as f64 * self.input_usd_per_mtok?;
        let output = tokens.output as f64 * self.output_usd_per_mtok?;
        Some((input + output) / 1e6)
    }

    /// The price of a token; None without a price.
    pub fn price(&self) -> Option<Price> {
        // A dollar per million tokens is a million picodollars per token.
        let per_token = |usd: f64| (usd * 1e6 + 0.5) as u64;
        Some(Price {
            input: per_token(self.input_usd_per_mtok?),
            output: per_token(self.output_usd_per_mtok?),
        })
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let prices = [
            ("input_usd_per_mtok", self.input_usd_per_mtok),
            ("output_usd_per_mtok", self.output_usd_per_mtok),
        ];
        for (key, price) in prices {
            if let Some(price) = price.filter(|p| !(0.0..=1e6).contains(p)) {
                let text = format!("{key} = {price} is out of range; write 0 to 1000000 dollars");
                return Some((key, text));
            }
        }
        let one_missing = self.input_usd_per_mtok.is_some() != self.output_usd_per_mtok.is_some();
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
    /// Of an answer.
    pub output: u64,
}

impl Price {
    /// What `tokens` cost.
    pub fn of(self, tokens: Tokens) -> u128 {
        u128::from(tokens.input) * u128::from(self.input)
            + u128::from(tokens.output) * u128::from(self.output)
    }
}

/// Tokens of a request, or a sum of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Prompt tokens.
    pub input: u64,
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
        self.output = self.output.saturating_add(other.output);
    }
}

impl std::ops::Sub for Tokens {
    type Output = Tokens;

    fn sub(self, other: Tokens) -> Tokens {
        Tokens { input: self.input - other.input, output: self.output - other.output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_follow_the_price() {
        let tokens = Tokens { input: 1_155_000, output: 211_000 };
        let billing = Billing {
            input_usd_per_mtok: Some(3.0),
            output_usd_per_mtok: Some(15.0),
            ..Billing::default()
        };
        assert!((billing.usd(tokens).unwrap() - 6.63).abs() < 1e-9);
        assert_eq!(Billing::default().usd(tokens), None);
        assert_eq!(billing.price().unwrap().of(tokens), 6_630_000_000_000);
    }
}
