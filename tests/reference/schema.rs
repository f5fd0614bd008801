//! The schema of scenario files knows what the program knows, and asks for no more than it does.

use retrylab::metrics::{Part, Watch, catalog};
use retrylab::presets::Kind;
use retrylab::scenario::Document;
use toml::{Table, Value};

use super::keys::schema;

const RENEW: &str =
    "cargo run --features schema --bin scenario-schema > docs/reference/scenario.schema.json";

#[test]
fn the_schema_knows_every_preset_and_metric() {
    let schema = schema();
    let places = [
        ("Layer", "preset", Kind::Layer),
        ("Billing", "price", Kind::Price),
        ("Limits", "preset", Kind::Limits),
        ("PrefillDecode", "preset", Kind::Service),
    ];
    for (definition, key, kind) in places {
        let known = &schema["definitions"][definition]["properties"][key]["anyOf"][0]["enum"];
        let known: Vec<&str> = known.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(known, kind.names(), "{RENEW}");
    }
    let watch = Watch { window: 1, per_retry: 0, flow: None, groups: 0, providers: 0 };
    let metrics = catalog(&[], &[], &[], watch, Part::ALL);
    let known = schema["properties"]["expect"]["properties"].as_table().unwrap();
    assert!(known.keys().eq(metrics.iter().map(|metric| &metric.name)), "{RENEW}");
}

/// Keys with bounds that no document in experiments and docs has.
const MORE: &str = r#"
workload = { clients = 4, agents = { steps = 2, fan_out = 2 } }
measure = { horizon = "60s", per_retry = 1, events_per_instant = 1000, replications = 2, health = { window = "1s", last = 3 } }
[request]
input_tokens = 100
[provider]
concurrency = 4
overload_status = 503
slower_when_full = 2.0
service = { prefill_decode = { prefill = [[1, "1ms"]], decode = [[1, "1ms"]], machines = 2 } }
cache = { entries = 10, hit = "1ms", filled = 0.5 }
row = { status = 409 }
billing = { input_usd_per_mtok = 3.0, output_usd_per_mtok = 15.0, cached_input_usd_per_mtok = 0.3 }
limits = { spend = { usd = 5.0 }, concurrency = { limit = 3 }, requests = { rate = "5/s", burst = 2 }, growth = { window = "1s", factor = 2.0, free = 1 } }
faults = [
    { outage = { from = "1s", to = "2s", status = 503 } },
    { error = { share = 0.1, status = 500 } },
    { slow = { share = 0.1, of = "attempts", service = "1s" } },
    { slow_down = { factor = 2.0, from = "1s", to = "2s" } },
]
actions = [
    { pause = { from = "1s", to = "2s", status = 503 } },
    { ramp = { from = "2s", to = "3s", start = 0.1, end = 0.9, status = 503 } },
]
[client]
host = { processes = 2, connections = { limit = 3, scope = "process" } }
network = { loss = 0.1 }
[[client.layers]]
name = "inner"
max_attempts = 3
backoff = { additive_jitter = { base = "1s", cap = "2s", multiplier = 2.0, fraction = 0.5 } }
retry_after = { obey = { jitter = { fraction = 0.5 } } }
budget = { ratio = { of_requests = 0.1, burst = 5.0, scope = "fleet" } }
semaphore = { permits = 2, scope = "fleet" }
pace = { aimd = { start = "5/s", min = "1/s", max = "9/s", increase = 1.0, decrease = 0.5, scope = "fleet" } }
adaptive_throttle = { k = 2.0, slices = 5, scope = "fleet" }
breaker = { ratio = { failures = 0.5, min_calls = 5, window = "10s", slices = 5 }, open = "5s", open_jitter = 0.5, half_open = { probes = 1, trials = 100000, failures = 1 }, scope = "fleet" }
[[client.layers]]
name = "second"
max_attempts = 2
backoff = { full_jitter = { base = "1s", cap = "2s", multiplier = 2.0 } }
budget = { token_bucket = { capacity = 5.0, refill_per_success = 0.1, cost = 1.0, scope = "fleet" } }
pace = { fixed = { rate = "5/s", burst = 2, scope = "fleet" } }
breaker = { consecutive = { failures = 5 }, open = "5s", scope = "fleet" }
[[client.layers]]
name = "third"
max_attempts = 2
budget = { retry_throttling = { max_tokens = 10.0, token_ratio = 0.1, scope = "fleet" } }
breaker = { ratio = { failures = 0.5, min_calls = 5, last = 20 }, open = "5s", scope = "fleet" }
[[client.layers]]
name = "fourth"
max_attempts = 2
budget = { retry_quota = { capacity = 500.0, cost = 5.0, throttled_cost = 5.0, server_error_cost = 5.0, timeout_cost = 5.0, reset_cost = 5.0, first_success = 1.0, scope = "fleet" } }
[[client.layers]]
name = "fifth"
max_attempts = 2
budget = { active_retries = { ratio = 0.2, scope = "fleet" } }
[[client.layers]]
name = "sixth"
max_attempts = 2
budget = { recent_ratio = { ratio = 0.2, window = "10s", slices = 10, reserve_per_s = 1.0, deposit = "call", parts = 10, scope = "fleet" } }
"#;

/// Other workloads than that, and what does not go with it.
const OTHERS: [&str; 4] = [
    "workload = { clients = 4, closed_loop = { jobs = 9 } }\nrequest = { output_tokens = 5 }",
    "workload = { clients = 4, poisson = { rate = \"5/s\" }, shares = { zipf = { exponent = 1.0 } } }\n\
     request = { stream = true }\n\
     provider = { faults = [{ stream_error = { share = 0.1, when = \"before_first_token\" } }, { stream_error = { per_token = 0.1 } }] }",
    "workload = { clients = 4, poisson = { rate = \"5/s\" }, shares = { lognormal = { sigma = 1.0 } } }\n\
     client = { layers = [{ name = \"sdk\", hedge = { after = \"1s\", max = 2 } }] }",
    "provider = { queue = { fifo = {} } }\n[[group]]\nname = \"a\"\npriority = 1\nworkload = { burst = {} }",
];

/// A number with bounds: its path, and the schema of it.
type Bounded<'a> = (String, &'a Table);

struct Walk<'a> {
    schema: &'a Table,
    found: Vec<Bounded<'a>>,
}

impl<'a> Walk<'a> {
    /// The schemas that may be meant by one.
    fn meant(&self, schema: &'a Table) -> Vec<&'a Table> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.strip_prefix("#/definitions/").unwrap();
            return self.meant(self.schema["definitions"][name].as_table().unwrap());
        }
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key));
        let inner = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_table);
        std::iter::once(schema).chain(inner.flat_map(|table| self.meant(table))).collect()
    }

    fn walk(&mut self, path: &str, value: &Value, schema: &'a Table) {
        for schema in self.meant(schema) {
            match value {
                Value::Table(table) => {
                    let Some(properties) = schema.get("properties") else { continue };
                    for (key, value) in table {
                        let below = properties.get(key).and_then(Value::as_table);
                        let path = format!("{path}.{key}");
                        let path = path.trim_start_matches('.');
                        below.into_iter().for_each(|below| self.walk(path, value, below));
                    }
                }
                Value::Array(items) => {
                    let Some(below) = schema.get("items").and_then(Value::as_table) else {
                        continue;
                    };
                    for (index, item) in items.iter().enumerate() {
                        self.walk(&format!("{path}.{index}"), item, below);
                    }
                }
                Value::Integer(_) | Value::Float(_) if bounded(schema) => {
                    self.found.push((path.to_owned(), schema));
                }
                _ => {}
            }
        }
    }
}

const BOUNDS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

fn bounded(schema: &Table) -> bool {
    BOUNDS.iter().any(|bound| schema.contains_key(*bound))
}

/// Values at a bound and just beyond it: what is right by the schema, and what is wrong.
fn around(schema: &Table) -> (Vec<Value>, Vec<Value>) {
    let whole = schema.get("type").and_then(Value::as_str) == Some("integer");
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for bound in BOUNDS {
        let Some(at) = schema.get(bound) else { continue };
        let number = at.as_float().unwrap_or_else(|| at.as_integer().unwrap() as f64);
        let down = bound.ends_with("inimum");
        let beyond = number
            + if whole { 1.0 } else { number.abs().max(1.0) * 1e-6 }
                * if down { -1.0 } else { 1.0 };
        let value =
            |number: f64| if whole { Value::Integer(number as i64) } else { Value::Float(number) };
        match bound.starts_with("exclusive") {
            true => wrong.push(value(number)),
            false => {
                right.push(value(number));
                wrong.push(value(beyond));
            }
        }
    }
    (right, wrong)
}

#[test]
fn bounds_in_the_schema_are_those_of_the_program() {
    let schema = schema();
    let mut seen = 0;
    for text in [MORE].into_iter().chain(OTHERS) {
        let document = Document::parse("test", text.to_owned(), ".".into()).unwrap();
        document.scenario().unwrap();
        let mut walk = Walk { schema: &schema, found: Vec::new() };
        walk.walk("", &Value::Table(text.parse().unwrap()), &schema);
        seen += walk.found.len();
        for (path, bounds) in walk.found {
            let problem = |value: &Value| {
                let changed = document.with_value("bound", &path, value.clone());
                changed.and_then(|document| document.scenario()).err().map(|e| e.to_string())
            };
            let (right, wrong) = around(bounds);
            for value in right {
                let text = problem(&value).unwrap_or_default();
                assert!(!text.contains("out of range"), "{path} = {value}: {text}");
            }
            for value in wrong {
                assert!(problem(&value).is_some(), "{path} = {value} is wrong only in the schema");
            }
        }
    }
    let text = schema.to_string();
    eprintln!("{seen} keys with bounds are tried; {} in the schema", text.matches("imum").count());
    assert!(seen > 80, "{seen}");
}
