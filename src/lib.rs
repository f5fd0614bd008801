//! Deterministic retry-storm simulator for fleets of LLM API clients.

#![warn(missing_docs)]

pub mod answer;
pub mod cli;
pub mod client;
pub mod dist;
pub mod engine;
pub mod error;
pub mod experiment;
pub mod math;
pub mod metrics;
pub mod model;
pub mod output;
pub mod presets;
pub mod rng;
pub mod scenario;
pub mod server;
pub mod stats;
pub mod theory;
pub mod units;
pub mod workload;
