//! The table, as Markdown.

use crate::contest::Line;

/// A line per peer and size.
pub fn markdown(lines: &[Line]) -> String {
    let mut text = String::from(
        "| peer | model | clients | CPU time per run | retrylab | ratio (rounds) | gate | verdict |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    for line in lines {
        let [lowest, median, highest] = line.ratios();
        text += &format!(
            "| {} | {} | {} | {} | {} | **{}x** ({} to {}) | ≥ {}x | {} |\n",
            line.peer.label(),
            line.game.label(),
            grouped(line.clients),
            time(line.theirs()),
            time(line.ours()),
            digits(median),
            digits(lowest),
            digits(highest),
            line.gate,
            if line.holds() { "holds" } else { "MISSED" },
        );
    }
    text
}

/// With a comma before every third digit.
fn grouped(n: u32) -> String {
    let digits = n.to_string();
    let parts: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|part| std::str::from_utf8(part).expect("digits"))
        .collect();
    parts.join(",")
}

/// Seconds in a unit that suits them.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Three digits or so.
fn digits(value: f64) -> String {
    let decimals = match value {
        v if v < 1.0 => 3,
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}
