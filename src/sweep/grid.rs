//! The cells of a sweep: every combination of values, or a Latin hypercube.

use super::axis::Axis;
use crate::experiment::Seed;
use crate::rng::{Purpose, Streams};

/// All cells, by number.
#[derive(Clone, Debug)]
pub enum Grid {
    /// Every combination; the last axis changes fastest.
    Full(Vec<Vec<Vec<String>>>),
    /// Drawn.
    Hypercube(Hypercube),
}

/// A Latin hypercube: of `count` cells each lies in another of `count` equal parts of every axis.
/// M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting values of input
/// variables", Technometrics 21 (1979), <https://doi.org/10.1080/00401706.1979.10489755>.
#[derive(Clone, Debug)]
pub struct Hypercube {
    axes: Vec<Axis>,
    /// Per axis: the part in which each cell lies.
    parts: Vec<Vec<u32>>,
    streams: Streams,
}

/// Most cells of a sweep.
pub const MOST_CELLS: u64 = 100_000_000;

impl Grid {
    /// Every combination of the values of `axes`.
    pub fn full(axes: &[Axis]) -> Result<Grid, String> {
        let grid = |axis: &Axis| {
            axis.grid().ok_or_else(|| {
                format!(
                    "\"{}\" has no number of points; write it, such as :log8, or draw with --sample",
                    axis.text
                )
            })
        };
        let values: Vec<Vec<Vec<String>>> = axes.iter().map(grid).collect::<Result<_, _>>()?;
        let product = values.iter().try_fold(1u64, |n, axis| n.checked_mul(axis.len() as u64));
        match product.filter(|cells| *cells <= MOST_CELLS) {
            Some(_) => Ok(Grid::Full(values)),
            None => Err(format!("more than {MOST_CELLS} cells; write fewer values, or --sample N")),
        }
    }

    /// `count` cells drawn under `seed`.
    pub fn hypercube(axes: &[Axis], count: u32, seed: Seed) -> Grid {
        let streams = Streams::new(seed.0, 0);
        let parts = (0..).take(axes.len()).map(|axis| {
            let mut parts: Vec<u32> = (0..count).collect();
            let mut stream = streams.stream(Purpose::Sample, axis, 0);
            for i in (1..parts.len()).rev() {
                parts.swap(i, stream.below(i as u64 + 1) as usize);
            }
            parts
        });
        Grid::Hypercube(Hypercube { axes: axes.to_vec(), parts: parts.collect(), streams })
    }

    /// How many there are.
    pub fn cells(&self) -> u64 {
        match self {
            Grid::Full(values) => values.iter().map(|axis| axis.len() as u64).product(),
            Grid::Hypercube(cube) => cube.parts.first().map_or(1, |parts| parts.len() as u64),
        }
    }

    /// The values of a cell, axis after axis, a text for each path.
    pub fn values(&self, cell: u64) -> Vec<Vec<String>> {
        match self {
            Grid::Full(values) => {
                let mut rest = cell;
                let mut chosen: Vec<Vec<String>> = (values.iter().rev())
                    .map(|axis| {
                        let index = (rest % axis.len() as u64) as usize;
                        rest /= axis.len() as u64;
                        axis[index].clone()
                    })
                    .collect();
                chosen.reverse();
                chosen
            }
            Grid::Hypercube(cube) => cube.values(cell as usize),
        }
    }
}

impl Hypercube {
    fn values(&self, cell: usize) -> Vec<Vec<String>> {
        let count = self.parts[0].len() as f64;
        (0..)
            .zip(self.axes.iter().zip(&self.parts))
            .map(|(number, (axis, parts))| {
                let mut stream = self.streams.stream(Purpose::Sample, number, cell as u32 + 1);
                axis.at((f64::from(parts[cell]) + stream.unit()) / count)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(texts: &[&str]) -> Vec<Axis> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_last_axis_changes_fastest() {
        let grid = Grid::full(&axes(&["a=1,2", "b,c=(x,y),(z,w)", "d=5"])).unwrap();
        let cells: Vec<String> = (0..grid.cells())
            .map(|cell| grid.values(cell).into_iter().flatten().collect::<Vec<_>>().join(""))
            .collect();
        assert_eq!(cells, ["1xy5", "1zw5", "2xy5", "2zw5"]);
        assert!(Grid::full(&axes(&["a=1..2:log"])).unwrap_err().contains("--sample"));
        assert_eq!(Grid::full(&[]).unwrap().cells(), 1);
        let huge = vec!["a=1..100000:lin100000"; 2];
        assert!(Grid::full(&axes(&huge)).unwrap_err().contains("fewer values"));
    }

    #[test]
    fn every_part_of_every_axis_is_drawn_once() {
        let axes = axes(&["a=0.0..1.0", "b=1.0..1000.0:log", "c=x,y"]);
        let grid = Grid::hypercube(&axes, 20, Seed(7));
        let column = |axis: usize| -> Vec<String> {
            (0..20).map(|cell| grid.values(cell)[axis].join("")).collect()
        };
        let part = |share: f64| (share * 20.0) as usize;
        let sorted = |mut parts: Vec<usize>| {
            parts.sort_unstable();
            parts
        };
        let numbers = |axis| column(axis).into_iter().map(|v| v.parse::<f64>().unwrap());
        let all: Vec<usize> = (0..20).collect();
        assert_eq!(sorted(numbers(0).map(part).collect()), all);
        assert_eq!(sorted(numbers(1).map(|v| part(v.log10() / 3.0)).collect()), all);
        assert_eq!(column(2).iter().filter(|v| *v == "x").count(), 10);
        assert_ne!(numbers(0).map(part).collect::<Vec<_>>(), all, "in a random order");
        // The same seed draws the same, another one does not.
        let again = |seed| Grid::hypercube(&axes, 20, Seed(seed)).values(3);
        assert_eq!(again(7), grid.values(3));
        assert_ne!(again(8), grid.values(3));
    }
}
