//! What if the outage were twice as long, or the fleet twice as large?

use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::scenario::{Document, Group, Scenario, setting_value};
use crate::server::Fault;
use crate::units::{Rate, Span};

/// A change of the scenario that a recommendation should outlast.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// What it is called.
    pub name: String,
    change: Change,
}

/// What is changed; twice of what the setting at hand has, not of what the scenario had.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    Settings(Vec<(String, Value)>),
    Fleet,
    Faults,
}

type Settings = Vec<(String, Value)>;

impl WhatIf {
    /// Settings as for `--set`, several separated by semicolons; `varied` are keys that settings of
    /// the race have for themselves.
    pub fn parse(text: &str, varied: &[&str]) -> Result<WhatIf> {
        let setting = |setting: &str| match setting.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok((path.trim().to_owned(), setting_value(value.trim())))
            }
            _ => Err(Error::Input(format!(
                "--what-if: \"{setting}\" sets nothing; write KEY=VALUE, such as workload.clients=2000"
            ))),
        };
        let parts = text.split(';').filter(|part| !part.trim().is_empty());
        let settings: Settings = parts.map(setting).collect::<Result<_>>()?;
        let within = |a: &str, b: &str| {
            a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let both = |path: &str| varied.iter().any(|v| within(path, v) || within(v, path));
        match settings.iter().find(|(path, _)| both(path)) {
            None => Ok(WhatIf { name: text.to_owned(), change: Change::Settings(settings) }),
            Some((path, _)) => Err(Error::Input(format!(
                "--what-if: {path} is varied, and all settings would become the same; change something else"
            ))),
        }
    }

    /// Those that a scenario has by itself: a fleet twice as large, faults twice as long.
    pub fn of(scenario: &Scenario) -> Result<Vec<WhatIf>> {
        let what = |name: &str, change| WhatIf { name: name.to_owned(), change };
        let fleet = fleet(scenario)?.map(|_| what("fleet twice as large", Change::Fleet));
        let faults = faults(scenario)?.map(|_| what("faults twice as long", Change::Faults));
        Ok(fleet.into_iter().chain(faults).collect())
    }

    /// The document with the change.
    pub fn apply(&self, document: &Document) -> Result<Document> {
        let by = format!("what if, {}", self.name);
        let settings = match &self.change {
            Change::Settings(settings) => settings.clone(),
            Change::Fleet => fleet(&document.scenario()?)?.unwrap_or_default(),
            Change::Faults => faults(&document.scenario()?)?.unwrap_or_default(),
        };
        let put = |document: Document, (path, value): (String, Value)| {
            document.with_value(&by, &path, value)
        };
        settings.into_iter().try_fold(document.clone(), put)
    }
}

fn printed(value: impl serde::Serialize) -> Result<Value> {
    Value::try_from(value).map_err(|e| Error::Bug(format!("a part does not print: {e}")))
}

/// Twice the clients with twice the work: rates, jobs, tasks. None where requests come as recorded.
fn fleet(scenario: &Scenario) -> Result<Option<Settings>> {
    if scenario.groups.iter().any(|group| group.workload.trace.is_some()) {
        return Ok(None);
    }
    let of_group = |group: &Group| {
        let place = match &group.name {
            Some(name) => format!("group.{name}.workload"),
            None => "workload".to_owned(),
        };
        let mut workload = printed(&group.workload)?;
        if let Some(table) = workload.as_table_mut() {
            table.insert(
                "clients".to_owned(),
                Value::Integer(2 * i64::from(group.workload.clients)),
            );
            let kinds = table.iter_mut().filter(|(key, _)| *key != "shares");
            kinds.filter_map(|(_, kind)| kind.as_table_mut()).for_each(double);
        }
        Ok((place, workload))
    };
    scenario.groups.iter().map(of_group).collect::<Result<_>>().map(Some)
}

/// Twice the rates, jobs and tasks of a workload.
fn double(kind: &mut Table) {
    for (key, value) in kind.iter_mut() {
        match value {
            Value::Integer(n) if ["jobs", "tasks"].contains(&key.as_str()) => *n *= 2,
            Value::String(text) => {
                if let Ok(rate) = text.parse::<Rate>() {
                    *text = format!("{}/s", 2.0 * rate.hertz());
                }
            }
            _ => {}
        }
    }
}

/// Every fault of the provider that ends, twice as long, and a trigger that ends with one of them with it;
/// None where there is none.
fn faults(scenario: &Scenario) -> Result<Option<Settings>> {
    let twice = |fault: &Fault| match fault.period() {
        (from, Some(to)) if to > from => Some(Span::from_nanos(2 * to.nanos() - from.nanos())),
        _ => None,
    };
    let longer = |fault: &Fault| {
        let mut value = printed(fault)?;
        if let Some(end) = twice(fault)
            && let Some((_, kind)) = value.as_table_mut().and_then(|table| table.iter_mut().next())
            && let Some(keys) = kind.as_table_mut()
        {
            keys.insert("to".to_owned(), Value::String(end.to_string()));
        }
        Ok(value)
    };
    let faults = &scenario.provider.faults;
    if faults.iter().all(|fault| twice(fault).is_none()) {
        return Ok(None);
    }
    let changed = faults.iter().map(longer).collect::<Result<Vec<Value>>>()?;
    let mut settings = vec![("provider.faults".to_owned(), Value::Array(changed))];
    if let Some(trigger) = &scenario.trigger {
        let ends = |fault: &&Fault| fault.period().1 == Some(trigger.to);
        if let Some(end) = faults.iter().filter(ends).find_map(twice) {
            settings.push(("trigger.to".to_owned(), Value::String(end.to_string())));
        }
    }
    Ok(Some(settings))
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

    /// Each setting of a race is doubled for itself.
    #[test]
    fn it_is_twice_of_what_the_document_at_hand_has() {
        let one = document("workload = { clients = 10, closed_loop = { jobs = 50 } }");
        let what = &WhatIf::of(&one.scenario().unwrap()).unwrap()[0];
        let other = one.with(&["workload.clients=3".to_owned()]).unwrap();
        let changed = what.apply(&other).unwrap().scenario().unwrap();
        assert_eq!(changed.groups[0].workload.clients, 6);
        assert_eq!(changed.groups[0].workload.closed_loop.as_ref().unwrap().jobs, 100);
        let ramp = document(
            "workload = { ramp = { from = \"1/s\", to = \"6/min\", over = \"9s\" } }
            measure = { horizon = \"10s\" }",
        );
        let changed = what.apply(&ramp).unwrap().scenario().unwrap();
        let ramp = changed.groups[0].workload.ramp.as_ref().unwrap();
        assert_eq!(
            (ramp.from.hertz(), ramp.to.hertz(), ramp.over),
            (2.0, 0.2, Span::from_seconds(9))
        );
    }

    #[test]
    fn a_trigger_ends_with_its_fault() {
        let text = "workload = { poisson = { rate = \"3/s\" } }
            provider = { faults = [{ capacity = { from = \"5s\", to = \"9s\", concurrency = 0 } }] }
            trigger = { to = \"9s\", without = [\"provider.faults=[]\"] }
            measure = { horizon = \"100s\" }";
        let found = WhatIf::of(&document(text).scenario().unwrap()).unwrap();
        let changed = found[1].apply(&document(text)).unwrap().scenario().unwrap();
        assert_eq!(changed.trigger.unwrap().to, Span::from_seconds(13));
    }

    #[test]
    fn what_is_written_is_set() {
        let what =
            WhatIf::parse("workload.clients=9; provider.concurrency=3;", &["client"]).unwrap();
        let changed = what.apply(&document("workload = { burst = {} }")).unwrap();
        assert_eq!(changed.scenario().unwrap().clients(), 9);
        let refused = |text, varied| WhatIf::parse(text, varied).unwrap_err().to_string();
        assert!(refused("workload.clients", &[]).contains("sets nothing"));
        for varied in [&["workload"], &["workload.clients"], &["workload.clients.x"]] {
            assert!(refused("workload.clients=9", varied).contains("is varied"), "{varied:?}");
        }
    }
}
