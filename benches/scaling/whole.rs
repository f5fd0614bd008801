//! What makes a sweep expensive: how many runs it has, of one cell or of many.

use std::path::PathBuf;

use retrylab::scenario::Document;

use crate::cost::Care;
use crate::published::thousand_clients;
use crate::sweeps::{run_whole, sweep};
use crate::table::{markdown, time, whole};

/// The least that has all metrics: what a sweep costs besides its runs is most of it.
const FIVE_CLIENTS: &str = include_str!("../five-clients.toml");

fn five_clients() -> Document {
    Document::parse("five", FIVE_CLIENTS.to_owned(), PathBuf::new()).expect("a valid scenario")
}

/// Replications of one cell.
pub fn replications(care: Care) -> String {
    let one =
        |document: &Document, runs: u32| seconds(care, document, "provider.concurrency=1000", runs);
    table(care, "replications", one)
}

/// One replication of many cells.
pub fn cells(care: Care) -> String {
    let many = |document: &Document, runs: u32| {
        seconds(care, document, &format!("provider.concurrency=1001..{}:lin{runs}", runs + 1000), 1)
    };
    table(care, "cells", many)
}

/// CPU seconds of a sweep on one thread, from the survey of its cells to its tables.
fn seconds(care: Care, document: &Document, vary: &str, replications: u32) -> f64 {
    let sweep = sweep(document.clone(), &[vary], replications, 1);
    let home = tempfile::tempdir().expect("a folder for results");
    care.least(|| run_whole(&sweep, home.path())).as_secs_f64()
}

/// What so many runs take, of five clients that succeed and of a thousand that fail.
fn table(care: Care, what: &str, seconds: impl Fn(&Document, u32) -> f64) -> String {
    let (five, thousand) = (five_clients(), thousand_clients());
    let rows = care.of(&[10u32, 100, 1_000, 10_000, 100_000]).map(|runs| {
        let small = seconds(&five, runs);
        // Ten thousand of them only show once more what a thousand show.
        let large = (runs <= 1_000).then(|| seconds(&thousand, runs));
        let each = |seconds: f64| [time(seconds), time(seconds / f64::from(runs))];
        let large = large.map_or(["".to_owned(), String::new()], each);
        [whole(f64::from(runs))].into_iter().chain(each(small)).chain(large).collect()
    });
    let names = [what, "five clients", "per run", "thousand-clients", "per run"];
    markdown(&names, rows)
}
