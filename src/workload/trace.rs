//! Recorded arrivals with their tokens.
//!
//! Formats, told apart by the header line:
//!
//! | header | time stamps | source |
//! | --- | --- | --- |
//! | `TIMESTAMP,ContextTokens,GeneratedTokens` | `2023-11-16 18:17:03.9799600` | Azure LLM inference trace 2023 |
//! | same | `2024-05-10 00:00:00.009930+00:00` | Azure LLM inference trace 2024 |
//!
//! Lines end in LF or CR LF; the last one may have no end. Azure/AzurePublicDataset, CC-BY 4.0,
//! Patel et al., "Splitwise", ISCA 2024. Times are counted from the first row; rows out of order
//! are sorted.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::units::{NANOS_PER_SECOND, Time};

/// A trace as a scenario states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The file; relative to the scenario's folder.
    pub file: PathBuf,
    /// At most this many rows; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, counted from the first row.
    pub at: Time,
    /// Prompt tokens.
    pub input_tokens: u32,
    /// Tokens of the answer.
    pub output_tokens: u32,
}

/// A trace in memory, sorted by time.
pub type Trace = Vec<Arrival>;

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("{}: {source} (paths start at the scenario's folder)", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Its content is not a trace.
    #[error("{}:{line}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, 1 is the header.
        line: u64,
        /// What is wrong and what is allowed.
        problem: String,
    },
}

const HEADER: [&str; 3] = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"];

/// Reads a trace.
pub fn read(file: &TraceFile, folder: &Path) -> Result<Trace, TraceError> {
    let path = folder.join(&file.file);
    let bytes = read_plain_file(&path, "a trace")
        .map_err(|source| TraceError::Unreadable { path: path.clone(), source })?;
    parse(&bytes, file.rows).map_err(|(line, problem)| TraceError::Malformed {
        path,
        line,
        problem,
    })
}

/// Largest file that is read: 4 GiB.
const MAX_BYTES: u64 = 4 << 30;

/// Reads a file that should be `what`; not a folder, nor something without an end.
pub(crate) fn read_plain_file(path: &Path, what: &str) -> std::io::Result<Vec<u8>> {
    let facts = std::fs::metadata(path)?;
    let refuse = |text: String| Err(std::io::Error::other(text));
    if !facts.is_file() {
        return refuse(format!("this is not a plain file; name {what}"));
    }
    if facts.len() > MAX_BYTES {
        return refuse("the file is larger than 4 GiB; cut it into parts".to_owned());
    }
    std::fs::read(path)
}

fn parse(bytes: &[u8], rows: Option<u32>) -> Result<Trace, (u64, String)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let header = reader.byte_headers().map_err(|e| (1, e.to_string()))?.clone();
    if !header.iter().eq(HEADER.iter().map(|name| name.as_bytes())) {
        let found = String::from_utf8_lossy(bytes.split(|b| *b == b'\n').next().unwrap_or(b""))
            .trim_end()
            .chars()
            .take(80)
            .collect::<String>();
        let found = if found.is_empty() {
            "the file is empty".to_owned()
        } else {
            format!("the header is \"{found}\"")
        };
        return Err((1, format!("{found}; a trace starts with \"{}\"", HEADER.join(","))));
    }
    let mut trace = Trace::new();
    let mut record = csv::StringRecord::new();
    let wanted = rows.map_or(usize::MAX, |n| n as usize);
    // Counted here: the reader's own count lags behind in files with CR LF.
    let line = |position: Option<&csv::Position>| {
        let start = position.map_or(0, |p| p.byte() as usize).min(bytes.len());
        let blank = bytes[start..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        1 + bytes[..start + blank].iter().filter(|b| **b == b'\n').count() as u64
    };
    while trace.len() < wanted {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {
                let arrival = row(&record).map_err(|text| (line(record.position()), text))?;
                trace.push(arrival);
            }
            Err(error) => return Err((line(error.position()), error.to_string())),
        }
    }
    if trace.is_empty() {
        return Err((2, "the trace has no rows; at least one is needed".to_owned()));
    }
    trace.sort_by_key(|arrival| arrival.at);
    let first = trace[0].at;
    trace.iter_mut().for_each(|arrival| arrival.at -= first);
    Ok(trace)
}

fn row(record: &csv::StringRecord) -> Result<Arrival, String> {
    if record.len() != HEADER.len() {
        return Err(format!(
            "the row has {} fields instead of 3; is the file cut off?",
            record.len()
        ));
    }
    let at = timestamp(record[0].trim()).ok_or_else(|| {
        format!("\"{}\" is not a time stamp such as 2023-11-16 18:17:03.9799600", &record[0])
    })?;
    let tokens = |i: usize| {
        record[i].trim().parse::<u32>().map_err(|_| {
            format!("{} = \"{}\" is not a whole number from 0 to 4294967295", HEADER[i], &record[i])
        })
    };
    Ok(Arrival { at, input_tokens: tokens(1)?, output_tokens: tokens(2)? })
}

/// Nanoseconds since 1970 of `YYYY-MM-DD hh:mm:ss[.fraction][+hh:mm]`.
fn timestamp(text: &str) -> Option<u64> {
    let (date, clock) = text.split_once([' ', 'T'])?;
    let digits = |part: &&str| part.bytes().all(|b| b.is_ascii_digit());
    let mut date =
        date.splitn(3, '-').map(|part| part.parse::<u64>().ok().filter(|_| digits(&part)));
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, offset) = match clock.rfind(['+', '-']) {
        Some(sign) => (&clock[..sign], Some(&clock[sign..])),
        None => (clock.trim_end_matches('Z'), None),
    };
    let mut clock = clock.splitn(3, ':');
    let hour: u64 = clock.next()?.parse().ok()?;
    let minute: u64 = clock.next()?.parse().ok()?;
    let (second, fraction) = clock.next().map(|s| s.split_once('.').unwrap_or((s, "0")))?;
    let second: u64 = second.parse().ok()?;
    let digits = fraction.len();
    if digits > 9 || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let nanos = fraction.parse::<u64>().ok()? * 10u64.pow(9 - digits as u32);
    let local = days_since_1970(year, month, day)? * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(apply_offset(local, offset)? * NANOS_PER_SECOND + nanos)
}

fn apply_offset(local: u64, offset: Option<&str>) -> Option<u64> {
    let Some(offset) = offset else { return Some(local) };
    let (hours, minutes) = offset[1..].split_once(':')?;
    let two = |text: &str, below: u64| {
        let digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u64>().ok().filter(|n| digits && *n < below)
    };
    let seconds = two(hours, 24)? * 3_600 + two(minutes, 60)? * 60;
    if offset.starts_with('+') { local.checked_sub(seconds) } else { local.checked_add(seconds) }
}

/// Days from 1970-01-01 in the Gregorian calendar.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if !(1970..=2200).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    let years: u64 = (1970..year).map(|y| 365 + u64::from(leap(y))).sum();
    let months: u64 = lengths[..month as usize - 1].iter().sum();
    Some(years + months + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW_2023: &str = "2023-11-16 18:17:03.9799600,4808,10";

    #[test]
    fn both_spellings_and_both_line_ends_are_read() {
        let lf = format!("{}\n{ROW_2023}\n2023-11-16 18:17:04.0319600,3180,8", HEADER.join(","));
        for text in [lf.clone(), lf.replace('\n', "\r\n"), format!("\u{feff}{lf}\n")] {
            let trace = parse(text.as_bytes(), None).unwrap();
            let second = Arrival { at: 52_000_000, input_tokens: 3_180, output_tokens: 8 };
            assert_eq!(trace, [Arrival { at: 0, input_tokens: 4_808, output_tokens: 10 }, second]);
        }
        let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                    2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 01:00:01+01:00,1,2\n";
        let trace = parse(text.as_bytes(), None).unwrap();
        assert_eq!(trace[1].at, 990_070_000);
        assert_eq!(parse(text.as_bytes(), Some(1)).unwrap().len(), 1);
    }

    #[test]
    fn time_stamps_are_counted_from_1970() {
        assert_eq!(timestamp("1970-01-01 00:00:00"), Some(0));
        assert_eq!(timestamp("2023-11-16 18:17:03.9799600"), Some(1_700_158_623_979_960_000));
        assert_eq!(timestamp("2024-02-29 00:00:00Z"), Some(1_709_164_800_000_000_000));
        for bad in
            ["2023-02-29 00:00:00", "2023-13-01 00:00:00", "18:17:03", "2023-11-16 24:00:00", ""]
        {
            assert_eq!(timestamp(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_torn_or_empty_file_is_refused_with_its_line() {
        let header = HEADER.join(",");
        for (text, line, part) in [
            (String::new(), 1, "empty"),
            (format!("{header}\n"), 2, "no rows"),
            (format!("{header}\n{ROW_2023}\n2023-11-16 18:17:04.03"), 3, "cut off"),
            (format!("{header}\n{ROW_2023}\nsoon,1,2\n"), 3, "not a time stamp"),
            (format!("{header}\r\n{ROW_2023}\r\n\r\nsoon,1,2\r\n"), 4, "not a time stamp"),
            (format!("{header}\n2023-11-16 18:17:03,-1,2\n"), 2, "ContextTokens"),
            ("a,b,c\n1,2,3\n".to_owned(), 1, "starts with"),
        ] {
            let (at, problem) = parse(text.as_bytes(), None).unwrap_err();
            assert!(at == line && problem.contains(part), "{text:?}: {at} {problem}");
        }
        assert!(parse(b"TIMESTAMP,ContextTokens,GeneratedTokens\n\xff\xfe,1,2\n", None).is_err());
    }
}
