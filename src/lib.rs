//! Deterministic retry-storm simulator for fleets of LLM API clients.
//!
//! N clients fail together against a capacity-limited provider; the result is the peak load per
//! 100 ms window, the completion time and the billed tokens that nobody received, by retry policy.
//!
//! # A complete example
//!
//! ```
//! use std::path::PathBuf;
//! use retrylab::experiment::{Cell, Effort, Seed, execute};
//! use retrylab::scenario::{Document, MemoryLimit};
//!
//! let scenario = r#"
//!     [workload]
//!     clients = 100
//!     burst   = { at = "0s" }
//!     [provider]
//!     concurrency = 10
//!     service     = "200ms"
//!     [[client.layers]]
//!     name         = "client"
//!     max_attempts = 8
//!     backoff      = { full_jitter = { base = "1s", cap = "30s" } }
//! "#;
//! let document = Document::parse("example", scenario.to_owned(), PathBuf::new())?;
//! let cell = Cell::new("full jitter", &document)?;
//! let effort = Effort { seed: Seed(42), replications: 20, threads: 2, memory: MemoryLimit::default() };
//! let runs = execute(vec![cell], effort, &|| {})?;
//! let answered = runs[0].values("succeeded");
//! assert_eq!(answered.len(), 20);
//! assert!(answered.iter().all(|&n| n > 90.0));
//! # Ok::<(), retrylab::error::Error>(())
//! ```
//!
//! # A tour
//!
//! Each module uses only those above it.
//!
//! | module | holds |
//! | --- | --- |
//! | [`units`], [`math`], [`rng`], [`dist`] | time, portable functions, addressed random numbers, distributions |
//! | [`engine`] | events and their total order; no word of retries |
//! | [`client`], [`host`], [`server`], [`workload`] | the parts, as state machines that never schedule |
//! | [`model`] | the glue: the life of a request |
//! | [`metrics`], [`stats`], [`theory`] | what is measured, how sure it is, what it should be |
//! | [`presets`], [`scenario`] | data about vendors, the TOML document |
//! | [`experiment`], [`output`] | cells, runs, claims; tables, files, pictures |
//! | [`trace`] | one run, event by event: CSV, JSON Lines, Chrome traces, stories |
//! | [`sweep`] | many cells: grids, the journal, parts |
//! | `stub` | the provider as an HTTP server, with the feature `stub` |
//! | [`fit`] | a scenario from a request log |
//! | [`tune`] | races of settings, Pareto fronts, recommendations |
//! | [`validate`] | a real fleet's log beside its simulation |
//! | [`cli`] | one file per subcommand |
//!
//! # The determinism contract
//!
//! Same version, scenario and seed give byte-identical CSV, JSON and SVG for any number of
//! threads, in debug and release builds, from any working folder. Time is a whole number of
//! nanoseconds; events have a unique total order; every random number is a function of what it is
//! for; nothing in the model reads a clock, a thread, a hash map's order or the environment.

// The house rules, with their lists and limits in clippy.toml; tests are free of them.
#![cfg_attr(
    not(test),
    deny(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::print_stderr,
        clippy::print_stdout,
        clippy::too_many_lines,
        clippy::unwrap_used
    )
)]

pub mod answer;
pub mod cli;
pub mod client;
pub mod dist;
pub mod engine;
pub mod error;
pub mod experiment;
pub mod fit;
pub mod header;
pub mod host;
pub mod math;
pub mod metrics;
pub mod model;
pub mod output;
pub mod presets;
pub mod rng;
pub mod scenario;
pub mod server;
pub mod stats;
#[cfg(feature = "stub")]
pub mod stub;
pub mod sweep;
pub mod theory;
pub mod trace;
pub mod tune;
pub mod units;
pub mod validate;
pub mod workload;
