//! Of settings that are left, those that no other beats in everything, and the one to take.

use super::goal::Goal;
use super::race::{Contender, Race};
use crate::stats::paired;

/// True when `a` is nowhere worse than `b` and somewhere better; less is better.
pub(super) fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
}

/// The Pareto front of a race, by means, in order of settings: of those that are left and meet all
/// constraints. Of equals the first stands for all.
pub fn front(race: &Race, goal: &Goal) -> Vec<u64> {
    let objectives = goal.objectives.len();
    let left = race.contenders.iter().filter(|c| c.out.is_none() && c.is_feasible(goal));
    let means: Vec<(u64, Vec<f64>)> =
        left.filter_map(|c| Some((c.setting, c.means(goal)?[..objectives].to_vec()))).collect();
    let stays = |(place, (_, own)): &(usize, &(u64, Vec<f64>))| {
        let beaten = means.iter().any(|(_, other)| dominates(other, own));
        !beaten && !means[..*place].iter().any(|(_, other)| other == own)
    };
    means.iter().enumerate().filter(stays).map(|(_, (setting, _))| *setting).collect()
}

/// The setting to take from a front: the best by the first objective; those that cannot be told apart from it
/// on common random numbers, or are within the part `within` of it, are told apart by the
/// second, and so on. Of those left, the best by the first objective.
pub fn choose(race: &Race, goal: &Goal, front: &[u64], within: f64) -> Option<u64> {
    let of_front = |c: &&Contender| front.contains(&c.setting);
    let mut left: Vec<&Contender> = race.contenders.iter().filter(of_front).collect();
    for objective in 0..goal.objectives.len() {
        let best = best(&left, objective)?;
        let (best_mean, best_runs) = (mean(best, objective)?, best.column(objective)?);
        left.retain(|contender| {
            let near = mean(contender, objective)
                .is_some_and(|mean| mean <= best_mean + within * best_mean.abs());
            near || same(contender, objective, &best_runs)
        });
    }
    best(&left, 0).map(|contender| contender.setting)
}

fn mean(contender: &Contender, objective: usize) -> Option<f64> {
    let values = contender.column(objective)?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The first of those with the least mean.
fn best<'a>(left: &[&'a Contender], objective: usize) -> Option<&'a Contender> {
    let means = left.iter().filter_map(|c| Some((mean(c, objective)?, *c)));
    means.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, contender)| contender)
}

/// True when a contender cannot be told apart from the best by their differences, run by run.
fn same(contender: &Contender, objective: usize, best: &[f64]) -> bool {
    let found = contender.column(objective).map(|own| paired::compare(&own, best));
    let interval = found.and_then(Result::ok).and_then(|paired| paired.difference.ci95);
    interval.is_some_and(|(low, _)| low <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::race::Out;

    fn contender(setting: u64, pairs: &[(f64, f64)]) -> Contender {
        let runs = pairs.iter().map(|(a, b)| vec![Some(*a), Some(*b)]).collect();
        Contender { setting, runs, out: None }
    }

    fn goal() -> Goal {
        Goal::new(&["a".to_owned(), "b".to_owned()], &[], &[]).unwrap()
    }

    #[test]
    fn a_front_has_what_nobody_beats() {
        let flat = |setting, a, b| contender(setting, &[(a, b), (a, b)]);
        let mut race = Race {
            contenders: vec![
                flat(0, 3.0, 3.0),
                flat(1, 1.0, 5.0),
                flat(2, 2.0, 2.0),
                flat(3, 2.0, 2.0),
                flat(4, 0.0, 0.0),
            ],
            runs: 0,
        };
        race.contenders[4].out = Some(Out::NoValue);
        assert_eq!(front(&race, &goal()), [1, 2]);
        assert_eq!(choose(&race, &goal(), &[1, 2], 0.0), Some(1), "the first objective decides");
        assert_eq!(choose(&race, &goal(), &[1, 2], 1.0), Some(2), "within twice the best");
        assert_eq!(choose(&race, &goal(), &[], 0.0), None);
    }

    #[test]
    fn what_cannot_be_told_apart_is_decided_by_the_second_objective() {
        let race = Race {
            contenders: vec![
                contender(0, &[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)]),
                contender(1, &[(1.1, 2.0), (1.9, 2.0), (3.1, 2.0)]),
            ],
            runs: 0,
        };
        assert_eq!(choose(&race, &goal(), &[0, 1], 0.0), Some(1));
    }
}
