//! Checks of results, for CI: what a scenario expects, and what a command line refuses.

use crate::client::Condition;
use crate::error::{Error, Result};
use crate::metrics::nearest;
use crate::scenario::Scenario;

/// The name that stands for what the provider can serve per window.
const CAPACITY: &str = "capacity";

/// A condition on the means of metrics over replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    condition: Condition,
    /// Whether it must hold, or must not.
    must_hold: bool,
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The check, as it was written.
    pub check: String,
    /// The two sides of the comparison; None where a metric has no value.
    pub sides: Option<(f64, f64)>,
    /// Whether all is well; without a value it is not.
    pub met: bool,
}

impl Check {
    /// All that a scenario expects, and all that `fail_if` refuses; `metrics` are those there are.
    pub fn all(scenario: &Scenario, fail_if: &[String], metrics: &[&str]) -> Result<Vec<Check>> {
        let expected = scenario.expect.iter().map(|(metric, rest)| {
            let text = match metrics.contains(&metric.as_str()) {
                true => format!("{} {rest}", Condition::quoted(metric)),
                false => format!("{metric} {rest}"),
            };
            Check::parse(&text, true, metrics).map_err(|p| Error::Input(format!("[expect]: {p}")))
        });
        let refused = fail_if.iter().map(|text| {
            let check = Check::parse(text, false, metrics);
            check.map_err(|problem| Error::Input(format!("--fail-if: {problem}")))
        });
        expected.chain(refused).collect()
    }

    fn parse(text: &str, must_hold: bool, metrics: &[&str]) -> std::result::Result<Check, String> {
        let condition = Condition::parse(text)?;
        condition.check_names(&[metrics, &[CAPACITY]].concat(), nearest)?;
        Ok(Check { condition, must_hold })
    }

    /// True when it asks for the capacity.
    pub fn needs_capacity(&self) -> bool {
        self.condition.names_has(CAPACITY)
    }

    /// Refuses to ask for a capacity where there is none.
    pub fn needs_no_more_than(&self, capacity: Option<f64>) -> Result<()> {
        if !self.needs_capacity() || capacity.is_some() {
            return Ok(());
        }
        Err(Error::Input(format!(
            "\"{}\": nothing bounds what the provider can serve per window; compare with a number",
            self.condition.text()
        )))
    }

    /// Judges the means of metrics; `capacity` is what the provider can serve per window.
    pub fn judge(
        &self,
        capacity: Option<f64>,
        mean: impl Fn(&str) -> Option<f64>,
    ) -> Result<Finding> {
        self.needs_no_more_than(capacity)?;
        let value = |name: &str| if name == CAPACITY { capacity } else { mean(name) };
        // 0 / 0 says nothing, and nothing is well that says nothing.
        let sides = self.condition.sides(&value).filter(|(a, b)| !a.is_nan() && !b.is_nan());
        let met = sides.is_some_and(|sides| self.condition.holds(sides) == self.must_hold);
        let check = match self.must_hold {
            true => self.condition.text().to_owned(),
            false => format!("not {}", self.condition.text()),
        };
        Ok(Finding { check, sides, met })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_value_is_not_well() {
        let check = |text, must_hold| Check::parse(text, must_hold, &["a", "b"]).unwrap();
        let mean = |name: &str| (name == "a").then_some(2.0);
        let met = |text, must_hold| check(text, must_hold).judge(Some(1.0), mean).unwrap().met;
        assert!(met("a >= 2", true) && !met("a >= 2", false));
        assert!(met("a > 2 * capacity", false) && !met("a > 2 * capacity", true));
        assert!(!met("b < 5", true) && !met("b < 5", false));
        assert!(!met("(a - 2) / (a - 2) > 1", true) && !met("(a - 2) / (a - 2) > 1", false));
        let error = check("a > capacity", true).judge(None, mean).unwrap_err();
        assert!(error.to_string().contains("compare with a number"), "{error}");
    }
}
