//! Traces with one JSON object per line.
//!
//! | keys | time stamps | source |
//! | --- | --- | --- |
//! | `timestamp`, `input_length`, `output_length` | milliseconds | Mooncake, <https://github.com/kvcache-ai/Mooncake>, Apache-2.0 (Qin et al., FAST 2025) |
//! | the same, and `chat_id` | seconds | Qwen-Bailian, <https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon>, Apache-2.0 |
//!
//! Other keys, such as the prefix blocks in `hash_ids`, are not read. Time stamps of Mooncake's
//! conversation trace are rounded to 3 s: give it a `spread`.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::clock::decimal;
use super::{Arrival, Fault};
use crate::units::NANOS_PER_SECOND;

#[derive(Deserialize)]
struct Line {
    timestamp: serde_json::Number,
    input_length: u32,
    output_length: u32,
    chat_id: Option<IgnoredAny>,
}

const EXAMPLE: &str = r#"{"timestamp": 3000, "input_length": 6758, "output_length": 500}"#;

pub(super) fn parse(bytes: &[u8], most: usize) -> Result<Vec<Arrival>, Fault> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let filled = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    filled.take(most).map(|(line, number)| row(line).map_err(|text| (number, text))).collect()
}

fn row(line: &[u8]) -> Result<Arrival, String> {
    let parsed: Line = serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
        format!("{what} in column {}; a line is {EXAMPLE}", error.column())
    })?;
    let unit = match parsed.chat_id {
        None => NANOS_PER_SECOND / 1_000,
        Some(_) => NANOS_PER_SECOND,
    };
    let stamp = parsed.timestamp.to_string();
    let at = decimal(&stamp, unit).ok_or_else(|| {
        format!("timestamp = {stamp} is not a time from 0 to 1e9 s; a line is {EXAMPLE}")
    })?;
    Ok(Arrival { at, input_tokens: parsed.input_length, output_tokens: parsed.output_length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mooncake_counts_milliseconds() {
        let text = "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\r\n\
                    \n{\"timestamp\": 0.5, \"input_length\": 1, \"output_length\": 0, \"hash_ids\": []}";
        let rows = parse(text.as_bytes(), 9).unwrap();
        let row = |at, input_tokens, output_tokens| Arrival { at, input_tokens, output_tokens };
        assert_eq!(rows, [row(27_482_000_000, 6_955, 52), row(500_000, 1, 0)]);
        assert_eq!(parse(text.as_bytes(), 1).unwrap().len(), 1);
    }

    #[test]
    fn chats_count_seconds() {
        let text = r#"{"chat_id": 3, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 5, "output_length": 7, "type": "text", "turn": 1}"#;
        assert_eq!(parse(text.as_bytes(), 9).unwrap()[0].at, 61_114_000_000);
    }

    #[test]
    fn a_bad_line_is_named() {
        let good = r#"{"timestamp": 0, "input_length": 1, "output_length": 1}"#;
        let bad = |line: &str| parse(format!("{good}\n\n{line}").as_bytes(), 9).unwrap_err();
        for (line, part) in [
            ("{\"timestamp\": 0", "EOF"),
            (r#"{"timestamp": 0, "input_length": 1}"#, "`output_length`"),
            (r#"{"timestamp": -1, "input_length": 1, "output_length": 1}"#, "timestamp = -1"),
            (r#"{"timestamp": 0, "input_length": 1.5, "output_length": 1}"#, "1.5"),
            (r#"{"timestamp": "0", "input_length": 1, "output_length": 1}"#, "string \"0\""),
            ("0,1,1", "a line is {"),
        ] {
            let (number, text) = bad(line);
            assert_eq!(number, 3);
            assert!(text.contains(part) && text.contains("a line is {"), "{line}: {text}");
        }
    }
}
