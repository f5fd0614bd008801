//! docs/results.md lists every metric as the catalogue has it; `BLESS=1` rewrites the list.

use std::fmt::Write as _;
use std::path::Path;

use retrylab::metrics::{Better, Part, Watch, catalog};

const START: &str = "<!-- metrics -->\n";
const END: &str = "<!-- end -->";

fn table() -> String {
    let mut text =
        String::from("\n| metric | unit | better | meaning |\n| --- | --- | --- | --- |\n");
    let watch = Watch { window: 1, per_retry: 1, flow: None, groups: 0, providers: 0 };
    for metric in catalog(&["NAME"], &[], &[], watch, Part::ALL) {
        let better = match metric.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "–",
        };
        writeln!(text, "| `{}` | {} | {better} | {} |", metric.name, metric.unit, metric.meaning)
            .unwrap();
    }
    text + "\n"
}

#[test]
fn every_metric_is_in_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(START).unwrap() + START.len();
    let end = start + text[start..].find(END).unwrap();
    let renewed = format!("{}{}{}", &text[..start], table(), &text[end..]);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &renewed).unwrap();
        return;
    }
    assert!(renewed == text, "docs/results.md is not what the catalogue has; BLESS=1 cargo test");
}
