//! Facts about vendors: data files with a source and a date, embedded in the binary.
//!
//! One file per SDK version range under `sdk/`, one per price list under `prices/`. The name of
//! the file is the name of the preset; adding one needs no code.

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
}

impl Kind {
    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Layer => SDK,
            Kind::Price => PRICES,
        }
    }

    fn table(self) -> &'static str {
        match self {
            Kind::Layer => "layer",
            Kind::Price => "price",
        }
    }

    /// All names of this kind, sorted.
    pub fn names(self) -> Vec<&'static str> {
        self.files().iter().map(|(name, _)| *name).collect()
    }
}

/// Finds a preset by name. An embedded file that is broken is a bug, found by the tests below.
pub fn find(kind: Kind, name: &str) -> Option<Preset> {
    let (name, text) = kind.files().iter().find(|(known, _)| *known == name)?;
    parse(kind, name, text).ok()
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
    fn every_embedded_file_is_complete() {
        for kind in [Kind::Layer, Kind::Price] {
            assert!(!kind.names().is_empty());
            for (name, text) in kind.files() {
                let preset = parse(kind, name, text).unwrap();
                assert!(preset.about.date.len() == 10, "{name}");
                assert!(preset.about.source.len() > 10, "{name}");
            }
        }
    }
}
