//! A race of settings: all run a few replications, those that are surely worse leave, the others
//! run as many again, and so on, so that effort goes to those that are close.
//!
//! All run the same replications, and are compared run by run. Source: O. Maron, A. W. Moore,
//! "The racing algorithm: model selection for lazy learners", Artificial Intelligence Review 11 (1997),
//! <https://doi.org/10.1023/A:1006556606079>; with paired t-intervals as in M. Birattari, T. Stützle,
//! L. Paquete, K. Varrentrapp, "A racing algorithm for configuring metaheuristics", GECCO 2002.

use std::collections::{BTreeMap, BTreeSet};

use super::contest::Contest;
use super::front::dominates;
use super::goal::{Goal, Score};
use crate::error::Result;
use crate::stats::paired;
use crate::stats::student;
use crate::stats::summary::summarise;

/// Replications before the first look; they double from look to look.
const FIRST: u32 = 10;

/// Runs without any spread of a constraint's room after which it is taken for sure: what happens in
/// one of thirteen runs or more is missed by 40 in less than 5 % of cases.
const ALIKE: usize = 40;

/// Settings that are held as plans at a time.
const TOGETHER: usize = 512;

/// Risk that the best setting leaves, shared out over settings, constraints and looks (Bonferroni).
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
    let most = contest.sweep.effort.replications;
    let setting = |setting| Contender { setting, runs: Vec::new(), out: None };
    let mut contenders: Vec<Contender> = (0..contest.settings()).map(setting).collect();
    let level = level(contenders.len(), contest.goal.constraints.len(), most);
    let pool = contest.sweep.effort.pool()?;
    let (mut to, mut runs) = (FIRST.min(most), 0);
    loop {
        runs += catch_up(contest, &pool, &mut contenders, to, done)?;
        judge(&mut contenders, &contest.goal, level);
        if to == most {
            leave_on_the_mean(&mut contenders, &contest.goal);
        }
        // Who was beaten by one that is out itself has not lost yet.
        if reopen(&mut contenders) {
            continue;
        }
        if to == most {
            return Ok(Race { contenders, runs });
        }
        to = to.saturating_mul(2).min(most);
    }
}

/// Runs everyone who is in up to so many replications; says how many runs that took.
fn catch_up(
    contest: &Contest,
    pool: &rayon::ThreadPool,
    contenders: &mut [Contender],
    to: u32,
    done: &(dyn Fn() + Sync),
) -> Result<u64> {
    let mut by_start: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, contender) in contenders.iter().enumerate().filter(|(_, c)| c.out.is_none()) {
        by_start.entry(contender.runs.len()).or_default().push(i);
    }
    let mut runs = 0;
    for (start, open) in by_start.into_iter().filter(|(start, _)| *start < to as usize) {
        for some in open.chunks(TOGETHER) {
            let cells = some.iter().map(|i| contest.cell(contenders[*i].setting));
            let cells = cells.collect::<Result<Vec<_>>>()?;
            let seed = contest.sweep.effort.seed;
            let found = contest.scores(pool, &cells, seed, start as u32..to, done)?;
            for (i, scores) in some.iter().zip(found) {
                runs += scores.len() as u64;
                contenders[*i].runs.extend(scores);
            }
        }
    }
    Ok(runs)
}

/// At the end, those leave whose constraints do not hold on the mean.
fn leave_on_the_mean(contenders: &mut [Contender], goal: &Goal) {
    for contender in contenders.iter_mut().filter(|contender| contender.out.is_none()) {
        let Some(means) = contender.means(goal) else { continue };
        let rooms = &means[goal.objectives.len()..];
        let unmet = goal.constraints.iter().zip(rooms).position(|(c, room)| !c.holds(*room));
        contender.out = unmet.map(Out::Unmet);
    }
}

/// Takes those back in that were beaten by one that has left because of a constraint or a value.
fn reopen(contenders: &mut [Contender]) -> bool {
    let fallen: BTreeSet<u64> = contenders
        .iter()
        .filter(|contender| matches!(contender.out, Some(Out::Unmet(_) | Out::NoValue)))
        .map(|contender| contender.setting)
        .collect();
    let mut any = false;
    for contender in contenders.iter_mut() {
        if matches!(contender.out, Some(Out::Beaten(by)) if fallen.contains(&by)) {
            (contender.out, any) = (None, true);
        }
    }
    any
}

/// Confidence of each comparison.
fn level(contenders: usize, constraints: usize, most: u32) -> f64 {
    let looks = 1 + most.div_ceil(FIRST).next_power_of_two().ilog2();
    1.0 - RISK / (contenders as f64 * (1 + constraints) as f64 * f64::from(looks))
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
        let sure = |k: usize| {
            self.room(goal, k, level).is_some_and(|(low, high)| {
                // Runs that are all alike may lack what happens rarely.
                let seen = low < high || self.runs.len() >= ALIKE;
                seen && goal.constraints[k].holds(low)
            })
        };
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
    let mut means = means;
    // Of equals the first beats as well as all.
    means.sort_by(|(i, a), (j, b)| order(a, b).then(i.cmp(j)));
    means.dedup_by(|(_, a), (_, b)| a == b);
    let undominated = |(_, own): &&(usize, Vec<f64>)| !means.iter().any(|(_, m)| dominates(m, own));
    means.iter().filter(undominated).map(|(i, _)| *i).collect()
}

fn order(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let pairs = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
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
        let score =
            |(i, e): (usize, &f64)| vec![Some(a + e + own(i)), Some(b + e), Some(room + 0.01 * e)];
        Contender { setting, runs: noise.iter().enumerate().map(score).collect(), out: None }
    }

    fn outs(mut contenders: Vec<Contender>) -> Vec<Option<Out>> {
        judge(&mut contenders, &goal(), level(4, 1, 100));
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
    fn who_was_beaten_by_one_that_falls_is_in_again() {
        let mut all = vec![contender(0, 5.0, 5.0, 1.0), contender(1, 1.0, 1.0, 1.0)];
        judge(&mut all, &goal(), level(2, 1, 100));
        assert_eq!(all[0].out, Some(Out::Beaten(1)));
        assert!(!reopen(&mut all));
        for run in &mut all[1].runs {
            run[2] = Some(-1.0);
        }
        leave_on_the_mean(&mut all, &goal());
        assert!(all[1].out == Some(Out::Unmet(0)) && reopen(&mut all) && all[0].out.is_none());
    }

    #[test]
    fn a_constraint_that_never_moves_is_not_sure_at_once() {
        let mut all = vec![contender(0, 5.0, 5.0, 1.0), contender(1, 1.0, 1.0, 1.0)];
        for run in &mut all[1].runs {
            run[2] = Some(0.05);
        }
        judge(&mut all, &goal(), level(2, 1, 100));
        assert_eq!(all[0].out, None, "ten runs alike say nothing of what happens rarely");
        for contender in &mut all {
            let runs = contender.runs.iter().cycle().take(ALIKE);
            contender.runs = runs.cloned().collect();
        }
        judge(&mut all, &goal(), level(2, 1, 100));
        assert_eq!(all[0].out, Some(Out::Beaten(1)));
    }

    #[test]
    fn equals_stay() {
        let same = contender(0, 5.0, 5.0, 1.0);
        assert_eq!(outs(vec![same.clone(), Contender { setting: 1, ..same }]), [None, None]);
    }
}
