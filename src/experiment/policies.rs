//! Policies by name, swapped into one layer of a scenario.

use std::fmt;

use toml::{Table, Value};

use crate::client::{Backoff, Layer, POLICIES};
use crate::error::{Error, Result};
use crate::presets::{self, Kind};
use crate::scenario::{Document, Scenario, suggest};

/// A policy of the command line: `full`, `no-retry`, `preset:openai-python-3.57`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedPolicy {
    /// The scenario as it is.
    AsWritten,
    /// Another backoff.
    Backoff(String),
    /// A single attempt.
    NoRetry,
    /// All keys of a preset.
    Preset(String),
}

impl NamedPolicy {
    /// Reads a policy's name.
    pub fn parse(name: &str) -> Result<NamedPolicy> {
        if let Some(preset) = name.strip_prefix("preset:") {
            let names = Kind::Layer.names();
            return match presets::find(Kind::Layer, preset) {
                Some(_) => Ok(NamedPolicy::Preset(preset.to_owned())),
                None => Err(Error::Input(format!(
                    "no preset is called \"{preset}\"{}",
                    suggest(preset, &names)
                ))),
            };
        }
        if name == "as-written" {
            return Ok(NamedPolicy::AsWritten);
        }
        if name == "no-retry" {
            return Ok(NamedPolicy::NoRetry);
        }
        // The scenario's own words, `full_jitter` or `no_backoff`, are understood as well.
        let short = name.strip_suffix("_jitter").unwrap_or(name).replace('_', "-");
        if Backoff::named(&short, None).is_some() {
            return Ok(NamedPolicy::Backoff(short));
        }
        let mut known: Vec<&str> = POLICIES.iter().map(|(name, _)| *name).collect();
        known.extend(["as-written", "preset:NAME"]);
        Err(Error::Input(format!("no policy is called \"{name}\"{}", suggest(name, &known))))
    }
}

impl fmt::Display for NamedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamedPolicy::AsWritten => f.write_str("as-written"),
            NamedPolicy::Backoff(name) => f.write_str(name),
            NamedPolicy::NoRetry => f.write_str("no-retry"),
            NamedPolicy::Preset(name) => write!(f, "preset:{name}"),
        }
    }
}

/// The layer that policies are put in: the one called `layer`, or the outermost.
pub fn target<'a>(scenario: &'a Scenario, layer: Option<&str>) -> Result<&'a Layer> {
    let layers = &scenario.client.layers;
    let found = match layer {
        Some(name) => layers.iter().find(|l| l.name == name),
        None => layers.last(),
    };
    found.ok_or_else(|| {
        let known: Vec<&str> = layers.iter().map(|l| l.name.as_str()).collect();
        Error::Input(match layer {
            Some(name) => format!("no layer is called \"{name}\"{}", suggest(name, &known)),
            None => {
                "the scenario has no layer to put a policy in; add [[client.layers]] with a name"
                    .to_owned()
            }
        })
    })
}

/// The document with `policy` in the layer called `layer`, the outermost by default.
///
/// A backoff keeps the base, multiplier and cap of the layer where it has them (`sdk` is always
/// the SDKs' own schedule); a preset replaces every key of the layer.
pub fn swap(document: &Document, policy: &NamedPolicy, layer: Option<&str>) -> Result<Document> {
    let scenario = document.scenario()?;
    let target = target(&scenario, layer)?;
    let at = |key: &str| format!("client.layers.{}{key}", target.name);
    let by = format!("policy {policy}");
    match policy {
        NamedPolicy::AsWritten => Ok(document.clone()),
        NamedPolicy::NoRetry => document.with_value(&by, &at(".max_attempts"), Value::Integer(1)),
        NamedPolicy::Preset(preset) => {
            let mut table = Table::new();
            table.insert("name".to_owned(), Value::String(target.name.clone()));
            table.insert("preset".to_owned(), Value::String(preset.clone()));
            document.with_value(&by, &at(""), Value::Table(table))
        }
        NamedPolicy::Backoff(name) => {
            let backoff = Backoff::named(name, Some(&target.backoff));
            let value = Value::try_from(backoff)
                .map_err(|e| Error::Bug(format!("a backoff does not print: {e}")))?;
            document.with_value(&by, &at(".backoff"), value)
        }
    }
}
