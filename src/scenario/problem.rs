//! Errors in a document: what, where, what is allowed, what to try.

use serde_path_to_error::Segment;
use toml::de::{DeTable, DeValue};

use super::Scenario;
use crate::client::Layer;
use crate::error::Error;

/// One step of the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a table.
    Key(String),
    /// An item of an array.
    Index(usize),
    /// The one key of a table that names a kind.
    Kind,
}

impl Step {
    /// A key.
    pub fn key(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}

/// Steps from names; "" stands for the name of a kind.
fn steps(names: &[&str]) -> Vec<Step> {
    names.iter().map(|name| if name.is_empty() { Step::Kind } else { Step::key(name) }).collect()
}

/// The path that serde was at.
pub fn path_of(path: &serde_path_to_error::Path) -> Vec<Step> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Map { key } => Some(Step::key(key)),
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Enum { variant } => Some(Step::key(variant)),
            Segment::Unknown => None,
        })
        .collect()
}

/// " (did you mean …?)" or the list of what there is.
pub fn suggest(found: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), *name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min();
    match near {
        Some((_, name)) => format!("; did you mean `{name}`? Known: {}", known.join(", ")),
        None if known.is_empty() => String::new(),
        None => format!("; known: {}", known.join(", ")),
    }
}

/// Turns serde's message into a sentence and completes the path.
pub fn explain(mut path: Vec<Step>, message: &str) -> (Vec<Step>, String) {
    let quoted = |text: &str| -> Vec<String> {
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let message = message.trim();
    for (start, noun) in [("unknown field `", "key"), ("unknown variant `", "kind")] {
        if message.starts_with(start) {
            let mut names = quoted(message);
            let found = names.remove(0);
            if path.last() != Some(&Step::Key(found.clone())) {
                path.push(Step::Key(found.clone()));
            }
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            return (path, format!("unknown {noun} `{found}`{}", suggest(&found, &known)));
        }
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return (path, format!("the key {name} is missing"));
    }
    if message.starts_with("wanted exactly 1 element") || message.contains("map with a single key")
    {
        return (path, "exactly one kind is expected here".to_owned());
    }
    let sentence = message
        .replace("invalid type: ", "wrong type: ")
        .replace("invalid value: ", "wrong value: ")
        .replace("floating point", "number");
    (path, sentence)
}

/// A syntax error of the parser.
pub fn syntax(name: &str, text: &str, error: &toml::de::Error) -> Error {
    let span = error.span().unwrap_or(0..0);
    Error::Input(with_snippet(name, text, Some(span), "", error.message()))
}

/// An error at a path: its line when the document has it, and else the setting it is from.
pub fn locate(name: &str, text: &str, path: &[Step], sentence: &str, settings: &[String]) -> Error {
    let key = shown(path);
    let from_setting = settings.iter().rev().find(|setting| {
        let set = setting.split('=').next().unwrap_or_default().trim();
        let last = set.rsplit('.').next().unwrap_or_default();
        path.contains(&Step::key(last)) || sentence.contains(&format!("`{last}`"))
    });
    if let Some(setting) = from_setting {
        return Error::Input(format!("--set {setting}: {key}: {sentence}"));
    }
    let span = DeTable::parse(text).ok().and_then(|table| span_of(table.get_ref(), path));
    Error::Input(with_snippet(name, text, span, &key, sentence))
}

/// A path as `--set` writes it.
fn shown(path: &[Step]) -> String {
    let parts: Vec<String> = path
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(key.clone()),
            Step::Index(index) => Some(index.to_string()),
            Step::Kind => None,
        })
        .collect();
    parts.join(".")
}

/// The place of the deepest part of `path` that the document has.
fn span_of(table: &DeTable, path: &[Step]) -> Option<std::ops::Range<usize>> {
    let (step, rest) = path.split_first()?;
    let (key, value) = match step {
        Step::Key(name) => table.iter().find(|(key, _)| key.get_ref().as_ref() == name.as_str())?,
        Step::Kind => table.iter().next()?,
        Step::Index(_) => return None,
    };
    if rest.is_empty() {
        return Some(key.span());
    }
    inside(value.get_ref(), rest).or(Some(key.span()))
}

fn inside(value: &DeValue, path: &[Step]) -> Option<std::ops::Range<usize>> {
    match (value, path.split_first()?) {
        (DeValue::Table(table), _) => span_of(table, path),
        (DeValue::Array(items), (Step::Index(index), rest)) => {
            let item = items.get(*index)?;
            inside(item.get_ref(), rest).or(Some(item.span()))
        }
        _ => None,
    }
}

fn with_snippet(
    name: &str,
    text: &str,
    span: Option<std::ops::Range<usize>>,
    key: &str,
    sentence: &str,
) -> String {
    let colon = if key.is_empty() { "" } else { ": " };
    let Some(span) = span else { return format!("{name}: {key}{colon}{sentence}") };
    let start = span.start.min(text.len());
    let before = &text[..start];
    let number = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or("");
    let shown_line: String = line.chars().take(160).collect();
    let width = text[start..span.end.min(text.len())].lines().next().unwrap_or("").chars().count();
    let carets = "^".repeat(width.clamp(1, 160usize.saturating_sub(column).max(1)));
    let gutter = " ".repeat(number.to_string().len());
    let indent = " ".repeat(column - 1);
    format!(
        "{name}:{number}:{column}: {key}{colon}{sentence}\n{gutter} |\n{number} | {shown_line}\n{gutter} | {indent}{carets}"
    )
}

/// What is wrong with a scenario that is well typed: the path and a sentence.
pub fn check(scenario: &Scenario) -> Option<(Vec<Step>, String)> {
    let at = |names: &[&str], text: String| Some((steps(names), text));
    if scenario.format != 1 {
        return at(
            &["format"],
            format!("format {} is unknown; this version reads format 1", scenario.format),
        );
    }
    if let Some((below, text)) = scenario.workload.problem() {
        return at(&[&["workload"], &below[..]].concat(), text);
    }
    check_provider(scenario)
        .or_else(|| check_layers(&scenario.client.layers))
        .or_else(|| check_measure(scenario))
}

fn check_provider(scenario: &Scenario) -> Option<(Vec<Step>, String)> {
    let provider = &scenario.provider;
    if !(400..=599).contains(&provider.overload_status) {
        let text =
            format!("the status {} is not an error; write 400 to 599", provider.overload_status);
        return Some((steps(&["provider", "overload_status"]), text));
    }
    for (index, fault) in provider.faults.iter().enumerate() {
        if let Some((key, text)) = fault.problem() {
            let mut path = steps(&["provider", "faults"]);
            path.extend([Step::Index(index), Step::Kind, Step::key(key)]);
            return Some((path, text));
        }
    }
    let (key, text) = provider.billing.problem()?;
    Some((steps(&["provider", "billing", key]), text))
}

fn check_layers(layers: &[Layer]) -> Option<(Vec<Step>, String)> {
    let place = |index: usize, below: &[&str]| {
        let mut path = steps(&["client", "layers"]);
        path.push(Step::Index(index));
        path.extend(steps(below));
        path
    };
    if layers.len() > MAX_LAYERS {
        let text = format!("{} layers are too many; at most {MAX_LAYERS}", layers.len());
        return Some((steps(&["client", "layers"]), text));
    }
    for (index, layer) in layers.iter().enumerate() {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if layer.name.is_empty() || !layer.name.chars().all(plain) {
            let text =
                format!("the name \"{}\" does not fit; use letters, digits, - and _", layer.name);
            return Some((place(index, &["name"]), text));
        }
        if layers[..index].iter().any(|other| other.name == layer.name) {
            let text = format!("two layers are called \"{}\"; give each its own name", layer.name);
            return Some((place(index, &["name"]), text));
        }
        if let Some((below, text)) = layer.problem() {
            return Some((place(index, &below), text));
        }
    }
    None
}

/// Deepest nesting of layers.
const MAX_LAYERS: usize = 16;

/// Most windows in a horizon.
const MAX_WINDOWS: u64 = 10_000_000;

fn check_measure(scenario: &Scenario) -> Option<(Vec<Step>, String)> {
    let measure = &scenario.measure;
    let at = |key: &str, text: String| Some((steps(&["measure", key]), text));
    if measure.window.nanos() == 0 {
        return at(
            "window",
            "a window of 0s holds nothing; write a window such as \"100ms\"".to_owned(),
        );
    }
    if measure.horizon.nanos() == 0 {
        return at(
            "horizon",
            "a horizon of 0s ends before it starts; write a horizon such as \"10min\"".to_owned(),
        );
    }
    if measure.horizon.nanos() / measure.window.nanos() > MAX_WINDOWS {
        let text = format!(
            "a horizon of {} has more than {MAX_WINDOWS} windows of {}; shorten the horizon or widen measure.window",
            measure.horizon, measure.window
        );
        return at("horizon", text);
    }
    if !(1..=MAX_REPLICATIONS).contains(&measure.replications) {
        return at(
            "replications",
            format!(
                "{} replications are out of range; write 1 to {MAX_REPLICATIONS}",
                measure.replications
            ),
        );
    }
    if measure.per_retry > 64 {
        return at(
            "per_retry",
            format!("per_retry = {} is out of range; write 0 to 64", measure.per_retry),
        );
    }
    if measure.events_per_instant == Some(0) {
        return at(
            "events_per_instant",
            "0 events per instant stop every run; write 1 or more".to_owned(),
        );
    }
    None
}

/// Most replications of one cell.
pub const MAX_REPLICATIONS: u32 = 1_000_000;
