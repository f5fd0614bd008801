//! docs/reference/metrics.md lists every metric as the catalogue has it; `BLESS=1` rewrites it.

use std::fmt::Write as _;
use std::path::Path;

use retrylab::metrics::{Better, Metric, Part, Watch, catalog};

const HEAD: &str = "<!-- Written by the code: BLESS=1 cargo test --test metrics_reference -->

# Metrics

A **request** is one thing a user wants, an **attempt** one send of it, a **retry** an attempt with number 2
or more. Peaks count arrivals at the provider, refused ones included, in windows of `measure.window`.
Completion is from creation to delivery, over requests that succeeded.

With several groups, the metrics are those of all groups together, and each group has its own as
`group_NAME_METRIC` (`group_batch_peak_bin`, `group_batch_layer_sdk_attempts`). Only `peak_in_flight` and
`mean_in_flight` are of the provider as a whole. Layers of one name in several groups are one in
`layer_NAME_attempts`. The table of `run` has a column for each group.

With several providers, each has `provider_NAME_METRIC` for attempts, retries, their peaks, the wait in its
queue, tokens and dollars, and `provider_NAME_answers`: the requests that it has answered.

*Better* says in which direction a metric is better, for `diff` and `tune`; – where neither is.
";

const NOTHING: Watch = Watch { window: 1, per_retry: 0, flow: None, groups: 0, providers: 0 };

fn rows(text: &mut String, metrics: &[Metric]) {
    *text += "\n| metric | unit | better | meaning |\n| --- | --- | --- | --- |\n";
    for metric in metrics {
        let better = match metric.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "–",
        };
        let meaning = metric.meaning.replace('|', "\\|");
        writeln!(text, "| `{}` | {} | {better} | {meaning} |", metric.name, metric.unit).unwrap();
    }
}

fn page() -> String {
    let always = catalog(&[], &[], &[], NOTHING, &[]);
    let every = catalog(&["NAME"], &[], &[], Watch { per_retry: 1, ..NOTHING }, Part::ALL);
    let parts = catalog(&[], &[], &[], NOTHING, Part::ALL);
    let mut text = HEAD.to_owned();
    text += "\n## Of every scenario\n";
    rows(&mut text, &always);
    text += "\n## Of scenarios that use a part\n\nSuch as a queue that drops work, a breaker, a trigger.\n";
    rows(&mut text, &parts[always.len()..]);
    text += "\n## Of retries and layers\n\nOf each of the first `measure.per_retry` retries, here of the first, and of each layer.\n";
    rows(&mut text, &every[parts.len()..]);
    text
}

#[test]
fn every_metric_is_in_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/metrics.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        page() == text,
        "docs/reference/metrics.md is not what the catalogue has; BLESS=1 cargo test"
    );
}
