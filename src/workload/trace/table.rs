//! Traces with a header line, told apart by its columns.
//!
//! | time stamp, input tokens, output tokens | time stamps | source |
//! | --- | --- | --- |
//! | `TIMESTAMP`, `ContextTokens`, `GeneratedTokens` | `2023-11-16 18:17:03.9799600` | Azure LLM inference trace 2023, <https://github.com/Azure/AzurePublicDataset>, CC-BY 4.0 (Patel et al., "Splitwise", ISCA 2024) |
//! | the same | `2024-05-10 00:00:00.009930+00:00` | Azure LLM inference trace 2024 |
//! | `Timestamp`, `Request tokens`, `Response tokens` | seconds | BurstGPT, <https://github.com/HPMLL/BurstGPT>, CC-BY 4.0 (Wang et al., arXiv 2401.17644); a failed request has 0 response tokens |
//! | `arrived_at`, `num_prefill_tokens`, `num_decode_tokens` | seconds | processed traces of Vidur, <https://github.com/microsoft/vidur> |
//! | `at_s`, `input_tokens`, `output_tokens` | seconds | one's own |
//!
//! Other columns are not read; they may stand anywhere.

use csv::StringRecord;

use super::clock::{date_time, decimal};
use super::{Arrival, Fault};
use crate::units::NANOS_PER_SECOND;

/// How a file writes its rows.
struct Layout {
    /// Time stamp, input tokens, output tokens.
    columns: [&'static str; 3],
    /// A time stamp in nanoseconds.
    clock: fn(&str) -> Option<u64>,
    /// A time stamp as the file writes it.
    example: &'static str,
}

fn seconds(text: &str) -> Option<u64> {
    decimal(text, NANOS_PER_SECOND)
}

const LAYOUTS: [Layout; 4] = [
    Layout {
        columns: ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
        clock: date_time,
        example: "2023-11-16 18:17:03.9799600",
    },
    Layout {
        columns: ["Timestamp", "Request tokens", "Response tokens"],
        clock: seconds,
        example: "5 or 5.25 (seconds)",
    },
    Layout {
        columns: ["arrived_at", "num_prefill_tokens", "num_decode_tokens"],
        clock: seconds,
        example: "5 or 5.25 (seconds)",
    },
    Layout {
        columns: ["at_s", "input_tokens", "output_tokens"],
        clock: seconds,
        example: "5 or 5.25 (seconds)",
    },
];

/// A layout, and where its columns are in a file.
struct Reader {
    layout: &'static Layout,
    places: [usize; 3],
    fields: usize,
}

pub(super) fn parse(bytes: &[u8], most: usize) -> Result<Vec<Arrival>, Fault> {
    let mut file = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let header = file.headers().map_err(|e| (1, e.to_string()))?.clone();
    let reader = Reader::of(&header).ok_or_else(|| (1, unknown(bytes)))?;
    let mut rows = Vec::new();
    let mut record = StringRecord::new();
    while rows.len() < most {
        match file.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {
                let row = reader.row(&record).map_err(|e| (line(bytes, record.position()), e))?;
                rows.push(row);
            }
            Err(error) => return Err((line(bytes, error.position()), error.to_string())),
        }
    }
    Ok(rows)
}

/// The line of a record. Counted here: the reader's own count lags behind in files with CR LF.
fn line(bytes: &[u8], position: Option<&csv::Position>) -> u64 {
    let start = position.map_or(0, |p| p.byte() as usize).min(bytes.len());
    let blank = bytes[start..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    1 + bytes[..start + blank].iter().filter(|b| **b == b'\n').count() as u64
}

fn unknown(bytes: &[u8]) -> String {
    let header = String::from_utf8_lossy(bytes.split(|b| *b == b'\n').next().unwrap_or(b""))
        .trim_end()
        .chars()
        .take(80)
        .collect::<String>();
    let found = if header.is_empty() {
        "the file is empty".to_owned()
    } else {
        format!("the header is \"{header}\"")
    };
    let known: Vec<String> =
        LAYOUTS.iter().map(|layout| format!("\"{}\"", layout.columns.join(","))).collect();
    format!(
        "{found}; a trace starts with a header that has {}, or with a JSON object",
        known.join(" or ")
    )
}

impl Reader {
    fn of(header: &StringRecord) -> Option<Reader> {
        LAYOUTS.iter().find_map(|layout| {
            let place = |name| header.iter().position(|column| column.trim() == name);
            let [at, input, output] = layout.columns.map(place);
            Some(Reader { layout, places: [at?, input?, output?], fields: header.len() })
        })
    }

    fn row(&self, record: &StringRecord) -> Result<Arrival, String> {
        let (found, fields) = (record.len(), self.fields);
        if found != fields {
            return Err(format!(
                "the row has {found} fields instead of {fields}; is the file cut off?"
            ));
        }
        let field = |i: usize| record[self.places[i]].trim();
        let at = (self.layout.clock)(field(0)).ok_or_else(|| {
            format!("\"{}\" is not a time stamp such as {}", field(0), self.layout.example)
        })?;
        let tokens = |i: usize| {
            field(i).parse::<u32>().map_err(|_| {
                format!(
                    "{} = \"{}\" is not a whole number from 0 to 4294967295",
                    self.layout.columns[i],
                    field(i)
                )
            })
        };
        Ok(Arrival { at, input_tokens: tokens(1)?, output_tokens: tokens(2)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = NANOS_PER_SECOND;

    #[test]
    fn both_spellings_and_both_line_ends_are_read() {
        let lf = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                  2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8";
        for text in [lf.to_owned(), lf.replace('\n', "\r\n"), format!("{lf}\n")] {
            let rows = parse(text.as_bytes(), 9).unwrap();
            assert_eq!(rows[1].at - rows[0].at, 52_000_000);
            let tokens = rows.iter().map(|row| (row.input_tokens, row.output_tokens));
            assert!(tokens.eq([(4_808, 10), (3_180, 8)]));
        }
        let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                    2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 01:00:01+01:00,1,2\n";
        let rows = parse(text.as_bytes(), 9).unwrap();
        assert_eq!(rows[1].at - rows[0].at, 990_070_000);
        assert_eq!(parse(text.as_bytes(), 1).unwrap().len(), 1);
    }

    #[test]
    fn burst_gpt_is_read_with_and_without_sessions() {
        let short = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                     5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,0,1087,API log\n";
        let long = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                    5.0,\"a, b\",1.5,ChatGPT,472,18,490,Conversation log\n45.0,,,GPT-4,1087,0,1087,API log\n";
        let row = |s: u64, input_tokens, output_tokens| Arrival {
            at: s * S,
            input_tokens,
            output_tokens,
        };
        for text in [short, long] {
            assert_eq!(parse(text.as_bytes(), 9).unwrap(), [row(5, 472, 18), row(45, 1_087, 0)]);
        }
    }

    #[test]
    fn columns_are_found_by_name() {
        for header in [
            "id,num_decode_tokens,arrived_at,num_prefill_tokens",
            "id,output_tokens,at_s,input_tokens",
        ] {
            let text = format!("{header}\nx,3,0.25,7\n");
            let row = Arrival { at: S / 4, input_tokens: 7, output_tokens: 3 };
            assert_eq!(parse(text.as_bytes(), 9).unwrap(), [row]);
        }
    }

    #[test]
    fn lines_are_counted_with_both_line_ends() {
        for end in ["\n", "\r\n"] {
            let text = ["at_s,input_tokens,output_tokens", "0,1,1", "", "x,1,1"].join(end);
            assert_eq!(parse(text.as_bytes(), 9).unwrap_err().0, 4, "{end:?}");
        }
    }
}
