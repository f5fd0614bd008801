//! `retrylab stub`: the provider of a scenario as a local HTTP server.

use std::net::IpAddr;
use std::path::PathBuf;

use super::Answer;
use super::common::ScenarioArgs;
use crate::error::{Error, Result};
use crate::experiment::Seed;
use crate::units::Span;

/// Play the provider of a scenario as a local HTTP server, for real clients and SDKs.
///
/// Answers POST /v1/messages, /v1/chat/completions and /v1/responses, streamed or not, with the scenario's
/// limits, faults, queue, service times and bills on the wall clock. Scenario time starts with the first
/// attempt. SIGTERM or Ctrl-C ends it when whoever waits is answered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab stub storm.toml -o wire.csv               prints where it listens; point base_url there
  retrylab stub storm.toml --port 8080 --json
  retrylab validate wire.csv storm.toml              what the simulation says of the same load

A client has its name in the path, http://127.0.0.1:8080/c/NAME/v1, or in the header x-retrylab-client.")]
pub struct Args {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// The port; 0 is any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// The address; others than this machine reach it only if you name another one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Scenario seconds that pass per second, for clients whose waits are as much shorter.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = time_scale)]
    time_scale: f64,
    /// Log to write, a row per event in the columns of `retrylab trace`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Master seed, decimal or 0x hex.
    #[arg(long, value_name = "SEED")]
    seed: Option<Seed>,
    /// Where the length of prompts comes from: the scenario, or bodies at four bytes per token.
    #[arg(long, value_name = "WHERE", default_value = "scenario")]
    tokens: TokensFrom,
    /// Connections that may wait to be accepted, as the system counts them.
    #[arg(long, value_name = "N", default_value_t = 1_024)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_535))]
    backlog: u32,
    /// A connection that sends no request for so long is closed.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    silence: Span,
    /// Print where it listens as one JSON document.
    #[arg(long)]
    json: bool,
    /// No notes on standard error.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TokensFrom {
    /// What the scenario draws.
    Scenario,
    /// The length of the body.
    Body,
}

fn time_scale(text: &str) -> std::result::Result<f64, String> {
    let scale = text.parse::<f64>().ok().filter(|scale| (0.001..=10_000.0).contains(scale));
    scale.ok_or_else(|| "write a number from 0.001 to 10000".to_owned())
}

#[cfg(not(feature = "stub"))]
pub fn main(args: &Args) -> Result<Answer> {
    let _ = args;
    let text = "this retrylab was built without its HTTP server; build one with it: cargo build --release --features stub";
    Err(Error::Input(text.to_owned()))
}

#[cfg(feature = "stub")]
pub fn main(args: &Args) -> Result<Answer> {
    use std::net::SocketAddr;
    use std::time::Duration;

    use super::common::note;
    use crate::experiment::Cell;
    use crate::output::print;
    use crate::stub::{Options, Stub};

    if args.silence == Span::ZERO {
        let text = "--silence 0s closes every connection; write more, such as 60s";
        return Err(Error::Input(text.to_owned()));
    }
    let cell = Cell::new("stub", &args.scenario.document()?)?;
    let options = Options {
        address: SocketAddr::new(args.host, args.port),
        backlog: args.backlog,
        time_scale: args.time_scale,
        seed: args.seed.unwrap_or_default(),
        log: args.output.clone(),
        tokens_from_body: args.tokens == TokensFrom::Body,
        silence: Duration::from_nanos(args.silence.nanos()),
    };
    let stub = Stub::new(&cell, options)?;
    let address = stub.address()?;
    match args.json {
        true => print(
            &serde_json::json!({
                "schema": "retrylab.stub/1",
                "url": format!("http://{address}"),
                "port": address.port(),
                "pid": std::process::id(),
            })
            .to_string(),
        )?,
        false => print(&format!("listening on http://{address}"))?,
    }
    if args.output.is_none() {
        note(args.quiet, "no log is kept; write -o wire.csv for one");
    }
    let attempts = stub.serve()?;
    let log = args.output.as_ref().map_or(String::new(), |path| format!(", in {}", path.display()));
    note(args.quiet, &format!("{attempts} attempts{log}"));
    Ok(Answer::Yes)
}
