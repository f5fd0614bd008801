//! The trigger of a scenario, and the scenario without it.
//!
//! A run that ends in collapse is *metastable* only when the same run without its trigger does not:
//! otherwise it is overload (Bronson, Aghayev, Charapko, Zhu, "Metastable failures in distributed
//! systems", HotOS 2021, <https://doi.org/10.1145/3458336.3465286>). So a scenario says what its trigger
//! is, and every run is made twice, with the same random numbers.

use serde::{Deserialize, Serialize};
use toml::Value;

use super::problem::{Problem, Step, steps};
use super::set::parse_value;
use super::{Document, Scenario};
use crate::error::Result;
use crate::units::Span;

/// What sets off a collapse. A run that ends in collapse is metastable only when the same run
/// without its trigger does not; so every run is made twice, with the same random numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// When it is over, before the horizon; `recovery_s` is measured from here.
    pub to: Span,
    /// Settings `path=value`, as `--set` takes them, that make the scenario without it: of any
    /// section but `[measure]`, `[trigger]` and `[expect]`. At least one.
    pub without: Vec<String>,
}

/// Sections that both runs must have alike.
const ALIKE: [&str; 5] = ["measure", "trigger", "expect", "format", "title"];

impl Trigger {
    /// The settings as path and value; a setting without a value has an empty one.
    fn settings(&self) -> impl Iterator<Item = (&str, Value)> {
        self.without.iter().map(|setting| {
            let (path, value) = setting.split_once('=').unwrap_or((setting, ""));
            (path.trim(), parse_value(value.trim()))
        })
    }

    /// What is wrong with it.
    pub(super) fn problem(&self, horizon: Span) -> Option<Problem> {
        let at = |key: &str, text: String| Some((steps(&["trigger", key]), text));
        if self.to >= horizon {
            let text = format!(
                "the trigger is over at {}, not before the horizon of {horizon}; write a longer measure.horizon",
                self.to
            );
            return at("to", text);
        }
        if self.without.is_empty() {
            let text = "nothing says what the scenario is without its trigger; write settings such as [\"provider.faults=[]\"]";
            return at("without", text.to_owned());
        }
        self.without.iter().enumerate().find_map(|(index, setting)| {
            let place = [steps(&["trigger", "without"]), vec![Step::Index(index)]].concat();
            let path = setting.split_once('=').map(|(path, _)| path.trim());
            let Some(path) = path.filter(|path| !path.is_empty()) else {
                let text = format!("\"{setting}\" sets nothing; write path=value, such as \"provider.faults=[]\"");
                return Some((place, text));
            };
            let section = path.split('.').next().unwrap_or_default();
            ALIKE.contains(&section).then(|| {
                let text = format!("both runs are measured alike, so {section} cannot be set here; set keys of the workload, the clients or the provider");
                (place, text)
            })
        })
    }
}

impl Document {
    /// The document without its trigger; None when it names none.
    pub fn without_trigger(&self, scenario: &Scenario) -> Result<Option<Document>> {
        let Some(trigger) = &scenario.trigger else { return Ok(None) };
        let mut document = self.clone();
        for (path, value) in trigger.settings() {
            document = document.with_value("trigger.without", path, value)?;
        }
        Ok(Some(document))
    }
}
