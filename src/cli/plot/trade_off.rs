//! Two metrics of each policy of results folders.

use super::sources::Sources;
use crate::error::{Error, Result};
use crate::output::plot::trade_off::{Known, TradeOffFigure, chart};
use crate::output::plot::{Look, Picture};
use crate::output::{Mean, Results, not_drawn};

/// The metric upright unless another is asked for, and those across, of which the first that has values is taken.
const UPRIGHT: &str = "peak_bin";
const ACROSS: [&str; 2] = ["wasted_usd", "wasted_tokens"];

/// The picture.
pub fn of_results(look: Look, metrics: &[String], sources: &Sources) -> Result<Picture> {
    let mut policies: Vec<(String, Vec<Mean>)> = Vec::new();
    for folder in sources.folders() {
        let table = sources.table(folder, "summary.csv")?;
        let means = Results::means(&table, &["policy".to_owned()])?;
        let mut of_folder: Vec<(String, Vec<Mean>)> = Vec::new();
        for mean in means {
            let policy = mean.cell[0].clone();
            match of_folder.iter_mut().find(|(known, _)| *known == policy) {
                Some((_, means)) => means.push(mean),
                None => of_folder.push((policy, vec![mean])),
            }
        }
        let only = of_folder.len() == 1;
        let named = of_folder.into_iter();
        policies.extend(named.map(|(policy, m)| (sources.label(folder, &policy, only), m)));
    }
    let [across, upright] = chosen(metrics, &policies)?;
    let mut unit = [String::new(), String::new()];
    let mut found = Vec::new();
    let mut without = Vec::new();
    for (label, means) in policies {
        let known = |metric: &str| means.iter().find(|mean| mean.metric == metric);
        let value = |mean: Option<&Mean>| {
            mean.and_then(|mean| Some(Known { mean: mean.mean?, ci95: mean.ci95 }))
        };
        let (x, y) = (known(&across), known(&upright));
        for (unit, mean) in unit.iter_mut().zip([x, y]) {
            *unit = mean.map_or(std::mem::take(unit), |mean| mean.unit.clone());
        }
        match value(x).zip(value(y)) {
            Some((x, y)) => found.push((label, x, y)),
            None => without.push(label),
        }
    }
    let missing = match without.is_empty() {
        true => String::new(),
        false => format!(" · without values: {}", without.join(", ")),
    };
    let figure = TradeOffFigure {
        title: sources.title(),
        note: format!("{}{missing}", sources.note()),
        axes: [format!("{across} ({})", unit[0]), format!("{upright} ({})", unit[1])],
        policies: found,
    };
    chart(&figure).draw(look).map_err(not_drawn)
}

/// The two metrics, across and upright.
fn chosen(metrics: &[String], policies: &[(String, Vec<Mean>)]) -> Result<[String; 2]> {
    let all = || policies.iter().flat_map(|(_, means)| means);
    for metric in metrics {
        known(metric, all().map(|mean| mean.metric.as_str()))?;
    }
    let has = |metric: &&str| all().any(|mean| mean.metric == *metric && mean.mean.is_some());
    let across = ACROSS.into_iter().find(has).unwrap_or(ACROSS[1]).to_owned();
    match metrics {
        [] => Ok([across, UPRIGHT.to_owned()]),
        [one] => Ok([across, one.clone()]),
        [across, upright] => Ok([across.clone(), upright.clone()]),
        more => Err(Error::Input(format!(
            "--metric: found {}; trade-off draws two, first the one across",
            more.len()
        ))),
    }
}

/// Refuses a metric that is not there.
pub fn known<'a>(metric: &str, there: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut names: Vec<&str> = there.collect();
    names.sort_unstable();
    names.dedup();
    if names.contains(&metric) {
        return Ok(());
    }
    let near = crate::scenario::suggest(metric, &names);
    Err(Error::Input(format!("--metric: \"{metric}\" is not in these results{near}")))
}
