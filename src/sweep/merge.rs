//! The parts of a sweep, made one.

use std::path::PathBuf;

use super::header::{Header, Shard};
use super::journal::Journal;
use crate::error::{Error, Result};

/// The journals of all parts of one sweep, in order of their parts.
#[derive(Debug)]
pub struct Parts(Vec<Journal>);

impl Parts {
    /// The parts in these folders; all of one sweep, each once, none missing.
    pub fn open(folders: &[PathBuf]) -> Result<Parts> {
        let name = |folder: &PathBuf| folder.display().to_string();
        let place = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let places: Vec<PathBuf> = folders.iter().map(place).collect();
        if let Some(twice) = (1..places.len()).find(|i| places[..*i].contains(&places[*i])) {
            return Err(Error::Input(format!("{} is named twice", name(&folders[twice]))));
        }
        let mut parts: Vec<(String, Journal)> = Vec::new();
        for folder in folders {
            let journal = Journal::open(folder)?;
            if let Some((first, there)) = parts.first() {
                let (there, here) = (there.header(), journal.header());
                let foreign =
                    here.difference(there).or_else(|| other_division(there.shard, here.shard));
                if let Some(difference) = foreign {
                    return Err(Error::Input(format!(
                        "{} is of another sweep than {first}: {difference}",
                        name(folder)
                    )));
                }
            }
            let shard = journal.header().shard;
            let before = parts.iter().find(|(_, other)| other.header().shard == shard);
            if let Some((other, _)) = before {
                return Err(Error::Input(format!(
                    "{} and {other} are both part {shard}; leave one out",
                    name(folder)
                )));
            }
            parts.push((name(folder), journal));
        }
        if parts.iter().any(|(_, journal)| journal.header().until.is_some()) {
            return Err(Error::Input(format!(
                "{}: a sweep with --until-halfwidth has no parts; what is missing is made by sweep --resume",
                name(&folders[0])
            )));
        }
        parts.sort_by_key(|(_, journal)| journal.header().shard.index());
        let parts = Parts(parts.into_iter().map(|(_, journal)| journal).collect());
        parts.complete()?;
        Ok(parts)
    }

    /// Refuses gaps.
    fn complete(&self) -> Result<()> {
        let Some(first) = self.0.first() else {
            return Err(Error::Input("there is no part to merge; name their folders".to_owned()));
        };
        let of = first.header().shard.of();
        let there = |index: u32| self.0.iter().any(|part| part.header().shard.index() == index);
        let missing: Vec<String> =
            (1..=of).filter(|index| !there(*index)).map(|index| format!("{index}/{of}")).collect();
        if !missing.is_empty() {
            return Err(Error::Input(format!("missing: part {}", first_of(&missing))));
        }
        for part in &self.0 {
            let header = part.header();
            let open = |slot: u64| Some(header.shard.run(slot)).filter(|run| !part.has(*run));
            let missing = header.runs_of_shard() - part.finished();
            if let Some(run) = (0..header.runs_of_shard()).find_map(open) {
                return Err(Error::Input(format!(
                    "part {} is not finished: {missing} of its runs are missing, the first is run {run} (cell {}, replication {}); finish it with --resume",
                    header.shard,
                    run / u64::from(header.replications),
                    run % u64::from(header.replications),
                )));
            }
        }
        Ok(())
    }

    /// The identity of the whole.
    pub fn header(&self) -> Header {
        Header { shard: Shard::WHOLE, ..self.0[0].header().clone() }
    }

    /// Copies all records, in order, into the journal of the whole.
    pub fn copy_into(&mut self, whole: &mut Journal) -> Result<()> {
        let parts = self.0.len() as u64;
        for run in 0..whole.header().runs() {
            let record = self.0[(run % parts) as usize].read(run)?;
            let record = record.ok_or_else(|| Error::Bug(format!("run {run} is not there")))?;
            whole.append(&record)?;
        }
        whole.sync()
    }
}

/// Parts of 3 do not fit parts of 4.
fn other_division(there: Shard, here: Shard) -> Option<String> {
    let (there, here) = (there.of(), here.of());
    (there != here).then(|| format!("it was divided in {here}, not in {there}"))
}

/// The first few of a list: "2/6, 3/6 and 3 more".
fn first_of(items: &[String]) -> String {
    let (shown, rest) = items.split_at(items.len().min(5));
    match rest.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
