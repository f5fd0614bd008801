//! Standard output: one writer, and a reader that has gone is no error.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// Writes `text` and a line end if it has none.
///
/// `println!` would panic when the reader of a pipe has gone or the disk is full.
pub fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{end}")
        .and_then(|()| out.flush())
        .map_err(Error::output(Path::new("standard output")))
}
