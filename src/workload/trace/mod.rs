//! Recorded arrivals with their tokens.
//!
//! A trace is a log in one of its formats ([`super::log`]) that has tokens. Times are counted from the first arrival; rows out of order are
//! sorted. Lines end in LF or CR LF; the last one may have no end.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::log::{self, Entry, Fault, Wish, open_plain_file};
use crate::engine::Fnv;
use crate::rng::{Purpose, Streams};
use crate::units::{Span, Time};

/// Recorded arrivals, from t = 0 at the first one; row i belongs to client i mod `clients`. The
/// formats that are read are told apart by their first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The file; relative to the scenario's folder, or to the working folder on standard input.
    pub file: PathBuf,
    /// At most this many rows, from the top; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    /// Every arrival comes later by a time that is drawn uniformly from [0, spread), anew in every
    /// replication: for time stamps that are rounded down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Span>,
    /// What becomes of rows without output tokens.
    #[serde(default, skip_serializing_if = "Empty::is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "keep")))]
    pub empty: Empty,
}

/// Rows without output tokens: in BurstGPT, requests that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Empty {
    /// They are requests like the others, with an answer of no tokens.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}

impl Empty {
    fn is_default(&self) -> bool {
        *self == Empty::default()
    }
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, counted from the first row.
    pub at: Time,
    /// Prompt tokens.
    pub input_tokens: u32,
    /// Tokens of the answer.
    pub output_tokens: u32,
}

impl TraceFile {
    /// FNV-1a of the file's bytes: what its path does not tell.
    pub fn digest(&self, folder: &Path) -> std::io::Result<u64> {
        let mut file = std::fs::File::open(folder.join(&self.file))?;
        let (mut fnv, mut bytes) = (Fnv::new(), vec![0; 1 << 16]);
        loop {
            match std::io::Read::read(&mut file, &mut bytes)? {
                0 => return Ok(fnv.value()),
                read => fnv.add(&bytes[..read]),
            }
        }
    }
}

/// A trace in memory, sorted by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its rows.
    pub rows: Vec<Arrival>,
    /// Width of the delay that each arrival draws, in nanoseconds; 0: none.
    pub spread: u64,
}

impl Trace {
    /// When the request of a row comes.
    pub fn arrival(&self, row: u32, streams: &Streams) -> Time {
        let at = self.rows[row as usize].at;
        if self.spread == 0 {
            return at;
        }
        at + streams.stream(Purpose::Arrival, row, 0).below(self.spread)
    }

    /// Rows without output tokens.
    pub fn empty_rows(&self) -> usize {
        self.rows.iter().filter(|row| row.output_tokens == 0).count()
    }
}

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("{}: {source} (paths start at the scenario's folder)", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Its content is not a trace.
    #[error("{}:{line}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: u64,
        /// What is wrong and what is allowed.
        problem: String,
    },
}

/// Reads a trace.
pub fn read(file: &TraceFile, folder: &Path) -> Result<Trace, TraceError> {
    let path = folder.join(&file.file);
    let unreadable = |source| TraceError::Unreadable { path: path.clone(), source };
    let open = || open_plain_file(&path, "a trace");
    parse(BufReader::new(open().map_err(unreadable)?), file).map_err(|fault| {
        let (line, problem) = (fault.line(open), fault.text);
        TraceError::Malformed { path: path.clone(), line, problem }
    })
}

/// Largest file that is read: 4 GiB.
const MAX_BYTES: u64 = 4 << 30;

/// Reads a file that should be `what`; not a folder, nor something without an end.
pub(crate) fn read_plain_file(path: &Path, what: &str) -> std::io::Result<Vec<u8>> {
    let facts = std::fs::metadata(path)?;
    let refuse = |text: String| Err(std::io::Error::other(text));
    if !facts.is_file() {
        return refuse(format!("this is not a plain file; name {what}"));
    }
    if facts.len() > MAX_BYTES {
        return refuse("the file is larger than 4 GiB; cut it into parts".to_owned());
    }
    std::fs::read(path)
}

fn parse(log: impl BufRead, file: &TraceFile) -> Result<Trace, Fault> {
    let most = file.rows.map_or(usize::MAX, |n| n as usize);
    let wish = Wish { most, format: None, tokens: true };
    let mut rows = Vec::new();
    // The reader has seen to it that there are tokens.
    let row = |entry: Entry| Arrival {
        at: entry.start,
        input_tokens: entry.input_tokens.unwrap_or(0),
        output_tokens: entry.output_tokens.unwrap_or(0),
    };
    log::read(log, wish, |entry| rows.push(row(entry)))?;
    if rows.is_empty() {
        return Err(Fault::at_line(2, "the trace has no rows; at least one is needed"));
    }
    if file.empty == Empty::Drop {
        rows.retain(|row| row.output_tokens > 0);
    }
    rows.sort_by_key(|row| row.at);
    let Some(first) = rows.first().map(|row| row.at) else {
        let text =
            "no row has output tokens, and empty = \"drop\" leaves nothing; write empty = \"keep\"";
        return Err(Fault::at_line(2, text));
    };
    rows.iter_mut().for_each(|row| row.at -= first);
    Ok(Trace { rows, spread: file.spread.map_or(0, Span::nanos) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> TraceFile {
        TraceFile { file: PathBuf::new(), rows: None, spread: None, empty: Empty::Keep }
    }

    const HEADER: &str = "TIMESTAMP,ContextTokens,GeneratedTokens";
    const ROW: &str = "2023-11-16 18:17:03.9799600,4808,10";

    #[test]
    fn times_are_counted_from_the_first_arrival() {
        let text = "\u{feff}at_s,input_tokens,output_tokens\n9,1,1\n7.5,2,0\n8,3,3\n";
        let rows = parse(text.as_bytes(), &file()).unwrap().rows;
        let half = 500_000_000;
        let found: Vec<_> = rows.iter().map(|row| (row.at / half, row.input_tokens)).collect();
        assert_eq!(found, [(0, 2), (1, 3), (3, 1)]);
        let dropped = parse(text.as_bytes(), &TraceFile { empty: Empty::Drop, ..file() }).unwrap();
        assert_eq!(dropped.rows.iter().map(|row| row.at / half).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn a_torn_or_empty_file_is_refused_with_its_line() {
        for (text, line, part) in [
            (String::new(), 1, "empty"),
            (format!("{HEADER}\n"), 2, "no rows"),
            (format!("{HEADER}\n{ROW}\n2023-11-16 18:17:04.03"), 3, "cut off"),
            (format!("{HEADER}\n{ROW}\nsoon,1,2\n"), 3, "not a time stamp"),
            (format!("{HEADER}\r\n{ROW}\r\n\r\nsoon,1,2\r\n"), 4, "not a time stamp"),
            (format!("{HEADER}\n2023-11-16 18:17:03,-1,2\n"), 2, "ContextTokens"),
            ("a,b,c\n1,2,3\n".to_owned(), 1, "starts with"),
            ("{\"timestamp\": 0}".to_owned(), 1, "input_length"),
        ] {
            let fault = parse(text.as_bytes(), &file()).unwrap_err();
            let (at, problem) = (fault.line(|| Ok(text.as_bytes())), fault.text);
            assert!(at == line && problem.contains(part), "{text:?}: {at} {problem}");
        }
        assert!(parse(format!("{HEADER}\n").as_bytes(), &file()).is_err());
        let failed = "at_s,input_tokens,output_tokens\n0,1,0\n";
        let drop = TraceFile { empty: Empty::Drop, ..file() };
        assert!(parse(failed.as_bytes(), &drop).unwrap_err().text.contains("leaves nothing"));
    }
}
