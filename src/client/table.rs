//! Waits from a list: written in the scenario, or measured and read from a file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::rng::Stream;
use crate::units::Span;

/// Waits per retry, written or read from a file; after the last row the last one repeats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WaitTable {
    /// A wait for each retry, or a list of waits of which one is drawn, each as likely; this or
    /// `file`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Choice>,
    /// A CSV file, relative to the scenario's folder, with the columns `attempt` (which retry, from
    /// 1) and `wait_s` (seconds), one row per measured wait; other columns are not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// What the file holds, once it is read.
    #[serde(skip)]
    measured: Arc<Vec<Choice>>,
}

/// Waits of which one is drawn; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice(Vec<Span>);

impl Choice {
    /// Of these waits, at least one.
    pub fn new(waits: Vec<Span>) -> Option<Choice> {
        (!waits.is_empty()).then_some(Choice(waits))
    }
}

impl WaitTable {
    /// The table with the waits that its file holds, one choice per retry.
    pub fn with_measured(self, measured: Vec<Choice>) -> WaitTable {
        WaitTable { measured: Arc::new(measured), ..self }
    }

    /// The file that is to be read.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn rows(&self) -> &[Choice] {
        if self.file.is_some() { &self.measured } else { &self.waits }
    }

    fn row(&self, n: u32) -> &[Span] {
        let rows = self.rows();
        rows.get(n as usize).or(rows.last()).map_or(&[], |row| &row.0)
    }

    /// The wait in nanoseconds before retry `n`, 0 for the first.
    #[inline]
    pub fn wait(&self, n: u32, mut stream: Stream) -> u64 {
        let row = self.row(n);
        let drawn = stream.below(row.len() as u64) as usize;
        row.get(drawn).map_or(0, |wait| wait.nanos())
    }

    /// The shortest and the longest wait before retry `n`.
    pub fn bounds(&self, n: u32) -> (u64, u64) {
        let waits = || self.row(n).iter().map(|wait| wait.nanos());
        (waits().min().unwrap_or(0), waits().max().unwrap_or(0))
    }

    /// What is wrong with it: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        match (self.waits.is_empty(), &self.file) {
            (true, None) => Some((
                "waits",
                "the table has no waits; write waits = [\"1s\", \"2s\"], or a file".to_owned(),
            )),
            (false, Some(_)) => {
                Some(("file", "the table has both waits and a file; keep one of them".to_owned()))
            }
            _ => None,
        }
    }
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Choice, D::Error> {
        deserializer.deserialize_any(OneOrSeveral)
    }
}

/// Accepts a duration or a list of them.
struct OneOrSeveral;

impl<'de> Visitor<'de> for OneOrSeveral {
    type Value = Choice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration in quotes such as \"500ms\", or a list of durations")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Choice, E> {
        text.parse().map(|wait| Choice(vec![wait])).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choice, A::Error> {
        let mut waits = Vec::new();
        while let Some(wait) = list.next_element()? {
            waits.push(wait);
        }
        Choice::new(waits).ok_or_else(|| {
            de::Error::custom("an empty list has no wait to draw; write at least one")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    #[test]
    fn every_wait_of_a_row_is_drawn_as_often_and_the_last_row_repeats() {
        let table: WaitTable =
            toml::from_str("waits = [\"1s\", [\"2s\", \"3s\", \"3s\"]]").unwrap();
        let drawn = |n: u32, span: u64| {
            let hits = (0..9_000).filter(|&entity| {
                let stream = Streams::new(5, 0).backoff(0, entity, n);
                table.wait(n, stream) == Span::from_seconds(span).nanos()
            });
            hits.count()
        };
        assert_eq!(drawn(0, 1), 9_000);
        for n in [1, 2, 50] {
            // Binomial: 4 standard deviations are 179.
            assert!(drawn(n, 3).abs_diff(6_000) < 179, "{}", drawn(n, 3));
            assert_eq!(drawn(n, 2) + drawn(n, 3), 9_000);
            assert_eq!(table.bounds(n), (2_000_000_000, 3_000_000_000));
        }
    }

    #[test]
    fn a_table_prints_as_it_is_read() {
        for text in ["waits = [\"1s\", [\"2s\", \"3s\"]]\n", "file = \"measured.csv\"\n"] {
            let table: WaitTable = toml::from_str(text).unwrap();
            assert_eq!(table.problem(), None);
            assert_eq!(toml::to_string(&table).unwrap(), text);
        }
        for text in ["", "waits = [\"1s\"]\nfile = \"x\""] {
            assert!(toml::from_str::<WaitTable>(text).unwrap().problem().is_some());
        }
        assert!(toml::from_str::<WaitTable>("waits = [[]]").is_err());
    }
}
