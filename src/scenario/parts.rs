//! Which parts a scenario uses that not every scenario has.

use super::{Provider, Scenario};
use crate::client::Layer;
use crate::metrics::Part;
use crate::server::{Action, CancelledWork, Fault, LimitKind, WhenFull};

impl Scenario {
    /// Its parts that have metrics of their own.
    pub fn parts(&self) -> Vec<Part> {
        let layers = self.groups.iter().flat_map(|group| &group.client.layers);
        let any_layer = |has: fn(&Layer) -> bool| layers.clone().any(has);
        let some_provider = |uses: &dyn Fn(&Provider) -> bool| self.providers().any(uses);
        let uses = |part: &Part| match part {
            Part::Host => self.groups.iter().any(|g| g.client.host.is_some_and(|h| !h.is_idle())),
            Part::Loss => {
                self.groups.iter().any(|g| g.client.network.as_ref().is_some_and(|n| n.loss > 0.0))
            }
            Part::Breaker => any_layer(|layer| layer.breaker.is_some()),
            Part::Throttle => any_layer(|layer| {
                layer.adaptive_throttle.is_some() || layer.pace.is_some_and(|p| p.refuses())
            }),
            Part::Hedging => any_layer(|layer| layer.hedge.is_some()),
            Part::Pace => any_layer(|layer| layer.pace.is_some()),
            Part::Effects => self.groups.iter().any(|g| g.request.idempotency_key.is_some()),
            Part::Trigger => self.trigger.is_some(),
            Part::Health => self.flow_watch().is_some(),
            Part::Turn => self.flow_watch().is_some_and(|flow| flow.turn.is_some()),
            Part::Tasks => self.groups.iter().any(|group| group.workload.agents.is_some()),
            Part::Dropping => some_provider(&|provider| self.drops(provider)),
            of_provider => some_provider(&|provider| provider.uses(*of_provider)),
        };
        Part::ALL.iter().copied().filter(uses).collect()
    }

    /// True when work can lose its place in the queue of a provider.
    fn drops(&self, provider: &Provider) -> bool {
        let displaced = self.groups.iter().any(|group| group.priority > 0);
        provider.queue.map(|queue| queue.line()).is_some_and(|line| {
            line.max_wait.is_some()
                || line.drop_gone
                || displaced
                || line.when_full == WhenFull::DropOldest
        })
    }
}

impl Provider {
    /// True when it has this part.
    fn uses(&self, part: Part) -> bool {
        let some_fault = |is: fn(&Fault) -> bool| self.faults.iter().any(is);
        match part {
            Part::Cancelling => self.cancelled_work == CancelledWork::Removed,
            Part::Silence => some_fault(|f| matches!(f, Fault::Outage(o) if o.silence)),
            Part::Losing => some_fault(|f| matches!(f, Fault::Capacity(c) if c.loses())),
            Part::Operator => {
                self.actions.iter().any(|a| matches!(a, Action::Pause(_) | Action::Ramp(_)))
            }
            Part::PromptCache => self.billing.cache_lifetime.is_some(),
            Part::AnswerCache => self.cache.is_some(),
            Part::Row => self.row.is_some(),
            Part::Limit(kind) => {
                let kinds = self.limits.kinds();
                kinds != [LimitKind::Requests] && kinds.contains(&kind)
            }
            Part::Host
            | Part::Loss
            | Part::Breaker
            | Part::Throttle
            | Part::Pace
            | Part::Hedging
            | Part::Tasks
            | Part::Health
            | Part::Trigger
            | Part::Turn
            | Part::Dropping
            | Part::Effects => false,
        }
    }
}
