//! How to make the results again: command, seed, version, day.

use serde_json::Value;

use super::escape::escape;

/// What the manifest says of it, as HTML.
pub fn html(manifest: &Value) -> String {
    let text = |key: &str| manifest[key].as_str().unwrap_or("?").to_owned();
    let words = manifest["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // Wherever the program was, whoever makes it again has it on the path.
    let words = std::iter::once("retrylab").chain(words.skip(1));
    let command: Vec<String> = words.map(quoted).collect();
    let day = manifest["unix_time"].as_u64().map_or("?".to_owned(), day);
    let facts = [
        ("master seed", text("seed")),
        ("replications", manifest["replications"].to_string()),
        ("retrylab", format!("{}, commit {}", text("version"), text("commit"))),
        ("made on", day),
    ];
    let facts =
        facts.map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value)));
    format!(
        "<pre class=\"command\" tabindex=\"0\"><code>{}</code></pre>\n<dl class=\"facts\">{}</dl>\n\
         <p>The same seed and version give the same result files to the byte, whatever the machine and the number of threads.</p>\n",
        escape(&command.join(" ")),
        facts.concat()
    )
}

/// A word as a POSIX shell needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// "2026-11-30", in UTC. The civil calendar from a count of days:
/// <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>
fn day(unix_time: u64) -> String {
    let days = unix_time / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + 400 * era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} (UTC)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_796_059_187, "2026-11-30"),
        ] {
            assert_eq!(day(seconds), format!("{text} (UTC)"));
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("workload.clients=5"), "workload.clients=5");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
