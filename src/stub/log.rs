//! The log: what the provider does with every attempt, a row per event, in the columns of `retrylab trace`.
//!
//! Two columns more tell what only the wire knows: the name of the client, and the SDK's own count of
//! retries. The tokens of a request stand in the row of each arrival.

use std::io::{self, Write};

use crate::server::Tokens;
use crate::trace::{COLUMNS, Event, Kind, Names, Sink, Value};

/// The columns that a log has beside those of a trace.
pub const MORE_COLUMNS: [&str; 2] = ["client_name", "retry_count"];

/// What is known of the attempt that is arriving.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arriving {
    /// The tokens of its prompt and of its answer.
    pub tokens: Tokens,
    /// The SDK's own count.
    pub retry_count: Option<u32>,
}

/// Writes rows.
pub struct Log<'n> {
    names: &'n Names,
    out: csv::Writer<Box<dyn Write + Send>>,
    /// Names of clients, by group.
    clients: Vec<Vec<String>>,
    /// The attempt that is arriving now.
    pub arriving: Arriving,
    /// Attempts that have arrived.
    pub attempts: u64,
}

impl<'n> Log<'n> {
    /// Starts a log with its header.
    pub fn new(names: &'n Names, groups: usize, out: Box<dyn Write + Send>) -> io::Result<Log<'n>> {
        let mut out = csv::Writer::from_writer(out);
        out.write_record(COLUMNS.iter().chain(&MORE_COLUMNS))?;
        out.flush()?;
        let clients = vec![Vec::new(); groups];
        Ok(Log { names, out, clients, arriving: Arriving::default(), attempts: 0 })
    }

    /// A group has another client.
    pub fn add_client(&mut self, group: usize, name: String) {
        self.clients[group].push(name);
    }

    /// What has been written so far is in the file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Sink for Log<'_> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let seen = event.kind.is_elsewhere()
            || matches!(event.kind, Kind::Head | Kind::Hung | Kind::TimedOut | Kind::Delivered);
        if !seen {
            return Ok(());
        }
        let arrives = event.kind == Kind::Arrived;
        self.attempts += u64::from(arrives);
        let tokens = if arrives { Some(self.arriving.tokens) } else { event.tokens };
        for value in (Event { tokens, layer: None, ..*event }).values(self.names) {
            match value {
                Value::Empty => self.out.write_field("")?,
                Value::Whole(n) => self.out.write_field(n.to_string())?,
                Value::Real(x) => self.out.write_field(x.to_string())?,
                Value::Text(text) => self.out.write_field(text)?,
            }
        }
        let name = self.clients[event.group].get(event.client as usize - 1);
        self.out.write_field(name.map_or("", String::as_str))?;
        let count = self.arriving.retry_count.filter(|_| arrives);
        self.out.write_field(count.map_or(String::new(), |n| n.to_string()))?;
        self.out.write_record(None::<&[u8]>)?;
        Ok(())
    }

    fn finish(&mut self, _end: u64) -> io::Result<()> {
        self.out.flush()
    }
}
