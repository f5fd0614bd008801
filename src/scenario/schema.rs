//! The JSON Schema of scenario files, from the types that read them.
//!
//! Draft 7, because that is what editors' TOML plugins (Taplo) complete from. Its descriptions are
//! the doc comments of the fields, its defaults those of serde.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::group::File;
use crate::client::{AtOnce, Choice, Formula};
use crate::dist::Count;
use crate::header::HeaderValue;
use crate::metrics::{Part, Watch, catalog};
use crate::presets::Kind;
use crate::units::{Rate, Span};

/// Definitions that a preset can give keys of, so that none of their own is needed.
const FROM_PRESETS: [&str; 3] = ["Layer", "Limits", "PrefillDecode"];

/// Keys that name a preset, with the definition that holds them.
const PRESETS: [(&str, &str, Kind); 4] = [
    ("Layer", "preset", Kind::Layer),
    ("Billing", "price", Kind::Price),
    ("Limits", "preset", Kind::Limits),
    ("PrefillDecode", "preset", Kind::Service),
];

/// The schema as a document.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<File>().to_value();
    tidy(&mut schema);
    for root in FROM_PRESETS {
        ease(&mut schema, root);
    }
    for definition in definitions(&mut schema) {
        definition.remove(EASED);
    }
    // The name of a layer is not for a preset to give.
    schema["definitions"]["Layer"]["required"] = json!(["name"]);
    for (definition, key, kind) in PRESETS {
        let names = kind.names();
        let property = &mut schema["definitions"][definition]["properties"][key];
        // A version that a preset covers is a name too.
        property["anyOf"] = json!([{ "enum": names }, { "type": "string" }]);
        property.as_object_mut().map(|property| property.remove("type"));
    }
    schema["properties"]["expect"]["properties"] = metrics();
    schema["anyOf"] = json!([{ "required": ["workload"] }, { "required": ["group"] }]);
    schema["not"] = json!({ "required": ["workload", "group"] });
    schema
}

/// The metrics that every scenario may have.
fn metrics() -> Value {
    let watch = Watch { window: 1, per_retry: 0, flow: None, groups: 0, providers: 0 };
    let metrics = catalog(&[], &[], &[], watch, Part::ALL);
    let property = |meaning: &str, unit: &str| json!({ "type": "string", "description": format!("{meaning} ({unit})") });
    let properties: Map<String, Value> = metrics
        .iter()
        .map(|metric| (metric.name.clone(), property(metric.meaning, metric.unit)))
        .collect();
    Value::Object(properties)
}

/// What serde's types say and TOML or readers have no use for: null, the widths of numbers, line ends
/// within a sentence.
fn tidy(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(map) => {
            if map.get("format").is_some_and(Value::is_string) {
                map.remove("format");
            }
            if let Some(Value::String(text)) = map.get_mut("description") {
                let paragraphs: Vec<String> =
                    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
                *text = paragraphs.join("\n\n");
            }
            without_null(map);
            map.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| *choice != json!({ "type": "null" }));
        if choices.len() == 1
            && let Some(only) = map.remove("anyOf")
        {
            map.insert("allOf".to_owned(), only);
        }
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
}

/// Marks definitions that have been eased.
const EASED: &str = "eased";

fn definitions(schema: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let definitions = schema["definitions"].as_object_mut().into_iter();
    definitions.flat_map(|map| map.values_mut()).filter_map(Value::as_object_mut)
}

/// Asks for no key of a definition and of those below it: a preset may give it. What is needed without
/// one is kept as `x-required`.
fn ease(schema: &mut Value, name: &str) {
    let Some(definition) = schema["definitions"].get_mut(name).and_then(Value::as_object_mut)
    else {
        return;
    };
    if definition.insert(EASED.to_owned(), json!(true)).is_some() {
        return;
    }
    if let Some(required) = definition.remove("required") {
        definition.insert("x-required".to_owned(), required);
    }
    let mut below = Vec::new();
    references(&Value::Object(definition.clone()), &mut below);
    below.iter().for_each(|name| ease(schema, name));
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Object(map) => {
            let target = map.get("$ref").and_then(Value::as_str);
            found.extend(target.and_then(|t| t.strip_prefix("#/definitions/")).map(str::to_owned));
            map.values().for_each(|value| references(value, found));
        }
        _ => {}
    }
}

/// A number as scenarios write it in a text.
const NUMBER: &str = r"[0-9][0-9_]*(\.[0-9_]+)?";

/// The schema of a type that is written as text, a number or either.
macro_rules! written {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

written!(Span, "Duration", {
    json_schema!({
        "description": "A duration with its unit: `\"500ms\"`, `\"1.5s\"`, `\"10min\"`. Units: ns, us, ms, s, min, h, d. At most ten years.",
        "type": "string",
        "pattern": format!(r"^\s*{NUMBER}\s*(ns|us|µs|ms|s|sec|min|h|d)\s*$"),
    })
});

written!(Rate, "Rate", {
    json_schema!({
        "description": "A number per time: `\"60/s\"`, `\"1000/min\"`. Per ms, s, min, h or d. At most 1e12 a second.",
        "type": "string",
        "pattern": format!(r"^\s*{NUMBER}\s*/\s*(ms|s|min|h|d)\s*$"),
    })
});

written!(Count, "Tokens", {
    json_schema!({ "description": "A number of tokens.", "type": "number", "minimum": 0, "maximum": Count::MAX })
});

written!(HeaderValue, "HeaderValue", {
    json_schema!({ "description": "A header's value as text.", "type": "string" })
});

written!(AtOnce, "AtOnce", {
    json_schema!({
        "description": "A whole number, or `\"unlimited\"`.",
        "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, { "const": "unlimited" }],
    })
});

written!(Formula, "Formula", {
    json_schema!({
        "description": "A formula for the wait in seconds, such as `\"min(30s, 1s * 2^n)\"`, or a table of it and its parts.",
        "anyOf": [
            { "type": "string" },
            {
                "type": "object",
                "properties": { "wait": { "type": "string", "description": "The formula." } },
                "additionalProperties": {
                    "type": ["number", "string"],
                    "description": "A part: a number, a duration or a formula.",
                },
                "required": ["wait"],
            },
        ],
    })
});

impl JsonSchema for Choice {
    fn schema_name() -> Cow<'static, str> {
        "Wait".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let span = generator.subschema_for::<Span>();
        json_schema!({
            "description": "A wait, or a list of waits of which one is drawn.",
            "anyOf": [span, { "type": "array", "items": span, "minItems": 1 }],
        })
    }
}
