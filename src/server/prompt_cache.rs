//! Prompts that the provider still remembers: a retry within their lifetime pays the cached price.
//!
//! Claude's prompt cache lives 5 minutes, or an hour, and every use renews it; a read costs a tenth
//! of the input price (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>).
//! Writing the cache may cost more than plain input; that is not modelled.

use std::collections::{BTreeMap, BTreeSet};

use crate::units::{Span, Time};

/// What is remembered. A prompt is that of a request; its first attempt fills the cache when its
/// service starts.
#[derive(Clone, Debug)]
pub struct PromptCache {
    lifetime: u64,
    last_use: BTreeMap<u32, Time>,
    /// Attempts, by request and step, that found their prompt.
    hits: BTreeSet<(u32, u32)>,
}

impl PromptCache {
    /// An empty cache.
    pub fn new(lifetime: Span) -> PromptCache {
        let lifetime = lifetime.nanos();
        PromptCache { lifetime, last_use: BTreeMap::new(), hits: BTreeSet::new() }
    }

    /// Service of the attempt that `request` sent at `step` starts.
    pub fn on_start(&mut self, now: Time, request: u32, step: u32) {
        let before = self.last_use.insert(request, now);
        if before.is_some_and(|at| now - at < self.lifetime) {
            self.hits.insert((request, step));
        }
    }

    /// Whether that attempt found its prompt.
    pub fn found(&self, request: u32, step: u32) -> bool {
        self.hits.contains(&(request, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_lives_on_from_its_last_use() {
        let mut cache = PromptCache::new(Span::from_nanos(100));
        let starts = [(0, false), (99, true), (198, true), (298, false), (300, true)];
        for (step, (now, hit)) in starts.into_iter().enumerate() {
            cache.on_start(now, 7, step as u32);
            assert_eq!(cache.found(7, step as u32), hit, "{now}");
        }
        cache.on_start(301, 8, 1);
        assert!(!cache.found(8, 1), "another prompt");
    }
}
