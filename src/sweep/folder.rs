//! The results folder of a sweep: its journal while it runs, its tables when it is done.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::header::{Header, Shard};
use super::journal::Journal;
use super::staged::{Written, write_whole};
use super::tables::{Made, Tables};
use crate::error::{Error, Result};
use crate::output::{JOURNAL, OURS, check_place};

/// A folder that belongs to one sweep.
#[derive(Debug)]
pub struct SweepFolder {
    place: PathBuf,
}

/// What to do about a journal that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Refuse to touch it.
    New,
    /// Go on with it.
    Resume,
    /// Put another one in its place.
    Fresh,
}

impl SweepFolder {
    /// Opens the folder for the sweep of `header`, and its journal.
    pub fn open(place: &Path, header: Header, begin: Begin) -> Result<(SweepFolder, Journal)> {
        let folder = SweepFolder { place: place.to_owned() };
        check_place(place)?;
        let there = Journal::is_begun(place);
        match (there, begin) {
            (true, Begin::New) => Err(Error::Input(format!(
                "{}: the folder has a sweep already; go on with it by sweep --resume, or begin anew by --fresh",
                place.display()
            ))),
            (true, Begin::Resume) => Ok((folder, resume(place, &header)?)),
            (false, _) | (true, Begin::Fresh) => {
                fs::create_dir_all(place).map_err(Error::output(place))?;
                let journal = Journal::create(place, header)?;
                // Old tables are of other runs; without them a killed sweep is not taken for them.
                for name in OURS.iter().filter(|name| **name != JOURNAL) {
                    let _ = fs::remove_file(place.join(name));
                }
                Ok((folder, journal))
            }
        }
    }

    /// Writes the tables of a sweep that is done, that of the runs `packed` if so wished.
    pub fn finish(&self, tables: &mut Tables, threads: usize, packed: bool) -> Result<()> {
        let scenario = tables.header().scenario.clone();
        let files = [
            write_whole(&self.place, "scenario.toml", scenario.as_bytes())?,
            tables.write_runs(&self.place, packed)?,
            tables.write_summary(&self.place)?,
        ];
        // What another command has left here is of other results.
        let kept = |name: &str| name == JOURNAL || files.iter().any(|file| file.name == name);
        for name in OURS.iter().filter(|name| !kept(name) && **name != MANIFEST) {
            let _ = fs::remove_file(self.place.join(name));
        }
        self.write_manifest(tables.header(), threads, Some(tables.made()), &files)
    }

    /// Marks the folder of a part that is done.
    pub fn finish_part(&self, journal: &Journal, threads: usize) -> Result<()> {
        self.write_manifest(journal.header(), threads, None, &[])
    }

    fn write_manifest(
        &self,
        header: &Header,
        threads: usize,
        made: Option<Made>,
        files: &[Written],
    ) -> Result<()> {
        let file = |file: &Written| json!({ "name": file.name, "bytes": file.bytes, "fnv1a": format!("{:016x}", file.fnv1a) });
        let files: Vec<Value> = files.iter().map(file).collect();
        let seconds = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_secs());
        let command: Vec<String> =
            std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let part = (header.shard != Shard::WHOLE).then(|| header.shard.to_string());
        let document = json!({
            "schema": "retrylab.manifest/1",
            "name": header.name,
            "version": env!("CARGO_PKG_VERSION"),
            "commit": env!("RETRYLAB_COMMIT"),
            "command": command,
            "unix_time": seconds,
            "seed": header.seed,
            "replications": header.replications,
            "until": header.until,
            "threads": threads,
            "vary": header.vary,
            "sample": header.sample,
            "cells": header.cells,
            "runs": made.map_or(header.runs(), |made| made.runs),
            "shard": part,
            "scenario_digest": format!("{:016x}", crate::engine::digest(header.scenario.as_bytes())),
            "events": made.map(|made| made.events),
            "files": files,
        });
        write_whole(&self.place, MANIFEST, format!("{document:#}\n").as_bytes()).map(|_| ())
    }
}

const MANIFEST: &str = "manifest.json";

/// The journal that is there, if it is of the same sweep and part.
fn resume(place: &Path, header: &Header) -> Result<Journal> {
    let journal = Journal::open(place)?;
    let there = journal.header();
    let shard = (there.shard != header.shard)
        .then(|| format!("it is part {} there, and {} here", there.shard, header.shard));
    match header.difference(there).or(shard) {
        None => Ok(journal),
        Some(difference) => Err(Error::Input(format!(
            "{}: the folder has another sweep: {difference}; name another folder with -o, or begin anew by --fresh",
            place.display()
        ))),
    }
}
