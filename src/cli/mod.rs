//! The command line: parse, call the library, print, exit code.

mod check;
mod checks;
mod common;
mod compare;
mod completions;
mod diff;
mod fit;
mod init;
mod man;
mod merge;
mod metastable;
mod page;
mod plot;
mod presets;
mod report;
mod reproduce;
mod run;
mod schedule;
mod schema;
mod steady;
mod stub;
mod sweep;
mod trace;
mod tune;
mod tuned;
mod validate;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Simulates retry storms of LLM API clients, to the byte the same for the same seed.
#[derive(Debug, Parser)]
#[command(name = "retrylab", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  retrylab reproduce thousand-clients         the published 1,000-client experiment
  retrylab init > storm.toml                  a scenario of your own, with comments
  retrylab run storm.toml                     peaks, completion, wasted tokens
  retrylab compare storm.toml --policies none,sdk,full

Exit codes: 0 ok, 1 a check said no, 2 bad input, 3 output failed, 70 a bug of ours.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Colours: auto, always or never; NO_COLOR is honoured.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 900)]
    color: Color,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::Args),
    Run(run::Args),
    Compare(compare::Args),
    Sweep(sweep::Args),
    Merge(merge::Args),
    Diff(diff::Args),
    Tune(tune::Args),
    Steady(steady::Args),
    Metastable(metastable::Args),
    Plot(plot::Args),
    Report(page::Args),
    Trace(trace::Args),
    Stub(stub::Args),
    Validate(validate::Args),
    Fit(fit::Args),
    Init(init::Args),
    Check(check::Args),
    Presets(presets::Args),
    Schedule(schedule::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Says whether a command's check held.
enum Answer {
    Yes,
    No,
}

/// The command line with its help, for pages that are made from it.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // A panic is a bug of ours: one sentence, no backtrace, exit 70.
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(run_cli) {
        Ok(code) => code,
        Err(_) => {
            complain(
                "internal error; this is a bug of retrylab, please report the command and its input",
            );
            ExitCode::from(70)
        }
    }
}

fn run_cli() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are printed too, on standard output.
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            if error.use_stderr() {
                return ExitCode::from(2);
            }
            return finish(
                printed.map(|()| Answer::Yes).map_err(Error::output(Path::new("standard output"))),
            );
        }
    };
    match cli.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    finish(dispatch(cli.command))
}

/// The exit code, and a sentence when there is something to say.
fn finish(result: Result<Answer, Error>) -> ExitCode {
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(command: Command) -> Result<Answer, Error> {
    match command {
        Command::Reproduce(args) => reproduce::main(&args),
        Command::Run(args) => run::main(&args),
        Command::Compare(args) => compare::main(&args),
        Command::Sweep(args) => sweep::main(&args),
        Command::Merge(args) => merge::main(&args),
        Command::Diff(args) => diff::main(&args),
        Command::Tune(args) => tune::main(&args),
        Command::Steady(args) => steady::main(&args),
        Command::Metastable(args) => metastable::main(&args),
        Command::Plot(args) => plot::main(&args),
        Command::Report(args) => page::main(&args),
        Command::Trace(args) => trace::main(&args),
        Command::Stub(args) => stub::main(&args),
        Command::Validate(args) => validate::main(&args),
        Command::Fit(args) => fit::main(&args),
        Command::Init(args) => init::main(&args),
        Command::Check(args) => check::main(&args),
        Command::Presets(args) => presets::main(&args),
        Command::Schedule(args) => schedule::main(&args),
        Command::Schema(args) => schema::main(&args),
        Command::Completions(args) => completions::main(&args),
        Command::Man(args) => man::main(&args),
    }
}

/// An error for people, on standard error; failing to print it changes nothing.
fn complain(sentence: &str) {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {sentence}");
}
