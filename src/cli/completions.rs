//! `retrylab completions`: scripts for shells.

use super::Answer;
use crate::error::Result;
use crate::output::print;

/// Print a completion script.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab completions bash > /etc/bash_completion.d/retrylab
  retrylab completions zsh > ~/.zfunc/_retrylab")]
pub struct Args {
    /// The shell.
    shell: clap_complete::Shell,
}

pub fn main(args: &Args) -> Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "retrylab", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Answer::Yes)
}
