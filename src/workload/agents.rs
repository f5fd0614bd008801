//! Agents: tasks of several calls that depend on each other.

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// Clients that work on tasks. A task has steps, one after the other; a step has calls that are
/// made together. The next step needs all answers of the last one; when a call has no whole
/// answer, its task has failed as soon as the other calls of the step are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Agents {
    /// Tasks of all clients together; each takes the next one when its last one is over. One per
    /// client by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Steps of a task, one after the other; 1 or more.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub steps: u32,
    /// Calls of a step, made at once; 1 or more.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub fan_out: u32,
    /// Time between the last answer of a step and the calls of the next one: tools, thinking.
    #[serde(default)]
    pub think: Span,
}

fn one() -> u32 {
    1
}

impl Agents {
    /// Most calls of a task.
    pub const MOST_CALLS: u64 = 1_000_000;

    /// Calls of a task that does not fail.
    pub fn calls(&self) -> u32 {
        self.steps.saturating_mul(self.fan_out)
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let counts =
            [("tasks", self.tasks.unwrap_or(1)), ("steps", self.steps), ("fan_out", self.fan_out)];
        if let Some((key, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Some((key, format!("{key} = 0 leaves nothing to do; write 1 or more")));
        }
        let calls = u64::from(self.steps) * u64::from(self.fan_out);
        (calls > Agents::MOST_CALLS).then(|| {
            let text = format!(
                "{calls} calls per task are too many; write steps and fan_out that make at most {}",
                Agents::MOST_CALLS
            );
            ("steps", text)
        })
    }
}
