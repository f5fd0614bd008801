//! The log as JSON Lines.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{COLUMNS, Event, Names, Sink, Value};

/// Writes an object per event; a key without a value is left out.
pub struct JsonLines<'n, W: Write> {
    names: &'n Names,
    out: W,
}

impl<'n, W: Write> JsonLines<'n, W> {
    /// Starts the log.
    pub fn new(names: &'n Names, out: W) -> JsonLines<'n, W> {
        JsonLines { names, out }
    }
}

/// An event as an object, its keys in the order of the columns.
struct Object<'a>(&'a Event, &'a Names);

/// An event as a JSON value.
pub fn object(event: &Event, names: &Names) -> serde_json::Value {
    serde_json::to_value(Object(event, names)).unwrap_or_default()
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (column, value) in COLUMNS.iter().zip(self.0.values(self.1)) {
            match value {
                Value::Empty => {}
                Value::Whole(n) => map.serialize_entry(column, &n)?,
                Value::Real(x) => map.serialize_entry(column, &x)?,
                Value::Text(text) => map.serialize_entry(column, text)?,
            }
        }
        map.end()
    }
}

impl<W: Write> Sink for JsonLines<'_, W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, &Object(event, self.names))?;
        writeln!(self.out)
    }

    fn finish(&mut self, _end: u64) -> io::Result<()> {
        self.out.flush()
    }
}
