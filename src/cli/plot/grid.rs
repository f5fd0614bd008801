//! The cells of a sweep as a picture needs them.

use super::sources::Sources;
use super::trade_off::known;
use crate::error::{Error, Result};
use crate::output::{Mean, Results};

/// What a sweep varies, and one metric of each of its cells.
pub struct Grid {
    /// The columns of what is varied.
    pub keys: Vec<String>,
    /// The means of the metric.
    pub means: Vec<Mean>,
    /// The metric with its unit.
    pub metric: String,
}

impl Grid {
    /// That of the first folder.
    pub fn read(sources: &Sources, metric: &str) -> Result<Grid> {
        let table = sources.sweep_table()?;
        let columns = table.columns();
        let end = columns.iter().position(|column| column == "metric").unwrap_or(0);
        let keys: Vec<String> =
            columns[..end].iter().filter(|column| *column != "cell").cloned().collect();
        let mut means = Results::means(&table, &keys)?;
        known(metric, means.iter().map(|mean| mean.metric.as_str()))?;
        means.retain(|mean| mean.metric == metric);
        let unit = means.first().map_or("", |mean| mean.unit.as_str());
        Ok(Grid { metric: format!("{metric} ({unit})"), keys, means })
    }

    /// The values of a key, numbers in ascending order.
    pub fn values(&self, key: usize) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for mean in &self.means {
            if !values.contains(&mean.cell[key]) {
                values.push(mean.cell[key].clone());
            }
        }
        let numbers: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
        if let Some(numbers) = numbers {
            let mut both: Vec<(f64, String)> = numbers.into_iter().zip(values).collect();
            both.sort_by(|a, b| a.0.total_cmp(&b.0));
            return both.into_iter().map(|(_, value)| value).collect();
        }
        values
    }

    /// What is varied, for a sentence.
    pub fn varied(&self) -> String {
        if self.keys.is_empty() { "nothing".to_owned() } else { self.keys.join(", ") }
    }

    /// A column's key with its unit: "client.layers.sdk.timeout (s)".
    pub fn name(column: &str) -> String {
        if let Some(key) = column.strip_suffix("_per_s") {
            return format!("{key} (1/s)");
        }
        match column.strip_suffix("_s") {
            Some(key) => format!("{key} (s)"),
            None => column.to_owned(),
        }
    }

    /// A sentence about a grid of another shape.
    pub fn wrong(&self, wanted: &str) -> Error {
        Error::Input(format!("the sweep varies {}; {wanted}", self.varied()))
    }
}
