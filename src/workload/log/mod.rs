//! Request logs: what was sent when, how long it took, what came back, and of how many tokens.
//!
//! A file is a table with a header line or has one JSON object per line; the first character tells. Its
//! columns tell the [`Format`], which is data: `formats.toml`. Rows are handed over one by one.

mod clock;
mod format;
mod reader;
mod rows;

pub use format::{Format, formats};
pub use reader::{Fault, Wish, read};
pub use rows::Entry;

use std::fs::File;
use std::io::{Error, Result};
use std::path::Path;

/// Opens a file that should be `what`; not a folder, nor something without an end.
pub fn open_plain_file(path: &Path, what: &str) -> Result<File> {
    // Asked before: opening a pipe waits for its other end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(Error::other(format!("this is not a plain file; name {what}")));
    }
    File::open(path)
}
