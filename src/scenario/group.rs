//! Groups of clients, and the two forms in which a document writes them.
//!
//! The short form has one group without a name: `[workload]`, `[request]`, `[client]`. The long
//! form is a list of `[[group]]`, each with a name and the same keys of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::problem::Step;
use super::{Client, Measure, Provider, Request, Scenario, Trigger, format_1};
use crate::client::Layer;
use crate::host::{Host, Network};
use crate::workload::Workload;

/// A group: clients that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name; None for the one group of the short form.
    pub name: Option<String>,
    /// Its class in the provider's queue: 0, the default, goes before 1, up to 9.
    pub priority: u8,
    /// Where its requests come from.
    pub workload: Workload,
    /// What its requests ask for.
    pub request: Request,
    /// What its clients do about failures.
    pub client: Client,
}

impl Group {
    /// The place of a key of this group, the `index`-th, in the document; `section` is where the
    /// short form has it.
    pub(super) fn path(&self, index: usize, section: &str) -> Vec<Step> {
        if self.name.is_none() {
            return vec![Step::key(section)];
        }
        let mut path = vec![Step::key("group"), Step::Index(index)];
        // The keys of [client] stand in the group itself.
        path.extend((section != "client").then(|| Step::key(section)));
        path
    }

    /// "group batch: " before what concerns one of several groups.
    pub fn prefix(&self) -> String {
        self.name.as_ref().map_or(String::new(), |name| format!("group {name}: "))
    }
}

/// A scenario of retrylab: clients, the provider, what goes wrong, and how it is measured.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Scenario"))]
pub(super) struct File {
    /// Version of the format; 1.
    #[serde(default = "format_1")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1)))]
    format: u32,
    /// One line for tables and plots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Where the requests come from. Either this or `[[group]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workload: Option<Workload>,
    /// What requests ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    /// What the provider does.
    #[serde(default)]
    provider: Provider,
    /// Further providers, with a name and all the keys of `[provider]`, nothing shared with it; at
    /// most 15. A layer with `fallback = true` goes around them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    fallback: Vec<Provider>,
    /// What the clients do about failures, and where they run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<Client>,
    /// Groups of clients of several kinds, in place of `[workload]`, `[request]` and `[client]`; at
    /// most 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Vec<NamedGroup>>,
    /// What sets off a collapse: every run is made twice, with it and without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trigger: Option<Trigger>,
    /// How it is measured.
    #[serde(default)]
    measure: Measure,
    /// A gate: what the mean of a metric over replications must be, as `METRIC = "COMPARISON"`,
    /// such as `success_ratio = ">= 0.999"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    expect: BTreeMap<String, String>,
}

/// A group: clients that are alike.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Group"))]
struct NamedGroup {
    /// Its name: letters, digits, `-`, `_`. Its random numbers follow it, and metrics of it are
    /// called `group_NAME_METRIC`.
    name: String,
    /// Its class in the provider's queue, 0 (first) to 9 (last). Needs a queue.
    #[serde(default, skip_serializing_if = "is_0")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 9), extend("default" = 0)))]
    priority: u8,
    /// Where its requests come from.
    workload: Workload,
    /// What its requests ask for.
    #[serde(default)]
    request: Request,
    /// The layers of its clients, innermost first; none means a single attempt.
    #[serde(default)]
    layers: Vec<Layer>,
    /// Where its clients run; without it, attempts never wait before they are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<Host>,
    /// The network to the provider; without it, attempts and answers take no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<Network>,
}

fn is_0(priority: &u8) -> bool {
    *priority == 0
}

/// Sections that belong to a group.
pub(super) const SECTIONS: [&str; 3] = ["workload", "request", "client"];

impl TryFrom<File> for Scenario {
    type Error = String;

    fn try_from(file: File) -> Result<Scenario, String> {
        let groups = match (file.group, file.workload) {
            (Some(groups), _) => groups.into_iter().map(Group::from).collect(),
            (None, Some(workload)) => vec![Group {
                name: None,
                priority: 0,
                workload,
                request: file.request.unwrap_or_default(),
                client: file.client.unwrap_or_default(),
            }],
            (None, None) => {
                return Err("the key `workload` is missing; write a table, { … }, or [[group]] for clients of several kinds".to_owned());
            }
        };
        let File { format, title, provider, fallback, trigger, measure, expect, .. } = file;
        Ok(Scenario { format, title, groups, provider, fallback, trigger, measure, expect })
    }
}

impl From<Scenario> for File {
    fn from(scenario: Scenario) -> File {
        let Scenario { format, title, mut groups, provider, fallback, trigger, measure, expect } =
            scenario;
        let mut file = File {
            format,
            title,
            workload: None,
            request: None,
            provider,
            fallback,
            client: None,
            group: None,
            trigger,
            measure,
            expect,
        };
        if groups.iter().any(|group| group.name.is_some()) {
            file.group = Some(groups.into_iter().map(NamedGroup::from).collect());
        } else if let Some(group) = groups.pop() {
            file.workload = Some(group.workload);
            file.request = Some(group.request);
            file.client = Some(group.client);
        }
        file
    }
}

impl From<NamedGroup> for Group {
    fn from(group: NamedGroup) -> Group {
        let NamedGroup { name, priority, workload, request, layers, host, network } = group;
        Group {
            name: Some(name),
            priority,
            workload,
            request,
            client: Client { layers, host, network },
        }
    }
}

impl From<Group> for NamedGroup {
    fn from(group: Group) -> NamedGroup {
        let Group { name, priority, workload, request, client: Client { layers, host, network } } =
            group;
        NamedGroup {
            name: name.unwrap_or_default(),
            priority,
            workload,
            request,
            layers,
            host,
            network,
        }
    }
}
