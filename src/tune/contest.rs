//! The settings that are tried, and how they are run.

use rayon::prelude::*;

use super::goal::{Goal, Score};
use crate::error::Result;
use crate::experiment::{Cell, Seed};
use crate::scenario::Document;
use crate::sweep::Sweep;

/// Settings of a scenario, and what is wanted of them.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The scenario and its settings; the replications of its effort are the most of each.
    pub sweep: Sweep,
    /// What is wanted.
    pub goal: Goal,
}

impl Contest {
    /// How many settings there are: the scenario as it is written, and the cells of the design.
    pub fn settings(&self) -> u64 {
        self.sweep.design.cells() + 1
    }

    /// The document of a setting: 0 is the scenario as it is written, k + 1 is cell k.
    pub fn document(&self, setting: u64) -> Result<(Document, String)> {
        match setting.checked_sub(1) {
            None => Ok((self.sweep.document.clone(), "the current setting".to_owned())),
            Some(cell) => self.sweep.document_of(cell),
        }
    }

    /// The cell of a setting.
    pub fn cell(&self, setting: u64) -> Result<Cell> {
        let (document, label) = self.document(setting)?;
        Cell::labelled("", label, &document)
    }

    /// The values of what is varied; None for the scenario as it is written.
    pub fn values(&self, setting: u64) -> Option<Vec<String>> {
        setting.checked_sub(1).map(|cell| self.sweep.design.values(cell))
    }

    /// Looks at every setting before any is run.
    pub fn survey(&self) -> Result<()> {
        let known = self.sweep.survey()?;
        let current = self.cell(0)?;
        self.sweep.effort.check(&current)?;
        let names = known.iter().map(|(name, _)| name.as_str());
        let of_current = current.metrics.iter().map(|metric| metric.name.as_str());
        self.goal.check_names(&names.chain(of_current).collect::<Vec<_>>())?;
        self.goal.check_capacity(&current)
    }

    /// The scores of some replications of each cell, in order; tells `done` of each run.
    pub fn scores(
        &self,
        pool: &rayon::ThreadPool,
        cells: &[Cell],
        seed: Seed,
        replications: std::ops::Range<u32>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<Score>>> {
        let each = replications.len();
        let one = |index: usize| {
            let cell = &cells[index / each];
            let run = cell.run(seed, replications.start + (index % each) as u32)?;
            done();
            Ok(self.goal.score(cell, &run))
        };
        let all: Vec<Result<Score>> =
            pool.install(|| (0..cells.len() * each).into_par_iter().map(one).collect());
        let mut all = all.into_iter();
        cells.iter().map(|_| all.by_ref().take(each).collect()).collect()
    }
}
