//! A race of settings: all run a few replications, those that are surely worse leave, the others
//! run as many again, and so on, so that effort goes to those that are close.
//!
//! All run the same replications, and are compared run by run. Source: O. Maron, A. W. Moore,
//! "The racing algorithm: model selection for lazy learners", Artificial Intelligence Review 11 (1997),
//! <https://doi.org/10.1023/A:1006556606079>; with paired t-intervals as in M. Birattari, T. Stützle,
//! L. Paquete, K. Varrentrapp, "A racing algorithm for configuring metaheuristics", GECCO 2002.

use super::contest::Contest;
use super::front::dominates;
use super::goal::{Goal, Score};
use crate::error::Result;
use crate::stats::paired;
use crate::stats::student;
use crate::stats::summary::summarise;

/// Replications before the first look; they double from look to look.
const FIRST: u32 = 10;

/// Settings that are held as plans at a time.
const TOGETHER: usize = 512;

/// Risk that the race is wrong about any setting, shared out over settings and looks (Bonferroni).
const RISK: f64 = 0.05;

/// A setting in the race.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its number: 0 is the scenario as it is written.
    pub setting: u64,
    /// Its runs, in order of replication.
    pub runs: Vec<Score>,
    /// Why it left; None while it is in.
    pub out: Option<Out>,
}

/// Why a setting left the race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// It surely does not meet the constraint of this number.
    Unmet(usize),
    /// The setting of this number is surely better, or as good, in every objective.
    Beaten(u64),
    /// An objective or a constraint has no value in some run.
    NoValue,
}

/// A race that is over.
#[derive(Clone, Debug)]
pub struct Race {
    /// All settings, in order.
    pub contenders: Vec<Contender>,
    /// Runs that were made.
    pub runs: u64,
}

/// Races all settings; tells `done` of each run.
pub fn race(contest: &Contest, done: &(dyn Fn() + Sync)) -> Result<Race> {
    let pool = contest.pool()?;
    let (seed, most) = (contest.sweep.effort.seed, contest.sweep.effort.replications);
    let setting = |setting| Contender { setting, runs: Vec::new(), out: None };
    let mut contenders: Vec<Contender> = (0..contest.settings()).map(setting).collect();
    let level = level(contenders.len(), most);
    let (mut from, mut to, mut runs) = (0, FIRST.min(most), 0);
    while from < to {
        let open: Vec<usize> =
            (0..contenders.len()).filter(|i| contenders[*i].out.is_none()).collect();
        // Nobody is left to be better than.
        if open.len() < 2 && from > 0 {
            break;
        }
        for some in open.chunks(TOGETHER) {
            let cells = some.iter().map(|i| contest.cell(contenders[*i].setting));
            let cells = cells.collect::<Result<Vec<_>>>()?;
            let found = contest.scores(&pool, &cells, seed, from..to, done)?;
            for (i, scores) in some.iter().zip(found) {
                runs += scores.len() as u64;
                contenders[*i].runs.extend(scores);
            }
        }
        judge(&mut contenders, &contest.goal, level);
        (from, to) = (to, to.saturating_mul(2).min(most));
    }
    Ok(Race { contenders, runs })
}

/// Confidence of each comparison.
fn level(contenders: usize, most: u32) -> f64 {
    let looks = 1 + most.div_ceil(FIRST).next_power_of_two().ilog2();
    1.0 - RISK / (contenders as f64 * f64::from(looks))
}

impl Contender {
    /// The values of one objective or constraint over its runs; None when one is missing.
    pub fn column(&self, index: usize) -> Option<Vec<f64>> {
        self.runs.iter().map(|score| score[index]).collect()
    }

    /// The mean of each objective and of the room of each constraint.
    pub fn means(&self, goal: &Goal) -> Option<Vec<f64>> {
        let width = goal.objectives.len() + goal.constraints.len();
        (0..width).map(|i| Some(summarise(&self.column(i)?)?.mean)).collect()
    }

    /// True when all constraints hold on the mean.
    pub fn is_feasible(&self, goal: &Goal) -> bool {
        let objectives = goal.objectives.len();
        self.means(goal).is_some_and(|means| {
            goal.constraints.iter().zip(&means[objectives..]).all(|(c, room)| c.holds(*room))
        })
    }

    /// Interval of the room of a constraint.
    fn room(&self, goal: &Goal, constraint: usize, level: f64) -> Option<(f64, f64)> {
        let room = summarise(&self.column(goal.objectives.len() + constraint)?)?;
        student::interval(room.mean, room.sd?, room.n, level)
    }

    /// True when all constraints surely hold.
    fn is_surely_feasible(&self, goal: &Goal, level: f64) -> bool {
        let sure =
            |k| self.room(goal, k, level).is_some_and(|(low, _)| goal.constraints[k].holds(low));
        (0..goal.constraints.len()).all(sure)
    }

    /// Why it leaves whatever the others are.
    fn fails(&self, goal: &Goal, level: f64) -> Option<Out> {
        if self.means(goal).is_none() {
            return Some(Out::NoValue);
        }
        let surely_not = |k: &usize| {
            self.room(goal, *k, level).is_some_and(|(_, high)| !goal.constraints[*k].holds(high))
        };
        (0..goal.constraints.len()).find(surely_not).map(Out::Unmet)
    }
}

/// Takes those out that surely do not meet a constraint, and those that are surely beaten.
fn judge(contenders: &mut [Contender], goal: &Goal, level: f64) {
    for contender in contenders.iter_mut().filter(|contender| contender.out.is_none()) {
        contender.out = contender.fails(goal, level);
    }
    let leaders = leaders(contenders, goal, level);
    let beaten = |contender: &Contender| {
        let better = |leader: &&usize| surely_better(&contenders[**leader], contender, goal, level);
        leaders.iter().find(better).map(|leader| Out::Beaten(contenders[*leader].setting))
    };
    let outs: Vec<Option<Out>> = contenders
        .iter()
        .map(|contender| if contender.out.is_some() { contender.out } else { beaten(contender) })
        .collect();
    for (contender, out) in contenders.iter_mut().zip(outs) {
        contender.out = out;
    }
}

/// Those that surely meet all constraints and that no other of them dominates on the mean.
fn leaders(contenders: &[Contender], goal: &Goal, level: f64) -> Vec<usize> {
    let open =
        |i: &usize| contenders[*i].out.is_none() && contenders[*i].is_surely_feasible(goal, level);
    let objectives = goal.objectives.len();
    let means: Vec<(usize, Vec<f64>)> = (0..contenders.len())
        .filter(open)
        .filter_map(|i| Some((i, contenders[i].means(goal)?[..objectives].to_vec())))
        .collect();
    let undominated = |(_, own): &&(usize, Vec<f64>)| !means.iter().any(|(_, m)| dominates(m, own));
    means.iter().filter(undominated).map(|(i, _)| *i).collect()
}

/// True when `leader` is surely better than the other in some objective, and surely as good in all.
fn surely_better(leader: &Contender, other: &Contender, goal: &Goal, level: f64) -> bool {
    let mut better = false;
    for objective in 0..goal.objectives.len() {
        let (Some(own), Some(others)) = (leader.column(objective), other.column(objective)) else {
            return false;
        };
        let Ok(found) = paired::compare(&others, &own) else { return false };
        let d = found.difference;
        let interval = d.sd.and_then(|sd| student::interval(d.mean, sd, d.n, level));
        match interval {
            Some((low, _)) if low > 0.0 => better = true,
            _ if own == others => {}
            _ => return false,
        }
    }
    better
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal() -> Goal {
        let text = |text: &str| vec![text.to_owned()];
        Goal::new(&["a".to_owned(), "b".to_owned()], &[], &text("c >= 0")).unwrap()
    }

    /// A contender whose objectives vary about `a` and `b` with everybody else's noise.
    fn contender(setting: u64, a: f64, b: f64, room: f64) -> Contender {
        let noise = [0.5, -0.3, 0.1, 0.4, -0.6, 0.2, -0.2, -0.1, 0.3, -0.3];
        // A little of its own, so that differences are not exact.
        let own = |i: usize| 0.01 * ((i * 7 + setting as usize * 3) % 5) as f64;
        let score = |(i, e): (usize, &f64)| vec![Some(a + e + own(i)), Some(b + e), Some(room)];
        Contender { setting, runs: noise.iter().enumerate().map(score).collect(), out: None }
    }

    fn outs(mut contenders: Vec<Contender>) -> Vec<Option<Out>> {
        judge(&mut contenders, &goal(), level(4, 100));
        contenders.iter().map(|contender| contender.out).collect()
    }

    #[test]
    fn the_surely_worse_leave_and_the_close_stay() {
        let found = outs(vec![
            contender(0, 5.0, 5.0, 1.0),
            contender(1, 6.0, 5.0, 1.0),
            contender(2, 5.005, 5.0, 1.0),
            contender(3, 9.0, 1.0, 1.0),
        ]);
        // The noise is a hundred times the spread of paired differences.
        assert_eq!(found, [None, Some(Out::Beaten(0)), None, None]);
    }

    #[test]
    fn what_does_not_meet_a_constraint_leaves_and_beats_nobody() {
        let found = outs(vec![contender(0, 5.0, 5.0, 1.0), contender(1, 1.0, 1.0, -0.1)]);
        assert_eq!(found, [None, Some(Out::Unmet(0))]);
        let mut unsure = contender(1, 1.0, 1.0, 0.0);
        for (i, run) in unsure.runs.iter_mut().enumerate() {
            run[2] = Some(if i % 2 == 0 { 0.5 } else { -0.4 });
        }
        let found = outs(vec![contender(0, 5.0, 5.0, 1.0), unsure.clone()]);
        assert_eq!(found, [None, None], "better, but perhaps not allowed");
        unsure.runs[3][0] = None;
        assert_eq!(outs(vec![contender(0, 5.0, 5.0, 1.0), unsure])[1], Some(Out::NoValue));
    }

    #[test]
    fn equals_stay() {
        let same = contender(0, 5.0, 5.0, 1.0);
        assert_eq!(outs(vec![same.clone(), Contender { setting: 1, ..same }]), [None, None]);
    }
}
