//! Numbers for people: five digits that matter, thousands apart.

/// A number with at most five significant digits and thousands separated by commas.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size >= 1_000.0 => 0,
        _ if size >= 100.0 => 1,
        _ if size >= 10.0 => 2,
        _ if size >= 0.01 || size == 0.0 => 4,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole = thousands(whole);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

fn thousands(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = String::from(sign);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "158.4 ± 1.2": a mean and half the width of its interval, to two significant digits.
pub fn with_halfwidth(mean: f64, bounds: Option<(f64, f64)>) -> String {
    match bounds {
        // A share's interval is longer on one side.
        Some((low, high)) if ((high - mean) - (mean - low)).abs() > 0.05 * (high - low) => {
            format!("{} ({})", number(mean), interval(bounds))
        }
        Some((low, high)) if high > low => {
            format!("{} ± {}", number(mean), two_digits((high - low) / 2.0))
        }
        _ => number(mean),
    }
}

fn two_digits(value: f64) -> String {
    let decimals = [(10.0, 0), (1.0, 1), (0.1, 2), (0.01, 3), (0.001, 4)];
    let decimals = decimals.iter().find(|(least, _)| value >= *least).map_or(6, |(_, d)| *d);
    let rounded = format!("{value:.decimals$}");
    if decimals == 0 { thousands(&rounded) } else { rounded }
}

/// An interval, "–" when there is none.
pub fn interval(bounds: Option<(f64, f64)>) -> String {
    bounds
        .map_or_else(|| "–".to_owned(), |(low, high)| format!("{} … {}", number(low), number(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_readable() {
        for (value, text) in [
            (1000.0, "1,000"),
            (1_234_567.8, "1,234,568"),
            (158.0, "158"),
            (159.384, "159.4"),
            (7.5, "7.5"),
            (20.08961, "20.09"),
            (0.0, "0"),
            (-1234.0, "-1,234"),
            (0.000_12, "0.00012"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn half_widths_have_two_digits() {
        assert_eq!(with_halfwidth(158.42, Some((157.2, 159.6))), "158.4 ± 1.2");
        assert_eq!(with_halfwidth(262_010.0, Some((248_056.0, 275_964.0))), "262,010 ± 13,954");
        assert_eq!(with_halfwidth(0.0, Some((0.0, 0.0188))), "0 (0 … 0.0188)");
        assert_eq!(with_halfwidth(0.9, Some((0.8977, 0.9023))), "0.9 ± 0.0023");
        assert_eq!(with_halfwidth(1_000.0, Some((1_000.0, 1_000.0))), "1,000");
    }
}
