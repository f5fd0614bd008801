//! Keys of scenario files, from their JSON Schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use crate::{cell, here};

const HEAD: &str = "# Keys of a scenario file

Every key with its default and meaning; [The scenario file](../scenario.md) explains them with examples. The same is
in [scenario.schema.json](scenario.schema.json), from which [editors complete](../scenario.md#in-an-editor).

Durations and rates are texts with a unit: `\"500ms\"`, `\"1.5s\"`, `\"10min\"`; `\"60/s\"`, `\"1000/min\"`. Units are ns, us, ms,
s, min, h, d. Counts and ratios are plain numbers. *Needed* keys have no default; where a
[preset](presets.md) can give a key, it need not be written. `[expect]` is about [metrics](metrics.md).
";

/// The schema, with keys in the order in which it has them: TOML's tables keep it, JSON's do not.
pub fn schema() -> Table {
    let text = std::fs::read_to_string(here("scenario.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub fn page() -> String {
    let schema = schema();
    let mut page = Page { schema: &schema, places: BTreeMap::new(), text: HEAD.to_owned() };
    page.table("", &schema, "Top level");
    page.text
}

struct Page<'a> {
    schema: &'a Table,
    /// Where definitions are described.
    places: BTreeMap<&'a str, String>,
    text: String,
}

/// A definition and its name.
type Named<'a> = (&'a str, &'a Table);

fn text_of<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list_of<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    table.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A heading's anchor.
fn anchor(path: &str) -> String {
    path.replace('.', "")
}

impl<'a> Page<'a> {
    fn named(&self, name: &'a str) -> Named<'a> {
        (name, self.schema["definitions"][name].as_table().unwrap())
    }

    /// The definition that a property, or the items of its list, refer to.
    fn target(&self, property: &'a Table) -> Option<Named<'a>> {
        if let Some(reference) = property.get("$ref").and_then(Value::as_str) {
            return Some(self.named(reference.strip_prefix("#/definitions/").unwrap()));
        }
        if let [Value::Table(only)] = list_of(property, "allOf") {
            return self.target(only);
        }
        self.target(property.get("items")?.as_table()?)
    }

    /// The names of what may be written below `path`, each with its schema.
    fn kinds(definition: &'a Table) -> Vec<(&'a str, &'a Table)> {
        let choices = ["oneOf", "anyOf"].into_iter().flat_map(|key| list_of(definition, key));
        let kind = |choice: &'a Value| {
            let (name, kind) = choice.get("properties")?.as_table()?.iter().next()?;
            Some((name.as_str(), kind.as_table()?))
        };
        choices.filter_map(kind).collect()
    }

    /// A section, and those below it.
    fn section(&mut self, path: &str, (name, definition): Named<'a>) {
        self.places.insert(name, path.to_owned());
        let level = if path.contains('.') { "###" } else { "##" };
        write!(self.text, "\n{level} `{path}`\n\n{}\n", text_of(definition, "description"))
            .unwrap();
        if definition.contains_key("properties") {
            self.table(path, definition, "");
        } else {
            self.choices(path, definition);
        }
    }

    /// The keys of a table, and the sections below it.
    fn table(&mut self, path: &str, definition: &'a Table, heading: &str) {
        if !heading.is_empty() {
            write!(self.text, "\n## {heading}\n").unwrap();
        }
        self.text += "\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
        let properties = definition["properties"].as_table().unwrap();
        let mut below = Vec::new();
        for (key, property) in properties {
            let property = property.as_table().unwrap();
            let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let value = self.value(&place, property, &mut below);
            let default = default_of(definition, key, property);
            let meaning = self.meaning(property);
            writeln!(self.text, "| `{key}` | {value} | {default} | {} |", cell(&meaning)).unwrap();
        }
        for (place, named) in below {
            self.section(&place, named);
        }
    }

    /// The kinds of something that is written as a word, or as a table with one key.
    fn choices(&mut self, path: &str, definition: &'a Table) {
        self.text += "\n| kind | value | meaning |\n| --- | --- | --- |\n";
        for word in words(definition) {
            let (name, meaning) = word;
            writeln!(self.text, "| `\"{name}\"` | | {} |", cell(meaning)).unwrap();
        }
        let mut below = Vec::new();
        let meanings: BTreeMap<&str, &str> = ["oneOf", "anyOf"]
            .into_iter()
            .flat_map(|key| list_of(definition, key))
            .filter_map(Value::as_table)
            .filter_map(|choice| {
                let name = choice.get("properties")?.as_table()?.keys().next()?;
                Some((name.as_str(), text_of(choice, "description")))
            })
            .collect();
        for (name, kind) in Self::kinds(definition) {
            let value = self.value(&format!("{path}.{name}"), kind, &mut below);
            let meaning = cell(meanings[name]);
            writeln!(self.text, "| `{{ {name} = … }}` | {value} | {meaning} |").unwrap();
        }
        for (place, named) in below {
            self.section(&place, named);
        }
    }

    /// What may be written; what needs a section of its own is put `below`.
    fn value(
        &mut self,
        path: &str,
        property: &'a Table,
        below: &mut Vec<(String, Named<'a>)>,
    ) -> String {
        let list = if property.contains_key("items") { "list of " } else { "" };
        let Some((name, definition)) = self.target(property) else {
            return plain(property);
        };
        if definition.contains_key("items") {
            return "list of points".to_owned();
        }
        let word = match name {
            "Duration" => "duration",
            "Rate" => "rate",
            "Tokens" => "tokens",
            "HeaderValue" => "text",
            "Wait" => "durations, or lists of them",
            "AtOnce" => "whole number, or `\"unlimited\"`",
            "Formula" => "[formula](../scenario.md#a-formula-of-ones-own)",
            _ => "",
        };
        if !word.is_empty() {
            return format!("{list}{word}");
        }
        let kinds = Self::kinds(definition);
        if kinds.is_empty() && !definition.contains_key("properties") {
            // `Service` is a duration or something that has kinds.
            if let Some(inner) = self.inner(definition) {
                return format!("duration, or {}", self.link(path, inner, "kind", below));
            }
            let names = words(definition);
            let names: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
            return format!("{list}{}", names.join(", "));
        }
        let noun = match (kinds.is_empty(), name) {
            (true, _) => "table",
            (_, "DurationOrLaw") => {
                return format!(
                    "duration, or {}",
                    self.link(path, (name, definition), "law", below)
                );
            }
            (_, "TokensOrLaw") => {
                return format!("number, or {}", self.link(path, (name, definition), "law", below));
            }
            _ => "kind",
        };
        let link = self.link(path, (name, definition), noun, below);
        if list.is_empty() { link } else { format!("list of {link}s") }
    }

    fn inner(&self, definition: &'a Table) -> Option<Named<'a>> {
        let choices = list_of(definition, "anyOf").iter().filter_map(Value::as_table);
        let mut targets = choices.filter_map(|choice| self.target(choice));
        targets.find(|(name, _)| *name != "Duration")
    }

    /// A link to the section of a definition, which is put `below` when it has none yet.
    fn link(
        &mut self,
        path: &str,
        named: Named<'a>,
        noun: &str,
        below: &mut Vec<(String, Named<'a>)>,
    ) -> String {
        let place = self.places.entry(named.0).or_insert_with(|| {
            below.push((path.to_owned(), named));
            path.to_owned()
        });
        format!("[{noun}](#{})", anchor(place))
    }

    /// The description, and those of the words that may be written.
    fn meaning(&self, property: &'a Table) -> String {
        let mut meaning = text_of(property, "description").to_owned();
        let Some((_, definition)) = self.target(property) else { return meaning };
        if Self::kinds(definition).is_empty() {
            for (name, text) in words(definition) {
                let lower = text.trim_end_matches('.');
                write!(meaning, " `{name}`: {}{};", lower[..1].to_lowercase(), &lower[1..])
                    .unwrap();
            }
        }
        match meaning.strip_suffix(';') {
            Some(sentence) => format!("{sentence}."),
            None => meaning,
        }
    }
}

/// The words that may be written, with their meanings.
fn words(definition: &Table) -> Vec<(&str, &str)> {
    let choices = list_of(definition, "oneOf").iter().filter_map(Value::as_table);
    choices
        .filter_map(|choice| Some((choice.get("const")?.as_str()?, text_of(choice, "description"))))
        .collect()
}

/// What may be written, of a property without a definition.
fn plain(property: &Table) -> String {
    let of = |property: &Table| match text_of(property, "type") {
        "integer" => "whole number".to_owned(),
        "number" => "number".to_owned(),
        "boolean" => "true, false".to_owned(),
        "object" => "table".to_owned(),
        _ => "text".to_owned(),
    };
    if let Some(items) = property.get("items").and_then(Value::as_table) {
        let noun = if items.contains_key("items") { "point".to_owned() } else { of(items) };
        return format!("list of {noun}s");
    }
    let meaning = text_of(property, "description");
    let number = |key: &str| property.get(key).map(|value| value.to_string());
    let range = match (number("minimum"), number("maximum")) {
        (Some(min), Some(max)) if !says(meaning, &max) => format!(", {min} to {max}"),
        (Some(min), None) if min != "0" && !meaning.contains(" or more") => {
            match meaning.to_lowercase().contains(&format!("at least {min}")) {
                true => String::new(),
                false => format!(", at least {min}"),
            }
        }
        _ => String::new(),
    };
    of(property) + &range
}

/// True when the meaning names a bound.
fn says(meaning: &str, bound: &str) -> bool {
    let digits = bound.strip_suffix(".0").unwrap_or(bound);
    let plain = meaning.replace(',', "").replace("1e9", "1000000000");
    plain.contains(digits)
}

fn default_of(definition: &Table, key: &str, property: &Table) -> String {
    let among =
        |list: &str| list_of(definition, list).iter().any(|name| name.as_str() == Some(key));
    match property.get("default") {
        Some(Value::Table(_)) => String::new(),
        Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(value) => format!("`{value}`"),
        None if among("required") || among("x-required") => "needed".to_owned(),
        None => "none".to_owned(),
    }
}
