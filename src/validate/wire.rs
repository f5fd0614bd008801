//! The log of a stub, read back.

use std::collections::BTreeSet;
use std::path::Path;

use super::Seen;
use crate::error::{Error, Result};
use crate::experiment::FirstAttempts;
use crate::server::Tokens;
use crate::trace::{COLUMNS, Event, Kind, Names};
use crate::units::Time;
use crate::workload::Arrival;

/// What a log shows.
#[derive(Clone, Debug, Default)]
pub struct WireLog {
    /// All groups together.
    pub seen: Seen,
    /// First attempts by group.
    pub first: Vec<FirstAttempts>,
    /// Whether arrivals have the tokens of their requests, as those of a stub do.
    pub tells_tokens: bool,
    /// When the last event happened.
    pub end: Time,
}

/// Reads the log of a stub that played the scenario with these names.
pub fn read(path: &Path, names: &Names) -> Result<WireLog> {
    let bytes = std::fs::read(path)
        .map_err(|e| Error::Input(format!("{}: cannot be read: {e}", path.display())))?;
    parse(&bytes, names)
        .map_err(|(line, text)| Error::Input(format!("{}:{line}: {text}", path.display())))
}

type Fault = (u64, String);

/// The columns that are read, by their place in a row.
struct Columns {
    places: [usize; COLUMNS.len()],
}

impl Columns {
    fn of(header: &csv::StringRecord) -> std::result::Result<Columns, Fault> {
        let mut places = [0; COLUMNS.len()];
        for (place, column) in places.iter_mut().zip(COLUMNS) {
            *place = header.iter().position(|own| own == column).ok_or_else(|| {
                let text = format!(
                    "there is no column `{column}`; name the log of `retrylab stub -o`, or of `retrylab trace`"
                );
                (1, text)
            })?;
        }
        Ok(Columns { places })
    }

    fn text<'r>(&self, row: &'r csv::StringRecord, column: &str) -> &'r str {
        let index = COLUMNS.iter().position(|own| *own == column).unwrap_or(0);
        row.get(self.places[index]).unwrap_or_default()
    }

    fn number(
        &self,
        row: &csv::StringRecord,
        column: &str,
    ) -> std::result::Result<Option<u64>, String> {
        match self.text(row, column) {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| format!("{column} is `{text}`; a whole number is needed")),
        }
    }
}

fn parse(bytes: &[u8], names: &Names) -> std::result::Result<WireLog, Fault> {
    let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(bytes);
    let header = reader.headers().map_err(|e| (1, format!("not a log: {e}")))?.clone();
    let columns = Columns::of(&header)?;
    let mut log = WireLog {
        first: vec![FirstAttempts::default(); names.group_count()],
        tells_tokens: true,
        ..WireLog::default()
    };
    let mut clients = vec![BTreeSet::new(); names.group_count()];
    let short = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    for row in reader.records() {
        let row = row.map_err(|e| {
            let line = e.position().map_or(0, csv::Position::line);
            (line, format!("the row is torn or not CSV: {e}"))
        })?;
        let line = row.position().map_or(0, csv::Position::line);
        let event = event(&columns, &row, names).map_err(|text| (line, text))?;
        if event.time < log.end {
            let text = "the row is earlier than the one before; a log is in the order of time";
            return Err((line, text.to_owned()));
        }
        log.end = event.time;
        let first = &mut log.first[event.group];
        if event.kind == Kind::Arrived && event.attempt == Some(1) {
            let tokens = event.tokens.unwrap_or_default();
            let (input_tokens, output_tokens) = (short(tokens.input), short(tokens.output));
            first.arrivals.push(Arrival { at: event.time, input_tokens, output_tokens });
            log.tells_tokens &= event.tokens.is_some();
            clients[event.group].insert(event.client);
            first.clients = clients[event.group].len() as u32;
        }
        log.seen.add(&event);
    }
    match log.seen.arrivals.is_empty() {
        true => Err((2, "no attempt has arrived; at least one is needed".to_owned())),
        false => Ok(log),
    }
}

fn event(
    columns: &Columns,
    row: &csv::StringRecord,
    names: &Names,
) -> std::result::Result<Event, String> {
    let number = |column: &str| columns.number(row, column);
    let needed = |column: &str| {
        number(column)?.ok_or_else(|| format!("{column} is empty; a whole number is needed"))
    };
    let short = |value: u64| u32::try_from(value).map_err(|_| format!("{value} is too large"));
    let name = columns.text(row, "event");
    let kind = Kind::ALL.iter().find(|(_, own)| *own == name);
    let kind = kind.ok_or_else(|| format!("`{name}` is no event of a log"))?.0;
    let group = columns.text(row, "group");
    let group = names.find_group(Some(group).filter(|name| !name.is_empty()));
    let group = group.ok_or_else(|| {
        format!("the group `{}` is not in the scenario", columns.text(row, "group"))
    })?;
    let input = number("input_tokens")?;
    let tokens = match input {
        None => None,
        Some(input) => Some(Tokens {
            input,
            cached: number("cached_tokens")?.unwrap_or(0),
            output: number("output_tokens")?.unwrap_or(0),
        }),
    };
    Ok(Event {
        time: needed("time_ns")?,
        group,
        client: short(needed("client")?)?,
        request: short(needed("request")?)?,
        kind,
        attempt: number("attempt")?.map(short).transpose()?,
        layer: None,
        retry: None,
        provider: None,
        status: None,
        // The one that matters here.
        why: (columns.text(row, "why") == "answer").then_some("answer"),
        wait: None,
        tokens,
        usd: None,
    })
}
