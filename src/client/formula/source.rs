//! A formula as it is written: a text, or a table of a text and its parts.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::parse::{Node, parse};
use super::program::{Cell, Program};
use super::{Compiled, Formula, STEPS, bounds, names, nanos};

/// As it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Source {
    wait: String,
    parts: BTreeMap<String, Part>,
}

/// A part as it is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Part {
    Number(f64),
    Text(String),
}

impl Source {
    /// A formula without parts.
    pub(super) fn new(wait: &str) -> Source {
        Source { wait: wait.to_owned(), parts: BTreeMap::new() }
    }

    /// The formula itself.
    pub(super) fn wait(&self) -> &str {
        &self.wait
    }

    /// The text of a part.
    pub(super) fn text(&self, part: &str) -> Option<&str> {
        match self.parts.get(part)? {
            Part::Text(text) => Some(text),
            Part::Number(_) => None,
        }
    }

    /// Reads and compiles; an error shows the place in the text.
    pub(super) fn compile(self) -> Result<Formula, String> {
        let wait = parse(&self.wait).map_err(|fault| fault.shown(&self.wait))?;
        let parts = self.part_trees()?;
        names::check(&wait, &self.wait, &parts, |name| self.text(name).unwrap_or_default())?;
        let mut cells = Vec::new();
        collect_cells(&wait, &mut cells);
        parts.values().for_each(|node| collect_cells(node, &mut cells));
        let steps = (0..STEPS).map(Some).chain([None]);
        let programs = steps
            .map(|step| Program::new(&wait, &parts, &cells, step))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|fault| fault.shown(&self.wait))?;
        let bounds = bounds::of(&programs, &cells);
        let constants = programs.iter().map(|program| program.constant().map(nanos)).collect();
        let compiled = Compiled { cells, programs, constants, bounds };
        Ok(Formula { source: self, compiled: compiled.into() })
    }

    fn part_trees(&self) -> Result<BTreeMap<String, Node>, String> {
        let mut parts = BTreeMap::new();
        for (name, part) in &self.parts {
            names::check_part(name)?;
            let node = match part {
                Part::Number(number) => Node::Number(*number),
                Part::Text(text) => {
                    parse(text).map_err(|fault| format!("{name}: {}", fault.shown(text)))?
                }
            };
            parts.insert(name.clone(), node);
        }
        Ok(parts)
    }
}

/// What a tree remembers, in the order of its text.
fn collect_cells(node: &Node, cells: &mut Vec<Cell>) {
    let cell = match node {
        Node::Name(name, _) if name == "prev" => Cell::Wait,
        Node::Last(name, _) => Cell::Part(name.clone()),
        Node::Call(_, nodes) => return nodes.iter().for_each(|node| collect_cells(node, cells)),
        Node::Name(..) | Node::Number(_) => return,
    };
    if !cells.contains(&cell) {
        cells.push(cell);
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.parts.is_empty() {
            return serializer.serialize_str(&self.wait);
        }
        let mut map = serializer.serialize_map(Some(1 + self.parts.len()))?;
        map.serialize_entry("wait", &self.wait)?;
        self.parts.iter().try_for_each(|(name, part)| map.serialize_entry(name, part))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Source, D::Error> {
        deserializer.deserialize_any(TextOrParts)
    }
}

/// Accepts a formula, or a table of a formula and its parts.
struct TextOrParts;

impl<'de> Visitor<'de> for TextOrParts {
    type Value = Source;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a formula in quotes such as \"min(30s, 1s * 2^n)\", or { wait = \"…\" } with its parts",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Source, E> {
        Ok(Source::new(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Source, A::Error> {
        let mut wait = None;
        let mut parts = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == "wait" {
                wait = Some(map.next_value()?);
            } else {
                parts.insert(key, map.next_value()?);
            }
        }
        let wait = wait.ok_or_else(|| de::Error::missing_field("wait"))?;
        Ok(Source { wait, parts })
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Part, D::Error> {
        deserializer.deserialize_any(NumberOrText)
    }
}

/// Accepts a number, a duration or a formula.
struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a duration or a formula in quotes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Part, E> {
        Ok(Part::Text(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Part, E> {
        Ok(Part::Number(number as f64))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Part, E> {
        if !number.is_finite() {
            return Err(E::invalid_type(de::Unexpected::Float(number), &self));
        }
        Ok(Part::Number(number))
    }
}
