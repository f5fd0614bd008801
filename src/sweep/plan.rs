//! A sweep that is ready to run: a scenario under a design.

use rayon::prelude::*;

use super::design::Design;
use super::header::{Header, Shard};
use super::until::Until;
use crate::engine::digest;
use crate::error::{Error, Result};
use crate::experiment::{Cell, Effort, NamedPolicy, Place, swap};
use crate::scenario::{Document, canonical, setting_value};

/// The path that stands for a whole policy.
const POLICY: &str = "policy";

/// A scenario and what is varied in it.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The scenario.
    pub document: Document,
    /// What is varied.
    pub design: Design,
    /// Where policies are put.
    pub place: Place,
    /// Seed, replications (at most), threads, memory.
    pub effort: Effort,
    /// When a cell has replications enough; None for all.
    pub until: Option<Until>,
}

impl Sweep {
    /// How many runs there are; at most, where cells may have enough earlier.
    pub fn runs(&self) -> u64 {
        self.design.cells() * u64::from(self.effort.replications)
    }

    /// A cell by number.
    pub fn cell(&self, number: u64) -> Result<Cell> {
        let (document, label) = self.document_of(number)?;
        Cell::labelled("", label, &document)
    }

    /// The document of a cell by number, and what errors call it.
    pub fn document_of(&self, number: u64) -> Result<(Document, String)> {
        let (mut document, mut label) = (self.document.clone(), String::new());
        for (path, value) in self.design.paths().zip(self.design.values(number)) {
            document = self.set(&document, path, &value)?;
            label += &format!(" {path}={value}");
        }
        Ok((document, format!("cell {number}:{label}")))
    }

    fn set(&self, document: &Document, path: &str, value: &str) -> Result<Document> {
        let by = format!("--vary {path}={value}");
        if path == POLICY {
            let policy = NamedPolicy::parse(value);
            let policy = policy.map_err(|e| Error::Input(format!("{by}: {e}")))?;
            return swap(document, &policy, &self.place);
        }
        document.with_value(&by, path, setting_value(value))
    }

    /// Looks at every cell once, without running any: whether it is sound and small enough, and
    /// which metrics there are, each with its unit.
    pub fn survey(&self) -> Result<Vec<(String, String)>> {
        let cells = self.design.cells();
        let of_piece = |piece: u64| -> Result<Vec<(String, String)>> {
            let mut columns = Vec::new();
            for number in piece * PIECE..((piece + 1) * PIECE).min(cells) {
                let cell = self.cell(number)?;
                self.effort.check(&cell)?;
                let metrics = cell.metrics.iter();
                add(&mut columns, metrics.map(|m| (m.name.clone(), m.unit.to_owned())));
            }
            Ok(columns)
        };
        let pieces: Vec<Result<Vec<(String, String)>>> =
            (0..cells.div_ceil(PIECE)).into_par_iter().map(of_piece).collect();
        let mut columns = Vec::new();
        for piece in pieces {
            add(&mut columns, piece?.into_iter());
        }
        Ok(columns)
    }

    /// Its identity, or that of a part of it.
    pub fn header(
        &self,
        name: &str,
        shard: Shard,
        columns: Vec<(String, String)>,
    ) -> Result<Header> {
        let scenario = self.document.scenario()?;
        let layer = self.place.layer.as_ref().map(|layer| format!("--layer {layer}"));
        let group = self.place.group.as_ref().map(|group| format!("--group {group}"));
        Ok(Header {
            schema: Header::schema(),
            version: Header::this_version(),
            name: name.to_owned(),
            scenario: canonical(&scenario)?,
            written: format!("{:016x}", digest(self.document.written_text().as_bytes())),
            traces: scenario.trace_digests(self.document.folder())?,
            vary: self.design.axes.iter().map(|axis| axis.text.clone()).collect(),
            place: layer.into_iter().chain(group).collect(),
            sample: self.design.sample,
            seed: self.effort.seed,
            replications: self.effort.replications,
            until: self.until.clone(),
            cells: self.design.cells(),
            shard,
            columns,
        })
    }
}

/// Cells that are looked at together.
const PIECE: u64 = 64;

/// Adds columns that are not there yet, in order of appearance.
fn add(columns: &mut Vec<(String, String)>, more: impl Iterator<Item = (String, String)>) {
    for column in more {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
}
