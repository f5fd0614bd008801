//! A scenario from a request log: arrivals, tokens, service times and errors, each with how well it fits.
//!
//! ```text
//! file ─► rows ─► arrivals, sizes, service, errors ─► scenario ─► its requests ─► beside the log
//! ```
//! Everything is deterministic: the same log gives the same bytes. A row is 48 bytes in memory, and a million rows take
//! seconds.

mod arrivals;
mod errors;
mod figures;
mod gaps;
mod law;
mod log;
mod replay;
mod scenario;
mod service;
mod size;
mod steps;
mod text;

pub use arrivals::{Arrivals, Candidate, Piece};
pub use errors::{Error, Errors};
pub use figures::{CLOSE, Figures};
pub use law::{Law, Unit};
pub use log::Log;
pub use replay::{Compared, runs};
pub use scenario::in_words;
pub use service::{ByTokens, EXPLAINED, Service};
pub use size::{Size, Tried};

use crate::error::Result;
use crate::math;
use crate::units::{LONGEST, NANOS_PER_SECOND};
use errors::is_answer;
use figures::sorted;

/// What was found in a log.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The log.
    pub log: Log,
    /// Arrivals.
    pub arrivals: Arrivals,
    /// Prompt tokens of answers.
    pub input: Option<Size>,
    /// Tokens of answers.
    pub output: Option<Size>,
    /// Times of answers.
    pub service: Option<Service>,
    /// Failures.
    pub errors: Errors,
    /// Correlation of prompt and output tokens.
    pub correlation: Option<f64>,
}

impl Fit {
    /// Fits a log; a rate may have at most so many pieces.
    pub fn of(log: Log, most_pieces: usize) -> Result<Fit> {
        let at: Vec<u64> = log.rows.iter().map(|row| row.start).collect();
        let arrivals = arrivals::fit(&at, most_pieces).ok_or_else(|| {
            let text = format!("{}: all requests start at one instant", log.path.display());
            crate::error::Error::Input(text)
        })?;
        let pairs: Vec<(Option<u32>, Option<u32>)> = log
            .rows
            .iter()
            .filter(|row| is_answer(row))
            .map(|row| (row.input_tokens, row.output_tokens))
            .collect();
        let size = |column: Vec<u32>| {
            let values = sorted(column.into_iter().map(f64::from).collect());
            size::fit(&values, Unit::Tokens, 1.0)
        };
        Ok(Fit {
            arrivals,
            input: size(pairs.iter().filter_map(|pair| pair.0).collect()),
            output: size(pairs.iter().filter_map(|pair| pair.1).collect()),
            service: service::fit(&log.rows),
            errors: errors::fit(&log.rows),
            correlation: correlation(&pairs),
            log,
        })
    }

    /// The scenario that reproduces the log.
    pub fn scenario(&self) -> String {
        scenario::write(self)
    }

    /// The figures of the log beside those of the scenario with this text.
    pub fn compare(&self, text: &str) -> Result<Vec<Compared>> {
        replay::compare(self, text)
    }

    /// A time by which the last answer has come, in whole milliseconds.
    fn horizon_ms(&self) -> u64 {
        let longest = self.log.rows.iter().filter_map(|row| row.latency).max().unwrap_or(0);
        let end =
            self.arrivals.period.saturating_add(longest.saturating_mul(2).max(NANOS_PER_SECOND));
        end.min(LONGEST) / 1_000_000
    }

    /// What the scenario does not have of the log, a sentence each.
    pub fn not_fitted(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(r) = self.correlation.filter(|r| r.abs() >= 0.1) {
            lines.push(format!("prompt and output tokens are correlated ({r:.2}); in the scenario they are independent"));
        }
        if self.errors.even.is_some_and(|chance| chance < 1e-3) {
            lines.push("errors come in clumps; in the scenario they are spread evenly. Write an outage with its period instead".to_owned());
        }
        if self.errors.by_status.iter().any(|error| error.status == 429) {
            lines.push("429s depend on the load: where you know your limits, write [provider.limits] instead of their share".to_owned());
        }
        if self.errors.unanswered > 0 {
            lines.push(format!("{} attempts had no answer (status 0 or 499: the client had gone); a timeout of a layer does that", self.errors.unanswered));
        }
        if self.service.is_some() {
            lines.push("latencies have any waiting at the provider in them; the scenario has no queue, and takes as long at any load".to_owned());
        }
        if self.log.others > 0 {
            lines.push(format!("{} rows are no requests and were not read", self.log.others));
        }
        lines.push(
            "retries: a log has attempts, and does not say which of them are retries".to_owned(),
        );
        lines
    }
}

fn correlation(pairs: &[(Option<u32>, Option<u32>)]) -> Option<f64> {
    let both: Vec<(f64, f64)> =
        pairs.iter().filter_map(|(a, b)| Some((f64::from((*a)?), f64::from((*b)?)))).collect();
    let n = both.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / n;
    let (a, b) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>();
    let product = sum(&|pair| (pair.0 - a) * (pair.1 - b));
    let squares =
        sum(&|pair| (pair.0 - a) * (pair.0 - a)) * sum(&|pair| (pair.1 - b) * (pair.1 - b));
    (squares > 0.0).then(|| product / math::sqrt(squares))
}
