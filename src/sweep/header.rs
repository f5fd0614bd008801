//! Which sweep a journal is of: everything that its rows depend on.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::until::Until;
use crate::error::{Error, Result};
use crate::experiment::Seed;

/// The identity of a sweep, or of a part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Name and version of the format.
    pub schema: String,
    /// Version and commit of retrylab.
    pub version: String,
    /// Name of the scenario.
    pub name: String,
    /// The scenario before anything is varied, presets and defaults filled in.
    pub scenario: String,
    /// Hash of the scenario as it was written.
    pub written: String,
    /// Traces that it reads, each with a hash.
    pub traces: Vec<String>,
    /// What is varied, as written.
    pub vary: Vec<String>,
    /// Where policies are put, if that was said.
    pub place: Vec<String>,
    /// How many cells are drawn; None for all combinations.
    pub sample: Option<u32>,
    /// Master seed.
    pub seed: Seed,
    /// Replications of each cell, at most.
    pub replications: u32,
    /// When a cell has enough of them; None for all.
    pub until: Option<Until>,
    /// All cells.
    pub cells: u64,
    /// The part of the runs that this is.
    pub shard: Shard,
    /// Names and units of the values of a record.
    pub columns: Vec<(String, String)>,
}

const SCHEMA: &str = "retrylab.journal/1";

impl Header {
    /// The name of the format.
    pub fn schema() -> String {
        SCHEMA.to_owned()
    }

    /// Version and commit of this program.
    pub fn this_version() -> String {
        format!("{} ({})", env!("CARGO_PKG_VERSION"), env!("RETRYLAB_COMMIT"))
    }

    pub(super) fn text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::Bug(format!("a header does not print: {e}")))
    }

    pub(super) fn parse(text: &str) -> std::result::Result<Header, String> {
        let form: serde_json::Value =
            serde_json::from_str(text).map_err(|_| "this is no journal of a sweep".to_owned())?;
        let schema = form["schema"].as_str().unwrap_or_default();
        if schema != SCHEMA {
            return Err(format!("its format is \"{schema}\", and this is {SCHEMA}"));
        }
        serde_json::from_value(form).map_err(|e| format!("its header does not fit: {e}"))
    }

    /// All runs of all parts; at most, where cells may have enough earlier.
    pub fn runs(&self) -> u64 {
        self.cells * u64::from(self.replications)
    }

    /// The runs of this part.
    pub fn runs_of_shard(&self) -> u64 {
        self.shard.count(self.runs())
    }

    /// What differs between two sweeps: "the seed is 0x1 there and 0x2 here". None when they are the
    /// same, or parts of the same.
    pub fn difference(&self, there: &Header) -> Option<String> {
        let list = |items: &[String]| match items {
            [] => "nothing".to_owned(),
            items => items.join(" "),
        };
        let sample = |sample: Option<u32>| sample.map_or("none".to_owned(), |n| n.to_string());
        let until = |until: &Option<Until>| {
            until.as_ref().map_or("none".to_owned(), |until| until.to_string())
        };
        let pairs = [
            ("version", there.version.clone(), self.version.clone()),
            ("scenario", there.written.clone(), self.written.clone()),
            ("trace", list(&there.traces), list(&self.traces)),
            ("--vary", list(&there.vary), list(&self.vary)),
            ("place of policies", list(&there.place), list(&self.place)),
            ("--sample", sample(there.sample), sample(self.sample)),
            ("seed", there.seed.to_string(), self.seed.to_string()),
            ("--until-halfwidth", until(&there.until), until(&self.until)),
            (
                if self.until.is_some() { "--max-replications" } else { "number of replications" },
                there.replications.to_string(),
                self.replications.to_string(),
            ),
            ("number of cells", there.cells.to_string(), self.cells.to_string()),
        ];
        if let Some((there, here)) = first_line(&there.scenario, &self.scenario) {
            return Some(format!("the scenario has \"{there}\" there, and \"{here}\" here"));
        }
        let differs = pairs.iter().find(|(_, there, here)| there != here);
        if let Some((what, there, here)) = differs {
            return Some(format!("the {what} is {there} there, and {here} here"));
        }
        let columns = self.columns != there.columns;
        columns.then(|| "the metrics are others".to_owned())
    }
}

/// The first line in which two texts differ.
fn first_line(there: &str, here: &str) -> Option<(String, String)> {
    let (mut there, mut here) = (there.lines(), here.lines());
    loop {
        match (there.next(), here.next()) {
            (None, None) => return None,
            (there, here) if there == here => {}
            (there, here) => {
                let line = |line: Option<&str>| line.unwrap_or("nothing more").to_owned();
                return Some((line(there), line(here)));
            }
        }
    }
}

/// Part `index` of `count`: every `count`-th run, from run `index` - 1 on, so that expensive cells
/// are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// All runs.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// From 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many parts there are.
    pub fn of(self) -> u32 {
        self.count
    }

    /// Of so many runs, how many are in this part.
    pub fn count(self, runs: u64) -> u64 {
        runs.saturating_sub(u64::from(self.index - 1)).div_ceil(self.count.into())
    }

    /// The number of the run in its part; None when it is in another.
    pub fn slot(self, run: u64) -> Option<usize> {
        let count = u64::from(self.count);
        (run % count == u64::from(self.index - 1)).then_some((run / count) as usize)
    }

    /// The run that has this number in this part.
    pub fn run(self, slot: u64) -> u64 {
        slot * u64::from(self.count) + u64::from(self.index - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Shard, String> {
        let parts = text.split_once('/');
        let numbers =
            parts.and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err(format!("\"{text}\" is no part; write i/n with i from 1 to n, such as 2/6")),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Shard, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// That of a sweep of 4 cells and 3 replications.
    pub fn header() -> Header {
        let column = |name: &str| (name.to_owned(), "s".to_owned());
        Header {
            schema: Header::schema(),
            version: Header::this_version(),
            name: "storm".to_owned(),
            scenario: "format = 1\n[workload]\nclients = 5\n".to_owned(),
            written: "0123".to_owned(),
            traces: vec![],
            vary: vec!["workload.clients=1,2,3,4".to_owned()],
            place: vec![],
            sample: None,
            seed: Seed(42),
            replications: 3,
            until: None,
            cells: 4,
            shard: Shard::WHOLE,
            columns: vec![column("a_s"), column("b_s")],
        }
    }

    #[test]
    fn a_header_reads_back_and_says_what_differs() {
        let here = header();
        assert_eq!(Header::parse(&here.text().unwrap()).unwrap(), here);
        assert_eq!(here.difference(&here), None);
        let other = Header { seed: Seed(1), ..header() };
        assert_eq!(here.difference(&other).unwrap(), "the seed is 0x1 there, and 0x2a here");
        let other = Header { scenario: here.scenario.replace('5', "6"), ..header() };
        assert_eq!(
            here.difference(&other).unwrap(),
            "the scenario has \"clients = 6\" there, and \"clients = 5\" here"
        );
        let part = Header { shard: "2/3".parse().unwrap(), ..header() };
        assert_eq!(here.difference(&part), None, "a part of the same sweep");
        for text in ["", "{}", "[1]", "{\"schema\":\"retrylab.journal/9\"}"] {
            assert!(Header::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_are_disjoint_and_complete() {
        for count in 1..=7u32 {
            let shards = (1..=count).map(|index| Shard { index, count });
            for runs in 0..20u64 {
                let mut all: Vec<u64> = shards
                    .clone()
                    .flat_map(|shard| (0..shard.count(runs)).map(move |slot| shard.run(slot)))
                    .collect();
                all.sort_unstable();
                assert_eq!(all, (0..runs).collect::<Vec<_>>(), "{runs} in {count}");
            }
        }
        let shard: Shard = "2/6".parse().unwrap();
        assert_eq!((shard.slot(7), shard.slot(8), shard.run(1)), (Some(1), None, 7));
        for bad in ["", "0/3", "4/3", "1", "1/0", "a/b", "-1/3"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
