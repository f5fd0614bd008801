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
    pub fn survey(&self) -> Result<Columns> {
        let cells = self.design.cells();
        // Asked once: to count the cores is to read files.
        let threads = self.effort.thread_count();
        // Of a run that is over nothing is kept but its record.
        let replications = self.effort.replications.min(u32::try_from(threads).unwrap_or(u32::MAX));
        let together = Effort { threads, replications, ..self.effort };
        let of_piece = |piece: u64| -> Result<Columns> {
            let mut columns = Columns::new();
            for number in piece * PIECE..((piece + 1) * PIECE).min(cells) {
                let cell = self.cell(number)?;
                together.check(&cell)?;
                add(&mut columns, cell.metrics.iter().map(|m| (m.name.as_str(), m.unit)));
            }
            Ok(columns)
        };
        // Two neighbours are made one as soon as both are there: nothing is held per piece. The first
        // error in order wins, for any number of threads.
        let both = |first: Result<Columns>, second: Result<Columns>| {
            let (mut columns, more) = (first?, second?);
            add(&mut columns, more.iter().map(|(name, unit)| (name.as_str(), unit.as_str())));
            Ok(columns)
        };
        let pieces = 0..cells.div_ceil(PIECE);
        let survey = || pieces.into_par_iter().map(of_piece).reduce(|| Ok(Columns::new()), both);
        self.effort.pool()?.install(survey)
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

/// Names and units of metrics.
type Columns = Vec<(String, String)>;

/// Adds columns that are not there yet, in order of appearance.
fn add<'a>(columns: &mut Columns, more: impl Iterator<Item = (&'a str, &'a str)>) {
    for (place, (name, unit)) in more.enumerate() {
        let same = |column: &(String, String)| column.0 == name && column.1 == unit;
        // Most cells have the same ones at the same places.
        if !columns.get(place).is_some_and(same) && !columns.iter().any(same) {
            columns.push((name.to_owned(), unit.to_owned()));
        }
    }
}
