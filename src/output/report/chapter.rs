//! What the page says of one results folder, in the order in which a reviewer asks.

use serde_json::Value;

use super::advice::advice;
use super::escape::escape;
use super::system::PolicyScenario;
use super::table::Rows;
use super::{chart, provenance, system};
use crate::experiment::{WindowRow, change};
use crate::metrics::Better;
use crate::output::plot::duration;
use crate::output::{Mean, Runs, Setting, number, with_halfwidth};

/// A picture, drawn wide and narrow.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows.
    pub caption: &'static str,
    /// For screens and paper.
    pub wide: String,
    /// For phones.
    pub narrow: String,
}

/// A metric of the tables.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// Which direction is better.
    pub better: Better,
    /// What it says, in one line.
    pub meaning: &'static str,
}

/// A results folder, read.
#[derive(Debug)]
pub struct Chapter<'a> {
    /// What it is called.
    pub name: String,
    /// Title of its scenario.
    pub title: String,
    /// Circumstances.
    pub setting: &'a Setting,
    /// manifest.json.
    pub manifest: &'a Value,
    /// runs.csv.
    pub runs: Runs,
    /// summary.csv.
    pub means: Vec<Mean>,
    /// windows.csv.
    pub curves: Vec<(String, Vec<WindowRow>)>,
    /// The metrics of its tables.
    pub shown: Vec<Shown>,
    /// Its pictures; the first one is that of the load.
    pub figures: Vec<Figure>,
    /// Captions of pictures that have nothing to show, and why.
    pub not_drawn: Vec<(&'static str, String)>,
}

impl Chapter<'_> {
    /// The chapter; `index` tells it from the others.
    pub fn html(&self, index: usize) -> String {
        let shown: Vec<(&str, Better)> =
            self.shown.iter().map(|one| (one.name.as_str(), one.better)).collect();
        let advice = advice(&self.runs, &duration(self.setting.window_s), &shown);
        let heading = if index == 0 { "h1" } else { "h1 class=\"more\"" };
        let reasons: String = advice.reasons.iter().map(|r| format!("<p>{r}</p>\n")).collect();
        let scenarios = self.scenarios();
        let part = |title: &str, html: &str| {
            format!("<section class=\"part\">\n<h2>{title}</h2>\n{html}</section>\n")
        };
        [
            format!("<header><{heading}>{}</h1>\n<p class=\"question\">{}</p></header>\n", escape(&self.title), self.question()),
            format!("<section class=\"part advice\">\n<h2>Recommendation</h2>\n<p class=\"sentence\">{}</p>\n{reasons}</section>\n", advice.sentence),
            part("The system", &self.system(&scenarios)),
            part("The numbers", &self.tables()),
            part("Load over time", &self.load()),
            part("More pictures", &self.pictures()),
            part("Assumptions", &self.assumptions()),
            part("To make it again", &format!("{}{}", provenance::html(self.manifest), whole(&scenarios))),
        ]
        .concat()
    }

    /// What was asked.
    fn question(&self) -> String {
        let policies: Vec<String> = self.policies().iter().map(|name| escape(name)).collect();
        let clients = number(self.setting.clients);
        let noun = if self.setting.clients == 1.0 { "client" } else { "clients" };
        let window = duration(self.setting.window_s);
        match &policies[..] {
            [one] => format!(
                "What do {clients} {noun} under <strong>{one}</strong> do to their provider, and what does it cost them?"
            ),
            all => format!(
                "Which of {} ({}) should {clients} {noun} retry with, so that most requests are answered, the busiest {window} has \
                 the fewest retries, and least is wasted?",
                count(all.len(), "policies"),
                all.join(", ")
            ),
        }
    }

    fn policies(&self) -> Vec<String> {
        self.runs.cells.iter().map(|cell| cell.key.clone()).collect()
    }

    /// The whole scenarios that the manifest has.
    fn scenarios(&self) -> Vec<PolicyScenario> {
        let policies = self.manifest["policies"].as_array().into_iter().flatten();
        let scenario = |policy: &Value| {
            let name = policy["policy"].as_str()?.to_owned();
            Some((name, policy["scenario"].as_str()?.parse().ok()?))
        };
        policies.filter_map(scenario).collect()
    }

    fn system(&self, scenarios: &[PolicyScenario]) -> String {
        if scenarios.is_empty() {
            return "<p>The folder does not hold its scenario: it was made by an earlier version. Make it again to see the system here.</p>\n".to_owned();
        }
        let capacity = self.setting.capacity_per_window.map_or(String::new(), |capacity| {
            format!(
                "<p>The provider can serve {} attempts per {}.</p>\n",
                number((100.0 * capacity).round() / 100.0),
                duration(self.setting.window_s)
            )
        });
        format!("{}{capacity}", system::html(scenarios))
    }

    fn tables(&self) -> String {
        let policies = self.policies();
        let known = |metric: &str, policy: &String| {
            self.means.iter().find(|mean| mean.metric == metric && mean.cell[0] == *policy)
        };
        let unit = |metric: &str| {
            let found = self.means.iter().find(|mean| mean.metric == metric);
            found.map_or(String::new(), |mean| mean.unit.clone())
        };
        let dash = || "–".to_owned();
        let mean = |metric: &str, policy: &String| {
            let found = known(metric, policy).and_then(|mean| Some((mean.mean?, mean.ci95)));
            found.map_or_else(dash, |(mean, ci95)| with_halfwidth(mean, ci95))
        };
        let row = |Shown { name, meaning, .. }: &Shown| {
            let cells = policies.iter().map(|policy| mean(name, policy)).collect();
            (name.clone(), format!("{meaning} ({})", unit(name)), cells)
        };
        let n = self.runs.cells.first().map_or(0, |cell| cell.rows.len());
        let caption = format!("Means over {n} replications ± half of the 95 % interval");
        let means = Rows {
            caption,
            policies: policies.clone(),
            rows: self.shown.iter().map(row).collect(),
        };
        if policies.len() < 2 {
            return means.html();
        }
        let row = |Shown { name, better, .. }: &Shown| {
            let cells =
                (1..policies.len()).map(|cell| self.difference((name, *better), cell)).collect();
            (name.clone(), unit(name), cells)
        };
        let caption =
            format!("Difference from {}, paired by seed, ± half of the 95 % interval", policies[0]);
        let differences = Rows {
            caption,
            policies: policies[1..].to_vec(),
            rows: self.shown.iter().map(row).collect(),
        };
        format!("{}{}", means.html(), differences.html())
    }

    /// The paired difference of a policy from the first.
    fn difference(&self, (name, better): (&str, Better), cell: usize) -> String {
        let at = self.runs.metrics.iter().position(|metric| metric == name);
        let found = at.and_then(|at| {
            let rows = |cell: usize| (&self.runs.cells[cell].rows[..], at);
            change((name, better), rows(0), rows(cell), 0.95).filter(|found| found.n > 0)
        });
        found.map_or_else(
            || "–".to_owned(),
            |found| with_halfwidth(found.difference, found.interval),
        )
    }

    fn load(&self) -> String {
        let figure = self.figures.first().map_or(String::new(), figure);
        format!("{}{figure}", chart::html(&self.curves, self.setting))
    }

    fn pictures(&self) -> String {
        let absent = |(caption, why): &(&str, String)| {
            format!("<p>Not drawn: {} ({}).</p>\n", escape(caption), escape(why))
        };
        let drawn = self.figures.iter().skip(1).map(figure);
        drawn.chain(self.not_drawn.iter().map(absent)).collect()
    }

    /// Those of all policies; most are the same for all.
    fn assumptions(&self) -> String {
        let mut lines: Vec<&str> = Vec::new();
        for policy in self.manifest["policies"].as_array().into_iter().flatten() {
            let own = policy["assumptions"].as_array().into_iter().flatten();
            for line in own.filter_map(Value::as_str) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        if lines.is_empty() {
            return "<p>The folder does not hold them: it was made by an earlier version. Make it again to read them here.</p>\n".to_owned();
        }
        let lines: String = lines.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
        format!("<ul>{lines}</ul>\n")
    }
}

/// A picture in both widths, of which the style shows one.
fn figure(figure: &Figure) -> String {
    format!(
        "<figure class=\"figure\"><figcaption>{}</figcaption><div class=\"wide\">{}</div><div class=\"narrow\">{}</div></figure>\n",
        escape(figure.caption),
        figure.wide,
        figure.narrow
    )
}

/// The whole scenario of the first policy, to unfold.
fn whole(scenarios: &[PolicyScenario]) -> String {
    let Some((name, scenario)) = scenarios.first() else { return String::new() };
    format!(
        "<details><summary>The whole scenario, as under {}</summary><pre tabindex=\"0\"><code>{}</code></pre></details>\n",
        escape(name),
        escape(&scenario.to_string())
    )
}

/// "five policies"
fn count(number: usize, noun: &str) -> String {
    const WORDS: [&str; 11] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let digits = number.to_string();
    format!("{} {noun}", WORDS.get(number).copied().unwrap_or(&digits))
}
