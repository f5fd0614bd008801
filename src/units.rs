//! Time spans and rates: integers inside, strings with a unit outside.
//!
//! Time is counted in whole nanoseconds (`u64`), so sums are exact and the same on every
//! platform. A span is written `"1.5s"`, `"350ms"`, `"10min"`; a rate `"60/s"`, `"1000/min"`.
//! A plain number is refused, because nobody can see whether `60` means seconds or milliseconds.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant of simulated time, in nanoseconds since the start of the run.
pub type Time = u64;

/// Nanoseconds in one second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Units a span may be written in, with their length in nanoseconds.
const SPAN_UNITS: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", NANOS_PER_SECOND),
    ("sec", NANOS_PER_SECOND),
    ("min", 60 * NANOS_PER_SECOND),
    ("h", 3_600 * NANOS_PER_SECOND),
    ("d", 86_400 * NANOS_PER_SECOND),
];

/// The longest span that is accepted: ten years of 365 days.
pub(crate) const LONGEST: u64 = 3_650 * 86_400 * NANOS_PER_SECOND;

/// A length of time in whole nanoseconds, at most ten years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// The longest span that is accepted: ten years of 365 days.
    pub const LONGEST: Span = Span(LONGEST);

    /// A span of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Span {
        Span(ns)
    }

    /// A span of `s` whole seconds.
    pub const fn from_seconds(s: u64) -> Span {
        Span(s * NANOS_PER_SECOND)
    }

    /// The span in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds, for output only.
    pub fn seconds(self) -> f64 {
        seconds(self.0)
    }
}

/// A part of something as it is written: "2%" or "0.02".
pub fn part(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    }
}

/// Nanoseconds as seconds, for output only.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / NANOS_PER_SECOND as f64
}

/// `quantity` (a real number of nanoseconds) rounded to the nearest whole one.
///
/// The only place where a sampled time becomes an integer. Negative values become 0; what
/// would not fit becomes the longest span.
pub fn round_nanos(quantity: f64) -> u64 {
    if quantity <= 0.0 {
        return 0;
    }
    // Half up by adding and truncating: `as` saturates and has no platform-dependent mode.
    let whole = (quantity + 0.5) as u64;
    whole.min(LONGEST)
}

/// An exact decimal: `digits` / 10^`scale`.
struct Decimal {
    digits: u128,
    scale: u32,
}

fn parse_decimal(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all: String = [whole, fraction].concat().replace('_', "");
    let plain = !all.is_empty() && all.bytes().all(|b| b.is_ascii_digit());
    if !plain || all.len() > 30 || text.ends_with('.') || text.starts_with('.') {
        return None;
    }
    Some(Decimal { digits: all.parse().ok()?, scale: fraction.replace('_', "").len() as u32 })
}

fn split_number(text: &str) -> (&str, &str) {
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(format!("the duration \"{trimmed}\" is negative; write 0s or more"));
        }
        let (number, unit) = split_number(trimmed);
        if unit.is_empty() && !number.is_empty() {
            return Err(no_unit(number));
        }
        if unit == "m" {
            return Err(format!(
                "the duration \"{trimmed}\" could be minutes or milliseconds; write \"{number}min\" or \"{number}ms\""
            ));
        }
        let (Some(decimal), Some(length)) = (parse_decimal(number), unit_nanos(unit)) else {
            return Err(format!(
                "\"{trimmed}\" is not a duration; write a number and one of ns, us, ms, s, min, h, d, such as \"500ms\""
            ));
        };
        exact_nanos(trimmed, &decimal, length)
    }
}

fn exact_nanos(text: &str, decimal: &Decimal, length: u64) -> Result<Span, String> {
    let too_long = || format!("the duration \"{text}\" is too long; at most 3650d");
    let scaled = decimal.digits.checked_mul(u128::from(length)).ok_or_else(too_long)?;
    let divisor = 10u128.pow(decimal.scale);
    if scaled % divisor != 0 {
        return Err(format!("the duration \"{text}\" is finer than one nanosecond"));
    }
    let ns = u64::try_from(scaled / divisor).map_err(|_| too_long())?;
    if ns > LONGEST {
        return Err(too_long());
    }
    Ok(Span(ns))
}

/// The length in nanoseconds of a unit of time, such as `ms`.
pub(crate) fn unit_nanos(name: &str) -> Option<u64> {
    SPAN_UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, nanos)| *nanos)
}

fn no_unit(number: &str) -> String {
    format!("the duration {number} has no unit; write \"{number}s\" or \"{number}ms\"")
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, length) = match self.0 {
            0 => ("s", NANOS_PER_SECOND),
            ns if ns >= NANOS_PER_SECOND => ("s", NANOS_PER_SECOND),
            ns if ns >= 1_000_000 => ("ms", 1_000_000),
            ns if ns >= 1_000 => ("us", 1_000),
            _ => ("ns", 1),
        };
        let whole = self.0 / length;
        let rest = self.0 % length;
        if rest == 0 {
            return write!(f, "{whole}{unit}");
        }
        let width = length.ilog10() as usize;
        let fraction = format!("{rest:0width$}");
        write!(f, "{whole}.{}{unit}", fraction.trim_end_matches('0'))
    }
}

/// How often something happens: `events` per `period` nanoseconds, kept as an exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    events: u64,
    period: u64,
}

impl Rate {
    /// `events` per second.
    pub const fn per_second(events: u64) -> Rate {
        Rate { events, period: NANOS_PER_SECOND }
    }

    /// The numerator: events per [`Rate::period`].
    pub const fn events(self) -> u64 {
        self.events
    }

    /// The denominator, in nanoseconds.
    pub const fn period(self) -> u64 {
        self.period
    }

    /// Events per second as a real number.
    pub fn hertz(self) -> f64 {
        self.events as f64 * (NANOS_PER_SECOND as f64 / self.period as f64)
    }

    /// True when nothing ever happens.
    pub const fn is_zero(self) -> bool {
        self.events == 0
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let help = || {
            format!(
                "\"{text}\" is not a rate; write a number per s, min or h, such as \"60/s\" or \"1000/min\""
            )
        };
        let (number, unit) = text.trim().split_once('/').ok_or_else(help)?;
        let number = number.trim();
        if number.starts_with('-') {
            return Err(format!("the rate \"{text}\" is negative; write 0/s or more"));
        }
        let per = SPAN_UNITS
            .iter()
            .find(|(name, _)| *name == unit.trim() && ["ms", "s", "min", "h", "d"].contains(name))
            .map(|(_, ns)| *ns)
            .ok_or_else(help)?;
        let decimal = parse_decimal(number).ok_or_else(help)?;
        reduce(text, &decimal, per)
    }
}

fn reduce(text: &str, decimal: &Decimal, per: u64) -> Result<Rate, String> {
    let shift = 10u128.pow(decimal.scale);
    let period = u128::from(per).checked_mul(shift);
    let period = period.ok_or_else(|| format!("the rate \"{text}\" has too many decimals"))?;
    let common = gcd(decimal.digits, period).max(1);
    let out_of_range = || format!("the rate \"{text}\" is out of range; at most 1e12 a second");
    let events = u64::try_from(decimal.digits / common).map_err(|_| out_of_range())?;
    let period = u64::try_from(period / common).map_err(|_| out_of_range())?;
    if events as f64 / period as f64 > 1_000.0 {
        return Err(out_of_range());
    }
    Ok(Rate { events, period })
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, length) in [("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)] {
            let scaled = u128::from(self.events) * u128::from(length * NANOS_PER_SECOND);
            for (shift, divisor) in [(0u32, 1u128), (1, 10), (2, 100), (3, 1_000), (6, 1_000_000)] {
                let digits = scaled * divisor;
                if digits % u128::from(self.period) != 0 {
                    continue;
                }
                let value = digits / u128::from(self.period);
                if shift == 0 {
                    return write!(f, "{value}/{unit}");
                }
                let fraction = format!("{:0width$}", value % divisor, width = shift as usize);
                return write!(f, "{}.{fraction}/{unit}", value / divisor);
            }
        }
        write!(f, "{}/s", self.hertz())
    }
}

/// Reads a value that must be written as a string with a unit.
struct WithUnit<T> {
    what: &'static str,
    bare: fn(&str) -> String,
    marker: std::marker::PhantomData<T>,
}

impl<T: FromStr<Err = String>> Visitor<'_> for WithUnit<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Err(E::custom((self.bare)(&number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        if !number.is_finite() {
            return Err(E::invalid_type(de::Unexpected::Float(number), &self));
        }
        Err(E::custom((self.bare)(&number.to_string())))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        let what = "a duration in quotes such as \"500ms\"";
        let marker = std::marker::PhantomData;
        deserializer.deserialize_any(WithUnit { what, bare: no_unit, marker })
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        let what = "a rate in quotes such as \"60/s\"";
        let bare = |n: &str| format!("the rate {n} has no unit; write \"{n}/s\" or \"{n}/min\"");
        let marker = std::marker::PhantomData;
        deserializer.deserialize_any(WithUnit { what, bare, marker })
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_exact_and_print_as_they_are_read() {
        for (text, ns) in [
            ("0s", 0),
            ("1.5s", 1_500_000_000),
            ("350ms", 350_000_000),
            ("10min", 600 * NANOS_PER_SECOND),
            ("0.1s", 100_000_000),
            ("1.234567891s", 1_234_567_891),
            ("250 us", 250_000),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.nanos(), ns, "{text}");
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span, "{text}");
        }
        assert_eq!(Span::from_nanos(1_500_000).to_string(), "1.5ms");
        assert_eq!(Span::from_seconds(600).to_string(), "600s");
    }

    #[test]
    fn a_wrong_span_says_what_to_write() {
        for (text, part) in [
            ("60", "has no unit"),
            ("-1s", "negative"),
            ("5m", "5min"),
            ("1parsec", "is not a duration"),
            ("0.1ns", "finer than one nanosecond"),
            ("99999d", "too long"),
            ("NaN", "is not a duration"),
            ("1e9s", "is not a duration"),
            ("", "is not a duration"),
        ] {
            let error = text.parse::<Span>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn rates_are_exact_fractions() {
        for (text, hertz) in
            [("60/s", 60.0), ("1000/min", 1000.0 / 60.0), ("0.8/s", 0.8), ("0/s", 0.0)]
        {
            let rate: Rate = text.parse().unwrap();
            assert!((rate.hertz() - hertz).abs() < 1e-12, "{text}");
            assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate, "{text}");
        }
        assert_eq!("1000/min".parse::<Rate>().unwrap().to_string(), "1000/min");
        for text in ["60", "60/fortnight", "-1/s", "x/s", "1e3/s", "99999999999999999/ms"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_nanosecond() {
        assert_eq!(round_nanos(0.4), 0);
        assert_eq!(round_nanos(0.5), 1);
        assert_eq!(round_nanos(-3.0), 0);
        assert_eq!(round_nanos(f64::INFINITY), LONGEST);
        assert_eq!(round_nanos(f64::NAN), 0);
    }
}
