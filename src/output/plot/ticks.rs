//! Axis ticks at steps of 1, 2 or 5 times a power of ten, and the numbers beside them.
//!
//! A tick is kept as an integer times a power of ten, so that its label is exact: `0.3`, never
//! `0.30000000000000004`.

/// The spacing of the ticks of one axis: `mantissa * 10^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    mantissa: i64,
    exponent: i32,
}

/// One tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where it is on the axis.
    pub value: f64,
    /// What is written beside it.
    pub label: String,
}

impl Tick {
    /// The tick at this power of ten.
    pub fn decade(exponent: i32) -> Tick {
        Tick::scaled(1, exponent)
    }

    /// The tick at a digit times a power of ten.
    pub fn scaled(digit: i64, exponent: i32) -> Tick {
        Tick { value: scaled(digit, exponent), label: label(digit, exponent) }
    }
}

/// From this power of ten on, labels are written as `5e9`.
const LARGE: i32 = 9;
/// Below this power of ten, labels are written as `5e-7`.
const SMALL: i32 = -6;

impl Step {
    /// The smallest step of the 1-2-5 series that is not below `least` (a positive number).
    pub fn at_least(least: f64) -> Step {
        let mut exponent = 0;
        while power_of_ten(exponent) > least {
            exponent -= 1;
        }
        while power_of_ten(exponent + 1) <= least {
            exponent += 1;
        }
        for mantissa in [1, 2, 5] {
            let step = Step { mantissa, exponent };
            if step.value() >= least {
                return step;
            }
        }
        Step { mantissa: 1, exponent: exponent + 1 }
    }

    /// The distance between two ticks.
    pub fn value(self) -> f64 {
        scaled(self.mantissa, self.exponent)
    }

    /// All ticks from `low` to `high`, both included.
    pub fn ticks(self, low: f64, high: f64) -> Vec<Tick> {
        let first = (low / self.value()).ceil() as i64;
        let mut ticks = Vec::new();
        for index in first.. {
            let units = index * self.mantissa;
            let value = scaled(units, self.exponent);
            if value > high {
                break;
            }
            ticks.push(Tick { value, label: label(units, self.exponent) });
        }
        ticks
    }
}

/// A number as text with at most two decimals and with separated thousands.
pub fn number(value: f64) -> String {
    if value >= 1e9 {
        return format!("{value:e}");
    }
    let mut units = (value * 100.0).round() as i64;
    let mut exponent = -2;
    while exponent < 0 && units % 10 == 0 {
        units /= 10;
        exponent += 1;
    }
    label(units, exponent)
}

/// A duration in words, in milliseconds below one second: `100 ms`, `1 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{} ms", number(seconds * 1000.0))
    } else {
        format!("{} s", number(seconds))
    }
}

/// `units * 10^exponent` as text, from integers only.
fn label(units: i64, exponent: i32) -> String {
    if units == 0 {
        return "0".to_owned();
    }
    if !(SMALL..LARGE).contains(&exponent) {
        return format!("{units}e{exponent}");
    }
    let sign = if units < 0 { "-" } else { "" };
    let digits = units.unsigned_abs().to_string();
    if exponent >= 0 {
        let zeros = "0".repeat(exponent as usize);
        return format!("{sign}{}", separate_thousands(&format!("{digits}{zeros}")));
    }
    let decimals = exponent.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    format!("{sign}{}.{fraction}", separate_thousands(whole))
}

/// `1234567` as `1,234,567`.
fn separate_thousands(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `units * 10^exponent`. Division by a power of ten is correctly rounded where multiplication
/// by its inverse is not, so that `3 * 10^-1` is exactly the double `0.3`.
fn scaled(units: i64, exponent: i32) -> f64 {
    if exponent >= 0 {
        units as f64 * power_of_ten(exponent)
    } else {
        units as f64 / power_of_ten(-exponent)
    }
}

/// `10^exponent` by repeated multiplication: `powi` may round differently between builds.
pub fn power_of_ten(exponent: i32) -> f64 {
    let power = (0..exponent.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
    if exponent >= 0 { power } else { 1.0 / power }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(least: f64, low: f64, high: f64) -> Vec<String> {
        let ticks = Step::at_least(least).ticks(low, high);
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn steps_are_one_two_or_five() {
        for (least, step) in
            [(1.0, 1.0), (1.1, 2.0), (2.5, 5.0), (6.0, 10.0), (0.03, 0.05), (7e6, 1e7)]
        {
            assert_eq!(Step::at_least(least).value(), step);
        }
    }

    #[test]
    fn labels_are_exact_and_readable() {
        assert_eq!(labels(0.1, 0.0, 0.3), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(500.0, 0.0, 1100.0), ["0", "500", "1,000"]);
        assert_eq!(labels(5e6, 1.0, 1e7), ["5,000,000", "10,000,000"]);
        assert_eq!(labels(1.0, -1.0, 1.0), ["-1", "0", "1"]);
        assert_eq!(labels(2e9, 1.0, 5e9), ["2e9", "4e9"]);
    }

    #[test]
    fn decades_are_exact() {
        let labels = [-2, 0, 3, 9].map(|exponent| Tick::decade(exponent).label);
        assert_eq!(labels, ["0.01", "1", "1,000", "1e9"]);
        assert_eq!(Tick::decade(-1).value, 0.1);
    }

    #[test]
    fn numbers_and_durations_are_short() {
        assert_eq!(number(70.0), "70");
        assert_eq!(number(1234.5), "1,234.5");
        assert_eq!(number(0.126), "0.13");
        assert_eq!(duration(0.1), "100 ms");
        assert_eq!(duration(0.0005), "0.5 ms");
        assert_eq!(duration(60.0), "60 s");
    }
}
