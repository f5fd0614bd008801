//! What settings are worth on seeds that the race has not seen: what was found best among many is
//! by chance a little worse than it looked (the winner's curse).

use super::contest::Contest;
use super::goal::{Goal, Objective};
use super::race::Contender;
use crate::error::Result;
use crate::experiment::{Cell, Seed, summary_of};
use crate::scenario::Document;
use crate::stats::paired;
use crate::stats::ratio::{Ratio, jackknife};
use crate::stats::student;
use crate::stats::summary::{Summary, summarise};

/// A setting on fresh seeds.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its number: 0 is the scenario as it is written.
    pub setting: u64,
    /// Units of the objectives.
    pub units: Vec<&'static str>,
    /// The objectives; None where some run has no value.
    pub objectives: Vec<Option<Summary>>,
    /// The room of the constraints, below 0 where they do not hold.
    pub rooms: Vec<Option<Summary>>,
    /// Objectives over runs.
    columns: Vec<Option<Vec<f64>>>,
}

impl Checked {
    fn of(contender: &Contender, goal: &Goal, cell: &Cell) -> Checked {
        let unit = |o: &Objective| {
            cell.metrics.iter().find(|metric| metric.name == o.metric).map_or("", |m| m.unit)
        };
        let units: Vec<&'static str> = goal.objectives.iter().map(unit).collect();
        let objectives = goal.objectives.len();
        let sign = |i: usize| if goal.objectives[i].maximise { -1.0 } else { 1.0 };
        let column = |i: usize| -> Option<Vec<f64>> {
            Some(contender.column(i)?.into_iter().map(|value| sign(i) * value).collect())
        };
        let columns: Vec<Option<Vec<f64>>> = (0..objectives).map(column).collect();
        let room = |k: usize| summarise(&contender.column(objectives + k)?);
        Checked {
            setting: contender.setting,
            objectives: (columns.iter().zip(&units))
                .map(|(values, unit)| summary_of(unit, values.as_ref()?))
                .collect(),
            units,
            rooms: (0..goal.constraints.len()).map(room).collect(),
            columns,
        }
    }

    /// True when all constraints hold on the mean.
    pub fn is_feasible(&self, goal: &Goal) -> bool {
        let holds = |(constraint, room): (&super::Constraint, &Option<Summary>)| {
            room.as_ref().is_some_and(|room| constraint.holds(room.mean))
        };
        goal.constraints.iter().zip(&self.rooms).all(holds)
    }
}

/// Runs settings, each changed by `change`, under a seed, as often as the effort says.
pub fn check(
    contest: &Contest,
    settings: &[u64],
    seed: Seed,
    change: &dyn Fn(&Document) -> Result<Document>,
    done: &(dyn Fn() + Sync),
) -> Result<(Vec<Checked>, Vec<Contender>)> {
    let pool = contest.sweep.effort.pool()?;
    let cell = |setting: &u64| {
        let (document, label) = contest.document(*setting)?;
        Cell::labelled("", label, &change(&document)?)
    };
    let cells = settings.iter().map(cell).collect::<Result<Vec<_>>>()?;
    let scores = contest.scores(&pool, &cells, seed, 0..contest.sweep.effort.replications, done)?;
    let contenders: Vec<Contender> = settings
        .iter()
        .zip(scores)
        .map(|(setting, runs)| Contender { setting: *setting, runs, out: None })
        .collect();
    let each = contenders.iter().zip(&cells);
    let checked = each.map(|(c, cell)| Checked::of(c, &contest.goal, cell)).collect();
    Ok((checked, contenders))
}

/// How far a setting is from another in one objective, paired by run.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    /// Mean difference, this less the other.
    pub difference: f64,
    /// Its interval; all objectives together are right with 95 % (Bonferroni).
    pub interval: Option<(f64, f64)>,
    /// Mean of this over mean of the other (jackknife), where that is not 0.
    pub ratio: Option<Ratio>,
}

/// The margins of a setting over another, by objective; None where a value is missing.
pub fn margins(of: &Checked, over: &Checked) -> Vec<Option<Margin>> {
    let level = 1.0 - 0.05 / of.columns.len() as f64;
    let margin = |(own, other): (&Option<Vec<f64>>, &Option<Vec<f64>>)| {
        let (own, other) = (own.as_ref()?, other.as_ref()?);
        let d = paired::compare(own, other).ok()?.difference;
        let interval = d.sd.and_then(|sd| student::interval(d.mean, sd, d.n, level));
        Some(Margin { difference: d.mean, interval, ratio: jackknife(own, other) })
    };
    of.columns.iter().zip(&over.columns).map(margin).collect()
}
