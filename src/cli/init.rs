//! `retrylab init`: a scenario with comments.

use std::io::Write;
use std::path::PathBuf;

use super::Answer;
use crate::error::{Error, Result};
use crate::output::print;

/// Write a commented scenario to start from.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab init > storm.toml
  retrylab init storm.toml
  retrylab init storm.toml --schema ./scenario.schema.json
  retrylab init | retrylab run -")]
pub struct Args {
    /// File to write; it must not exist. Standard output by default.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// First line for editors: the path or address of a schema, as `retrylab schema` prints it.
    #[arg(long, value_name = "PATH", value_parser = one_line)]
    schema: Option<String>,
}

fn one_line(text: &str) -> std::result::Result<String, String> {
    match text.chars().any(char::is_control) {
        true => Err("a path for the first line has one line".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// The scenario that `init` writes; tests run it.
const TEMPLATE: &str = include_str!("init.toml");

pub fn main(args: &Args) -> Result<Answer> {
    // Taplo, which is in editors' TOML plugins, looks for its schema there.
    let line = args.schema.as_ref().map_or(String::new(), |path| format!("#:schema {path}\n"));
    let text = line + TEMPLATE;
    let Some(path) = &args.file else {
        print(&text)?;
        return Ok(Answer::Yes);
    };
    let file = std::fs::File::options().write(true).create_new(true).open(path);
    let mut file = match file {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Error::Input(format!(
                "{}: the file exists; choose another name",
                path.display()
            )));
        }
        other => other.map_err(Error::output(path))?,
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written.map_err(Error::output(path))?;
    Ok(Answer::Yes)
}
