//! Completion times of results folders.

use super::sources::Sources;
use crate::error::{Error, Result};
use crate::experiment::CompletionRow;
use crate::output::plot::completion::{Completion, CompletionFigure, chart};
use crate::output::plot::{Look, Picture};
use crate::output::{Results, not_drawn};

/// The picture.
pub fn of_results(look: Look, sources: &Sources) -> Result<Picture> {
    let policies = sources.by_policy("completions.csv", Results::completions)?;
    if policies.iter().flat_map(|(_, rows)| rows).all(|row| row.n == 0) {
        return Err(Error::Input(format!(
            "{}: no request was answered, so that there are no completion times",
            sources.first().name()
        )));
    }
    let completion = |(label, rows): (String, Vec<CompletionRow>)| Completion {
        label,
        rows: rows.into_iter().map(|row| (row.share, row.points_s)).collect(),
    };
    let figure = CompletionFigure {
        title: sources.title(),
        note: format!("{} · lines: median over seeds", sources.note()),
        policies: policies.into_iter().map(completion).collect(),
    };
    chart(&figure).draw(look).map_err(not_drawn)
}
