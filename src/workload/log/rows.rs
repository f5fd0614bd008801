//! A row of a log: from the texts of its columns to numbers.

use std::borrow::Cow;

use super::format::{Clock, Format};

/// A request, or an attempt, as a log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was sent, in nanoseconds from an instant that the log has chosen.
    pub start: u64,
    /// How long it took, in nanoseconds.
    pub latency: Option<u64>,
    /// Its HTTP status; 0 where no answer came.
    pub status: Option<u16>,
    /// Prompt tokens.
    pub input_tokens: Option<u32>,
    /// Tokens of the answer.
    pub output_tokens: Option<u32>,
}

/// The text in a column of a row; None where it has none.
pub(super) type Text<'a> = Option<Cow<'a, str>>;

/// The numbers of a row, or what is wrong. None: a row that is no request. A replay needs tokens.
pub(super) fn entry<'a>(
    format: &Format,
    tokens_needed: bool,
    text: impl Fn(&str) -> Text<'a>,
) -> Result<Option<Entry>, String> {
    // What an export writes for nothing.
    let filled = |column: &str| text(column).filter(|text| !matches!(text.as_ref(), "" | "-"));
    if let Some(only) = &format.only
        && filled(&only.column).is_none_or(|found| found != only.value.as_str())
    {
        return Ok(None);
    }
    let stamp = |clock: &Clock| -> Result<Option<u64>, String> {
        let Some(found) = filled(&clock.column) else { return Ok(None) };
        let nanos = clock.unit.stamp(&found).ok_or_else(|| not_a_time(clock, &found));
        nanos.map(Some)
    };
    let needed = |clock: &Clock| -> Result<u64, String> {
        stamp(clock)?.ok_or_else(|| not_a_time(clock, ""))
    };
    let mut latency = match &format.latency {
        None => None,
        Some(clock) => filled(&clock.column)
            .map(|found| clock.unit.length(&found).ok_or_else(|| not_a_length(clock, &found)))
            .transpose()?,
    };
    let start = match (&format.start, &format.end) {
        (Some(start), end) => {
            let at = needed(start)?;
            if let (None, Some(end)) = (latency, end)
                && let Some(over) = stamp(end)?
            {
                latency = Some(over.checked_sub(at).ok_or_else(|| {
                    format!(
                        "{} is before {}; a request ends after it starts",
                        end.column, start.column
                    )
                })?);
            }
            at
        }
        (None, Some(end)) => {
            let over = needed(end)?;
            over.checked_sub(latency.unwrap_or(0)).ok_or_else(|| {
                format!("{} is shorter than the request took; it counts from 1970", end.column)
            })?
        }
        (None, None) => return Err(format!("the format {} has no clock", format.name)),
    };
    let column = |name: &Option<String>| -> Result<Option<u32>, String> {
        let Some(name) = name else { return Ok(None) };
        match filled(name) {
            Some(found) => tokens(name, &found).map(Some),
            None if tokens_needed => tokens(name, "").map(Some),
            None => Ok(None),
        }
    };
    let (input_tokens, output_tokens) =
        (column(&format.input_tokens)?, column(&format.output_tokens)?);
    let status = match &format.status {
        None => None,
        Some(name) => filled(name).map(|found| status(format, name, &found)).transpose()?,
    };
    let status = status.or(format.empty.filter(|_| output_tokens == Some(0)));
    Ok(Some(Entry { start, latency, status, input_tokens, output_tokens }))
}

fn not_a_time(clock: &Clock, found: &str) -> String {
    let Clock { column, unit } = clock;
    format!("{column} = \"{found}\" is not a time stamp such as {}", unit.example())
}

fn not_a_length(clock: &Clock, found: &str) -> String {
    let Clock { column, unit } = clock;
    format!("{column} = \"{found}\" is not a length of time such as {}", unit.example())
}

fn tokens(column: &str, found: &str) -> Result<u32, String> {
    // A table that once had a missing value writes its whole numbers so.
    let whole = found.strip_suffix(".0").unwrap_or(found);
    whole
        .parse()
        .map_err(|_| format!("{column} = \"{found}\" is not a whole number from 0 to 4294967295"))
}

fn status(format: &Format, column: &str, found: &str) -> Result<u16, String> {
    if let Some(status) = format.words.get(found) {
        return Ok(*status);
    }
    let number = found.strip_suffix(".0").unwrap_or(found).parse().ok();
    number.filter(|status| *status == 0 || (100..600).contains(status)).ok_or_else(|| {
        let words: Vec<&str> = format.words.keys().map(String::as_str).collect();
        let words =
            if words.is_empty() { String::new() } else { format!(", {}", words.join(", ")) };
        format!("{column} = \"{found}\" is not a status; write 100 to 599, 0 for no answer{words}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = crate::units::NANOS_PER_SECOND;

    fn read(format: &str, row: &[(&str, &'static str)]) -> Result<Option<Entry>, String> {
        let text = |column: &str| {
            row.iter().find(|(name, _)| *name == column).map(|(_, text)| Cow::Borrowed(*text))
        };
        entry(Format::named(format).unwrap(), false, text)
    }

    #[test]
    fn a_latency_is_written_or_the_time_between_start_and_end() {
        let row = [("startTime", "2026-01-01 00:00:01.5"), ("endTime", "2026-01-01 00:00:03")];
        assert_eq!(read("litellm", &row).unwrap().unwrap().latency, Some(3 * S / 2));
        let turned = [("startTime", "2026-01-01 00:00:01"), ("endTime", "2026-01-01 00:00:00")];
        assert!(read("litellm", &turned).unwrap_err().contains("endTime is before startTime"));
        let row = [("msec", "1700000002.500"), ("request_time", "0.750"), ("status", "499")];
        let found = read("nginx", &row).unwrap().unwrap();
        assert_eq!((found.start, found.latency), (1_700_000_001_750_000_000, Some(3 * S / 4)));
    }

    #[test]
    fn statuses_are_numbers_or_the_words_of_the_format() {
        let status = |text| read("own", &[("at_s", "1"), ("status", text)]);
        assert_eq!(status("429").unwrap().unwrap().status, Some(429));
        assert_eq!(status("200.0").unwrap().unwrap().status, Some(200));
        assert_eq!(status("0").unwrap().unwrap().status, Some(0));
        assert_eq!(status("").unwrap().unwrap().status, None);
        for bad in ["ok", "42", "600", "-1"] {
            assert!(status(bad).unwrap_err().contains("write 100 to 599"), "{bad}");
        }
        let row = [("startTime", "2026-01-01 00:00:01"), ("status", "failure")];
        assert_eq!(read("litellm", &row).unwrap().unwrap().status, Some(500));
        let row = [("startTime", "2026-01-01 00:00:01"), ("status", "failed")];
        assert!(read("litellm", &row).unwrap_err().contains("failure, success"));
    }

    #[test]
    fn rows_that_are_no_requests_are_passed_over() {
        let row = |kind| [("type", kind), ("start_time", "2026-01-01 00:00:01")];
        assert_eq!(read("langfuse", &row("SPAN")), Ok(None));
        assert!(read("langfuse", &row("GENERATION")).unwrap().is_some());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (row, parts) in [
            (vec![], ["at_s = \"\"", "time stamp"]),
            (vec![("at_s", "soon")], ["at_s = \"soon\"", "5.25 (seconds)"]),
            (vec![("at_s", "1"), ("latency_s", "-1")], ["latency_s = \"-1\"", "length of time"]),
            (vec![("at_s", "1"), ("input_tokens", "1.5")], ["input_tokens = \"1.5\"", "whole"]),
        ] {
            let problem = read("own", &row).unwrap_err();
            assert!(parts.iter().all(|part| problem.contains(part)), "{problem}");
        }
    }
}
