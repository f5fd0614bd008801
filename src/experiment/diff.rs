//! Two sets of runs, metric by metric: better, worse, or no difference.

use crate::metrics::Better;
use crate::stats::paired::compare;
use crate::stats::student;

/// Runs of a policy or of a cell: replications, in order, with the values of metrics.
pub type Rows<'a> = &'a [(u32, Vec<Option<f64>>)];

/// What became of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The same in every run.
    Same,
    /// Nothing that the runs could tell apart.
    NoDifference,
    /// It is better.
    Better,
    /// It is worse.
    Worse,
    /// It differs, and neither way is better.
    Differs,
    /// Too few runs to say.
    Unknown,
    /// No run has it any more.
    Lost,
}

impl Change {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::NoDifference => "no difference",
            Change::Better => "better",
            Change::Worse => "worse",
            Change::Differs => "differs",
            Change::Unknown => "unknown",
            Change::Lost => "lost",
        }
    }
}

/// The difference of a metric, second minus first.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricChange {
    /// The metric.
    pub metric: String,
    /// Runs in which both have a value.
    pub n: usize,
    /// Means over those runs.
    pub means: (f64, f64),
    /// Mean difference.
    pub difference: f64,
    /// Its interval, at the confidence that was asked for.
    pub interval: Option<(f64, f64)>,
    /// What that says.
    pub change: Change,
}

impl Change {
    /// True for what a gate must not let through.
    pub fn is_regression(self) -> bool {
        matches!(self, Change::Worse | Change::Lost)
    }
}

/// The change of one metric, paired by replication, at `level`; None when the first has no value.
pub fn change(
    (metric, better): (&str, Better),
    (first, at): (Rows<'_>, usize),
    (second, other_at): (Rows<'_>, usize),
    level: f64,
) -> Option<MetricChange> {
    let pair = |(replication, values): &(u32, Vec<Option<f64>>)| {
        let place = second.binary_search_by_key(replication, |(number, _)| *number).ok()?;
        Some((values[at]?, second[place].1[other_at]?))
    };
    let (left, right): (Vec<f64>, Vec<f64>) = first.iter().filter_map(pair).unzip();
    let n = left.len();
    if n == 0 {
        let had: Vec<f64> = first.iter().filter_map(|(_, values)| values[at]).collect();
        let mean = had.iter().sum::<f64>() / had.len() as f64;
        return (!had.is_empty()).then(|| MetricChange {
            metric: metric.to_owned(),
            n,
            means: (mean, f64::NAN),
            difference: f64::NAN,
            interval: None,
            change: Change::Lost,
        });
    }
    let paired = compare(&right, &left).ok()?.difference;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n as f64;
    let interval = paired.sd.and_then(|sd| student::interval(paired.mean, sd, n, level));
    let same = left == right;
    let change = match interval {
        _ if same => Change::Same,
        None => Change::Unknown,
        Some((low, high)) if low <= 0.0 && high >= 0.0 => Change::NoDifference,
        Some(_) => match (better, paired.mean > 0.0) {
            (Better::Neither, _) => Change::Differs,
            (Better::Higher, true) | (Better::Lower, false) => Change::Better,
            (Better::Higher, false) | (Better::Lower, true) => Change::Worse,
        },
    };
    Some(MetricChange {
        metric: metric.to_owned(),
        n,
        means: (mean(&left), mean(&right)),
        difference: paired.mean,
        interval,
        change,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[f64]) -> Vec<(u32, Vec<Option<f64>>)> {
        (0..).zip(values).map(|(r, v)| (r, vec![Some(*v)])).collect()
    }

    fn of(better: Better, left: &[f64], right: &[f64]) -> Change {
        change(("x", better), (&rows(left), 0), (&rows(right), 0), 0.95).unwrap().change
    }

    #[test]
    fn a_change_has_a_direction() {
        let base = [10.0, 12.0, 11.0, 13.0];
        let more: Vec<f64> = base.iter().map(|v| v + 3.0).collect();
        let (lower, higher) = (Better::Lower, Better::Higher);
        assert_eq!(of(lower, &base, &base), Change::Same);
        assert_eq!(of(lower, &base, &more), Change::Worse);
        assert_eq!(of(lower, &more, &base), Change::Better);
        assert_eq!(of(higher, &base, &more), Change::Better);
        assert_eq!(of(higher, &more, &base), Change::Worse);
        assert_eq!(of(Better::Neither, &base, &more), Change::Differs);
        assert_eq!(of(lower, &base, &[11.0, 11.0, 12.0, 12.0]), Change::NoDifference);
        assert_eq!(of(lower, &[1.0], &[2.0]), Change::Unknown);
    }

    #[test]
    fn runs_are_paired_by_replication_and_only_where_both_have_a_value() {
        let left = vec![(0, vec![Some(1.0)]), (1, vec![Some(5.0)]), (2, vec![None])];
        let right = vec![(0, vec![Some(2.0)]), (1, vec![Some(7.0)]), (2, vec![Some(9.0)])];
        let found = change(("peak_bin", Better::Lower), (&left, 0), (&right, 0), 0.95).unwrap();
        assert_eq!((found.n, found.means, found.difference), (2, (3.0, 4.5), 1.5));
        assert_eq!(change(("peak_bin", Better::Lower), (&left[2..], 0), (&right, 0), 0.95), None);
        let lost = change(("peak_bin", Better::Lower), (&right, 0), (&left[2..], 0), 0.95).unwrap();
        assert_eq!((lost.n, lost.change), (0, Change::Lost));
        assert!(lost.change.is_regression());
    }
}
