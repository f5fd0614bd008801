//! What a picture has to know of a scenario besides its numbers; it stands in the manifest.

use serde::{Deserialize, Serialize};

use crate::experiment::Cell;
use crate::scenario::Scenario;
use crate::server::Fault;

/// The circumstances of some cells that differ in their policies; times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// Title of the scenario.
    pub title: String,
    /// Clients of all groups.
    pub clients: f64,
    /// Window of load peaks.
    pub window_s: f64,
    /// Window of curves.
    pub curve_s: f64,
    /// Nothing happens from here on.
    pub horizon_s: f64,
    /// Attempts that the provider can serve in a window of load peaks, where that is bounded and the same for all
    /// policies.
    pub capacity_per_window: Option<f64>,
    /// When nothing that arrives is served, of outages that end.
    pub outages_s: Vec<(f64, f64)>,
    /// When the trigger is over, where there is one.
    pub trigger_over_s: Option<f64>,
    /// When a ramp turns back, where one does.
    pub turn_s: Option<f64>,
}

impl Setting {
    /// That of cells, of which the first one speaks for all.
    pub fn of<'a>(title: &str, cells: impl IntoIterator<Item = &'a Cell>) -> Setting {
        let mut cells = cells.into_iter();
        let Some(first) = cells.next() else { return Setting::default() };
        let scenario = &first.scenario;
        let capacity = first.capacity_per_window();
        let watch = scenario.watch().flow;
        Setting {
            title: title.to_owned(),
            clients: scenario.clients() as f64,
            window_s: scenario.measure.window.seconds(),
            curve_s: scenario.measure.curve_window().seconds(),
            horizon_s: scenario.measure.horizon.seconds(),
            // Policies may change what is served; pictures share one line.
            capacity_per_window: capacity
                .filter(|_| cells.all(|cell| cell.capacity_per_window() == capacity)),
            outages_s: outages(scenario),
            trigger_over_s: scenario.trigger.as_ref().map(|trigger| trigger.to.seconds()),
            turn_s: watch.and_then(|watch| watch.turn).map(crate::units::seconds),
        }
    }

    /// Attempts that the provider can serve in a window of curves.
    pub fn capacity_per_point(&self) -> Option<f64> {
        self.capacity_per_window.map(|capacity| capacity * (self.curve_s / self.window_s).round())
    }
}

/// Outages that end; one that never ends would shade a whole picture.
fn outages(scenario: &Scenario) -> Vec<(f64, f64)> {
    let ended = |fault: &Fault| {
        let (from, to) = fault.period();
        to.filter(|_| is_total(fault)).map(|to| (from.seconds(), to.seconds()))
    };
    scenario.provider.faults.iter().filter_map(ended).collect()
}

/// True when nothing that arrives is served.
fn is_total(fault: &Fault) -> bool {
    match fault {
        Fault::Outage(_) | Fault::RefuseConnections(_) => true,
        Fault::Capacity(capacity) => capacity.concurrency == 0,
        Fault::Slow(_)
        | Fault::SlowDown(_)
        | Fault::Error(_)
        | Fault::CacheLoss(_)
        | Fault::StreamError(_) => false,
    }
}
