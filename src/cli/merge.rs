//! `retrylab merge`: the parts of a sweep become one.

use std::path::PathBuf;

use super::Answer;
use super::sweep::{Counts, say, table};
use crate::error::Result;
use crate::sweep::{Begin, Parts, SweepFolder, Tables};

/// Make one sweep of the parts that --shard has made.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab sweep storm.toml --vary workload.clients=100,200 --shard 1/2 -o part-1
  retrylab sweep storm.toml --vary workload.clients=100,200 --shard 2/2 -o part-2
  retrylab merge part-1 part-2 -o results/merged

Every part must be there once and be finished. The files are the same as those of a sweep that was
not divided, to the byte.")]
pub struct Args {
    /// Folders of the parts, in any order.
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    /// Results folder.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Put the result in the place of a sweep that the folder has.
    #[arg(long)]
    fresh: bool,
    /// Write the rows of all runs as runs.csv.gz.
    #[arg(long)]
    gzip: bool,
    /// No table and no notes.
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn main(args: &Args) -> Result<Answer> {
    let mut parts = Parts::open(&args.parts)?;
    let begin = if args.fresh { Begin::Fresh } else { Begin::New };
    let (folder, mut journal) = SweepFolder::open(&args.output, parts.header(), begin)?;
    parts.copy_into(&mut journal)?;
    let total = journal.header().runs();
    let mut tables = Tables::new(journal)?;
    folder.finish(&mut tables, 1, args.gzip)?;
    let table = if args.json || args.quiet { None } else { Some(table(&mut tables, &[])?) };
    say(
        args.json,
        args.quiet,
        &Counts { total, reused: total, unmet: 0, open: Vec::new() },
        &args.output,
        table,
    )?;
    Ok(Answer::Yes)
}
