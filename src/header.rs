//! The value of a header that names a wait, as it stands on the wire.
//!
//! The same text is read in different ways: Python's `float` takes `inf` for a number and
//! JavaScript's `parseFloat` does not, old clients read whole numbers only, and an HTTP date is
//! as coarse as a second. So a value keeps what readers may disagree about.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use crate::units::{NANOS_PER_SECOND, Span};

/// A header's value.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderValue {
    text: String,
    kind: Kind,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Digits, with or without a point, sign and exponent; too large a number is infinite.
    Number {
        /// The number.
        value: f64,
        /// True when it is written as a whole number.
        whole: bool,
    },
    /// A word that Python's `float` takes for a number: `inf`, `nan`.
    Word(f64),
    /// An HTTP date, written in a scenario as its distance from the answer: `now+3s`, `now-30s`.
    Date {
        /// Nanoseconds from the answer to the date; negative for a date that has passed.
        offset: i64,
    },
    /// Neither a number nor a date.
    Garbage,
}

impl HeaderValue {
    /// What the value is.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

/// Nanoseconds from `now` until the date that `offset` names. A date has whole seconds, and what
/// is left of a second is cut off; the simulated clock starts at a whole second.
pub fn until_date(offset: i64, now: u64) -> i64 {
    let second = NANOS_PER_SECOND as i64;
    let now = i64::try_from(now).unwrap_or(i64::MAX / 2);
    let exact = now.saturating_add(offset);
    exact.div_euclid(second) * second - now
}

impl FromStr for HeaderValue {
    type Err = String;

    fn from_str(text: &str) -> Result<HeaderValue, String> {
        if !text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            return Err(format!("the header {text:?} is not plain ASCII text"));
        }
        let kind = if text.starts_with("now+") || text.starts_with("now-") {
            let span: Span = text[4..].parse().map_err(|e| format!("\"{text}\": {e}"))?;
            let offset = i64::try_from(span.nanos()).unwrap_or(i64::MAX);
            Kind::Date { offset: if text.starts_with("now-") { -offset } else { offset } }
        } else {
            number(text)
        };
        Ok(HeaderValue { text: text.to_owned(), kind })
    }
}

fn number(text: &str) -> Kind {
    let Ok(value) = text.trim().parse::<f64>() else { return Kind::Garbage };
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return Kind::Word(value);
    }
    let whole = text.trim().trim_start_matches(['-', '+']).bytes().all(|b| b.is_ascii_digit());
    Kind::Number { value, whole }
}

impl fmt::Display for HeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for HeaderValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for HeaderValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HeaderValue, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_what_readers_disagree_about() {
        let kind = |text: &str| text.parse::<HeaderValue>().unwrap().kind();
        assert_eq!(kind("2"), Kind::Number { value: 2.0, whole: true });
        assert_eq!(kind("-1"), Kind::Number { value: -1.0, whole: true });
        assert_eq!(kind("1.5"), Kind::Number { value: 1.5, whole: false });
        assert_eq!(kind("1e400"), Kind::Number { value: f64::INFINITY, whole: false });
        assert_eq!(kind("inf"), Kind::Word(f64::INFINITY));
        assert!(matches!(kind("nan"), Kind::Word(nan) if nan.is_nan()));
        assert_eq!(kind("soon"), Kind::Garbage);
        assert_eq!(kind("now+3s"), Kind::Date { offset: 3_000_000_000 });
        assert_eq!(kind("now-30s"), Kind::Date { offset: -30_000_000_000 });
        assert!("now+3".parse::<HeaderValue>().is_err());
        assert!("2\n".parse::<HeaderValue>().is_err());
    }

    #[test]
    fn dates_are_whole_seconds() {
        let ms = 1_000_000;
        assert_eq!(until_date(3_000 * ms, 0), 3_000 * ms);
        assert_eq!(until_date(3_000 * ms, 400 * ms as u64), 2_600 * ms);
        assert_eq!(until_date(-30_000 * ms, 400 * ms as u64), -30_400 * ms);
    }
}
