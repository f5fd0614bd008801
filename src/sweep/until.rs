//! Replications until means are known well enough.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::journal::Record;
use crate::stats::running::Running;

/// Confidence of the interval whose half-width is looked at.
const LEVEL: f64 = 0.95;

/// When a cell has replications enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// Most half of the 95 % interval, as a part of the mean.
    pub halfwidth: HalfWidth,
    /// The metrics whose means are to be known so well.
    pub metrics: Vec<String>,
    /// Replications between two looks.
    pub batch: u32,
}

/// A part of a mean, above 0 and below 1: "2%", "0.02".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HalfWidth(f64);

impl FromStr for HalfWidth {
    type Err = String;

    fn from_str(text: &str) -> Result<HalfWidth, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let share = match text.trim().strip_suffix('%') {
            Some(percent) => number(percent).map(|percent| percent / 100.0),
            None => number(text),
        };
        match share.filter(|share| *share > 0.0 && *share < 1.0) {
            Some(share) => Ok(HalfWidth(share)),
            None => Err(format!(
                "\"{text}\" is no part of a mean; write 2% or 0.02, above 0 and below 1"
            )),
        }
    }
}

impl fmt::Display for HalfWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Until { halfwidth, metrics, batch } = self;
        write!(f, "{halfwidth} of {}, in steps of {batch}", metrics.join(","))
    }
}

impl Until {
    /// The places of its metrics among `columns`.
    pub fn places(&self, columns: &[(String, String)]) -> Vec<usize> {
        let place = |name: &String| columns.iter().position(|(column, _)| column == name);
        self.metrics.iter().filter_map(place).collect()
    }

    /// True when what is so known of a cell's metrics is enough.
    ///
    /// With a wanted part γ, a half-width of γ/(1 + γ) of the estimated mean is at most γ of the true one.
    /// A metric without any value has no mean to be known. Source: A. M. Law, "Simulation
    /// Modeling and Analysis", 5th ed. (2015), section 9.4.1.
    pub fn is_met(&self, cell: &CellSoFar) -> bool {
        let part = self.halfwidth.0 / (1.0 + self.halfwidth.0);
        let known = |metric: &Running| {
            let half = metric.half_width(LEVEL);
            metric.n() == 0 || half.is_some_and(|half| half <= part * metric.mean().abs())
        };
        cell.metrics.iter().all(known)
    }
}

/// A cell that may need more replications.
#[derive(Clone, Debug)]
pub struct CellSoFar {
    /// Its number.
    pub cell: u64,
    metrics: Vec<Running>,
}

impl CellSoFar {
    /// A cell of which nothing is known, with so many metrics to know.
    pub fn new(cell: u64, metrics: usize) -> CellSoFar {
        CellSoFar { cell, metrics: vec![Running::default(); metrics] }
    }

    /// Adds a replication; `places` are those of the metrics in a record.
    pub fn add(&mut self, record: &Record, places: &[usize]) {
        for (metric, place) in self.metrics.iter_mut().zip(places) {
            if let Some(value) = record.values[*place] {
                metric.add(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until() -> Until {
        let metrics = vec!["a".to_owned(), "b".to_owned()];
        Until { halfwidth: "10%".parse().unwrap(), metrics, batch: 10 }
    }

    fn known(values: &[(Option<f64>, Option<f64>)]) -> bool {
        let mut cell = CellSoFar::new(0, 2);
        for (a, b) in values {
            let values = vec![*a, None, *b];
            cell.add(&Record { run: 0, fingerprint: 0, events: 0, values }, &[0, 2]);
        }
        until().is_met(&cell)
    }

    #[test]
    fn all_metrics_must_be_known_well_enough() {
        let pair = |a: f64, b: f64| (Some(a), Some(b));
        assert!(known(&[pair(5.0, 7.0), pair(5.0, 7.0)]));
        assert!(!known(&[pair(5.0, 7.0), pair(5.0, 9.0)]), "b varies");
        assert!(!known(&[pair(5.0, 7.0)]), "one value has no interval");
        assert!(known(&[(Some(5.0), None), (Some(5.0), None)]), "b has no mean to know");
        assert!(known(&[pair(0.0, 1.0), pair(0.0, 1.0)]), "nothing but 0 is known");
        assert!(!known(&[pair(-1.0, 1.0), pair(1.0, 1.0)]), "a mean of 0 is never known");
        // A half-width of 9.5 % is one of 10/1.1 = 9.09 % too much.
        let at = |part: f64| {
            let t = crate::stats::student::t_quantile(0.975, 1.0).unwrap();
            let off = part / t;
            known(&[pair(1.0 - off, 1.0), pair(1.0 + off, 1.0)])
        };
        assert!(at(0.0908) && !at(0.095));
    }

    #[test]
    fn columns_are_found_and_parts_are_read() {
        let columns = ["b", "x", "a"].map(|name| (name.to_owned(), "s".to_owned()));
        assert_eq!(until().places(&columns), [2, 0]);
        let parsed = |text: &str| text.parse::<HalfWidth>();
        assert_eq!(parsed("2%"), parsed("0.02"));
        for bad in ["0", "100%", "1", "-2%", "", "%", "x", "NaN"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
