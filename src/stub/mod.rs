//! `retrylab stub`: the provider of a scenario as an HTTP server, on wall time, for real clients.
//!
//! ```text
//! connection ─► handler ─► attempt ─► [owner: Live ─► the parts of crate::server] ─► words ─► answer
//!  (listen)      (call)                 │ one thread, one clock                        (vendor, stream)
//!                                       └► ear ─► log
//! ```
//! The provider is that of the simulation, driven from outside ([`crate::model::Live`]): nothing about limits,
//! queues, faults or bills is written a second time. What vendors say is data (`vendors/*.toml`).

mod answer;
mod call;
mod clock;
mod ear;
mod handler;
mod listen;
mod log;
mod owner;
mod requests;
mod stream;
mod vendor;

use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use self::clock::Clock;
use self::ear::Ear;
use self::handler::Server;
use self::listen::Ends;
use self::log::Log;
use self::owner::{Command, MOST_CLIENTS, Owner};
use self::vendor::Vendor;
use crate::error::{Error, Result};
use crate::experiment::{Cell, Seed};
use crate::model::Live;
use crate::rng::Streams;
use crate::trace::{Keep, Names, Tracer};

/// How a stub is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens; port 0 is any that is free.
    pub address: SocketAddr,
    /// Connections that may wait to be accepted.
    pub backlog: u32,
    /// Scenario seconds that pass per second; above 0.
    pub time_scale: f64,
    /// What its random numbers are drawn with.
    pub seed: Seed,
    /// The log; none without it.
    pub log: Option<PathBuf>,
    /// Whether a prompt has a token per four bytes of the body, and not the scenario's.
    pub tokens_from_body: bool,
    /// A connection that sends no request for so long is closed.
    pub silence: Duration,
}

/// A stub that listens.
pub struct Stub<'c> {
    cell: &'c Cell,
    options: Options,
    runtime: Runtime,
    listener: TcpListener,
    ends: Ends,
    log: Box<dyn Write + Send>,
}

impl<'c> Stub<'c> {
    /// Opens the log and listens; nobody is answered yet.
    pub fn new(cell: &'c Cell, options: Options) -> Result<Stub<'c>> {
        let log: Box<dyn Write + Send> = match &options.log {
            Some(path) => Box::new(File::create(path).map_err(Error::output(path))?),
            None => Box::new(io::sink()),
        };
        let failed = |what: &'static str| Error::output(Path::new(what));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed("the network"))?;
        let inside = runtime.enter();
        let address = options.address;
        let listener = listen::bind(address, options.backlog);
        let listener = listener.map_err(Error::output(Path::new(&address.to_string())))?;
        let ends = Ends::new().map_err(failed("signals"))?;
        drop(inside);
        Ok(Stub { cell, options, runtime, listener, ends, log })
    }

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(Error::output(Path::new("the network")))
    }

    /// Answers until the process is asked to end, and drains; how many attempts have come.
    pub fn serve(self) -> Result<u64> {
        let Stub { cell, options, runtime, listener, ends, log } = self;
        let names = Names::of(cell);
        let open = cell.plan().clone().open_to_outside(MOST_CLIENTS);
        let clock = Clock::new(options.time_scale);
        let path = options.log.clone().unwrap_or_else(|| PathBuf::from("the log"));
        let log = Log::new(&names, open.groups.len(), log).map_err(Error::output(&path))?;
        let tracer = Tracer::of_plan(&open, cell.scenario.measure.window, Keep::All, log);
        let mut ear = Ear::new(tracer);
        let streams = Streams::new(options.seed.0, 0);
        let (commands, asked) = channel();
        let server = Arc::new(Server::new(
            Vendor::all()?,
            cell.scenario.providers().map(|provider| provider.label().to_owned()).collect(),
            cell.plan().clone(),
            clock,
            commands.clone(),
            options.tokens_from_body,
        ));
        let owned = std::thread::scope(|scope| {
            let (over, owner_over) = oneshot::channel();
            let (path, names, open, ear) = (&path, &names, &open, &mut ear);
            let owner = scope.spawn(move || {
                // Dropped when the owner ends, whatever the reason.
                let _over = over;
                let live = Live::new(open, streams, ear).map_err(Error::from)?;
                let owner = Owner::new(live, clock, cell.plan(), names);
                owner.run(&asked).map_err(Error::output(path))
            });
            let silence = options.silence;
            runtime.block_on(listen::serve(listener, server, silence, &commands, ends, owner_over));
            // Whatever is left of connections is over.
            let _ = commands.send(Command::Stop);
            owner.join()
        });
        runtime.shutdown_background();
        owned.map_err(|_| Error::Bug("the owner of the provider has broken off".to_owned()))?
    }
}
