//! `retrylab check`: the resolved scenario, with what was not written marked.

use super::Answer;
use super::common::ScenarioArgs;
use crate::error::Result;
use crate::output::print;
use crate::scenario::{digest, marked};

/// Check a scenario and print it with every preset and default filled in and marked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab check storm.toml
  retrylab check storm.toml --set workload.clients=5000")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
}

pub fn main(args: &Args) -> Result<Answer> {
    let document = args.scenario.document()?;
    let scenario = document.scenario()?;
    // A trace that cannot be read is found here, not in the first run.
    scenario.plan(document.folder())?;
    if let Some(other) = document.without_trigger(&scenario)? {
        other.scenario()?.plan(other.folder())?;
    }
    let text = marked(&document, &scenario)?;
    print(&format!("# {}: resolved, digest {}\n{text}", args.scenario.name(), digest(&scenario)?))?;
    Ok(Answer::Yes)
}
