//! Numbers as a scenario file has them: four digits that count.

use crate::math;

/// Decimals with which a number has four digits that count.
fn decimals(value: f64) -> usize {
    if value <= 0.0 || !value.is_finite() {
        return 0;
    }
    let digits = (math::ln(value) / std::f64::consts::LN_10).floor() as i32;
    usize::try_from(3 - digits).unwrap_or(0).min(15)
}

/// The number as it is written: "0.01235", "12350".
pub fn short(value: f64) -> String {
    let text = format!("{value:.*}", decimals(value));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The number that is written.
pub fn rounded(value: f64) -> f64 {
    short(value).parse().unwrap_or(value)
}

/// A rate: "2.567/s", and below 0.1/s by the hour, so that slow streams keep their digits.
pub fn rate(per_second: f64) -> String {
    match per_second >= 0.1 || per_second == 0.0 {
        true => format!("{}/s", short(per_second)),
        false => format!("{}/h", short(per_second * 3_600.0)),
    }
}

/// The rate per second that is written.
pub fn rounded_rate(per_second: f64) -> f64 {
    match per_second >= 0.1 || per_second == 0.0 {
        true => rounded(per_second),
        false => rounded(per_second * 3_600.0) / 3_600.0,
    }
}

/// A time: "1.234s", "350ms", "0.5us".
pub fn span(seconds: f64) -> String {
    let (unit, length) = match seconds {
        s if s <= 0.0 => return "0s".to_owned(),
        s if s >= 1.0 => ("s", 1.0),
        s if s >= 1e-3 => ("ms", 1e-3),
        s if s >= 1e-6 => ("us", 1e-6),
        _ => return format!("{}ns", (seconds * 1e9).round()),
    };
    format!("{}{unit}", short(seconds / length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    #[test]
    fn four_digits_count() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (2.566_686, "2.567"),
            (0.000_123_456, "0.0001235"),
            (123_456.0, "123456"),
            (9.999_96, "10"),
            (99.0, "99"),
        ] {
            assert_eq!(short(value), text);
        }
        assert_eq!(rate(2.566_686), "2.567/s");
        assert_eq!(rate(0.012_345_6), "44.44/h");
        for hz in [0.0, 1e-6, 0.03, 2.5, 12_345.678, 9e5] {
            let read: Rate = rate(hz).parse().unwrap();
            assert!((read.hertz() - rounded_rate(hz)).abs() <= 1e-9 * hz, "{hz}");
        }
    }

    #[test]
    fn spans_are_read_back() {
        for (seconds, text) in
            [(0.0, "0s"), (1.234_56, "1.235s"), (0.35, "350ms"), (2e-6, "2us"), (3e-9, "3ns")]
        {
            assert_eq!(span(seconds), text);
            assert!((text.parse::<Span>().unwrap().seconds() - seconds).abs() < 1e-3, "{text}");
        }
    }
}
