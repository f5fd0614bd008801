//! Markdown tables, and numbers in them.

use retrylab::output::number;

/// A table under these names of columns.
pub fn markdown(names: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = line(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    // The first column says what the row is; all others are numbers.
    let rule = format!("| --- |{}\n", " ---: |".repeat(names.len() - 1));
    rows.into_iter().fold(head + &rule, |text, row| text + &line(&row))
}

/// A whole number, in groups of three digits.
pub fn whole(value: f64) -> String {
    number(value.round())
}

/// A time in the unit that makes it readable: "850 ns", "3.1 µs", "12 ms", "4.0 s", "12 min", "31 h".
pub fn time(seconds: f64) -> String {
    let units =
        [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3_600.0)];
    let fits = |(_, size): &&(&str, f64)| seconds >= 0.995 * size;
    let (unit, size) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    let value = seconds / size;
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{} {unit}", whole(value)) }
}
