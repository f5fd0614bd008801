//! Which direction is better, of the metrics of a table whose scenario is not at hand.

use std::collections::BTreeMap;

use super::catalog::{Better, GroupLayers, catalog};
use super::parts::Part;
use super::recorder::Watch;

/// Directions of metrics by name.
#[derive(Clone, Debug)]
pub struct Directions(BTreeMap<String, (Better, &'static str)>);

impl Directions {
    /// Those of a table with these columns: its groups, providers, layers and retries are told by
    /// columns that nothing else has, and then the catalogue of such a scenario is asked.
    pub fn of<S: AsRef<str>>(columns: &[S]) -> Directions {
        let between = |start: &str, end: &str| -> Vec<&str> {
            let names = columns.iter().map(AsRef::as_ref);
            names.filter_map(|name| name.strip_prefix(start)?.strip_suffix(end)).collect()
        };
        let of_group = |name| {
            let layers = between(&format!("group_{name}_layer_"), "_attempts");
            GroupLayers { name, layers }
        };
        let groups: Vec<GroupLayers<'_>> =
            between("group_", "_success_ratio").into_iter().map(of_group).collect();
        let providers = between("provider_", "_billed_per_useful");
        let retries = between("retry_", "_shared_waits").into_iter();
        let retries = retries.filter_map(|k| k.parse().ok()).filter(|k| *k <= MOST_RETRIES);
        let per_retry = retries.max().unwrap_or(0);
        let layers = between("layer_", "_attempts");
        let metrics = catalog(&layers, &groups, &providers, watch(per_retry), Part::ALL);
        Directions(
            metrics
                .into_iter()
                .map(|metric| (metric.name, (metric.better, metric.meaning)))
                .collect(),
        )
    }

    /// That of a metric; neither for one that the catalogue does not have.
    pub fn better(&self, metric: &str) -> Better {
        self.0.get(metric).map_or(Better::Neither, |(better, _)| *better)
    }

    /// What a metric says, in one line; nothing of one that the catalogue does not have.
    pub fn meaning(&self, metric: &str) -> &'static str {
        self.0.get(metric).map_or("", |(_, meaning)| meaning)
    }
}

/// Most retries that a scenario can watch one by one.
const MOST_RETRIES: u32 = 64;

/// What decides which metrics there are.
fn watch(per_retry: u32) -> Watch {
    Watch { window: 1, per_retry, flow: None, groups: 0, providers: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that end like those of other metrics.
    #[test]
    fn every_metric_of_a_catalogue_has_its_own_direction() {
        let layers = ["sdk", "peak_bin"];
        let of = |name| GroupLayers { name, layers: layers.to_vec() };
        let groups = [of("late"), of("a_refused_by_limit"), of("layer_x")];
        let providers = ["late", "peak", "first-one"];
        let metrics = catalog(&layers, &groups, &providers, watch(3), Part::ALL);
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        let directions = Directions::of(&names);
        for metric in &metrics {
            assert_eq!(directions.better(&metric.name), metric.better, "{}", metric.name);
        }
        assert_eq!(directions.better("provider_late_answers"), Better::Neither);
        assert_eq!(directions.better("retry_3_peak_bin"), Better::Lower);
        assert_eq!(directions.better("retry_4_peak_bin"), Better::Neither, "there is none");
        assert_eq!(directions.better("size"), Better::Neither);
    }
}
