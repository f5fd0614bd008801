//! How large a run will be, before anything is allocated.

use super::Scenario;
use crate::client::{Budget, Layer, Scope};
use crate::error::{Error, Result};
use crate::model::{Arrivals, GroupPlan, Plan};

/// The most memory that runs may need together, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(pub u64);

impl Default for MemoryLimit {
    fn default() -> MemoryLimit {
        MemoryLimit(4 << 30)
    }
}

/// Bytes per request: state, pending events, its outcome; more for each layer.
const PER_REQUEST: f64 = 100.0;
const PER_LAYER: f64 = 30.0;
/// Bytes per request of clients whose host makes them wait, pools included.
const PER_HOST: f64 = 60.0;
/// Bytes per request in a network.
const PER_NETWORK: f64 = 60.0;
/// Bytes per request whose attempts have hedges: what is in flight, and when the next is due.
const PER_FLIGHT: f64 = 40.0;
/// Bytes per window of a load curve; it is kept for every run until the end.
const PER_WINDOW: f64 = 8.0;
/// Windows per run from which load curves are taken for full.
const FINE: f64 = 100_000.0;
/// Bytes per task of agents.
const PER_TASK: f64 = 48.0;
/// Bytes per client of unequal ones.
const PER_SHARE: f64 = 8.0;
/// Bytes per client of a semaphore, budget, breaker, throttle or pace of its own.
const PER_CLIENT_PART: f64 = 160.0;
/// Bytes per entry of an answer cache.
const PER_ENTRY: f64 = 8.0;
/// Bytes per slice of a window.
const PER_SLICE: f64 = 16.0;

impl MemoryLimit {
    /// Refuses a plan that would need more, with the estimate and the way out.
    pub fn check(self, scenario: &Scenario, plan: &Plan, threads: usize, runs: f64) -> Result<()> {
        let horizon = scenario.measure.horizon;
        let expected = |group: &GroupPlan| group.arrivals.expected(group.clients, horizon);
        for group in &plan.groups {
            // A Poisson stream may bring a few more than are expected.
            let (requests, most) = (expected(group), 0.99 * f64::from(GroupPlan::MOST_REQUESTS));
            if let Some(name) = group.name.as_ref().filter(|_| requests > most) {
                return Err(Error::Input(format!(
                    "about {requests:.0} requests are more than a group can number ({most:.0}); divide group {name} in two or shorten its workload"
                )));
            }
        }
        let requests: f64 = plan.groups.iter().map(expected).sum();
        let windows = (plan.horizon / scenario.measure.window.nanos()) as f64;
        // Ordinary curves are short; only windows that are absurdly fine are counted in full.
        let kept = if windows > FINE { runs } else { 0.0 };
        let curves = (kept + threads as f64 * f64::from(1 + scenario.measure.per_retry))
            * windows
            * PER_WINDOW;
        let of_group = |group| group_bytes(group, expected(group));
        let scopes = scenario.providers().flat_map(|provider| provider.limits.scopes());
        let own = scopes.filter(|scope| *scope == Scope::Client).count();
        let clients: f64 = plan.groups.iter().map(|group| f64::from(group.clients)).sum();
        let groups =
            plan.groups.iter().map(of_group).sum::<f64>() + clients * own as f64 * PER_CLIENT_PART;
        let caches = scenario.providers().filter_map(|provider| provider.cache);
        let entries: f64 = caches.map(|cache| f64::from(cache.entries) * PER_ENTRY).sum();
        let bytes = curves + threads as f64 * (groups + entries);
        if requests > f64::from(u32::MAX) {
            return Err(Error::Input(format!(
                "about {requests:.0} requests are more than a run can number (4294967295); shorten the workload"
            )));
        }
        if bytes <= self.0 as f64 {
            return Ok(());
        }
        Err(Error::Input(format!(
            "about {requests:.0} requests on {threads} threads, and load curves of {runs:.0} runs, would need up to {} of memory, and the limit is {}; \
             make the workload or the horizon smaller, use fewer --threads or --replications, or raise the limit with --max-memory {}",
            human(bytes),
            human(self.0 as f64),
            human(bytes * 1.1).replace(' ', ""),
        )))
    }
}

/// Bytes that a group needs for so many requests.
fn group_bytes(group: &GroupPlan, requests: f64) -> f64 {
    let per_client: f64 = group.layers.iter().map(client_bytes).sum();
    let share = if group.shares.is_some() { PER_SHARE } else { 0.0 };
    let layers = group.layers.len() as f64;
    let network = if group.path.is_some() { PER_NETWORK } else { 0.0 };
    let host = if group.host.is_some() { PER_HOST } else { 0.0 };
    let hedges = group.layers.iter().any(|layer| layer.hedge.is_some());
    let flights = if hedges { PER_FLIGHT } else { 0.0 };
    let tasks = match group.arrivals {
        Arrivals::Agents { tasks, .. } => f64::from(tasks) * PER_TASK,
        _ => 0.0,
    };
    tasks
        + requests * (PER_REQUEST + PER_LAYER * layers + host + network + flights)
        + f64::from(group.clients) * (per_client + share)
}

/// Bytes per client of what may be of each client's own in a layer.
fn client_bytes(layer: &Layer) -> f64 {
    let parts = [
        layer.semaphore.is_some(),
        layer.budget.is_some(),
        layer.breaker.is_some(),
        layer.adaptive_throttle.is_some(),
        layer.pace.is_some(),
        layer.hedge.is_some_and(|hedge| hedge.budget.is_some()),
    ];
    let parts = parts.into_iter().filter(|there| *there).count() as f64;
    let budget = match layer.budget {
        Some(Budget::RecentRatio(rule)) => rule.slices,
        _ => 0,
    };
    let ratio = layer.breaker.as_ref().and_then(|breaker| breaker.ratio);
    let bits = ratio.and_then(|ratio| ratio.last).unwrap_or(0);
    let breaker = ratio.map_or(0, |ratio| ratio.slices);
    let throttle = layer.adaptive_throttle.as_ref().map_or(0, |throttle| throttle.slices);
    let slices = f64::from(budget) + f64::from(breaker) + f64::from(throttle);
    parts * PER_CLIENT_PART + slices * PER_SLICE + f64::from(bits) / 8.0
}

fn human(bytes: f64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1, "B")];
    let (size, unit) = units.iter().find(|(size, _)| bytes >= *size as f64).unwrap_or(&(1, "B"));
    format!("{:.1} {unit}", bytes / *size as f64)
}

/// Reads "8GiB", "500MB", "1000000".
pub fn parse_bytes(text: &str) -> std::result::Result<MemoryLimit, String> {
    let help =
        || format!("\"{text}\" is not a size; write a number and MB, GB, MiB or GiB, such as 8GiB");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| help())?;
    let unit = match text[end..].trim() {
        "" | "B" => 1.0,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "MiB" => f64::from(1u32 << 20),
        "GiB" => f64::from(1u32 << 30),
        "TiB" => f64::from(1u32 << 30) * 1024.0,
        _ => return Err(help()),
    };
    Ok(MemoryLimit((number * unit) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_bytes("8GiB"), Ok(MemoryLimit(8 << 30)));
        assert_eq!(parse_bytes("500MB"), Ok(MemoryLimit(500_000_000)));
        assert!(parse_bytes("much").is_err() && parse_bytes("8 parsec").is_err());
    }
}
