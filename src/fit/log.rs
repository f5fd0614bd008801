//! A log in memory: its rows, ascending by start, counted from the first one.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::units::LONGEST;
use crate::workload::log::{Entry, Format, Wish, formats, open_plain_file, read};

/// A log as it was read.
#[derive(Clone, Debug)]
pub struct Log {
    /// Its file.
    pub path: PathBuf,
    /// Its format.
    pub format: &'static Format,
    /// Its requests; the first starts at 0.
    pub rows: Vec<Entry>,
    /// Rows that are no requests.
    pub others: u64,
}

impl Log {
    /// Reads at most `most` rows of a log, in the format with a name or in that which its first line tells.
    pub fn read(path: &Path, format: Option<&str>, most: Option<usize>) -> Result<Log> {
        let shown = path.display();
        let format = format.map(named).transpose()?;
        let open = || open_plain_file(path, "a request log");
        let file = open().map_err(|e| Error::Input(format!("{shown}: {e}")))?;
        let wish = Wish { most: most.unwrap_or(usize::MAX), format, tokens: false };
        let mut rows: Vec<Entry> = Vec::new();
        let (format, others) =
            read(BufReader::new(file), wish, |entry| rows.push(entry)).map_err(|fault| {
                Error::Input(format!("{shown}:{}: {}", fault.line(open), fault.text))
            })?;
        rows.sort_by_key(|row| row.start);
        let first = rows.first().map_or(0, |row| row.start);
        rows.iter_mut().for_each(|row| row.start -= first);
        if rows.last().is_none_or(|row| row.start == 0) {
            let what = match rows.len() {
                0 => "there are no requests".to_owned(),
                1 => "there is one request".to_owned(),
                n => format!("all {n} requests start at one instant"),
            };
            return Err(Error::Input(format!(
                "{shown}: {what}; a rate needs requests at two instants, and a good fit hundreds"
            )));
        }
        if rows.last().is_some_and(|row| row.start > LONGEST) {
            return Err(Error::Input(format!(
                "{shown}: from the first request to the last it is more than ten years; is a time stamp wrong?"
            )));
        }
        Ok(Log { path: path.to_owned(), format, rows, others })
    }
}

fn named(name: &str) -> Result<&'static Format> {
    Format::named(name).ok_or_else(|| {
        let names: Vec<&str> = formats().iter().map(|format| format.name.as_str()).collect();
        let suggestion = crate::scenario::suggest(name, &names);
        Error::Input(format!("--format: no format is called \"{name}\"{suggestion}"))
    })
}
