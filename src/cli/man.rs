//! `retrylab man`: pages of the manual.

use std::path::PathBuf;

use super::Answer;
use crate::error::{Error, Result};
use crate::output::print;

/// Print the man page, or write one for every command.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab man > retrylab.1
  retrylab man -o ~/.local/share/man/man1")]
pub struct Args {
    /// Folder for retrylab.1, retrylab-run.1 and so on; pages that are there are replaced.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub fn main(args: &Args) -> Result<Answer> {
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(super::command()).render(&mut page);
        rendered.map_err(|e| Error::Bug(e.to_string()))?;
        print(&String::from_utf8_lossy(&page))?;
        return Ok(Answer::Yes);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(super::command(), folder))
        .map_err(Error::output(folder))?;
    Ok(Answer::Yes)
}
