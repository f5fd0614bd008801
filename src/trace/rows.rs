//! The log as CSV.

use std::io::{self, Write};

use super::{COLUMNS, Event, Names, Sink, Value};

/// Writes a row per event: integers, words and the shortest form of dollars, empty where there is
/// no value.
pub struct Csv<'n, W: Write> {
    names: &'n Names,
    out: csv::Writer<W>,
}

impl<'n, W: Write> Csv<'n, W> {
    /// Starts the log with its header.
    pub fn new(names: &'n Names, out: W) -> io::Result<Csv<'n, W>> {
        let mut out = csv::Writer::from_writer(out);
        out.write_record(COLUMNS)?;
        Ok(Csv { names, out })
    }
}

impl<W: Write> Sink for Csv<'_, W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        for value in event.values(self.names) {
            match value {
                Value::Empty => self.out.write_field("")?,
                Value::Whole(n) => self.out.write_field(n.to_string())?,
                Value::Real(x) => self.out.write_field(x.to_string())?,
                Value::Text(text) => self.out.write_field(text)?,
            }
        }
        self.out.write_record(None::<&[u8]>)?;
        Ok(())
    }

    fn finish(&mut self, _end: u64) -> io::Result<()> {
        self.out.flush()
    }
}
