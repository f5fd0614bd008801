//! What vendors say: bodies, headers and events as data, with `$words` to be filled in.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::server::LimitKind;

/// How one vendor speaks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// Where it says so.
    #[serde(rename = "source")]
    _source: String,
    /// When that was looked up.
    #[serde(rename = "checked")]
    _checked: String,
    /// How a request is named in its answer.
    pub request_id: RequestIdHeader,
    /// Largest body of a request.
    pub most_bytes: usize,
    error: String,
    kinds: BTreeMap<String, String>,
    #[serde(default)]
    codes: BTreeMap<String, String>,
    messages: BTreeMap<String, String>,
    limits: LimitHeaders,
    endpoints: Vec<Endpoint>,
}

/// The header that names a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestIdHeader {
    /// Its name.
    pub header: String,
    /// How its value begins.
    pub prefix: String,
}

/// The headers that tell where a client stands with its limits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitHeaders {
    reset: Reset,
    requests: LimitHeader,
    tokens: LimitHeader,
    input_tokens: Option<LimitHeader>,
    output_tokens: Option<LimitHeader>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitHeader {
    most: String,
    left: String,
    reset: String,
}

/// How the end of a limit is written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Reset {
    /// A date by RFC 3339.
    Date,
    /// A duration: `1m30s`, `12ms`.
    Duration,
}

/// One path and what comes back from it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The path.
    pub path: String,
    /// How the name of an answer begins.
    pub id: String,
    /// Why an answer ends that is whole.
    pub whole: String,
    /// Why one ends that `max_tokens` has cut off.
    pub cut: String,
    /// A complete answer.
    pub answer: String,
    /// What is said of a cut beside it.
    #[serde(default)]
    pub cut_why: Option<String>,
    /// Events before the first token.
    pub begin: Vec<String>,
    /// The event of some tokens.
    pub delta: String,
    /// Events after the last token.
    pub end: Vec<String>,
    /// The event that counts tokens, for those who ask for it.
    #[serde(default)]
    pub usage: Option<String>,
    /// What ends the stream.
    #[serde(default)]
    pub last: Option<String>,
    /// The event of an error in a stream.
    pub broken: String,
}

impl Vendor {
    /// All vendors.
    pub fn all() -> Result<Vec<Vendor>> {
        let texts = [include_str!("vendors/anthropic.toml"), include_str!("vendors/openai.toml")];
        let parse = |text| toml::from_str(text).map_err(|e| Error::Bug(format!("a vendor: {e}")));
        texts.into_iter().map(parse).collect()
    }

    /// The endpoint at a path.
    pub fn endpoint(&self, path: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.path == path)
    }

    /// The body of an error; `kind` is what a scenario calls it, where it does.
    pub fn error(&self, status: u16, kind: Option<&str>, request_id: &str) -> String {
        let code = kind.or(self.codes.get(&status.to_string()).map(String::as_str));
        let of_status = by_status(&self.kinds, status);
        // A kind that the vendor has is its type; anything else is a code.
        let own = kind.filter(|kind| self.kinds.values().any(|own| own == kind));
        let message = by_status(&self.messages, status);
        let message = match kind {
            Some(kind) if own.is_none() => format!("{message} ({kind})"),
            _ => message.to_owned(),
        };
        fill(
            &self.error,
            &[
                ("kind", text(own.unwrap_or(of_status))),
                ("message", text(&message)),
                ("code", code.map_or("null".to_owned(), text)),
                ("request_id", text(request_id)),
            ],
        )
    }

    /// The headers of a limit: their names and values; the reset is in `whole_in` nanoseconds of the wall
    /// clock, `unix_s` the time.
    pub fn limit_headers(
        &self,
        kind: LimitKind,
        (most, left): (u64, u64),
        whole_in: Option<u64>,
        unix_s: u64,
    ) -> Vec<(&str, String)> {
        let names = match kind {
            LimitKind::Requests => Some(&self.limits.requests),
            LimitKind::Tokens => Some(&self.limits.tokens),
            LimitKind::InputTokens => self.limits.input_tokens.as_ref(),
            LimitKind::OutputTokens => self.limits.output_tokens.as_ref(),
            LimitKind::Spend | LimitKind::Concurrency | LimitKind::Growth => None,
        };
        let Some(names) = names else { return Vec::new() };
        let mut headers =
            vec![(names.most.as_str(), most.to_string()), (names.left.as_str(), left.to_string())];
        if let Some(nanos) = whole_in {
            let value = match self.limits.reset {
                Reset::Date => rfc3339(unix_s + nanos.div_ceil(1_000_000_000)),
                Reset::Duration => duration(nanos.div_ceil(1_000_000)),
            };
            headers.push((names.reset.as_str(), value));
        }
        headers
    }
}

/// The entry of a status: its own, or that of all alike.
fn by_status(table: &BTreeMap<String, String>, status: u16) -> &str {
    let class = if status < 500 { "4xx" } else { "5xx" };
    let found = table.get(&status.to_string()).or_else(|| table.get(class));
    found.map_or("error", String::as_str)
}

/// A text as a JSON value.
pub fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A template with its `$words` filled in, the longest that is known first.
pub fn fill(template: &str, words: &[(&str, String)]) -> String {
    let mut filled = String::with_capacity(template.len() + 256);
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let known = words.iter().filter(|(word, _)| rest.starts_with(word));
        match known.max_by_key(|(word, _)| word.len()) {
            Some((word, value)) => {
                filled.push_str(value);
                rest = &rest[word.len()..];
            }
            None => filled.push('$'),
        }
    }
    filled.push_str(rest);
    filled
}

/// Seconds since 1970 as a date by RFC 3339.
fn rfc3339(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// Seconds since 1970 as an HTTP date.
pub fn http_date(unix_s: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let (weekday, month) = (DAYS[days as usize % 7], MONTHS[month as usize - 1]);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{:02} GMT", second % 60)
}

/// Year, month and day of a number of days since 1970 (Hinnant, "chrono-compatible low-level date
/// algorithms", civil_from_days).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

/// Milliseconds as `1m30s`, `6s` or `12ms`.
fn duration(ms: u64) -> String {
    if ms < 1_000 {
        return format!("{ms}ms");
    }
    let (minutes, seconds) = (ms / 60_000, ms % 60_000);
    let seconds = match seconds % 1_000 {
        0 => format!("{}s", seconds / 1_000),
        part => format!("{}.{part:03}s", seconds / 1_000),
    };
    if minutes == 0 { seconds } else { format!("{minutes}m{seconds}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vendor(path: &str) -> Vendor {
        let mut all = Vendor::all().unwrap().into_iter();
        all.find(|vendor| vendor.endpoint(path).is_some()).unwrap()
    }

    fn json(text: &str) -> serde_json::Value {
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    #[test]
    fn errors_have_the_shape_of_their_vendor() {
        let claude = vendor("/v1/messages");
        let error = json(&claude.error(529, None, "req_011"));
        assert_eq!(error["error"]["type"], "overloaded_error");
        assert_eq!((&error["type"], &error["request_id"]), (&"error".into(), &"req_011".into()));
        let spend = json(&claude.error(429, Some("enforced_spend_limit_reached"), "r"));
        assert_eq!(spend["error"]["type"], "rate_limit_error");
        let message = spend["error"]["message"].as_str().unwrap();
        assert!(message.contains("enforced_spend_limit_reached"));
        let openai = vendor("/v1/responses");
        let error = json(&openai.error(429, Some("insufficient_quota"), "r"));
        assert_eq!(error["error"]["code"], "insufficient_quota");
        assert_eq!(json(&openai.error(500, None, "r"))["error"]["code"], serde_json::Value::Null);
        assert_eq!(json(&openai.error(418, None, "r"))["error"]["type"], "invalid_request_error");
    }

    #[test]
    fn words_are_filled_in() {
        let words = [("id", "1".to_owned()), ("idle", "2".to_owned())];
        assert_eq!(fill("$id$idle $x$", &words), "12 $x$");
    }

    #[test]
    fn times_are_written_as_vendors_do() {
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_796_083_199), "2026-11-30T23:59:59Z");
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!([12, 6_000, 90_000, 1_500].map(duration), ["12ms", "6s", "1m30s", "1.500s"]);
        let claude = vendor("/v1/messages");
        let headers = claude.limit_headers(LimitKind::Requests, (50, 49), Some(1), 0);
        assert_eq!(headers[2].1, "1970-01-01T00:00:01Z");
    }
}
