//! Policies by name, swapped into one layer of a scenario.

use std::fmt;

use toml::{Table, Value};

use crate::client::{Backoff, Layer, POLICIES};
use crate::error::{Error, Result};
use crate::presets::{self, Kind};
use crate::scenario::{Document, Group, Scenario, suggest};

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

/// Where policies are put: by default the outermost layer of every group.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The layer's name; every group that has it.
    pub layer: Option<String>,
    /// The group's name.
    pub group: Option<String>,
}

/// A layer of a scenario: the name of its group, if it has one, and the layer.
pub type Target<'a> = (Option<&'a str>, &'a Layer);

impl Place {
    /// The layers that policies are put in, at least one.
    pub fn targets<'a>(&self, scenario: &'a Scenario) -> Result<Vec<Target<'a>>> {
        let groups = self.groups(scenario)?;
        let found = |group: &&'a Group| {
            let layers = &group.client.layers;
            let layer = match &self.layer {
                Some(name) => layers.iter().find(|layer| layer.name == *name),
                None => layers.last(),
            };
            layer.map(|layer| (group.name.as_deref(), layer))
        };
        let targets: Vec<Target<'a>> = groups.iter().filter_map(found).collect();
        if !targets.is_empty() {
            return Ok(targets);
        }
        let layers = groups.iter().flat_map(|group| &group.client.layers);
        let mut known: Vec<&str> = layers.map(|layer| layer.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let list = if scenario.groups[0].name.is_some() { "group" } else { "client" };
        Err(Error::Input(match &self.layer {
            Some(name) => format!("no layer is called \"{name}\"{}", suggest(name, &known)),
            None => {
                format!(
                    "the scenario has no layer to put a policy in; add [[{list}.layers]] with a name"
                )
            }
        }))
    }

    fn groups<'a>(&self, scenario: &'a Scenario) -> Result<Vec<&'a Group>> {
        let Some(name) = &self.group else { return Ok(scenario.groups.iter().collect()) };
        let same = |group: &&Group| group.name.as_ref() == Some(name);
        if let Some(group) = scenario.groups.iter().find(same) {
            return Ok(vec![group]);
        }
        let known: Vec<&str> = scenario.groups.iter().filter_map(|g| g.name.as_deref()).collect();
        Err(Error::Input(if known.is_empty() {
            "the scenario has no groups; leave --group out".to_owned()
        } else {
            format!("no group is called \"{name}\"{}", suggest(name, &known))
        }))
    }
}

/// The document with `policy` in the layers at `place`.
///
/// A backoff keeps the base, multiplier and cap of the layer where it has them (`sdk` is always
/// the SDKs' own schedule); a preset replaces every key of the layer.
pub fn swap(document: &Document, policy: &NamedPolicy, place: &Place) -> Result<Document> {
    let scenario = document.scenario()?;
    let mut swapped = document.clone();
    for target in place.targets(&scenario)? {
        swapped = swap_one(&swapped, policy, target)?;
    }
    Ok(swapped)
}

fn swap_one(
    document: &Document,
    policy: &NamedPolicy,
    (group, target): Target<'_>,
) -> Result<Document> {
    let list = group.map_or("client.layers".to_owned(), |name| format!("group.{name}.layers"));
    let at = |key: &str| format!("{list}.{}{key}", target.name);
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
