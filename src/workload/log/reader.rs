//! From bytes to rows, one after the other: a table with a header line, or one JSON object per line.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use csv::StringRecord;
use serde_json::{Map, Value};

use super::format::{Format, formats};
use super::rows::{Entry, Text, entry};

/// What a reader wants of a log.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// At most this many rows, from the top.
    pub most: usize,
    /// The format; by default that of the first line.
    pub format: Option<&'static Format>,
    /// Whether a row without tokens is an error, as in a replay.
    pub tokens: bool,
}

/// What is wrong with a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    place: Place,
    /// What was found and what is allowed.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A line, from 1 on.
    Line(u64),
    /// Where the row starts: a reader of tables counts bytes rightly, and lines not always.
    Byte(u64),
}

impl Fault {
    /// A fault of a line.
    pub fn at_line(line: u64, text: impl Into<String>) -> Fault {
        Fault { place: Place::Line(line), text: text.into() }
    }

    fn at_byte(byte: u64, text: impl Into<String>) -> Fault {
        Fault { place: Place::Byte(byte), text: text.into() }
    }

    /// Its line; `again` opens the log from its start.
    pub fn line<R: Read>(&self, again: impl FnOnce() -> std::io::Result<R>) -> u64 {
        let start = match self.place {
            Place::Line(line) => return line,
            Place::Byte(byte) => byte,
        };
        let Ok(log) = again() else { return 1 };
        let (mut line, mut at) = (1, 0);
        for byte in std::io::BufReader::new(log).bytes().map_while(Result::ok) {
            // Empty lines before the row are part of it to the reader.
            if at >= start && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            at += 1;
            line += u64::from(byte == b'\n');
        }
        line
    }
}

/// Reads a log and hands over its rows. Returns the format and the number of rows that are no requests.
pub fn read(
    mut log: impl BufRead,
    wish: Wish,
    mut each: impl FnMut(Entry),
) -> Result<(&'static Format, u64), Fault> {
    let failed = |error: std::io::Error| Fault::at_line(1, error.to_string());
    let mut skipped = 0;
    if log.fill_buf().map_err(failed)?.starts_with(b"\xef\xbb\xbf") {
        log.consume(3);
        skipped = 3;
    }
    let first = log.fill_buf().map_err(failed)?.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'{') => lines(log, wish, &mut each),
        Some(b'[') => Err(Fault::at_line(
            1,
            "the log is a JSON list; write one object per line, as `jq -c '.[]'` does",
        )),
        _ => table(log, wish, &mut each).map_err(|fault| match fault.place {
            Place::Byte(byte) => Fault { place: Place::Byte(byte + skipped), ..fault },
            Place::Line(_) => fault,
        }),
    }
}

fn table(
    log: impl BufRead,
    wish: Wish,
    each: &mut dyn FnMut(Entry),
) -> Result<(&'static Format, u64), Fault> {
    let mut file = csv::ReaderBuilder::new().flexible(true).from_reader(log);
    let header = file.headers().map_err(|e| Fault::at_line(1, e.to_string()))?.clone();
    let place = |name: &str| header.iter().position(|column| column.trim() == name);
    let format = wish.format.or_else(|| Format::of(|column| place(column).is_some()));
    let format = format.ok_or_else(|| Fault::at_line(1, unknown(&header, wish)))?;
    let missing = format.tells.iter().find(|column| place(column).is_none());
    if let Some(column) = missing {
        let there = header.iter().collect::<Vec<_>>().join(",");
        let text = format!(
            "no column is called {column}, which the format {} needs; found {there}",
            format.name
        );
        return Err(Fault::at_line(1, text));
    }
    let places: Vec<(&str, usize)> =
        format.columns().filter_map(|name| Some((name, place(name)?))).collect();
    let (mut rows, mut others) = (0, 0);
    let mut record = StringRecord::new();
    while rows < wish.most {
        let bad = |byte: u64, text: String| Fault::at_byte(byte, text);
        match file.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                return Err(bad(
                    error.position().map_or(0, csv::Position::byte),
                    error.to_string(),
                ));
            }
        }
        let byte = record.position().map_or(0, csv::Position::byte);
        let (found, fields) = (record.len(), header.len());
        if found != fields {
            let text =
                format!("the row has {found} fields instead of {fields}; is the file cut off?");
            return Err(bad(byte, text));
        }
        let text = |column: &str| -> Text<'_> {
            let (_, place) = places.iter().find(|(name, _)| *name == column)?;
            record.get(*place).map(|text| Cow::Borrowed(text.trim()))
        };
        rows += 1;
        match entry(format, wish.tokens, text).map_err(|text| bad(byte, text))? {
            Some(entry) => each(entry),
            None => others += 1,
        }
    }
    Ok((format, others))
}

/// The first line is of no format.
fn unknown(header: &StringRecord, wish: Wish) -> String {
    let line: String = header.iter().collect::<Vec<_>>().join(",").chars().take(80).collect();
    let found = match line.is_empty() {
        true => "the file is empty".to_owned(),
        false => format!("the header is \"{line}\""),
    };
    // Where tokens are needed, those formats that have them.
    let known: Vec<String> = formats()
        .iter()
        .filter(|format| !wish.tokens || format.replayed().len() == 3)
        .map(|format| match wish.tokens {
            true => format!("\"{}\"", format.replayed().join(",")),
            false => format!("\"{}\" ({})", format.tells.join(","), format.name),
        })
        .collect();
    let what = if wish.tokens { "trace" } else { "log" };
    format!(
        "{found}; a {what} starts with a header that has {}, or with a JSON object",
        known.join(" or ")
    )
}

/// The longest line of JSON that is read: 64 MiB.
const LONGEST_LINE: u64 = 64 << 20;

fn lines(
    mut log: impl BufRead,
    wish: Wish,
    each: &mut dyn FnMut(Entry),
) -> Result<(&'static Format, u64), Fault> {
    let mut format = wish.format;
    let (mut rows, mut others, mut number) = (0, 0, 0);
    let mut line = Vec::new();
    while rows < wish.most {
        line.clear();
        let read = (&mut log).take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.map_err(|e| Fault::at_line(number + 1, e.to_string()))? == 0 {
            break;
        }
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let fault = |text: String| Fault::at_line(number, text);
        let object: Map<String, Value> = serde_json::from_slice(&line).map_err(|error| {
            let text = error.to_string();
            let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
            fault(format!("{what} in column {}; {}", error.column(), example(format)))
        })?;
        let format = match format {
            Some(format) => format,
            None => {
                let known = Format::of(|column| value(&object, column).is_some());
                *format.insert(known.ok_or_else(|| fault(unknown_keys(&object, wish)))?)
            }
        };
        let needed = format.tells.iter().chain(format.output_tokens.iter().filter(|_| wish.tokens));
        if let Some(key) = needed.into_iter().find(|key| value(&object, key).is_none()) {
            return Err(fault(format!("the key `{key}` is missing; {}", example(Some(format)))));
        }
        rows += 1;
        match entry(format, wish.tokens, |column| text_of(&object, column)).map_err(fault)? {
            Some(entry) => each(entry),
            None => others += 1,
        }
    }
    match format {
        Some(format) => Ok((format, others)),
        None => Err(Fault::at_line(1, "the file is empty")),
    }
}

/// The value under a key; of a key with dots, inside objects.
fn value<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    object.get(key).or_else(|| {
        let (outer, inner) = key.split_once('.')?;
        value(object.get(outer)?.as_object()?, inner)
    })
}

fn text_of<'a>(object: &'a Map<String, Value>, key: &str) -> Text<'a> {
    match value(object, key)? {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text.trim())),
        other => Some(Cow::Owned(other.to_string())),
    }
}

fn example(format: Option<&Format>) -> String {
    let keys = match format {
        Some(format) => format.tells.iter().map(|key| format!("\"{key}\": …")).collect(),
        None => {
            vec!["\"timestamp\": 3000, \"input_length\": 6758, \"output_length\": 500".to_owned()]
        }
    };
    format!("a line is {{{}, …}}", keys.join(", "))
}

fn unknown_keys(object: &Map<String, Value>, wish: Wish) -> String {
    let found: String =
        object.keys().map(String::as_str).collect::<Vec<_>>().join(", ").chars().take(80).collect();
    let formats = formats().iter().filter(|format| !wish.tokens || format.replayed().len() == 3);
    let known: Vec<String> =
        formats.map(|format| format!("{} ({})", format.tells.join(", "), format.name)).collect();
    format!("the first object has the keys {found}; known are those of {}", known.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = crate::units::NANOS_PER_SECOND;
    const WISH: Wish = Wish { most: 9, format: None, tokens: true };

    fn rows(text: &str) -> Result<(Vec<Entry>, &'static str), (u64, String)> {
        let mut rows = Vec::new();
        match read(text.as_bytes(), WISH, |entry| rows.push(entry)) {
            Ok((format, _)) => Ok((rows, &format.name)),
            Err(fault) => Err((fault.line(|| Ok(text.as_bytes())), fault.text)),
        }
    }

    fn tokens(text: &str) -> Vec<(u64, u32, u32)> {
        let (rows, _) = rows(text).unwrap();
        let row = |e: &Entry| (e.start, e.input_tokens.unwrap(), e.output_tokens.unwrap());
        rows.iter().map(row).collect()
    }

    #[test]
    fn both_spellings_and_both_line_ends_are_read() {
        let lf = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                  2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8";
        for text in [lf.to_owned(), lf.replace('\n', "\r\n"), format!("\u{feff}{lf}\n")] {
            let rows = tokens(&text);
            assert_eq!(rows[1].0 - rows[0].0, 52_000_000);
            assert_eq!((rows[0].1, rows[0].2, rows[1].1, rows[1].2), (4_808, 10, 3_180, 8));
        }
        let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                    2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 01:00:01+01:00,1,2\n";
        let rows = tokens(text);
        assert_eq!(rows[1].0 - rows[0].0, 990_070_000);
    }

    #[test]
    fn burst_gpt_is_read_with_and_without_sessions() {
        let short = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                     5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,0,1087,API log\n";
        let long = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                    5.0,\"a, b\",1.5,ChatGPT,472,18,490,Conversation log\n45.0,,,GPT-4,1087,0,1087,API log\n";
        for text in [short, long] {
            assert_eq!(tokens(text), [(5 * S, 472, 18), (45 * S, 1_087, 0)]);
        }
        assert_eq!(rows(long).unwrap().0[0].latency, Some(3 * S / 2));
    }

    #[test]
    fn columns_are_found_by_name() {
        for header in [
            "id,num_decode_tokens,arrived_at,num_prefill_tokens",
            "id,output_tokens,at_s,input_tokens",
        ] {
            assert_eq!(tokens(&format!("{header}\nx,3,0.25,7\n")), [(S / 4, 7, 3)]);
        }
    }

    #[test]
    fn lines_are_counted_with_both_line_ends() {
        for end in ["\n", "\r\n"] {
            for mark in ["", "\u{feff}"] {
                let text = ["at_s,input_tokens,output_tokens", "0,1,1", "", "x,1,1"].join(end);
                assert_eq!(rows(&format!("{mark}{text}")).unwrap_err().0, 4, "{end:?}");
            }
        }
    }

    #[test]
    fn lines_of_json_count_milliseconds_and_chats_seconds() {
        let text = "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\r\n\
                    \n{\"timestamp\": 0.5, \"input_length\": 1, \"output_length\": 0, \"hash_ids\": []}";
        assert_eq!(tokens(text), [(27_482_000_000, 6_955, 52), (500_000, 1, 0)]);
        let text = r#"{"chat_id": 3, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 5, "output_length": 7, "type": "text", "turn": 1}"#;
        assert_eq!(tokens(text), [(61_114_000_000, 5, 7)]);
    }

    #[test]
    fn keys_inside_objects_are_found() {
        let text = r#"{"trace_id": "a", "type": "GENERATION", "start_time": "2026-01-01 00:00:01.000000", "end_time": null, "usage_details": {"input": 5, "output": 7}}"#;
        assert_eq!(rows(text).unwrap().1, "langfuse");
        let found = tokens(text);
        assert_eq!((found[0].1, found[0].2), (5, 7));
    }

    #[test]
    fn a_bad_line_is_named() {
        let good = r#"{"timestamp": 0, "input_length": 1, "output_length": 1}"#;
        for (line, part) in [
            ("{\"timestamp\": 0", "EOF"),
            (r#"{"timestamp": 0, "input_length": 1}"#, "`output_length`"),
            (r#"{"timestamp": -1, "input_length": 1, "output_length": 1}"#, "timestamp = \"-1\""),
            (r#"{"timestamp": 0, "input_length": 1.5, "output_length": 1}"#, "1.5"),
            ("0,1,1", "a line is {"),
        ] {
            let (at, problem) = rows(&format!("{good}\n\n{line}")).unwrap_err();
            assert!(at == 3 && problem.contains(part), "{line}: {at} {problem}");
        }
        assert!(rows("[{}]").unwrap_err().1.contains("jq -c"));
        assert!(rows("{\"a\": 1}").unwrap_err().1.contains("the keys a"));
    }
}
