//! The system drawn: clients, their layers, the provider, each a box with its numbers.
//!
//! Boxes are HTML: their text wraps, and on a phone they stand one below the other.

use toml::{Table, Value};

use super::escape::escape;
use crate::output::number;

/// Keys that seldom say anything; the whole scenario stands below the drawing.
const SILENT: [&str; 12] = [
    "name",
    "retry_on",
    "reply_at_timeout",
    "cancelled_work",
    "overload_status",
    "rule",
    "when_full",
    "drop_gone",
    "rejected_consumes",
    "faults",
    "actions",
    "layers",
];

/// A policy and its whole scenario.
pub type PolicyScenario = (String, Table);

/// The drawing, and what the policies differ in.
pub fn html(policies: &[PolicyScenario]) -> String {
    let Some((_, first)) = policies.first() else { return String::new() };
    let groups: Vec<&Table> = match first.get("group").and_then(Value::as_array) {
        Some(groups) => groups.iter().filter_map(Value::as_table).collect(),
        None => vec![first],
    };
    let differ = differing(policies);
    let lanes: String = groups.iter().map(|group| lane(group, &differ)).collect();
    let named = |section: &str| first.get(section).and_then(Value::as_table);
    let mut providers: Vec<&Table> = named("provider").into_iter().collect();
    let more = first.get("fallback").and_then(Value::as_array);
    providers.extend(more.into_iter().flatten().filter_map(Value::as_table));
    let providers: String = providers.into_iter().map(provider).collect();
    format!(
        "<div class=\"system\"><div class=\"lanes\">{lanes}</div><div class=\"arrow\" aria-hidden=\"true\"></div>\
         <div class=\"providers\">{providers}</div></div>\n{}",
        settings(policies, &differ)
    )
}

/// Clients of a group and their layers, outermost first.
fn lane(group: &Table, differ: &[String]) -> String {
    let name = group.get("name").and_then(Value::as_str);
    let title = name.map_or("clients".to_owned(), |name| format!("clients: {name}"));
    let mut lines = Vec::new();
    for section in ["workload", "request"] {
        lines.extend(group.get(section).and_then(Value::as_table).into_iter().flat_map(lines_of));
    }
    let client = group.get("client").and_then(Value::as_table);
    lines.extend(client.into_iter().flat_map(lines_of));
    let mut boxes = vec![boxed("clients", &title, &lines)];
    let layers = client.unwrap_or(group).get("layers").and_then(Value::as_array);
    for layer in layers.into_iter().flatten().rev().filter_map(Value::as_table) {
        let name = layer.get("name").and_then(Value::as_str).unwrap_or("?");
        let mut lines = lines_of(layer);
        for (key, value) in &mut lines {
            if differ.iter().any(|path| *path == format!("{name}.{key}")) {
                *value = "by policy".to_owned();
            }
        }
        boxes.push(boxed("layer", &format!("layer {name}"), &lines));
    }
    let arrow = "<div class=\"arrow\" aria-hidden=\"true\"></div>";
    format!("<div class=\"lane\">{}</div>", boxes.join(arrow))
}

fn provider(table: &Table) -> String {
    let name = table.get("name").and_then(Value::as_str);
    let title = name.map_or("provider".to_owned(), |name| format!("provider {name}"));
    let mut lines = lines_of(table);
    for (key, what) in [("faults", "fault"), ("actions", "action")] {
        let each = table.get(key).and_then(Value::as_array).into_iter().flatten();
        lines.extend(each.map(|value| (what.to_owned(), words(value))));
    }
    boxed("provider", &title, &lines)
}

fn boxed(class: &str, title: &str, lines: &[(String, String)]) -> String {
    let line = |(key, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(&key.replace('_', " ")), escape(value))
    };
    let lines: String = lines.iter().map(line).collect();
    format!("<section class=\"box {class}\"><h4>{}</h4><dl>{lines}</dl></section>", escape(title))
}

/// The keys of a section that say something, with their values in words.
fn lines_of(table: &Table) -> Vec<(String, String)> {
    let told = table.iter().filter(|(key, value)| !SILENT.contains(&key.as_str()) && says(value));
    told.map(|(key, value)| (key.clone(), words(value))).collect()
}

/// False for what is empty, or holds nothing but silent keys.
fn says(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Table(table) => {
            table.is_empty() || table.keys().any(|key| !SILENT.contains(&key.as_str()))
        }
        _ => true,
    }
}

/// `{ full_jitter = { base = "1s", cap = "30s" } }` as "full jitter: base 1s, cap 30s".
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Integer(count) => number(*count as f64),
        Value::Float(value) => number(*value),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Table(table) => {
            // A price by name says what its numbers are.
            let named = table.contains_key("price");
            let told = table.iter().filter(|(key, _)| {
                !(SILENT.contains(&key.as_str()) || named && key.ends_with("_usd_per_mtok"))
            });
            let parts: Vec<String> = told.map(|(key, value)| part(key, value)).collect();
            parts.join(", ")
        }
        other => other.to_string(),
    }
}

fn part(key: &str, value: &Value) -> String {
    let key = key.replace('_', " ");
    match value {
        Value::Table(inner) if !inner.is_empty() => format!("{key}: {}", words(value)),
        Value::Table(_) => key,
        _ => format!("{key} {}", words(value)),
    }
}

/// The keys of layers, as LAYER.KEY, in which the policies differ.
fn differing(policies: &[PolicyScenario]) -> Vec<String> {
    let all: Vec<Vec<(String, String)>> = policies.iter().map(|(_, s)| keys_of_layers(s)).collect();
    let mut paths: Vec<String> = Vec::new();
    for (path, _) in all.iter().flatten() {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    let value = |keys: &[(String, String)], path: &str| {
        keys.iter().find(|(key, _)| key == path).map(|(_, value)| value.clone())
    };
    paths.retain(|path| all.iter().any(|keys| value(keys, path) != value(&all[0], path)));
    paths
}

/// Every key of every layer, of all groups.
fn keys_of_layers(scenario: &Table) -> Vec<(String, String)> {
    let groups = scenario.get("group").and_then(Value::as_array);
    let groups = groups.into_iter().flatten().filter_map(Value::as_table);
    let mut keys = Vec::new();
    for group in groups.chain([scenario]) {
        let client = group.get("client").and_then(Value::as_table).unwrap_or(group);
        let layers = client.get("layers").and_then(Value::as_array).into_iter().flatten();
        for layer in layers.filter_map(Value::as_table) {
            let name = layer.get("name").and_then(Value::as_str).unwrap_or("?");
            let lines = layer.iter().map(|(key, value)| (format!("{name}.{key}"), words(value)));
            keys.extend(lines);
        }
    }
    keys
}

/// What each policy is.
fn settings(policies: &[PolicyScenario], differ: &[String]) -> String {
    if policies.len() < 2 || differ.is_empty() {
        return String::new();
    }
    let one = |(name, scenario): &PolicyScenario| {
        let keys = keys_of_layers(scenario);
        let value = |path: &String| {
            let found = keys.iter().find(|(key, _)| key == path);
            let value = found.map_or("–", |(_, value)| value);
            format!("<code>{}</code> {}", escape(path), escape(value))
        };
        let values: Vec<String> = differ.iter().map(value).collect();
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), values.join("; "))
    };
    let all: String = policies.iter().map(one).collect();
    format!("<h3>The policies</h3><dl class=\"policies\">{all}</dl>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(backoff: &str) -> Table {
        format!(
            "[workload]\nclients = 1000\nburst = {{ at = \"0s\" }}\n[provider]\nconcurrency = 200\n\
             faults = [{{ outage = {{ from = \"0s\", status = 503 }} }}]\n\
             [[client.layers]]\nname = \"sdk\"\nmax_attempts = 3\nbackoff = {backoff}\n\
             [[client.layers]]\nname = \"<app>\"\nmax_attempts = 2\n"
        )
        .parse()
        .unwrap()
    }

    #[test]
    fn boxes_go_from_the_clients_to_the_provider() {
        let drawn = html(&[("full".to_owned(), scenario("{ full_jitter = { base = \"1s\" } }"))]);
        let places: Vec<usize> = ["clients", "&lt;app&gt;", "layer sdk", "provider\">"]
            .iter()
            .map(|text| drawn.find(text).unwrap_or_else(|| panic!("{text}: {drawn}")))
            .collect();
        assert!(places.is_sorted(), "{places:?}");
        for text in ["1,000", "full jitter: base 1s", "outage: from 0s, status 503"] {
            assert!(drawn.contains(text), "{text}: {drawn}");
        }
        assert!(!drawn.contains("The policies"));
    }

    #[test]
    fn what_differs_is_told_by_policy() {
        let one = ("none".to_owned(), scenario("{ none = { base = \"1s\" } }"));
        let other = ("full".to_owned(), scenario("{ full_jitter = { base = \"1s\" } }"));
        let drawn = html(&[one, other]);
        assert!(drawn.contains("<dt>backoff</dt><dd>by policy</dd>"), "{drawn}");
        let told = "<dt>none</dt><dd><code>sdk.backoff</code> none: base 1s</dd>";
        assert!(drawn.contains(told), "{drawn}");
    }
}
