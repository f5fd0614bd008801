//! The recommendation: one sentence from the runs, and what following it costs.

use super::escape::escape;
use crate::experiment::{Change, MetricChange, change};
use crate::metrics::Better;
use crate::output::{CellRows, Runs, number};

/// Requests answered come first, then the peak, then the waste: a policy that gives up early has low peaks too.
const DECIDE: [(&str, Better); 4] = [
    ("success_ratio", Better::Higher),
    ("peak_bin", Better::Lower),
    ("wasted_usd", Better::Lower),
    ("wasted_tokens", Better::Lower),
];

/// Confidence of all intervals together.
const LEVEL: f64 = 0.95;

/// What to do, as HTML paragraphs.
pub struct Advice {
    /// One sentence.
    pub sentence: String,
    /// What it rests on, and what it costs.
    pub reasons: Vec<String>,
}

/// Compares policies by paired runs.
struct Judge<'a> {
    runs: &'a Runs,
    /// Confidence of each interval.
    level: f64,
}

impl Judge<'_> {
    fn name(&self, cell: usize) -> String {
        format!("<strong>{}</strong>", escape(&self.runs.cells[cell].key))
    }

    fn mean(&self, metric: &str, cell: usize) -> Option<f64> {
        let at = self.runs.metrics.iter().position(|name| name == metric)?;
        let rows = &self.runs.cells[cell].rows;
        let values: Vec<f64> = rows.iter().filter_map(|(_, values)| values[at]).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// What changes from one cell to another.
    fn change(
        &self,
        (metric, better): (&str, Better),
        from: usize,
        to: usize,
    ) -> Option<MetricChange> {
        let at = self.runs.metrics.iter().position(|name| name == metric)?;
        let rows = |cell: usize| -> &CellRows { &self.runs.cells[cell] };
        change((metric, better), (&rows(from).rows, at), (&rows(to).rows, at), self.level)
    }

    /// Those that no other is better than, beyond the interval, by one metric after the other.
    fn best(&self) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.runs.cells.len()).collect();
        for (metric, better) in DECIDE {
            let Some(best) = self.extreme(metric, better, &left) else { continue };
            let is_worse = |cell: &usize| {
                let found = self.change((metric, better), best, *cell);
                found.is_none_or(|found| found.change.is_regression())
            };
            left.retain(|cell| *cell == best || !is_worse(cell));
        }
        left
    }

    /// The cell with the best mean, the first of equals.
    fn extreme(&self, metric: &str, better: Better, cells: &[usize]) -> Option<usize> {
        let means = cells.iter().filter_map(|cell| Some((*cell, self.mean(metric, *cell)?)));
        let ahead = |mean: f64, best: f64| match better {
            Better::Higher => mean > best,
            _ => mean < best,
        };
        let best = means.reduce(|best, one| if ahead(one.1, best.1) { one } else { best });
        best.map(|(cell, _)| cell)
    }
}

/// The advice that the runs of one folder give; `window` says how long a window of peaks is.
pub fn advice(runs: &Runs, window: &str, shown: &[(&str, Better)]) -> Advice {
    let policies = runs.cells.len();
    let pairs = (policies * policies.saturating_sub(1) / 2 * DECIDE.len()).max(1);
    let judge = Judge { runs, level: 1.0 - (1.0 - LEVEL) / pairs as f64 };
    let replications = runs.cells.iter().map(|cell| cell.rows.len()).min().unwrap_or(0);
    if policies == 1 {
        return single(&judge, window);
    }
    if replications < 2 {
        let sentence = "One replication cannot tell policies apart: run it again with more (<code>-r 20</code>).";
        return Advice { sentence: sentence.to_owned(), reasons: Vec::new() };
    }
    let left = judge.best();
    let basis = format!(
        "Judged by requests answered, then by the retries in the busiest {window}, then by waste; intervals are paired by seed \
         over {replications} replications and hold together at 95 %."
    );
    let chosen = judge.extreme("peak_bin", Better::Lower, &left).unwrap_or(left[0]);
    let told = if left.contains(&0) { None } else { sentence(&judge, chosen, window) };
    let Some(sentence) = told else {
        let sentence = format!(
            "Stay with {}: none of the other {} is better than it beyond the interval.",
            judge.name(0),
            if policies == 2 { "one".to_owned() } else { format!("{} policies", policies - 1) }
        );
        let ties = ties(&judge, &left, 0);
        return Advice { sentence, reasons: std::iter::once(basis).chain(ties).collect() };
    };
    let mut reasons = vec![costs(&judge, chosen, shown)];
    reasons.extend(ties(&judge, &left, chosen));
    reasons.push(basis);
    Advice { sentence, reasons }
}

/// What there is to say of a policy that nothing is compared with.
fn single(judge: &Judge<'_>, window: &str) -> Advice {
    let mut facts = Vec::new();
    if let Some(share) = judge.mean("success_ratio", 0) {
        facts.push(format!("{} of the requests are answered", percent(share)));
    }
    if let Some(peak) = judge.mean("peak_bin", 0) {
        facts.push(format!("{} retries arrive in the busiest {window}", number(peak)));
    }
    let sentence = format!("Under {}, {}.", judge.name(0), facts.join(" and "));
    let reason = "There is one policy here, and so nothing to recommend; <code>retrylab compare</code> makes a folder with several.";
    Advice { sentence, reasons: vec![reason.to_owned()] }
}

/// "Use decorrelated rather than none: …"; None when it is better than the first in nothing.
fn sentence(judge: &Judge<'_>, chosen: usize, window: &str) -> Option<String> {
    let mut better = Vec::new();
    for metric in DECIDE {
        let Some(found) = judge.change(metric, 0, chosen) else { continue };
        // Dollars say what tokens say.
        let told = better.iter().any(|(name, _)| *name == "wasted_usd");
        if found.change == Change::Better && !(metric.0 == "wasted_tokens" && told) {
            better.push((metric.0, gain(&found, window)));
        }
    }
    let gains: Vec<String> = better.into_iter().map(|(_, gain)| gain).collect();
    let gains = match gains.split_last()? {
        (last, []) => last.clone(),
        (last, rest) => format!("{}, and {last}", rest.join(", ")),
    };
    Some(format!("Use {} rather than {}: {gains}.", judge.name(chosen), judge.name(0)))
}

/// "73.3 retries in the busiest 100 ms instead of 1,000 (927.8 to 925.6 fewer)"
fn gain(found: &MetricChange, window: &str) -> String {
    let (before, after) = found.means;
    let bounds = |write: &dyn Fn(f64) -> String, word: &str| {
        let Some((low, high)) = found.interval else { return String::new() };
        let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
        match write(least) == write(most) {
            true => format!(" ({} {word} in every run)", write(most)),
            false => format!(" ({} to {} {word})", write(least), write(most)),
        }
    };
    match found.metric.as_str() {
        "success_ratio" => format!(
            "{} of the requests answered instead of {}{}",
            percent(after),
            percent(before),
            bounds(&|value| number(100.0 * value), "points more")
        ),
        "peak_bin" => format!(
            "{} retries in the busiest {window} instead of {}{}",
            number(after),
            number(before),
            bounds(&number, "fewer")
        ),
        "wasted_usd" => {
            let dollars = |value: f64| format!("${value:.2}");
            format!(
                "{} wasted instead of {}{}",
                dollars(after),
                dollars(before),
                bounds(&dollars, "less")
            )
        }
        _ => format!(
            "{} tokens wasted instead of {}{}",
            number(after),
            number(before),
            bounds(&number, "fewer")
        ),
    }
}

/// "98.2 %"
fn percent(share: f64) -> String {
    format!("{} %", number((1000.0 * share).round() / 10.0))
}

/// What the chosen policy is worse in than the first.
fn costs(judge: &Judge<'_>, chosen: usize, shown: &[(&str, Better)]) -> String {
    let worse = shown.iter().filter_map(|metric| {
        let found = judge.change(*metric, 0, chosen)?;
        let (before, after) = found.means;
        let lost = found.change == Change::Lost;
        let after = if lost { "no value".to_owned() } else { number(after) };
        found.change.is_regression().then(|| {
            format!("<code>{}</code> {after} instead of {}", escape(metric.0), number(before))
        })
    });
    let worse: Vec<String> = worse.collect();
    match worse.is_empty() {
        true => "It is worse in none of the metrics of the table.".to_owned(),
        false => format!("What it costs: {}.", worse.join("; ")),
    }
}

/// Who cannot be told from the chosen one.
fn ties(judge: &Judge<'_>, left: &[usize], chosen: usize) -> Option<String> {
    let others: Vec<String> =
        left.iter().filter(|cell| **cell != chosen).map(|cell| judge.name(*cell)).collect();
    (!others.is_empty()).then(|| format!("By these it cannot be told from {}.", others.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of policies whose metrics are these in every replication, but for a little noise in the peak.
    fn runs(policies: &[(&str, f64, f64)], replications: u32) -> Runs {
        let row = |success: f64, peak: f64, r: u32| {
            (r, vec![Some(success), Some(peak + f64::from(r % 3)), Some(0.0)])
        };
        let cell = |(key, success, peak): &(&str, f64, f64)| CellRows {
            key: (*key).to_owned(),
            rows: (0..replications).map(|r| row(*success, *peak, r)).collect(),
        };
        Runs {
            name: "here".to_owned(),
            seed: None,
            metrics: ["success_ratio", "peak_bin", "wasted_tokens"].map(str::to_owned).to_vec(),
            cells: policies.iter().map(cell).collect(),
        }
    }

    fn sentence_of(policies: &[(&str, f64, f64)], replications: u32) -> String {
        advice(&runs(policies, replications), "100 ms", &[]).sentence
    }

    #[test]
    fn the_lowest_peak_wins_among_those_that_answer_as_much() {
        let said = sentence_of(&[("none", 0.9, 100.0), ("sdk", 0.9, 80.0), ("full", 0.9, 20.0)], 6);
        let expected = "Use <strong>full</strong> rather than <strong>none</strong>: 21 retries in the busiest 100 ms instead of 101 (80 fewer in every run).";
        assert_eq!(said, expected);
    }

    #[test]
    fn a_policy_that_gives_up_is_not_better_for_its_low_peak() {
        let said = sentence_of(&[("none", 0.9, 100.0), ("no-retry", 0.1, 0.0)], 6);
        assert!(said.starts_with("Stay with <strong>none</strong>"), "{said}");
        let said = sentence_of(&[("no-retry", 0.1, 0.0), ("none", 0.9, 100.0)], 6);
        assert!(said.starts_with("Use <strong>none</strong>"), "{said}");
        assert!(said.contains("90 % of the requests answered instead of 10 %"), "{said}");
    }

    #[test]
    fn no_difference_is_said_plainly() {
        let said = sentence_of(&[("none", 0.9, 100.0), ("<i>", 0.9, 100.0)], 6);
        assert!(said.starts_with("Stay with") && said.contains("beyond the interval"), "{said}");
        let one = sentence_of(&[("none", 0.9, 100.0), ("full", 0.9, 1.0)], 1);
        assert!(one.contains("One replication cannot tell"), "{one}");
        let all = advice(&runs(&[("a", 0.9, 5.0), ("<i>", 0.9, 5.0)], 6), "100 ms", &[]);
        assert!(all.reasons.iter().any(|reason| reason.contains("&lt;i&gt;")));
    }

    #[test]
    fn a_single_policy_has_no_advice() {
        let found = advice(&runs(&[("full", 0.5, 7.0)], 3), "100 ms", &[]);
        let expected = "Under <strong>full</strong>, 50 % of the requests are answered and 8 retries arrive in the busiest 100 ms.";
        assert_eq!(found.sentence, expected);
    }

    #[test]
    fn costs_are_named() {
        let worse = runs(&[("none", 0.1, 20.0), ("full", 0.9, 50.0)], 6);
        let found = advice(&worse, "100 ms", &[("peak_bin", Better::Lower)]);
        assert!(
            found.reasons[0].contains("<code>peak_bin</code> 51 instead of 21"),
            "{}",
            found.reasons[0]
        );
    }
}
