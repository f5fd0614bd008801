//! From text to a checked scenario.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::group::SECTIONS;
use super::problem::{self, Problem, Step, holder, value_at};
use super::{Scenario, set};
use crate::error::{Error, Result};
use crate::presets::{self, Kind};

/// A scenario document: its text, where it is from, and the table it holds.
///
/// What a copy has in common with its original is shared: sweeps make one per cell.
#[derive(Clone, Debug)]
pub struct Document {
    name: Arc<str>,
    text: Arc<str>,
    folder: Arc<Path>,
    /// As written, with `--set` applied, before presets.
    written: Arc<Table>,
    /// With presets.
    resolved: Arc<Table>,
    changes: Vec<Change>,
}

/// A change of a document after it was read.
#[derive(Clone, Debug)]
struct Change {
    /// What errors call it.
    by: String,
    /// As it was.
    before: Arc<Table>,
}

/// Largest file that is read.
const MAX_BYTES: u64 = 10_000_000;

impl Document {
    /// Reads a file; `-` is standard input.
    pub fn read(path: &Path) -> Result<Document> {
        let bad = |e: std::io::Error| Error::Input(format!("{}: {e}", path.display()));
        if path == Path::new("-") {
            let text = read_text(std::io::stdin().lock(), "standard input")?;
            return Document::parse("standard input", text, PathBuf::from("."));
        }
        let file = std::fs::File::open(path).map_err(bad)?;
        if file.metadata().map_err(bad)?.is_dir() {
            return Err(Error::Input(format!(
                "{}: this is a folder; name a scenario file",
                path.display()
            )));
        }
        let name = path.display().to_string();
        let text = read_text(file, &name)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Document::parse(&name, text, folder)
    }

    /// Parses `text`; `name` is what errors call it, `folder` where its paths start.
    pub fn parse(name: &str, text: String, folder: PathBuf) -> Result<Document> {
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let written: Table = text.parse().map_err(|e| problem::syntax(name, &text, &e))?;
        let mut document = Document {
            name: name.into(),
            text: text.into(),
            folder: folder.into(),
            resolved: Arc::default(),
            written: Arc::new(written),
            changes: Vec::new(),
        };
        document.resolve()?;
        Ok(document)
    }

    /// The document with `path=value` set in it.
    pub fn with(&self, settings: &[String]) -> Result<Document> {
        let mut document = self.clone();
        for setting in settings {
            document.change(format!("--set {setting}"));
            set::apply(Arc::make_mut(&mut document.written), setting).map_err(Error::Input)?;
        }
        document.resolve()?;
        Ok(document)
    }

    /// The document with the value at `path` (as in `--set`) replaced; errors blame `by` for it.
    pub fn with_value(&self, by: &str, path: &str, value: Value) -> Result<Document> {
        let mut document = self.clone();
        document.change(by.to_owned());
        set::put(Arc::make_mut(&mut document.written), path, value)
            .map_err(|text| Error::Input(format!("{by}: {path}: {text}")))?;
        document.resolve()?;
        Ok(document)
    }

    /// The document without a section.
    pub fn without(&self, section: &str) -> Result<Document> {
        let mut document = self.clone();
        document.change(format!("without {section}"));
        Arc::make_mut(&mut document.written).remove(section);
        document.resolve()?;
        Ok(document)
    }

    fn change(&mut self, by: String) {
        self.changes.push(Change { by, before: self.written.clone() });
    }

    /// Where paths in the document start.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The table as written, before presets and defaults.
    pub(super) fn written(&self) -> &Table {
        &self.written
    }

    /// The table as written, as text.
    pub fn written_text(&self) -> String {
        self.written.to_string()
    }

    /// The table with presets, before defaults.
    pub(super) fn resolved(&self) -> &Table {
        &self.resolved
    }

    fn resolve(&mut self) -> Result<()> {
        let resolved = expanded(&self.written).map_err(|problem| self.error(&problem))?;
        self.resolved = Arc::new(resolved);
        Ok(())
    }

    /// The scenario, typed and checked.
    pub fn scenario(&self) -> Result<Scenario> {
        checked(&self.resolved).map_err(|problem| self.error(&problem))
    }

    /// An error with its line, or with the change that brought it in.
    fn error(&self, problem: &Problem) -> Error {
        match self.blamed(problem) {
            Some(change) => problem::of_change(change, problem),
            None => problem::locate(&self.name, &self.text, &problem.0, &problem.1),
        }
    }

    /// The change that brought a problem in: without it what the problem is about is different,
    /// and the problem is not there.
    fn blamed(&self, problem: &Problem) -> Option<&str> {
        let mut after = &*self.written;
        for change in self.changes.iter().rev() {
            let before = &*change.before;
            let touched = holder(before, &problem.0) != holder(after, &problem.0)
                || value_at(before, &problem.0) != value_at(after, &problem.0);
            let found = expanded(before).and_then(|table| checked(&table)).err();
            if touched && found.as_ref() != Some(problem) {
                return Some(&change.by);
            }
            after = before;
        }
        None
    }
}

/// The table with its presets filled in.
fn expanded(written: &Table) -> std::result::Result<Table, Problem> {
    let mut table = written.clone();
    expand_presets(&mut table)?;
    Ok(table)
}

/// The scenario that a table with presets holds.
fn checked(table: &Table) -> std::result::Result<Scenario, Problem> {
    if table.is_empty() {
        let text = "nothing is written here; `retrylab init` prints a scenario to start from";
        return Err((Vec::new(), text.to_owned()));
    }
    let is_list = |key: &str| LISTS.iter().any(|(list, _)| *list == key);
    let list = |(key, value): &(&String, &Value)| !is_list(key) && value.is_array();
    if let Some((section, _)) = table.iter().find(list) {
        let text = format!("found a list; write it once, as [{section}]");
        return Err((vec![Step::key(section)], text));
    }
    check_form(table)?;
    let scenario: Scenario = problem::typed(table)?;
    match problem::check(&scenario) {
        Some((path, sentence)) => Err((problem::concrete(&path, table), sentence)),
        None => Ok(scenario),
    }
}

/// Sections that are lists, and what their items are.
const LISTS: [(&str, &str); 2] = [("group", "group"), ("fallback", "further provider")];

/// Whether sections that are lists are written as such, and what is a group's nowhere else.
fn check_form(table: &Table) -> std::result::Result<(), Problem> {
    for (list, item) in LISTS {
        if table.get(list).is_some_and(Value::is_table) {
            let text = format!("found a table; write [[{list}]] with a name, once for each {item}");
            return Err((vec![Step::key(list)], text));
        }
    }
    let theirs = SECTIONS.iter().find(|section| table.contains_key(**section));
    match theirs.filter(|_| table.contains_key("group")) {
        None => Ok(()),
        Some(section) => {
            let place = if *section == "client" { "its keys" } else { section };
            let text = format!(
                "the scenario has [[group]], and every group has its own; move {place} into the groups"
            );
            Err((vec![Step::key(section)], text))
        }
    }
}

fn read_text(reader: impl Read, name: &str) -> Result<String> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::Input(format!("{name}: {e}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::Input(format!(
            "{name}: the file is larger than 10 MB; a scenario is small"
        )));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::Input(format!(
            "{name}:{line}: byte {at} of the file is not UTF-8; save the file as UTF-8"
        ))
    })
}

/// Fills in the keys that presets give: what is written wins.
fn expand_presets(table: &mut Table) -> std::result::Result<(), Problem> {
    if let Some(Value::Table(client)) = table.get_mut("client") {
        expand_layers(client, &[Step::key("client")])?;
    }
    if let Some(Value::Array(groups)) = table.get_mut("group") {
        for (index, group) in groups.iter_mut().enumerate() {
            if let Value::Table(group) = group {
                expand_layers(group, &[Step::key("group"), Step::Index(index)])?;
            }
        }
    }
    if let Some(Value::Table(provider)) = table.get_mut("provider") {
        expand_provider(provider, &[Step::key("provider")])?;
    }
    if let Some(Value::Array(fallbacks)) = table.get_mut("fallback") {
        for (index, provider) in fallbacks.iter_mut().enumerate() {
            if let Value::Table(provider) = provider {
                expand_provider(provider, &[Step::key("fallback"), Step::Index(index)])?;
            }
        }
    }
    Ok(())
}

/// Fills in the presets of a provider, which is at `place`.
fn expand_provider(provider: &mut Table, place: &[Step]) -> std::result::Result<(), Problem> {
    let at = |below: &[&str]| -> Vec<Step> {
        place.iter().cloned().chain(below.iter().map(|key| Step::key(key))).collect()
    };
    for (section, key, kind) in
        [("billing", "price", Kind::Price), ("limits", "preset", Kind::Limits)]
    {
        if let Some(Value::Table(table)) = provider.get_mut(section) {
            expand(table, key, kind).map_err(|text| (at(&[section, key]), text))?;
        }
    }
    if let Some(Value::Table(service)) = provider.get_mut("service")
        && let Some(Value::Table(tables)) = service.get_mut("prefill_decode")
    {
        let path = at(&["service", "prefill_decode", "preset"]);
        expand(tables, "preset", Kind::Service).map_err(|text| (path, text))?;
    }
    Ok(())
}

/// Fills in the presets of the layers of `client`, which is at `place`.
fn expand_layers(client: &mut Table, place: &[Step]) -> std::result::Result<(), Problem> {
    let Some(Value::Array(layers)) = client.get_mut("layers") else { return Ok(()) };
    for (index, layer) in layers.iter_mut().enumerate() {
        if let Value::Table(layer) = layer {
            let below = [Step::key("layers"), Step::Index(index), Step::key("preset")];
            // A layer around others makes no connections, whatever its preset would do inside; and
            // who gives an SDK another timeout gives it to connections too.
            let connects = layer.contains_key("connect_timeout")
                || (index == 0 && !layer.contains_key("timeout"));
            expand(layer, "preset", Kind::Layer)
                .map_err(|text| ([place, &below].concat(), text))?;
            if !connects {
                layer.remove("connect_timeout");
            }
        }
    }
    Ok(())
}

fn expand(table: &mut Table, key: &str, kind: Kind) -> std::result::Result<(), String> {
    let Some(Value::String(name)) = table.get(key) else { return Ok(()) };
    let Some(preset) = presets::find(kind, name) else {
        let names = kind.names();
        return Err(format!("no preset is called \"{name}\"{}", problem::suggest(name, &names)));
    };
    for (key, given) in preset.keys {
        match table.get_mut(&key) {
            None => drop(table.insert(key, given)),
            Some(written) => set::merge(&key, written, given),
        }
    }
    Ok(())
}

/// Reads a TOML value of a known type, for experiment files.
pub fn typed<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    let table: Table = text.parse().map_err(|e| problem::syntax(name, text, &e))?;
    problem::typed(&table).map_err(|(path, sentence)| problem::locate(name, text, &path, &sentence))
}
