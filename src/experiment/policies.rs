//! Policies by name, swapped into one layer of a scenario.

use std::fmt;

use toml::{Table, Value};

use crate::client::{Backoff, POLICIES};
use crate::error::{Error, Result};
use crate::presets::{self, Kind};
use crate::scenario::{Document, suggest};

/// A policy of the command line: `full`, `no-retry`, `preset:openai-python-3.57`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedPolicy {
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
        if name == "no-retry" {
            return Ok(NamedPolicy::NoRetry);
        }
        if Backoff::named(name, None).is_some() {
            return Ok(NamedPolicy::Backoff(name.to_owned()));
        }
        let mut known: Vec<&str> = POLICIES.iter().map(|(name, _)| *name).collect();
        known.push("preset:NAME");
        Err(Error::Input(format!("no policy is called \"{name}\"{}", suggest(name, &known))))
    }
}

impl fmt::Display for NamedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamedPolicy::Backoff(name) => f.write_str(name),
            NamedPolicy::NoRetry => f.write_str("no-retry"),
            NamedPolicy::Preset(name) => write!(f, "preset:{name}"),
        }
    }
}

/// The document with `policy` in the layer called `layer`, the outermost by default.
///
/// A backoff keeps the base, multiplier and cap of the layer where it has them (`sdk` is always
/// the SDKs' own schedule); a preset replaces every key of the layer.
pub fn swap(document: &Document, policy: &NamedPolicy, layer: Option<&str>) -> Result<Document> {
    let scenario = document.scenario()?;
    let layers = &scenario.client.layers;
    let target = match layer {
        Some(name) => layers.iter().find(|l| l.name == name),
        None => layers.last(),
    };
    let Some(target) = target else {
        let known: Vec<&str> = layers.iter().map(|l| l.name.as_str()).collect();
        let sentence = match layer {
            Some(name) => format!("no layer is called \"{name}\"{}", suggest(name, &known)),
            None => {
                "the scenario has no layer to put a policy in; add [[client.layers]] with a name"
                    .to_owned()
            }
        };
        return Err(Error::Input(sentence));
    };
    let at = |key: &str| format!("client.layers.{}{key}", target.name);
    let by = format!("policy {policy}");
    match policy {
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
