//! Presets, from their data files.

use std::fmt::Write as _;

use retrylab::presets::{Kind, Preset, find};
use toml::{Table, Value};

use crate::cell;

const HEAD: &str = "# Presets

Facts about vendors and libraries: data files with a source and the date on which they were checked, in the program.
`retrylab presets --json` prints them with all their keys. What a scenario writes beside a preset wins.
";

pub fn page() -> String {
    let mut text = HEAD.to_owned();
    let presets = |kind: Kind| kind.names().into_iter().filter_map(move |name| find(kind, name));
    text += "\n## Layers\n\n`[[client.layers]]` with `preset`: what SDKs and retry libraries do. An SDK is also found by any\nversion that a preset covers.\n";
    text += "\n| preset | versions | what | keys | source | date |\n| --- | --- | --- | --- | --- | --- |\n";
    for preset in presets(Kind::Layer) {
        let versions = preset.about.versions.as_ref();
        let versions = versions.map_or(String::new(), |v| format!("{} to {}", v.from, v.to));
        let keys = keys(&preset);
        writeln!(
            text,
            "| {} |",
            [
                format!("`{}`", preset.name),
                versions,
                cell(&preset.about.what),
                cell(&keys),
                cell(&preset.about.source),
                preset.about.date
            ]
            .join(" | ")
        )
        .unwrap();
    }
    text += "\n## Prices\n\n`provider.billing.price`: US dollars per million tokens.\n";
    text += "\n| preset | what | input | cached input | output | source | date |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    for preset in presets(Kind::Price) {
        let dollars = |key: &str| preset.keys.get(key).map_or("–".to_owned(), Value::to_string);
        let prices =
            ["input", "cached_input", "output"].map(|of| dollars(&format!("{of}_usd_per_mtok")));
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            preset.name,
            cell(&preset.about.what),
            prices.join(" | "),
            cell(&preset.about.source),
            preset.about.date
        )
        .unwrap();
    }
    let sections = [
        ("Limits", Kind::Limits, "`provider.limits.preset`: rate limits of a tier."),
        (
            "Services",
            Kind::Service,
            "`provider.service.prefill_decode.preset`: measured times of a model on a machine.",
        ),
    ];
    for (heading, kind, what) in sections {
        write!(text, "\n## {heading}\n\n{what}\n\n| preset | what | keys | source | date |\n| --- | --- | --- | --- | --- |\n").unwrap();
        for preset in presets(kind) {
            let keys = keys(&preset);
            writeln!(
                text,
                "| `{}` | {} | {} | {} | {} |",
                preset.name,
                cell(&preset.about.what),
                cell(&keys),
                cell(&preset.about.source),
                preset.about.date
            )
            .unwrap();
        }
    }
    text
}

/// The keys that a preset gives, as a scenario writes them.
fn keys(preset: &Preset) -> String {
    let of = |(key, value): (&String, &Value)| format!("`{key} = {}`", inline(value));
    preset.keys.iter().map(of).collect::<Vec<_>>().join(", ")
}

fn inline(value: &Value) -> String {
    let pairs = |table: &Table| {
        table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect::<Vec<_>>()
    };
    match value {
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => format!("{{ {} }}", pairs(table).join(", ")),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
