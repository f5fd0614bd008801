//! The resolved scenario as text: canonical for the digest, with marks for `check`.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::{Document, Scenario};
use crate::engine;
use crate::error::{Error, Result};

/// The scenario as TOML, every key written: the same for every spelling of the same scenario.
pub fn canonical(scenario: &Scenario) -> Result<String> {
    Ok(print(&to_table(scenario)?, &|_| String::new()))
}

/// A 64-bit hash of the canonical text, in hex.
pub fn digest(scenario: &Scenario) -> Result<String> {
    Ok(format!("{:016x}", engine::digest(canonical(scenario)?.as_bytes())))
}

/// The scenario as TOML, with a comment on every line that the document does not write.
pub fn marked(document: &Document, scenario: &Scenario) -> Result<String> {
    let full = to_table(scenario)?;
    let mark = |path: &[&str]| {
        let value = at(&full, path);
        let unwritten = missing_in(value, at(document.written(), path));
        let unset = missing_in(value, at(document.resolved(), path));
        origin(unwritten, unset)
    };
    Ok(print(&full, &mark))
}

/// The comment that says where keys are from: those that are not written are from a preset, and
/// those that a preset does not set either are defaults. An empty list stands for the whole value.
fn origin(unwritten: Option<Vec<String>>, unset: Option<Vec<String>>) -> String {
    let named = |word: &str, keys: &[String]| match keys {
        [] => word.to_owned(),
        keys => format!("{word}: {}", keys.join(", ")),
    };
    let notes: Vec<String> = match (unwritten, unset) {
        (None, _) => return String::new(),
        (Some(keys), None) => vec![named("preset", &keys)],
        (Some(_), Some(unset)) if unset.is_empty() => vec!["default".to_owned()],
        (Some(unwritten), Some(unset)) => {
            let given: Vec<String> =
                unwritten.iter().filter(|key| !unset.contains(key)).cloned().collect();
            let preset = unwritten.is_empty() || !given.is_empty();
            let first = preset.then(|| named("preset", &given));
            first.into_iter().chain([named("default", &unset)]).collect()
        }
    };
    format!("   # {}", notes.join("; "))
}

fn to_table(scenario: &Scenario) -> Result<Table> {
    Table::try_from(scenario).map_err(|e| Error::Bug(format!("a scenario does not print: {e}")))
}

/// A value by path; items of arrays by number.
fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(*key),
    })
}

/// None when `written` has all of `full`; else the keys it lacks (none named: all of it).
fn missing_in(full: Option<&Value>, written: Option<&Value>) -> Option<Vec<String>> {
    let (Some(full), Some(written)) = (full, written) else { return Some(vec![]) };
    let (Some(full), Some(written)) = (full.as_table(), written.as_table()) else { return None };
    let mut lacking = Vec::new();
    for (key, value) in full {
        match missing_in(Some(value), written.get(key)) {
            Some(inner) if inner.is_empty() => lacking.push(key.clone()),
            Some(inner) => lacking.extend(inner.into_iter().map(|k| format!("{key}.{k}"))),
            None => {}
        }
    }
    (!lacking.is_empty()).then_some(lacking)
}

/// Arrays of tables that are printed as sections of their own.
const LISTS: [(&str, &str); 3] =
    [("provider", "faults"), ("provider", "actions"), ("client", "layers")];

fn print(table: &Table, mark: &dyn Fn(&[&str]) -> String) -> String {
    let mut text = String::new();
    for (key, value) in table.iter().filter(|(key, value)| !value.is_table() && *key != "group") {
        let _ = writeln!(text, "{key} = {}{}", inline(value), mark(&[key]));
    }
    for (section, value) in table {
        match value {
            Value::Table(inner) => print_section(&mut text, section, inner, mark),
            Value::Array(groups) if section == "group" => print_groups(&mut text, groups, mark),
            _ => {}
        }
    }
    text
}

fn print_section(
    text: &mut String,
    section: &str,
    inner: &Table,
    mark: &dyn Fn(&[&str]) -> String,
) {
    let is_list = |key: &str| LISTS.contains(&(section, key));
    let plain: Vec<_> =
        inner.iter().filter(|(key, value)| !is_list(key) || is_empty(value)).collect();
    if !plain.is_empty() {
        let _ = writeln!(text, "\n[{section}]");
    }
    for (key, value) in plain {
        let _ = writeln!(text, "{key} = {}{}", inline(value), mark(&[section, key]));
    }
    for (key, value) in inner.iter().filter(|(key, value)| is_list(key) && !is_empty(value)) {
        print_list(text, &[section, key], value, mark);
    }
}

fn print_groups(text: &mut String, groups: &[Value], mark: &dyn Fn(&[&str]) -> String) {
    for (index, group) in groups.iter().enumerate() {
        let number = index.to_string();
        let _ = writeln!(text, "\n[[group]]");
        let is_list = |key: &str, value: &Value| key == "layers" && !is_empty(value);
        for (key, value) in group.as_table().into_iter().flatten() {
            if !is_list(key, value) {
                let note = mark(&["group", &number, key]);
                let _ = writeln!(text, "{key} = {}{note}", inline(value));
            }
        }
        for (key, value) in group.as_table().into_iter().flatten() {
            if is_list(key, value) {
                print_list(text, &["group", &number, key], value, mark);
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_none_or(Vec::is_empty)
}

/// The items of the list at `path`, each a section of its own.
fn print_list(text: &mut String, path: &[&str], value: &Value, mark: &dyn Fn(&[&str]) -> String) {
    let names: Vec<&str> =
        path.iter().copied().filter(|step| step.parse::<usize>().is_err()).collect();
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        let _ = writeln!(text, "\n[[{}]]", names.join("."));
        let number = index.to_string();
        for (name, value) in item.as_table().into_iter().flatten() {
            let note = mark(&[path, &[&number, name]].concat());
            let _ = writeln!(text, "{name} = {}{note}", inline(value));
        }
    }
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let parts: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
        }
        Value::Array(items) => {
            let parts: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", parts.join(", "))
        }
        plain => plain.to_string(),
    }
}
