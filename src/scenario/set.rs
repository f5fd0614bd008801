//! `--set path=value`, and how values merge.

use toml::{Table, Value};

use crate::workload::Workload;

/// Keys whose table names a kind by its one key: setting another kind replaces the table.
const KINDS: &[&str] = &[
    "shares",
    "latency",
    "backoff",
    "budget",
    "pace",
    "service",
    "queue",
    "retry_after",
    "input_tokens",
    "output_tokens",
    "faults",
    "actions",
];

/// Keys of which a table has one: setting one takes the place of another.
const RIVALS: [&[&str]; 3] = [&Workload::KINDS, &["consecutive", "ratio"], &["window", "last"]];

/// The keys that `key` takes the place of.
fn rivals(key: &str) -> impl Fn(&str) -> bool {
    let among = RIVALS.iter().find(|keys| keys.contains(&key));
    move |other| other != key && among.is_some_and(|keys| keys.contains(&other))
}

/// Applies `path=value` to a table.
pub fn apply(table: &mut Table, setting: &str) -> Result<(), String> {
    let Some((path, value)) = setting.split_once('=') else {
        return Err(format!("--set {setting}: write path=value, such as workload.clients=500"));
    };
    let path = path.trim();
    put(table, path, parse_value(value.trim())).map_err(|text| format!("--set {path}: {text}"))
}

/// A TOML value, or else the text itself: `30s` needs no quotes.
pub fn parse_value(text: &str) -> Value {
    let parsed: Result<Table, _> = format!("value = {text}").parse();
    match parsed.ok().and_then(|mut table| table.remove("value").filter(|_| table.is_empty())) {
        Some(Value::Datetime(_)) | None => Value::String(text.to_owned()),
        Some(value) => value,
    }
}

/// Puts `value` at `path`; tables on the way are made.
pub fn put(table: &mut Table, path: &str, value: Value) -> Result<(), String> {
    let keys: Vec<&str> = path.split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err("the path has an empty part".to_owned());
    }
    put_in_table(table, &keys, value)
}

fn put_in_table(table: &mut Table, keys: &[&str], value: Value) -> Result<(), String> {
    let Some((key, rest)) = keys.split_first() else { return Ok(()) };
    let rival = rivals(key);
    table.retain(|other, _| !rival(other));
    if rest.is_empty() {
        table.insert((*key).to_owned(), value);
        return Ok(());
    }
    let inner = table.entry(*key).or_insert_with(|| Value::Table(Table::new()));
    if KINDS.contains(key) && !matches!(inner, Value::Array(_)) {
        let same_kind = inner.as_table().is_some_and(|kind| kind.contains_key(rest[0]));
        if !same_kind {
            *inner = Value::Table(Table::new());
        }
    }
    put_in_value(inner, key, rest, value)
}

fn put_in_value(inner: &mut Value, key: &str, keys: &[&str], value: Value) -> Result<(), String> {
    match inner {
        Value::Table(table) => put_in_table(table, keys, value),
        Value::Array(items) => {
            let index = position(items, keys[0]).ok_or_else(|| no_item(key, keys[0], items))?;
            if keys.len() == 1 {
                items[index] = value;
                return Ok(());
            }
            put_in_value(&mut items[index], keys[0], &keys[1..], value)
        }
        _ => Err(format!("{key} is a plain value and has no key {}", keys[0])),
    }
}

/// An item of an array by its name or its number.
fn position(items: &[Value], key: &str) -> Option<usize> {
    let named = |item: &Value| item.get("name").and_then(Value::as_str) == Some(key);
    items.iter().position(named).or_else(|| key.parse().ok().filter(|index| *index < items.len()))
}

fn no_item(array: &str, key: &str, items: &[Value]) -> String {
    let names: Vec<&str> =
        items.iter().filter_map(|item| item.get("name").and_then(Value::as_str)).collect();
    let known = match (names.is_empty(), items.len()) {
        (false, _) => format!("known: {}", names.join(", ")),
        (true, 0) => "it is empty".to_owned(),
        (true, n) => format!("write a number from 0 to {}", n - 1),
    };
    format!("{array} has no item \"{key}\"; {known}")
}

/// Fills `written` with what `given` has in addition: within a kind the keys merge, another kind
/// stays as written.
pub fn merge(key: &str, written: &mut Value, given: Value) {
    let (Value::Table(written), Value::Table(given)) = (written, given) else { return };
    if KINDS.contains(&key) && !given.keys().all(|kind| written.contains_key(kind)) {
        return;
    }
    for (key, given) in given {
        if written.keys().any(|other| rivals(&key)(other)) {
            continue;
        }
        match written.get_mut(&key) {
            None => drop(written.insert(key, given)),
            Some(inner) => merge(&key, inner, given),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    const DOCUMENT: &str = "workload = { clients = 5 }\n[[client.layers]]\nname = \"sdk\"\n\
                            backoff = { none = { base = \"1s\", cap = \"2s\" } }\n";

    #[test]
    fn paths_reach_tables_and_items_by_name_or_number() {
        let mut document = table(DOCUMENT);
        for setting in [
            "workload.clients=7",
            "client.layers.sdk.deadline=30s",
            "client.layers.0.max_attempts = 4",
        ] {
            apply(&mut document, setting).unwrap();
        }
        let layer = &document["client"]["layers"][0];
        assert_eq!(document["workload"]["clients"].as_integer(), Some(7));
        assert_eq!(layer["deadline"].as_str(), Some("30s"));
        assert_eq!(layer["max_attempts"].as_integer(), Some(4));
    }

    #[test]
    fn the_same_kind_merges_and_another_replaces() {
        let mut document = table(DOCUMENT);
        apply(&mut document, "client.layers.sdk.backoff.none.cap=9s").unwrap();
        let backoff = |d: &Table| d["client"]["layers"][0]["backoff"].to_string();
        assert!(backoff(&document).contains("1s") && backoff(&document).contains("9s"));
        apply(&mut document, "client.layers.sdk.backoff.full_jitter.base=3s").unwrap();
        assert!(!backoff(&document).contains("none"));

        let mut written = Value::Table(table("sdk_jitter = { cap = \"4s\" }"));
        merge(
            "backoff",
            &mut written,
            Value::Table(table("sdk_jitter = { base = \"1s\", cap = \"8s\" }")),
        );
        assert_eq!(written["sdk_jitter"]["cap"].as_str(), Some("4s"));
        assert_eq!(written["sdk_jitter"]["base"].as_str(), Some("1s"));
        let mut other = Value::Table(table("none = { base = \"1s\", cap = \"8s\" }"));
        merge("backoff", &mut other, written.clone());
        assert!(other.get("sdk_jitter").is_none());
    }

    #[test]
    fn another_workload_takes_the_place_of_the_old_one() {
        let mut document = table("workload = { clients = 5, burst = { at = \"0s\" } }");
        apply(&mut document, "workload.poisson.rate=5/s").unwrap();
        let workload = document["workload"].as_table().unwrap();
        assert!(workload.contains_key("poisson") && !workload.contains_key("burst"));
        assert_eq!(workload["clients"].as_integer(), Some(5));
    }

    #[test]
    fn a_wrong_path_says_what_is_there() {
        let mut document = table(DOCUMENT);
        for (setting, part) in [
            ("workload.clients", "path=value"),
            ("client.layers.app.deadline=1s", "known: sdk"),
            ("workload.clients.x=1", "plain value"),
            ("a..b=1", "empty part"),
        ] {
            let error = apply(&mut document, setting).unwrap_err();
            assert!(error.contains(part), "{setting}: {error}");
        }
    }
}
