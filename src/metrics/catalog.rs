//! The metrics of a scenario: of all clients, of its providers and groups, retries and layers.

use super::parts::{OF_PARTS, Part};
use super::recorder::{Facts, Watch};
use super::table::{Row, TABLE, ratio};

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither.
    Neither,
}

/// The unit of a metric that says whether something has happened in a run: 1, or 0.
pub const INDICATOR: &str = "0/1";

/// One metric.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Its name in tables, CSV and JSON.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// One line of meaning.
    pub meaning: &'static str,
    of: Of,
    value: Value,
}

/// Whom a metric is of. Of a group or provider: its number, and the name of the metric without
/// that of the group or provider.
#[derive(Clone, Debug)]
enum Of {
    All,
    Group(usize, String),
    Provider(usize),
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Of(fn(&Facts) -> Option<f64>),
    RetryMean(usize),
    RetryPeakBin(usize),
    RetryPeakSliding(usize),
    RetrySharedWaits(usize),
    LayerAttempts(usize),
}

impl Metric {
    /// The number of the group that it is of, and its name there; None when it is of all clients.
    pub fn of_group(&self) -> Option<(usize, &str)> {
        match &self.of {
            Of::Group(group, name) => Some((*group, name)),
            Of::All | Of::Provider(_) => None,
        }
    }

    /// The metric of a run; None where there is none.
    pub fn value(&self, facts: &Facts) -> Option<f64> {
        let facts = match self.of {
            Of::All => facts,
            Of::Group(group, _) => facts.groups.get(group)?,
            Of::Provider(provider) => facts.providers.get(provider)?,
        };
        let retry = |k: usize| facts.recorder.by_retry.get(k);
        match self.value {
            Value::Of(function) => function(facts),
            Value::RetryMean(k) => retry(k)?.mean_s(),
            Value::RetryPeakBin(k) => Some(retry(k)?.load.peak().into()),
            Value::RetryPeakSliding(k) => Some(retry(k)?.load.peak_sliding().into()),
            Value::RetrySharedWaits(k) => retry(k)?.shared_waits(),
            Value::LayerAttempts(l) => {
                let layer = facts.report.ledger.layers.get(l)?;
                ratio(layer.attempts, layer.calls)
            }
        }
    }
}

/// Metrics of the provider as a whole, which no group has for itself.
const PROVIDER_WIDE: [&str; 2] = ["peak_in_flight", "mean_in_flight"];

/// The metrics of a scenario with these `parts` and layers of these names (innermost first),
/// watched as told; after those of all clients come those of each provider and of each group, when
/// there are several.
pub fn catalog(
    layers: &[&str],
    groups: &[GroupLayers<'_>],
    providers: &[&str],
    watch: Watch,
    parts: &[Part],
) -> Vec<Metric> {
    let mut metrics = of_all(layers, watch, parts);
    if providers.len() > 1 {
        let numbered = providers.iter().enumerate();
        metrics.extend(numbered.flat_map(|(p, name)| of_provider(p, name)));
    }
    if groups.len() < 2 {
        return metrics;
    }
    for (g, group) in groups.iter().enumerate() {
        let own = of_all(&group.layers, watch, parts).into_iter();
        let own = own.filter(|metric| !PROVIDER_WIDE.contains(&metric.name.as_str()));
        metrics.extend(own.map(|metric| Metric {
            name: format!("group_{}_{}", group.name, metric.name),
            of: Of::Group(g, metric.name),
            ..metric
        }));
    }
    metrics
}

/// Metrics that every one of several providers has for itself.
const OF_EACH_PROVIDER: [&str; 13] = [
    "attempts",
    "retries",
    "peak_bin",
    "peak_sliding",
    "peak_attempts_bin",
    "peak_attempts_sliding",
    "queue_wait_mean_s",
    "billed_tokens",
    "useful_tokens",
    "wasted_tokens",
    "billed_per_useful",
    "billed_usd",
    "wasted_usd",
];

/// What provider number `p` is asked for and answers.
fn of_provider(p: usize, provider: &str) -> Vec<Metric> {
    let answers: Row = (
        "answers",
        "requests",
        Better::Neither,
        "requests that this provider has answered",
        |facts| Some(facts.recorder.delivered as f64),
    );
    let own = TABLE.iter().filter(|row| OF_EACH_PROVIDER.contains(&row.0));
    let metric = |row: &Row| {
        let &(name, unit, better, meaning, function) = row;
        let name = format!("provider_{provider}_{name}");
        Metric { name, unit, better, meaning, of: Of::Provider(p), value: Value::Of(function) }
    };
    own.chain([&answers]).map(metric).collect()
}

/// A group and its layers, innermost first.
#[derive(Clone, Debug)]
pub struct GroupLayers<'a> {
    /// Its name.
    pub name: &'a str,
    /// Names of its layers.
    pub layers: Vec<&'a str>,
}

fn of_all(layers: &[&str], watch: Watch, parts: &[Part]) -> Vec<Metric> {
    let of_parts = OF_PARTS.iter().filter(|(part, _)| parts.contains(part)).map(|(_, row)| row);
    let fixed =
        TABLE.iter().chain(of_parts).map(|&(name, unit, better, meaning, function)| Metric {
            name: name.to_owned(),
            unit,
            better,
            meaning,
            of: Of::All,
            value: Value::Of(function),
        });
    let retries = (0..watch.per_retry as usize).flat_map(|k| {
        let metric = |name: &str, unit, meaning, value| Metric {
            name: format!("retry_{}_{name}", k + 1),
            unit,
            better: Better::Lower,
            meaning,
            of: Of::All,
            value,
        };
        [
            metric("mean_s", "s", "mean instant of this retry", Value::RetryMean(k)),
            metric(
                "peak_bin",
                "attempts",
                "this retry in the fullest aligned window",
                Value::RetryPeakBin(k),
            ),
            metric(
                "peak_sliding",
                "attempts",
                "this retry in the fullest window anywhere",
                Value::RetryPeakSliding(k),
            ),
            metric(
                "shared_waits",
                "ratio",
                "share of waits before this retry that are somebody else's too, to the nanosecond",
                Value::RetrySharedWaits(k),
            ),
        ]
    });
    let layers = layers.iter().enumerate().map(|(l, name)| Metric {
        name: format!("layer_{name}_attempts"),
        unit: "ratio",
        better: Better::Lower,
        meaning: "attempts of this layer per call into it",
        of: Of::All,
        value: Value::LayerAttempts(l),
    });
    fixed.chain(retries).chain(layers).collect()
}
