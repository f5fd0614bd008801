//! Which parts a scenario uses that not every scenario has.

use super::Scenario;
use crate::client::Layer;
use crate::metrics::Part;
use crate::server::{Action, CancelledWork, Fault, LimitKind, WhenFull};

impl Scenario {
    /// Its parts that have metrics of their own.
    pub fn parts(&self) -> Vec<Part> {
        let provider = &self.provider;
        let displaced = self.groups.iter().any(|group| group.priority > 0);
        let drops = provider.queue.map(|queue| queue.line()).is_some_and(|line| {
            line.max_wait.is_some()
                || line.drop_gone
                || displaced
                || line.when_full == WhenFull::DropOldest
        });
        let layers = self.groups.iter().flat_map(|group| &group.client.layers);
        let any_layer = |has: fn(&Layer) -> bool| layers.clone().any(has);
        let uses = |part: &Part| match part {
            Part::Dropping => drops,
            Part::Host => self.groups.iter().any(|g| g.client.host.is_some_and(|h| !h.is_idle())),
            Part::Loss => {
                self.groups.iter().any(|g| g.client.network.is_some_and(|n| n.loss > 0.0))
            }
            Part::Breaker => any_layer(|layer| layer.breaker.is_some()),
            Part::Throttle => any_layer(|layer| layer.adaptive_throttle.is_some()),
            Part::Cancelling => provider.cancelled_work == CancelledWork::Removed,
            Part::Silence => {
                provider.faults.iter().any(|f| matches!(f, Fault::Outage(o) if o.silence))
            }
            Part::Losing => {
                provider.faults.iter().any(|f| matches!(f, Fault::Capacity(c) if c.loses()))
            }
            Part::Operator => {
                provider.actions.iter().any(|a| matches!(a, Action::Pause(_) | Action::Ramp(_)))
            }
            Part::PromptCache => provider.billing.cache_lifetime.is_some(),
            Part::Limit(kind) => {
                let kinds = provider.limits.kinds();
                kinds != [LimitKind::Requests] && kinds.contains(kind)
            }
        };
        Part::ALL.iter().copied().filter(uses).collect()
    }
}
