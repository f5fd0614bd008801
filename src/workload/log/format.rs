//! How logs call their columns: data in `formats.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::clock::{date_time, decimal};
use crate::units::NANOS_PER_SECOND;

/// A format.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// Its name, for `--format`.
    pub name: String,
    /// What writes it.
    pub what: String,
    /// Where the names of its columns are from.
    pub source: String,
    /// When they were looked up, YYYY-MM-DD.
    pub date: String,
    /// Columns by which it is known.
    pub tells: Vec<String>,
    /// When a request was sent.
    pub start: Option<Clock>,
    /// When it was over.
    pub end: Option<Clock>,
    /// How long it took.
    pub latency: Option<Clock>,
    /// Its status.
    pub status: Option<String>,
    /// Statuses that are words.
    #[serde(default)]
    pub words: BTreeMap<String, u16>,
    /// Prompt tokens.
    pub input_tokens: Option<String>,
    /// Tokens of the answer.
    pub output_tokens: Option<String>,
    /// The status of a row without output tokens that has none of its own.
    pub empty: Option<u16>,
    /// The rows that are requests.
    pub only: Option<Only>,
}

/// A column of times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Its name.
    pub column: String,
    /// How it counts.
    #[serde(rename = "in")]
    pub unit: Unit,
}

/// Rows that are read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    /// The column that tells.
    pub column: String,
    /// What it says in them.
    pub value: String,
}

/// How a column counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Date and time of day.
    Date,
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl Unit {
    fn nanos(self) -> u64 {
        match self {
            Unit::Date | Unit::S => NANOS_PER_SECOND,
            Unit::Ms => NANOS_PER_SECOND / 1_000,
            Unit::Us => 1_000,
            Unit::Ns => 1,
        }
    }

    /// A time as it is written.
    pub fn example(self) -> &'static str {
        match self {
            Unit::Date => "2023-11-16 18:17:03.9799600",
            Unit::S => "5 or 5.25 (seconds)",
            Unit::Ms => "5 or 5.25 (milliseconds)",
            Unit::Us => "5 or 5.25 (microseconds)",
            Unit::Ns => "5 (nanoseconds)",
        }
    }

    /// Nanoseconds of a time stamp.
    pub fn stamp(self, text: &str) -> Option<u64> {
        match self {
            Unit::Date => date_time(text),
            _ => decimal(text, self.nanos()),
        }
    }

    /// Nanoseconds of a length of time, which may be written like 1e-05.
    pub fn length(self, text: &str) -> Option<u64> {
        let scaled = || {
            let number: f64 = text.parse().ok().filter(|number: &f64| *number >= 0.0)?;
            let nanos = number * self.nanos() as f64 + 0.5;
            (text.contains(['e', 'E']) && nanos < 1e19).then_some(nanos as u64)
        };
        decimal(text, self.nanos()).or_else(scaled)
    }
}

/// All formats, in the order in which they are tried.
pub fn formats() -> &'static [Format] {
    #[derive(Deserialize)]
    struct File {
        format: Vec<Format>,
    }
    static FORMATS: OnceLock<Vec<Format>> = OnceLock::new();
    // A broken file is a bug, found by the test below.
    let read = || toml::from_str::<File>(include_str!("formats.toml")).map(|file| file.format);
    FORMATS.get_or_init(|| read().unwrap_or_default())
}

impl Format {
    /// The format with a name.
    pub fn named(name: &str) -> Option<&'static Format> {
        formats().iter().find(|format| format.name == name)
    }

    /// The first format whose telling columns `has` all.
    pub fn of(has: impl Fn(&str) -> bool) -> Option<&'static Format> {
        formats().iter().find(|format| format.tells.iter().all(|column| has(column)))
    }

    /// All columns that are read.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        let clocks = [&self.start, &self.end, &self.latency];
        let clocks = clocks.into_iter().flatten().map(|clock| clock.column.as_str());
        let others = [&self.status, &self.input_tokens, &self.output_tokens];
        let others = others.into_iter().flatten().map(String::as_str);
        clocks.chain(others).chain(self.only.iter().map(|only| only.column.as_str()))
    }

    /// Columns without which a trace cannot be replayed.
    pub fn replayed(&self) -> Vec<&str> {
        let clock = self.start.as_ref().or(self.end.as_ref()).map(|clock| clock.column.as_str());
        let tokens = [self.input_tokens.as_deref(), self.output_tokens.as_deref()];
        clock.into_iter().chain(tokens.into_iter().flatten()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_a_source_and_a_clock() {
        let all = formats();
        assert!(all.len() >= 10);
        for format in all {
            assert!(format.source.len() > 8 && format.date.len() == 10, "{}", format.name);
            assert!(format.start.is_some() || (format.end.is_some() && format.latency.is_some()));
            // None hides behind one that is tried before it.
            let found = Format::of(|column| format.tells.iter().any(|tell| tell == column));
            assert_eq!(found.map(|f| &f.name), Some(&format.name));
        }
        let names: std::collections::BTreeSet<_> = all.iter().map(|format| &format.name).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn lengths_may_have_an_exponent() {
        assert_eq!(Unit::S.length("0.25"), Some(250_000_000));
        assert_eq!(Unit::S.length("1e-05"), Some(10_000));
        assert_eq!(Unit::Ms.length("1.5E3"), Some(1_500_000_000));
        for bad in ["", "-1", "-1e-3", "nan", "inf", "1e300", "soon"] {
            assert_eq!(Unit::S.length(bad), None, "{bad}");
        }
    }
}
