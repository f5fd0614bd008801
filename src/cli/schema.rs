//! `retrylab schema`: what editors complete scenario files from.

use super::Answer;
use crate::error::Result;
use crate::output::print;

/// Print the JSON Schema of scenario files, from which editors complete and check keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab schema > scenario.schema.json
  retrylab init storm.toml --schema ./scenario.schema.json")]
pub struct Args {}

/// Made from the types that read scenarios; a test compares.
const SCHEMA: &str = include_str!("../../docs/reference/scenario.schema.json");

pub fn main(_: &Args) -> Result<Answer> {
    print(SCHEMA)?;
    Ok(Answer::Yes)
}
