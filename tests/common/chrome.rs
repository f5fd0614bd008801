//! Reads a Chrome trace as strictly as Perfetto should.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What a trace holds.
#[derive(Debug, Default)]
pub struct Trace {
    /// Spans by category.
    pub spans: BTreeMap<String, u64>,
    /// Attempts by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// The values of each counter in the order of time.
    pub counters: BTreeMap<String, Vec<u64>>,
    /// Names of tracks.
    pub tracks: BTreeSet<String>,
}

/// Start, end and name.
type Span = (u64, u64, String);

/// Microseconds as written, in nanoseconds.
fn nanos(entry: &Value, key: &str) -> Result<u64, String> {
    let micros = entry[key].as_f64().ok_or(format!("no {key} in {entry}"))?;
    if micros < 0.0 {
        Err(format!("{key} below 0 in {entry}"))
    } else {
        Ok((micros * 1e3).round() as u64)
    }
}

/// Reads a trace; an error says what is wrong with its structure.
pub fn read(bytes: &[u8]) -> Result<Trace, String> {
    let document: Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    let entries = document["traceEvents"].as_array().ok_or("no traceEvents")?;
    let mut trace = Trace::default();
    let (mut named, mut processes) = (BTreeSet::new(), BTreeSet::new());
    let mut tracks: BTreeMap<(u64, u64), Vec<Span>> = BTreeMap::new();
    let mut last: BTreeMap<String, u64> = BTreeMap::new();
    for entry in entries {
        let pid = entry["pid"].as_u64().ok_or(format!("no pid in {entry}"))?;
        let name = entry["name"].as_str().ok_or(format!("no name in {entry}"))?.to_owned();
        match entry["ph"].as_str() {
            Some("M") if name == "process_name" => _ = processes.insert(pid),
            Some("M") => {
                let tid = entry["tid"].as_u64().ok_or(format!("no tid in {entry}"))?;
                if name == "thread_name" {
                    let name = entry["args"]["name"].as_str().ok_or("a track without a name")?;
                    if !named.insert((pid, tid)) || !trace.tracks.insert(name.to_owned()) {
                        return Err(format!("track {name} is there twice"));
                    }
                }
            }
            Some("X") => {
                let tid = entry["tid"].as_u64().ok_or(format!("no tid in {entry}"))?;
                let (start, length) = (nanos(entry, "ts")?, nanos(entry, "dur")?);
                let category = entry["cat"].as_str().ok_or("a span without a category")?;
                *trace.spans.entry(category.to_owned()).or_default() += 1;
                if category == "attempt" {
                    let outcome = entry["args"]["outcome"].as_str();
                    let outcome = outcome.ok_or(format!("no outcome in {entry}"))?;
                    *trace.outcomes.entry(outcome.to_owned()).or_default() += 1;
                }
                if !named.contains(&(pid, tid)) {
                    return Err(format!("a track without a name: {entry}"));
                }
                tracks.entry((pid, tid)).or_default().push((start, start + length, name));
            }
            Some("C") => {
                let time = nanos(entry, "ts")?;
                if last.insert(name.clone(), time).is_some_and(|before| before >= time) {
                    return Err(format!("counter {name} goes back in time: {entry}"));
                }
                let value = entry["args"].as_object().and_then(|args| args.values().next());
                let value = value.and_then(Value::as_u64).ok_or(format!("no value in {entry}"))?;
                trace.counters.entry(name).or_default().push(value);
            }
            _ => return Err(format!("an entry of another kind: {entry}")),
        }
        if !processes.contains(&pid) {
            return Err(format!("a process without a name: {entry}"));
        }
    }
    tracks.into_values().try_for_each(nest)?;
    Ok(trace)
}

/// Spans of one track lie inside of each other or apart.
fn nest(mut spans: Vec<Span>) -> Result<(), String> {
    spans.sort_by_key(|(start, end, _)| (*start, u64::MAX - *end));
    let mut open: Vec<&Span> = Vec::new();
    for span in &spans {
        while open.last().is_some_and(|outer| outer.1 <= span.0) {
            open.pop();
        }
        if let Some(outer) = open.last().filter(|outer| span.1 > outer.1) {
            return Err(format!("{span:?} begins in {outer:?} and ends after it"));
        }
        open.push(span);
    }
    Ok(())
}

/// A reader that lets everything pass would be worth nothing.
#[test]
fn bad_structures_are_found() {
    let start = r#"{"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},
        {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"t"}}"#;
    let span = |ts: u32, dur: i32, tid: u32| {
        format!(
            r#",{{"ph":"X","name":"s","cat":"call","pid":1,"tid":{tid},"ts":{ts},"dur":{dur},"args":{{}}}}"#
        )
    };
    let count = |ts: u32| format!(r#",{{"ph":"C","name":"c","pid":1,"ts":{ts},"args":{{"n":1}}}}"#);
    let read = |entries: &[String]| read(format!("{start}{}]}}", entries.concat()).as_bytes());
    assert!(read(&[span(0, 9, 1), span(2, 3, 1), span(5, 4, 1), span(9, 0, 1), count(1)]).is_ok());
    for bad in [
        [span(0, 9, 1), span(2, 8, 1)],
        [span(0, 9, 1), span(2, -1, 1)],
        [span(0, 9, 1), span(2, 1, 2)],
        [count(2), count(2)],
        [span(0, 9, 1), "{}".to_owned()],
    ] {
        assert!(read(&bad).is_err(), "{bad:?} passes");
    }
}
