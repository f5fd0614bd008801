//! Replications until means are known well enough.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::journal::Record;
use crate::metrics::INDICATOR;
use crate::stats::running::Running;
use crate::stats::wilson::wilson;
use crate::units::part;

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

/// A part of a mean, above 0 and below 1, in whole billionths: "2%", "0.02".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HalfWidth(u32);

const BILLION: f64 = 1e9;

impl HalfWidth {
    fn part(self) -> f64 {
        f64::from(self.0) / BILLION
    }
}

impl FromStr for HalfWidth {
    type Err = String;

    fn from_str(text: &str) -> Result<HalfWidth, String> {
        let whole = part(text).map(|part| (part * BILLION).round());
        match whole.filter(|whole| (1.0..BILLION).contains(whole)) {
            Some(whole) => Ok(HalfWidth(whole as u32)),
            None => Err(format!(
                "\"{text}\" is no part of a mean; write 2% or 0.02, above 0 and below 1"
            )),
        }
    }
}

impl fmt::Display for HalfWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.part())
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Until { halfwidth, metrics, batch } = self;
        write!(f, "{halfwidth} of {}, in steps of {batch}", metrics.join(","))
    }
}

impl Until {
    /// Its metrics among `columns`.
    pub fn watched(&self, columns: &[(String, String)]) -> Vec<Watched> {
        let one = |name: &String| {
            let place = columns.iter().position(|(column, _)| column == name)?;
            Some(Watched { place, is_share: columns[place].1 == INDICATOR })
        };
        self.metrics.iter().filter_map(one).collect()
    }

    /// True when what is so known of a cell's metrics is enough.
    ///
    /// With a wanted part γ, a half-width of γ/(1 + γ) of the estimated mean is at most γ of the true one.
    /// Fewer than ten values say nothing, however alike they are. Source: A. M. Law, "Simulation
    /// Modeling and Analysis", 5th ed. (2015), section 9.4.1.
    pub fn is_met(&self, cell: &CellSoFar) -> bool {
        let part = self.halfwidth.part() / (1.0 + self.halfwidth.part());
        let known = |(watched, metric): &(Watched, Running)| {
            let half = watched.half_width(metric);
            metric.n() >= FEWEST && half.is_some_and(|half| half <= part * metric.mean().abs())
        };
        cell.metrics.iter().all(known)
    }
}

/// Fewest values by which a mean is judged.
pub const FEWEST: u32 = 10;

/// A metric that is to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    place: usize,
    /// It says whether something has happened, and its mean is a share.
    is_share: bool,
}

impl Watched {
    /// The longer half of the interval of its mean.
    fn half_width(self, metric: &Running) -> Option<f64> {
        if !self.is_share {
            return metric.half_width(LEVEL);
        }
        let (n, mean) = (u64::from(metric.n()), metric.mean());
        let (low, high) = wilson((mean * n as f64).round() as u64, n, LEVEL)?;
        Some((mean - low).max(high - mean))
    }
}

/// A cell that may need more replications.
#[derive(Clone, Debug)]
pub struct CellSoFar {
    /// Its number.
    pub cell: u64,
    metrics: Vec<(Watched, Running)>,
}

impl CellSoFar {
    /// A cell of which nothing is known.
    pub fn new(cell: u64, watched: &[Watched]) -> CellSoFar {
        let metrics = watched.iter().map(|watched| (*watched, Running::default())).collect();
        CellSoFar { cell, metrics }
    }

    /// Adds a replication.
    pub fn add(&mut self, record: &Record) {
        for (watched, metric) in &mut self.metrics {
            if let Some(value) = record.values[watched.place] {
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

    fn columns(unit: &str) -> Vec<(String, String)> {
        ["a", "x", "b"].map(|name| (name.to_owned(), unit.to_owned())).to_vec()
    }

    /// Whether so many times these pairs make both metrics known.
    fn known(unit: &str, times: usize, values: &[(Option<f64>, Option<f64>)]) -> bool {
        let mut cell = CellSoFar::new(0, &until().watched(&columns(unit)));
        for (a, b) in values.iter().cycle().take(times * values.len()) {
            let values = vec![*a, None, *b];
            cell.add(&Record { run: 0, fingerprint: 0, events: 0, values });
        }
        until().is_met(&cell)
    }

    #[test]
    fn all_metrics_must_be_known_well_enough() {
        let pair = |a: f64, b: f64| (Some(a), Some(b));
        assert!(known("s", 10, &[pair(5.0, 7.0)]));
        assert!(!known("s", 9, &[pair(5.0, 7.0)]), "nine values say nothing");
        assert!(!known("s", 5, &[pair(5.0, 7.0), pair(5.0, 9.0)]), "b varies");
        assert!(known("s", 50, &[pair(5.0, 7.0), pair(5.0, 9.0)]), "and is known after a hundred");
        assert!(!known("s", 100, &[(Some(5.0), None)]), "b has no value");
        assert!(known("s", 5, &[pair(0.0, 1.0), pair(0.0, 1.0)]), "0 each time");
        assert!(!known("s", 500, &[pair(-1.0, 1.0), pair(1.0, 1.0)]), "a mean of 0 is never known");
        // A half-width of 9.5 % is one of 10/1.1 = 9.09 % too much.
        let at = |part: f64| {
            let t = crate::stats::student::t_quantile(0.975, 9.0).unwrap();
            let off = part / t * (9.0_f64).sqrt();
            known("s", 5, &[pair(1.0 - off, 1.0), pair(1.0 + off, 1.0)])
        };
        assert!(at(0.0908) && !at(0.095));
    }

    /// Nothing in ten runs is up to 28 %, and not known.
    #[test]
    fn a_share_is_known_by_wilsons_interval() {
        let pair = |a: f64| (Some(a), Some(a));
        assert!(!known("0/1", 10, &[pair(0.0)]) && !known("0/1", 10, &[pair(1.0)]));
        assert!(known("0/1", 40, &[pair(1.0)]), "40 of 40 is at least 91 %");
        assert!(!known("0/1", 100, &[pair(0.0)]), "a share of 0 has no part");
    }

    #[test]
    fn a_part_is_one_number_however_it_is_written() {
        let parsed = |text: &str| text.parse::<HalfWidth>();
        for (percent, part) in
            [("2%", "0.02"), ("1.1%", "0.011"), ("0.7%", "0.007"), ("12.3 %", "0.123")]
        {
            assert_eq!(parsed(percent).unwrap(), parsed(part).unwrap());
            assert_eq!(parsed(percent).unwrap().to_string(), part);
        }
        for bad in ["0", "100%", "1", "-2%", "", "%", "x", "NaN", "1e-12"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
