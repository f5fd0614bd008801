//! A part of the answer cache is lost: a node of it is replaced by an empty one.

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// The entries of a part of the cache are lost at an instant. Needs `provider.cache`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CacheLoss {
    /// When.
    pub at: Span,
    /// From which to which share of the cache: [0.25, 0.5] is the second of four nodes.
    pub part: [f64; 2],
}

impl CacheLoss {
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let [from, to] = self.part;
        let good = 0.0 <= from && from < to && to <= 1.0;
        let text = || {
            format!(
                "[{from}, {to}] is no part of a cache; write two shares of 0 to 1, the smaller one first, such as [0.0, 0.25]"
            )
        };
        (!good).then(|| ("part", text()))
    }
}
