//! Errors in a document: what, where, what is allowed, what to try.

use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::{Group, Health, Scenario};
use crate::client::{Budget, Condition, Layer, Pace, Scope};
use crate::error::Error;
use crate::host::{Host, Network};
use crate::model::GroupPlan;
use crate::units::Span;

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
pub(super) fn steps(names: &[&str]) -> Vec<Step> {
    names.iter().map(|name| if name.is_empty() { Step::Kind } else { Step::key(name) }).collect()
}

/// What is wrong: the path and a sentence.
pub type Problem = (Vec<Step>, String);

/// Reads a table as `T`, or says in words for people what is wrong.
pub fn typed<T: DeserializeOwned>(table: &Table) -> Result<T, Problem> {
    serde_path_to_error::deserialize(Value::Table(table.clone()))
        .map_err(|error| explain::<T>(table, path_of(error.path()), error.inner().message()))
}

/// The path that serde was at.
fn path_of(path: &serde_path_to_error::Path) -> Vec<Step> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Map { key } => Some(Step::key(key)),
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Enum { variant } => Some(Step::key(variant)),
            Segment::Unknown => None,
        })
        .collect()
}

/// The path with the names of kinds filled in.
pub fn concrete(path: &[Step], table: &Table) -> Vec<Step> {
    let mut whole: Vec<Step> = Vec::new();
    for step in path {
        match (step, value_at(table, &whole)) {
            (Step::Kind, Some(Value::Table(kind))) => {
                whole.extend(kind.keys().next().map(|name| Step::key(name)));
            }
            (Step::Kind, _) => {}
            (step, _) => whole.push(step.clone()),
        }
    }
    whole
}

/// The value at a path of keys and numbers.
pub fn value_at<'a>(table: &'a Table, path: &[Step]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let Step::Key(first) = first else { return None };
    rest.iter().try_fold(table.get(first)?, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
        Step::Kind => None,
    })
}

/// The innermost table or array around what `path` names, as far as it exists.
pub fn holder<'a>(table: &'a Table, path: &[Step]) -> Option<&'a Value> {
    let lengths = (1..=path.len()).rev();
    lengths
        .filter_map(|length| value_at(table, &path[..length]))
        .find(|value| value.is_table() || value.is_array())
}

/// "; did you mean …?", when something known is written nearly like it.
pub fn alike(found: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), *name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min();
    near.map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"))
}

/// The same and the list of what there is.
pub fn suggest(found: &str, known: &[&str]) -> String {
    match alike(found, known) {
        _ if known.is_empty() => String::new(),
        near if near.is_empty() => format!("; known: {}", known.join(", ")),
        near => format!("{near} Known: {}", known.join(", ")),
    }
}

/// Turns serde's message into a sentence and completes the path.
fn explain<T: DeserializeOwned>(table: &Table, mut path: Vec<Step>, message: &str) -> Problem {
    let message = message.trim();
    if message.starts_with("unknown field `") || message.starts_with("unknown variant `") {
        let mut names = quoted(message);
        let found = names.remove(0);
        if path.last() == Some(&Step::Key(found.clone())) {
            path.pop();
        }
        // A kind is a table with its name; a plain word is a value.
        let noun = match value_at(table, &path) {
            Some(Value::String(_)) => "value",
            _ if message.starts_with("unknown field") => "key",
            _ => "kind",
        };
        if noun != "value" {
            path.push(Step::Key(found.clone()));
        }
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        return (path, format!("unknown {noun} `{found}`{}", suggest(&found, &known)));
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        let inner = [&path[..], &[Step::key(name.trim_matches('`'))]].concat();
        let allowed = allowed_at::<T>(table, &inner).map_or(String::new(), |a| format!("; {a}"));
        return (path, format!("the key {name} is missing{allowed}"));
    }
    if message.starts_with("wanted exactly 1 element") || message.contains("map with a single key")
    {
        let found = match value_at(table, &path) {
            Some(Value::Table(kinds)) if !kinds.is_empty() => {
                format!(
                    "{} kinds ({})",
                    kinds.len(),
                    kinds.keys().cloned().collect::<Vec<_>>().join(", ")
                )
            }
            _ => "no kind".to_owned(),
        };
        let allowed = allowed_at::<T>(table, &path).map_or(String::new(), |a| format!("; {a}"));
        return (path, format!("found {found}, and exactly one is needed{allowed}"));
    }
    if message.contains("unit variant, expected") || message.starts_with("wanted string or table") {
        // The name of the kind stands as a text; or else it is no kind at all.
        if let Some((Step::Key(kind), place)) = path.split_last()
            && value_at(table, place).and_then(Value::as_str) == Some(kind)
        {
            let sentence =
                format!("`{kind}` needs a table of its keys; write {{ {kind} = {{ … }} }}");
            return (place.to_vec(), sentence);
        }
        let found = value_at(table, &path).map_or(String::new(), |v| format!("found {v}; "));
        let allowed = allowed_at::<T>(table, &path).unwrap_or_default();
        return (path, format!("{found}{allowed}"));
    }
    (path, in_words(message))
}

/// The names in back quotes.
fn quoted(message: &str) -> Vec<String> {
    message.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What may stand at `path`: found by putting something there that cannot.
fn allowed_at<T: DeserializeOwned>(table: &Table, path: &[Step]) -> Option<String> {
    let wrong_word = Value::String("?".to_owned());
    let wrong_kind = Value::Table(Table::from_iter([("?".to_owned(), wrong_word.clone())]));
    let refusals: Vec<String> = [wrong_kind, wrong_word, Value::Boolean(true)]
        .into_iter()
        .filter_map(|wrong| {
            let mut table = table.clone();
            put(&mut table, path, wrong)?;
            let result: Result<T, toml::de::Error> = Value::Table(table).try_into();
            result.err().map(|error| error.message().trim().to_owned())
        })
        .collect();
    if let Some(variants) = refusals.iter().find(|m| m.starts_with("unknown variant `?`")) {
        return Some(format!("write one of {}", quoted(variants)[1..].join(", ")));
    }
    let expected = refusals.last()?.split_once(", expected ")?.1;
    Some(format!("write {}", type_in_words(expected)))
}

fn put(table: &mut Table, path: &[Step], value: Value) -> Option<()> {
    let (last, rest) = path.split_last()?;
    let Step::Key(last) = last else { return None };
    let holder = match rest.split_first() {
        None => table,
        Some((Step::Key(first), rest)) => {
            let start = table.get_mut(first)?;
            let place = rest.iter().try_fold(start, |value, step| match step {
                Step::Key(key) => value.get_mut(key),
                Step::Index(index) => value.get_mut(index),
                Step::Kind => None,
            })?;
            place.as_table_mut()?
        }
        Some(_) => return None,
    };
    holder.insert(last.clone(), value);
    Some(())
}

/// "invalid type: string "x", expected u32" for people.
fn in_words(message: &str) -> String {
    let wrong = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    let Some((found, expected)) = wrong.and_then(|text| text.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let found = match found {
        "map" => "a table".to_owned(),
        "sequence" => "an array".to_owned(),
        other => other
            .replace("string ", "the text ")
            .replace("boolean ", "")
            .replace("floating point ", "the number ")
            .replace("integer ", "the number ")
            .replace('`', ""),
    };
    format!("found {found}; write {}", type_in_words(expected))
}

/// Names of Rust's types for people.
fn type_in_words(expected: &str) -> &str {
    match expected {
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number of 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "path string" => "a text in quotes",
        "a sequence" => "an array, [ … ]",
        "a map" => "a table, { … }",
        other if other.starts_with("struct ") => "a table, { … }",
        other => other,
    }
}

/// A syntax error of the parser.
pub fn syntax(name: &str, text: &str, error: &toml::de::Error) -> Error {
    let span = error.span().unwrap_or(0..0);
    let found: String = text.get(span.clone()).unwrap_or("").chars().take(40).collect();
    let message = error.message();
    let sentence = match message {
        // A [list] beside [[list]] ends up here too.
        "duplicate key" => format!(
            "the key `{found}` is there twice; keep one, or write every item of a list as [[…]]"
        ),
        _ if message.contains("as i128") || message.contains("overflow") => {
            format!("the number {found} is too large for any key")
        }
        _ if message.contains("recurs") => "nested too deeply; at most 80 levels".to_owned(),
        _ if message.starts_with("string values must be quoted")
            || message.starts_with("invalid boolean") =>
        {
            let nothing = text[span.start.min(text.len())..].lines().next().unwrap_or("");
            match nothing.trim().is_empty() {
                true => "the value is missing".to_owned(),
                false => "not a value; text needs quotes, such as \"500ms\"".to_owned(),
            }
        }
        other => format!("not TOML: {other}"),
    };
    Error::Input(with_snippet(name, text, Some(span), "", &sentence))
}

/// An error at a path: at its line when the document has it.
pub fn locate(name: &str, text: &str, path: &[Step], sentence: &str) -> Error {
    let span = DeTable::parse(text).ok().and_then(|table| span_of(table.get_ref(), path));
    Error::Input(with_snippet(name, text, span, &shown(path), sentence))
}

/// An error that came in with a change of the document, such as a `--set`.
pub fn of_change(change: &str, (path, sentence): &Problem) -> Error {
    let key = shown(path);
    // `--set workload.clients=0` says the key already.
    if change.strip_prefix("--set ").is_some_and(|s| s.starts_with(&format!("{key}="))) {
        return Error::Input(format!("{change}: {sentence}"));
    }
    Error::Input(format!("{change}: {key}: {sentence}"))
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
    // A long line is shown around the place; what would upset a terminal is not shown.
    let skipped = if column > 120 { column - 40 } else { 0 };
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let shown_line: String = line.chars().skip(skipped).take(160).map(plain).collect();
    let column_shown = column - skipped;
    let width = text[start..span.end.min(text.len())].lines().next().unwrap_or("").chars().count();
    let carets = "^".repeat(width.clamp(1, 160usize.saturating_sub(column_shown).max(1)));
    let gutter = " ".repeat(number.to_string().len());
    let indent = " ".repeat(column_shown - 1);
    format!(
        "{name}:{number}:{column}: {key}{colon}{sentence}\n{gutter} |\n{number} | {shown_line}\n{gutter} | {indent}{carets}"
    )
}

/// What is wrong with a scenario that is well typed: the path and a sentence.
pub fn check(scenario: &Scenario) -> Option<Problem> {
    let at = |names: &[&str], text: String| Some((steps(names), text));
    if scenario.format != 1 {
        return at(
            &["format"],
            format!("format {} is unknown; this version reads format 1", scenario.format),
        );
    }
    check_groups(&scenario.groups)
        .or_else(|| super::providers::problem(scenario))
        .or_else(|| check_shared(&scenario.groups))
        .or_else(|| check_measure(scenario))
        .or_else(|| scenario.trigger.as_ref()?.problem(scenario.measure.horizon))
        .or_else(|| check_expectations(scenario))
}

/// Whether expectations are conditions; which metrics there are is known later.
fn check_expectations(scenario: &Scenario) -> Option<Problem> {
    scenario.expect.iter().find_map(|(metric, rest)| {
        let text = Condition::parse(&format!("{metric} {rest}")).err()?;
        Some((vec![Step::key("expect"), Step::key(metric)], text))
    })
}

/// The last class in a provider's queue.
const MAX_PRIORITY: u8 = 9;

fn check_groups(groups: &[Group]) -> Option<Problem> {
    let all = |text: String| Some((steps(&["group"]), text));
    if groups.is_empty() {
        return all("the list is empty; write [[group]] once for each group".to_owned());
    }
    if groups.len() > GroupPlan::MOST {
        return all(format!("{} groups are too many; at most {}", groups.len(), GroupPlan::MOST));
    }
    for (index, group) in groups.iter().enumerate() {
        if let Some(name) = &group.name {
            let at = group.path(index, "name");
            if let Some(text) = name_problem(name) {
                return Some((at, text));
            }
            if groups[..index].iter().any(|other| other.name == group.name) {
                let text = format!("two groups are called \"{name}\"; give each its own name");
                return Some((at, text));
            }
        }
        if group.priority > MAX_PRIORITY {
            let text = format!(
                "{} is not a class; write 0 (first) to {MAX_PRIORITY} (last)",
                group.priority
            );
            return Some((group.path(index, "priority"), text));
        }
        if group.request.stream && group.request.idempotency_key == Some(true) {
            let text =
                "a repeat cannot attach to a streamed answer; leave stream or idempotency_key out";
            let at = [group.path(index, "request"), vec![Step::key("idempotency_key")]].concat();
            return Some((at, text.to_owned()));
        }
        if let Some((below, text)) = group.workload.problem() {
            return Some(([group.path(index, "workload"), steps(&below)].concat(), text));
        }
        let client = group.path(index, "client");
        if let Some(problem) = check_hedges(group, index, &client) {
            return Some(problem);
        }
        if let Some((key, text)) = group.client.network.as_ref().and_then(Network::problem) {
            return Some(([&client[..], &steps(&["network", key])].concat(), text));
        }
        if let Some((below, text)) = group.client.host.as_ref().and_then(Host::problem) {
            let below = [&["host"], &below[..]].concat();
            return Some(([&client[..], &steps(&below)].concat(), text));
        }
        if let Some(problem) = check_layers(&group.client.layers, &client) {
            return Some(problem);
        }
    }
    None
}

/// Hedges share the permit and the attempt of their layer, but a stream or a connection is one attempt's own.
fn check_hedges(group: &Group, index: usize, client: &[Step]) -> Option<Problem> {
    if group.client.layers.iter().all(|layer| layer.hedge.is_none()) {
        return None;
    }
    if group.request.stream {
        let text = "streamed answers are not hedged; leave out the hedge, or the stream";
        return Some((group.path(index, "request"), text.to_owned()));
    }
    if group.client.host.is_some_and(|host| !host.is_idle()) {
        let text =
            "attempts on a host with limits are not hedged; leave out the hedge, or the host";
        return Some(([client, &steps(&["host"])].concat(), text.to_owned()));
    }
    None
}

/// Layers of one name share what has the scope of the fleet, so they must say the same about it.
fn check_shared(groups: &[Group]) -> Option<Problem> {
    for (g, group) in groups.iter().enumerate() {
        for (l, layer) in group.client.layers.iter().enumerate() {
            let others = groups[..g].iter().flat_map(|other| &other.client.layers);
            let mut same = others.filter(|other| other.name == layer.name);
            if let Some(key) = same.find_map(|other| unlike_in_fleet(layer, other)) {
                let below = [Step::key("layers"), Step::Index(l), Step::key(key)];
                let text = format!(
                    "the fleet shares one {key} of all layers called \"{}\", and an earlier group states it otherwise; state the same, or write another scope",
                    layer.name
                );
                return Some(([group.path(g, "client"), below.to_vec()].concat(), text));
            }
        }
    }
    None
}

/// The part that two layers share with the whole fleet and do not state alike.
fn unlike_in_fleet(one: &Layer, other: &Layer) -> Option<&'static str> {
    fn unlike<T: PartialEq>(
        one: &Option<T>,
        other: &Option<T>,
        scope: impl Fn(&T) -> Scope,
    ) -> bool {
        let fleet = |part: &&T| scope(part) == Scope::Fleet;
        let (one, other) = (one.as_ref().filter(&fleet), other.as_ref().filter(&fleet));
        one.zip(other).is_some_and(|(one, other)| one != other)
    }
    let throttles = (&one.adaptive_throttle, &other.adaptive_throttle);
    let hedges = [one, other].map(|layer| layer.hedge.and_then(|hedge| hedge.budget));
    let parts = [
        ("budget", unlike(&one.budget, &other.budget, Budget::scope)),
        ("breaker", unlike(&one.breaker, &other.breaker, |b| b.scope)),
        ("adaptive_throttle", unlike(throttles.0, throttles.1, |t| t.scope)),
        ("hedge", unlike(&hedges[0], &hedges[1], |budget| budget.scope)),
        ("pace", unlike(&one.pace, &other.pace, Pace::scope)),
        ("semaphore", unlike(&one.semaphore, &other.semaphore, |s| s.scope)),
    ];
    parts.into_iter().find(|(_, unlike)| *unlike).map(|(key, _)| key)
}

/// What is wrong with a name that stands in paths and in names of metrics.
pub(super) fn name_problem(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (name.is_empty() || !name.chars().all(plain))
        .then(|| format!("the name \"{name}\" does not fit; use letters, digits, - and _"))
}

/// What is wrong with the layers of the client that is written at `client`.
fn check_layers(layers: &[Layer], client: &[Step]) -> Option<Problem> {
    let list = [client, &[Step::key("layers")]].concat();
    let place = |index: usize, below: &[&str]| {
        [&list[..], &[Step::Index(index)], &steps(below)[..]].concat()
    };
    if layers.len() > MAX_LAYERS {
        let text = format!("{} layers are too many; at most {MAX_LAYERS}", layers.len());
        return Some((list, text));
    }
    for (index, layer) in layers.iter().enumerate() {
        if let Some(text) = name_problem(&layer.name) {
            return Some((place(index, &["name"]), text));
        }
        if layers[..index].iter().any(|other| other.name == layer.name) {
            let text = format!("two layers are called \"{}\"; give each its own name", layer.name);
            return Some((place(index, &["name"]), text));
        }
        if layer.hedge.is_some() && index > 0 {
            let text = format!(
                "only the innermost layer can hedge, which is \"{}\"; write it there",
                layers[0].name
            );
            return Some((place(index, &["hedge"]), text));
        }
        if layer.connect_timeout.is_some() && index > 0 {
            let text = format!(
                "only the innermost layer connects, which is \"{}\"; write its connect_timeout there",
                layers[0].name
            );
            return Some((place(index, &["connect_timeout"]), text));
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

impl Health {
    fn problem(self, horizon: Span) -> Option<Problem> {
        let at = |key: &str, text: String| Some((steps(&["measure", "health", key]), text));
        if self.window == Span::ZERO {
            return at("window", "a window of 0s holds nothing; write more".to_owned());
        }
        let windows = horizon.nanos() / self.window.nanos();
        if windows > MAX_WINDOWS {
            let text = format!(
                "a horizon of {horizon} has more than {MAX_WINDOWS} windows of {}; write wider ones",
                self.window
            );
            return at("window", text);
        }
        (self.last == 0 || u64::from(self.last) > windows).then(|| {
            let text = format!(
                "last = {} is out of range; write 1 to {windows}, the windows of {} in the horizon of {horizon}",
                self.last, self.window
            );
            (steps(&["measure", "health", "last"]), text)
        })
    }
}

fn check_measure(scenario: &Scenario) -> Option<Problem> {
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
    if let Some(curve) = measure.curve
        && (curve < measure.window || curve.nanos() % measure.window.nanos() != 0)
    {
        let text = format!(
            "curves of {curve} are not made of windows of {}; write a whole multiple of measure.window",
            measure.window
        );
        return at("curve", text);
    }
    if let Some(problem) = measure.health.and_then(|health| health.problem(measure.horizon)) {
        return Some(problem);
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
