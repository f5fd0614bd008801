//! A heat map of a sweep.

use super::grid::Grid;
use super::sources::Sources;
use crate::error::{Error, Result};
use crate::output::not_drawn;
use crate::output::plot::heat_map::{HeatMap, MOST};
use crate::output::plot::{Look, Picture};

/// The picture.
pub fn of_results(look: Look, metrics: &[String], sources: &Sources) -> Result<Picture> {
    let metric = match metrics {
        [] => "peak_bin",
        [one] => one,
        _ => return Err(Error::Input("--metric: heat-map draws one".to_owned())),
    };
    let grid = Grid::read(sources, metric)?;
    if grid.keys.len() != 2 {
        return Err(grid.wrong("heat-map needs exactly two keys"));
    }
    let (xs, ys) = (grid.values(0), grid.values(1));
    if xs.len().max(ys.len()) > MOST || grid.means.len() < xs.len() * ys.len() {
        return Err(grid.wrong(&format!(
            "heat-map needs every combination of at most {MOST} values each, and there are {} cells of {} × {}",
            grid.means.len(),
            xs.len(),
            ys.len()
        )));
    }
    let cell = |x: &String, y: &String| {
        let mean = grid.means.iter().find(|mean| mean.cell[0] == *x && mean.cell[1] == *y);
        mean.and_then(|mean| mean.mean)
    };
    let figure = HeatMap {
        title: sources.title(),
        note: format!("mean over {}", sources.note()),
        metric: grid.metric.clone(),
        cells: ys.iter().map(|y| xs.iter().map(|x| cell(x, y)).collect()).collect(),
        across: (Grid::name(&grid.keys[0]), xs),
        upright: (Grid::name(&grid.keys[1]), ys),
    };
    figure.draw(look).map_err(not_drawn)
}
