//! What if the outage were twice as long, or the fleet twice as large?

use toml::Value;

use crate::error::{Error, Result};
use crate::scenario::{Document, Scenario, setting_value};
use crate::server::Fault;
use crate::units::Span;

/// A change of the scenario that a recommendation should outlast.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// What it is called.
    pub name: String,
    settings: Vec<(String, Value)>,
}

impl WhatIf {
    /// Settings as for `--set`, several separated by semicolons.
    pub fn parse(text: &str) -> Result<WhatIf> {
        let setting = |setting: &str| match setting.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok((path.trim().to_owned(), setting_value(value.trim())))
            }
            _ => Err(Error::Input(format!(
                "--what-if: \"{setting}\" sets nothing; write KEY=VALUE, such as workload.clients=2000"
            ))),
        };
        let settings = text.split(';').map(setting).collect::<Result<_>>()?;
        Ok(WhatIf { name: text.to_owned(), settings })
    }

    /// Those that a scenario has by itself: a fleet twice as large, faults twice as long.
    pub fn of(scenario: &Scenario) -> Result<Vec<WhatIf>> {
        Ok(fleet(scenario).into_iter().chain(faults(scenario)?).collect())
    }

    /// The document with the change.
    pub fn apply(&self, document: &Document) -> Result<Document> {
        let by = format!("--what-if {}", self.name);
        let put = |document: Document, (path, value): &(String, Value)| {
            document.with_value(&by, path, value.clone())
        };
        self.settings.iter().try_fold(document.clone(), put)
    }
}

/// Twice the clients, and twice the rate of a Poisson stream; None where no group has either.
fn fleet(scenario: &Scenario) -> Option<WhatIf> {
    let mut settings = Vec::new();
    for group in &scenario.groups {
        let place = match &group.name {
            Some(name) => format!("group.{name}.workload"),
            None => "workload".to_owned(),
        };
        let workload = &group.workload;
        if let Some(poisson) = &workload.poisson {
            let rate = format!("{}/s", 2.0 * poisson.rate.hertz());
            settings.push((format!("{place}.poisson.rate"), Value::String(rate)));
        }
        if workload.burst.is_some() || workload.closed_loop.is_some() || workload.agents.is_some() {
            let clients = Value::Integer(2 * i64::from(workload.clients));
            settings.push((format!("{place}.clients"), clients));
        }
    }
    (!settings.is_empty()).then(|| WhatIf { name: "fleet twice as large".to_owned(), settings })
}

/// Every fault that ends, twice as long; None where there is none.
fn faults(scenario: &Scenario) -> Result<Option<WhatIf>> {
    let faults = &scenario.provider.faults;
    let longer = |fault: &Fault| {
        let bug = |e: toml::ser::Error| Error::Bug(format!("a fault does not print: {e}"));
        let mut value = Value::try_from(fault).map_err(bug)?;
        if let (from, Some(to)) = fault.period()
            && to > from
            && let Some(kind) = value.as_table_mut().and_then(|t| t.iter_mut().next())
            && let Some(keys) = kind.1.as_table_mut()
        {
            let end = Span::from_nanos(2 * to.nanos() - from.nanos());
            keys.insert("to".to_owned(), Value::String(end.to_string()));
        }
        Ok(value)
    };
    let changed = faults.iter().map(longer).collect::<Result<Vec<Value>>>()?;
    let ends = faults.iter().any(|fault| {
        let (from, to) = fault.period();
        to.is_some_and(|to| to > from)
    });
    let settings = vec![("provider.faults".to_owned(), Value::Array(changed))];
    Ok(ends.then(|| WhatIf { name: "faults twice as long".to_owned(), settings }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::parse("test", text.to_owned(), ".".into()).unwrap()
    }

    #[test]
    fn a_scenario_is_doubled_in_what_it_has() {
        let text = "workload = { clients = 7, burst = {} }
            [[provider.faults]]
            outage = { from = \"5s\", to = \"15s\", status = 503 }
            [[provider.faults]]
            error = { status = 500, share = 0.5 }";
        let document = document(text);
        let found = WhatIf::of(&document.scenario().unwrap()).unwrap();
        let changed: Vec<Scenario> =
            found.iter().map(|what| what.apply(&document).unwrap().scenario().unwrap()).collect();
        assert_eq!(changed[0].clients(), 14);
        let periods: Vec<String> = (changed[1].provider.faults.iter())
            .map(|fault| format!("{:?}", fault.period().1.map(|to| to.to_string())))
            .collect();
        assert_eq!(periods, ["Some(\"25s\")", "None"]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn groups_are_doubled_each() {
        let text = "[[group]]\nname = \"a\"\nworkload = { poisson = { rate = \"3/s\" } }
            [[group]]\nname = \"b\"\nworkload = { clients = 4, burst = {} }
            [measure]\nhorizon = \"10s\"";
        let found = WhatIf::of(&document(text).scenario().unwrap()).unwrap();
        assert_eq!(found.len(), 1);
        let changed = found[0].apply(&document(text)).unwrap().scenario().unwrap();
        assert_eq!(changed.groups[1].workload.clients, 8);
        assert_eq!(changed.groups[0].workload.poisson.as_ref().unwrap().rate.hertz(), 6.0);
    }

    #[test]
    fn what_is_written_is_set() {
        let what = WhatIf::parse("workload.clients=9; provider.concurrency=3").unwrap();
        let changed = what.apply(&document("workload = { burst = {} }")).unwrap();
        assert_eq!(changed.scenario().unwrap().clients(), 9);
        assert!(
            WhatIf::parse("workload.clients").unwrap_err().to_string().contains("sets nothing")
        );
    }
}
