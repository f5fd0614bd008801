//! Facts about vendors: data files with a source and a date, embedded in the binary.
//!
//! One file per SDK version range under `sdk/`, one per policy of a retry library under `libraries/`,
//! one per price list under `prices/`, one per tier of rate limits under `limits/`, one per measured
//! machine under `service/`. The name of the file is the name of the preset; adding one needs no
//! code. A version range is also found by any version in it: `openai-python-2.46.0` is in the file
//! that covers 1.76 to 2.51.

use serde::Deserialize;

include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// The head of a preset file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// What it describes.
    pub what: String,
    /// Where the facts are from.
    pub source: String,
    /// When they were checked, YYYY-MM-DD.
    pub date: String,
    /// The versions of a package that it covers.
    #[serde(default)]
    pub versions: Option<Versions>,
}

/// A range of versions of a package, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// The package, as names of presets call it: `openai-python`.
    pub package: String,
    /// The first version.
    pub from: String,
    /// The last one; `2.51` covers every 2.51.x.
    pub to: String,
}

impl Versions {
    /// True when `name` is the package with a version of the range: `openai-python-2.46.0`.
    fn cover(&self, name: &str) -> bool {
        let Some(version) = name.strip_prefix(&self.package).and_then(|v| v.strip_prefix('-'))
        else {
            return false;
        };
        let parse = |text: &str| -> Option<Vec<u32>> {
            text.split('.').map(|part| part.parse().ok()).collect()
        };
        let (Some(version), Some(from), Some(to)) =
            (parse(version), parse(&self.from), parse(&self.to))
        else {
            return false;
        };
        let cut = |length: usize| &version[..length.min(version.len())];
        *cut(from.len()) >= from[..from.len().min(version.len())] && *cut(to.len()) <= to[..]
    }
}

/// A preset: what it is, and the keys it gives.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Source and date.
    pub about: About,
    /// The keys.
    pub keys: toml::Table,
}

/// Kinds of preset and the table that holds their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A layer of the client.
    Layer,
    /// A price list.
    Price,
    /// The rate limits of a tier.
    Limits,
    /// The measured service times of a model on a machine.
    Service,
}

impl Kind {
    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Layer => LAYERS,
            Kind::Price => PRICES,
            Kind::Limits => LIMITS,
            Kind::Service => SERVICES,
        }
    }

    fn table(self) -> &'static str {
        match self {
            Kind::Layer => "layer",
            Kind::Price => "price",
            Kind::Limits => "limits",
            Kind::Service => "service",
        }
    }

    /// All names of this kind, sorted.
    pub fn names(self) -> Vec<&'static str> {
        self.files().iter().map(|(name, _)| *name).collect()
    }
}

/// Finds a preset by name. An embedded file that is broken is a bug, found by the tests below.
pub fn find(kind: Kind, name: &str) -> Option<Preset> {
    if let Some((name, text)) = kind.files().iter().find(|(known, _)| *known == name) {
        return parse(kind, name, text).ok();
    }
    let mut presets = kind.files().iter().filter_map(|(name, text)| parse(kind, name, text).ok());
    presets.find(|preset| preset.about.versions.as_ref().is_some_and(|v| v.cover(name)))
}

fn parse(kind: Kind, name: &'static str, text: &str) -> Result<Preset, String> {
    let mut table: toml::Table = text.parse().map_err(|e| format!("{name}: {e}"))?;
    let mut take = |key: &str| table.remove(key).ok_or_else(|| format!("{name}: no [{key}]"));
    let about = take("about")?.try_into().map_err(|e| format!("{name}: {e}"))?;
    let keys = take(kind.table())?.try_into().map_err(|e| format!("{name}: {e}"))?;
    Ok(Preset { name, about, keys })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_finds_the_range_that_covers_it() {
        let found = |name| find(Kind::Layer, name).map(|preset| preset.name);
        assert_eq!(found("openai-python-2.46.0"), Some("openai-python-2.51"));
        assert_eq!(found("openai-python-2.51.3"), Some("openai-python-2.51"));
        assert_eq!(found("openai-python-2.52"), Some("openai-python-2.52"));
        assert_eq!(found("anthropic-python-1.6.0"), Some("anthropic-python-2.14"));
        assert_eq!(found("anthropic-python-1.5.0"), Some("anthropic-python-1.5"));
        assert_eq!(found("openai-python-99.0"), None);
        assert_eq!(found("openai-python-x"), None);
    }

    #[test]
    fn every_embedded_file_is_complete() {
        for kind in [Kind::Layer, Kind::Price, Kind::Limits, Kind::Service] {
            assert!(!kind.names().is_empty());
            for (name, text) in kind.files() {
                let preset = parse(kind, name, text).unwrap();
                assert!(preset.about.date.len() == 10, "{name}");
                assert!(preset.about.source.len() > 10, "{name}");
            }
        }
    }
}
