//! The design of a sweep: its cells, and the values that they are made of.

use super::axis::{Axis, column};
use super::grid::Grid;
use super::header::Header;
use crate::error::{Error, Result};
use crate::experiment::Seed;

/// Keys that no run depends on.
const IDLE: [&str; 4] = ["format", "title", "expect", "measure.replications"];

/// What is varied, and in which combinations.
#[derive(Clone, Debug)]
pub struct Design {
    /// What is varied.
    pub axes: Vec<Axis>,
    /// How many cells are drawn; None for all combinations.
    pub sample: Option<u32>,
    grid: Grid,
}

/// The column of a path that is varied.
pub struct Varied {
    /// Its name, with a unit.
    pub column: String,
    show: fn(&str) -> String,
}

impl Varied {
    /// The value as it stands in the column.
    pub fn show(&self, value: &str) -> String {
        (self.show)(value)
    }
}

impl Design {
    /// All combinations of `axes`, or `sample` cells drawn under `seed`.
    pub fn new(axes: Vec<Axis>, sample: Option<u32>, seed: Seed) -> Result<Design> {
        let paths: Vec<&String> = axes.iter().flat_map(|axis| &axis.paths).collect();
        if let Some(twice) = (1..paths.len()).find(|i| paths[..*i].contains(&paths[*i])) {
            return Err(Error::Input(format!("--vary: {} is varied twice", paths[twice])));
        }
        let idle = |path: &&&String| {
            IDLE.iter().any(|idle| {
                path.strip_prefix(idle).is_some_and(|r| r.is_empty() || r.starts_with('.'))
            })
        };
        if let Some(path) = paths.iter().find(idle) {
            return Err(Error::Input(format!(
                "--vary: {path} changes nothing about a run; replications are those of -r"
            )));
        }
        let grid = match sample {
            Some(count) => Grid::hypercube(&axes, count, seed),
            None => Grid::full(&axes).map_err(|text| Error::Input(format!("--vary {text}")))?,
        };
        Ok(Design { axes, sample, grid })
    }

    /// The design that a journal is of.
    pub fn of(header: &Header) -> Result<Design> {
        let axes = header.vary.iter().map(|text| text.parse());
        let axes = axes.collect::<std::result::Result<_, String>>().map_err(Error::Input)?;
        Design::new(axes, header.sample, header.seed)
    }

    /// How many cells there are.
    pub fn cells(&self) -> u64 {
        self.grid.cells()
    }

    /// Names of the varied keys.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        self.axes.iter().flat_map(|axis| &axis.paths)
    }

    /// The values of a cell, a text for each path.
    pub fn values(&self, cell: u64) -> Vec<String> {
        self.grid.values(cell).into_iter().flatten().collect()
    }

    /// The columns of the paths.
    pub fn columns(&self) -> Vec<Varied> {
        let of = |axis: &Axis| -> Vec<Varied> {
            let samples = axis.samples();
            let one = |(index, path): (usize, &String)| {
                let values: Vec<&str> = samples.iter().map(|value| value[index].as_str()).collect();
                let (column, show) = column(path, &values);
                Varied { column, show }
            };
            axis.paths.iter().enumerate().map(one).collect()
        };
        self.axes.iter().flat_map(of).collect()
    }
}
