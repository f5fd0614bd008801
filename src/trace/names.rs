//! The names that numbers of the plan stand for.

use crate::experiment::Cell;

/// The names of groups, layers and providers of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// A group's name, if it has one, and those of its layers, innermost first.
    groups: Vec<(Option<String>, Vec<String>)>,
    providers: Vec<String>,
}

impl Names {
    /// Those of a cell.
    pub fn of(cell: &Cell) -> Names {
        let groups = cell.plan().groups.iter().map(|group| {
            let layers = group.layers.iter().map(|layer| layer.name.clone()).collect();
            (group.name.clone(), layers)
        });
        let providers = cell.scenario.providers().map(|provider| provider.label().to_owned());
        Names { groups: groups.collect(), providers: providers.collect() }
    }

    /// The name of a group; None for that of a scenario without groups.
    pub fn group(&self, group: usize) -> Option<&str> {
        self.groups[group].0.as_deref()
    }

    /// The number of the group of this name.
    pub fn find_group(&self, name: Option<&str>) -> Option<usize> {
        self.groups.iter().position(|(own, _)| own.as_deref() == name)
    }

    /// The names of the groups that have one.
    pub fn groups(&self) -> Vec<&str> {
        self.groups.iter().filter_map(|(name, _)| name.as_deref()).collect()
    }

    /// How many groups there are, one at least.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The name of a layer of a group.
    pub fn layer(&self, group: usize, layer: usize) -> &str {
        &self.groups[group].1[layer]
    }

    /// The name of a provider.
    pub fn provider(&self, provider: usize) -> &str {
        &self.providers[provider]
    }

    /// "17", or "batch/17" where groups have names.
    pub fn numbered(&self, group: usize, number: u32) -> String {
        match self.group(group) {
            None => number.to_string(),
            Some(name) => format!("{name}/{number}"),
        }
    }
}
