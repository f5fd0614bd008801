//! Measured waits from a CSV file.

use std::path::Path;

use crate::client::{Backoff, Choice, Layer, WaitTable};
use crate::error::{Error, Result};
use crate::units::{LONGEST, NANOS_PER_SECOND, Span, round_nanos};
use crate::workload::read_plain_file;

/// Most retries that a file can have rows for.
const MOST_RETRIES: usize = 10_000;

/// The layers with the waits that their tables take from files; paths start at `folder`.
pub(super) fn with_measured_waits(layers: &[Layer], folder: &Path) -> Result<Vec<Layer>> {
    layers.iter().cloned().map(|layer| loaded(layer, folder)).collect()
}

fn loaded(mut layer: Layer, folder: &Path) -> Result<Layer> {
    if let Backoff::Table(table) = &layer.backoff
        && let Some(file) = table.file()
    {
        layer.backoff = Backoff::Table(read(table, &folder.join(file))?);
    }
    Ok(layer)
}

fn read(table: &WaitTable, path: &Path) -> Result<WaitTable> {
    let shown = path.display();
    let bytes = read_plain_file(path, "a CSV file of waits").map_err(|e| {
        Error::Input(format!("{shown}: {e} (paths start at the scenario's folder)"))
    })?;
    let rows = parse(&bytes).map_err(|(line, e)| Error::Input(format!("{shown}:{line}: {e}")))?;
    Ok(table.clone().with_measured(rows))
}

fn parse(bytes: &[u8]) -> std::result::Result<Vec<Choice>, (u64, String)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().map_err(|e| (1, e.to_string()))?.clone();
    let column = |name: &str| {
        let found = header.iter().position(|known| known.trim() == name);
        found.ok_or_else(|| {
            let there: Vec<&str> = header.iter().collect();
            (1, format!("no column is called {name}; found {}", there.join(", ")))
        })
    };
    let (attempt, wait) = (column("attempt")?, column("wait_s")?);
    let mut rows: Vec<Vec<Span>> = Vec::new();
    for record in reader.records() {
        let record =
            record.map_err(|e| (e.position().map_or(1, csv::Position::line), e.to_string()))?;
        let line = record.position().map_or(1, csv::Position::line);
        let (retry, wait) = row(&record[attempt], &record[wait]).map_err(|text| (line, text))?;
        rows.resize_with(rows.len().max(retry), Vec::new);
        rows[retry - 1].push(wait);
    }
    if rows.is_empty() {
        return Err((2, "the file has no rows; at least one is needed".to_owned()));
    }
    rows.into_iter()
        .zip(1..)
        .map(|(waits, retry)| {
            let missing = || {
                (1, format!("no row is for attempt {retry}; every retry up to the last needs one"))
            };
            Choice::new(waits).ok_or_else(missing)
        })
        .collect()
}

fn row(attempt: &str, wait: &str) -> std::result::Result<(usize, Span), String> {
    let retry = attempt.trim().parse().ok().filter(|retry| (1..=MOST_RETRIES).contains(retry));
    let retry = retry.ok_or_else(|| {
        format!("attempt = \"{attempt}\" is not a whole number from 1 to {MOST_RETRIES}")
    })?;
    let longest = LONGEST as f64 / NANOS_PER_SECOND as f64;
    let seconds = wait.trim().parse().ok().filter(|wait| (0.0..=longest).contains(wait));
    let seconds: f64 = seconds.ok_or_else(|| {
        format!("wait_s = \"{wait}\" is not a number of seconds from 0 to {longest}")
    })?;
    Ok((retry, Span::from_nanos(round_nanos(seconds * NANOS_PER_SECOND as f64))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_retry() {
        let text = "sdk,attempt,wait_s\na,2,0.75\na,1,0.5\na,1,0.375\n";
        let rows = parse(text.as_bytes()).unwrap();
        let ms = |n: u64| Span::from_nanos(n * 1_000_000);
        let choices = [vec![ms(500), ms(375)], vec![ms(750)]].map(|row| Choice::new(row).unwrap());
        assert_eq!(rows, choices);
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_line() {
        for (text, line, part) in [
            ("", 1, "no column is called attempt"),
            ("attempt,wait\n1,2\n", 1, "no column is called wait_s; found attempt, wait"),
            ("attempt,wait_s\n", 2, "no rows"),
            ("attempt,wait_s\n1,0.5\n3,1\n", 1, "no row is for attempt 2"),
            ("attempt,wait_s\n1,0.5\n0,1\n", 3, "attempt = \"0\""),
            ("attempt,wait_s\n1,soon\n", 2, "wait_s = \"soon\""),
            ("attempt,wait_s\n1,-1\n", 2, "wait_s = \"-1\""),
            ("attempt,wait_s\n1\n", 2, ""),
        ] {
            let (at, problem) = parse(text.as_bytes()).unwrap_err();
            assert!(at == line && problem.contains(part), "{text:?}: {at} {problem}");
        }
    }
}
