//! What is wanted: metrics as small or as large as can be, where conditions hold.

use crate::client::Condition;
use crate::error::{Error, Result};
use crate::experiment::{Cell, Run};
use crate::metrics::nearest;

/// The name that stands for what the provider can serve per window.
const CAPACITY: &str = "capacity";

/// A metric to make small, or large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// The metric.
    pub metric: String,
    /// Large rather than small.
    pub maximise: bool,
}

/// A condition that must hold between means of metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    condition: Condition,
    /// The left side is the larger one.
    more: bool,
}

/// Objectives in order of their weight, and constraints.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// What to optimise; the first comes first.
    pub objectives: Vec<Objective>,
    /// What must hold.
    pub constraints: Vec<Constraint>,
}

/// One run: the objectives, turned so that less is better, and then how much room each constraint
/// has, below 0 where it does not hold. None where a metric has no value.
pub type Score = Vec<Option<f64>>;

impl Constraint {
    fn parse(text: &str) -> Result<Constraint> {
        let bad = |problem: String| Error::Input(format!("--subject-to: {problem}"));
        let condition = Condition::parse(text).map_err(bad)?;
        match condition.is_more() {
            Some(more) => Ok(Constraint { condition, more }),
            None => Err(bad(format!("\"{text}\" has no room on one side; write <, <=, > or >="))),
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        self.condition.text()
    }

    /// True when it holds with this room on the mean.
    pub fn holds(&self, room: f64) -> bool {
        self.condition.holds(if self.more { (room, 0.0) } else { (0.0, room) })
    }
}

impl Goal {
    /// Metrics to minimise, then metrics to maximise, and conditions.
    pub fn new(minimise: &[String], maximise: &[String], conditions: &[String]) -> Result<Goal> {
        let of = |maximise| {
            move |metric: &String| Objective { metric: metric.trim().to_owned(), maximise }
        };
        let objectives: Vec<Objective> =
            minimise.iter().map(of(false)).chain(maximise.iter().map(of(true))).collect();
        if objectives.is_empty() {
            return Err(Error::Input(
                "nothing says what is good; name a metric with --minimise or --maximise".to_owned(),
            ));
        }
        if let Some(twice) = (1..objectives.len())
            .find(|i| objectives[..*i].iter().any(|o| o.metric == objectives[*i].metric))
        {
            return Err(Error::Input(format!(
                "{} is an objective twice",
                objectives[twice].metric
            )));
        }
        let constraints = conditions.iter().map(|text| Constraint::parse(text));
        Ok(Goal { objectives, constraints: constraints.collect::<Result<_>>()? })
    }

    /// Refuses metrics that `known` does not have.
    pub fn check_names(&self, known: &[&str]) -> Result<()> {
        if let Some(Objective { metric, maximise }) =
            self.objectives.iter().find(|o| !known.contains(&o.metric.as_str()))
        {
            let option = if *maximise { "--maximise" } else { "--minimise" };
            let hint = nearest(metric, known);
            return Err(Error::Input(format!("{option}: there is no metric \"{metric}\"{hint}")));
        }
        let known = [known, &[CAPACITY]].concat();
        let check = |constraint: &Constraint| constraint.condition.check_names(&known, nearest);
        let bad = |problem| Error::Input(format!("--subject-to: {problem}"));
        self.constraints.iter().try_for_each(check).map_err(bad)
    }

    /// Refuses a condition on a capacity where nothing bounds it.
    pub fn check_capacity(&self, cell: &Cell) -> Result<()> {
        let needs = |constraint: &&Constraint| constraint.condition.names_has(CAPACITY);
        match self.constraints.iter().find(needs).filter(|_| cell.capacity_per_window().is_none()) {
            None => Ok(()),
            Some(constraint) => Err(Error::Input(format!(
                "--subject-to \"{}\": nothing bounds what the provider can serve per window; compare with a number",
                constraint.text()
            ))),
        }
    }

    /// What a run of a cell is worth.
    pub fn score(&self, cell: &Cell, run: &Run) -> Score {
        let value = |name: &str| {
            if name == CAPACITY {
                return cell.capacity_per_window();
            }
            run.values[cell.metrics.iter().position(|metric| metric.name == name)?]
        };
        let objective =
            |o: &Objective| value(&o.metric).map(|value| if o.maximise { -value } else { value });
        let room = |constraint: &Constraint| {
            let (left, right) = constraint.condition.sides(&value)?;
            let room = if constraint.more { left - right } else { right - left };
            Some(room).filter(|room| !room.is_nan())
        };
        let objectives = self.objectives.iter().map(objective);
        objectives.chain(self.constraints.iter().map(room)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(conditions: &[&str]) -> Result<Goal> {
        let conditions: Vec<String> = conditions.iter().map(|text| (*text).to_owned()).collect();
        Goal::new(&["a".to_owned()], &["b".to_owned()], &conditions)
    }

    #[test]
    fn a_constraint_has_room_on_the_side_that_it_names() {
        let goal = goal(&["a < 5", "b >= 2 * capacity"]).unwrap();
        assert!(goal.constraints[0].holds(0.1) && !goal.constraints[0].holds(0.0));
        assert!(goal.constraints[1].holds(0.0) && !goal.constraints[1].holds(-0.1));
        assert!(goal.check_names(&["a", "b"]).is_ok());
        assert!(goal.check_names(&["a"]).unwrap_err().to_string().contains("--maximise"));
    }

    #[test]
    fn what_is_no_goal_is_refused() {
        let text = |found: Result<Goal>| found.unwrap_err().to_string();
        assert!(text(goal(&["a == 5"])).contains("write <, <=, > or >="));
        assert!(text(goal(&["a"])).contains("compares nothing"));
        assert!(text(Goal::new(&[], &[], &[])).contains("--minimise"));
        let twice = ["a".to_owned()];
        assert!(text(Goal::new(&twice, &twice, &[])).contains("a is an objective twice"));
    }
}
