//! Means and paired differences as tables. On a phone a metric is a card with a line per policy.

use super::escape::escape;

/// A table of one row per metric and one column per policy.
pub struct Rows {
    /// What it shows.
    pub caption: String,
    /// The policies.
    pub policies: Vec<String>,
    /// The metric, its unit, and its cells.
    pub rows: Vec<(String, String, Vec<String>)>,
}

impl Rows {
    /// The table. Cells become blocks on a phone, so roles are written out: a block is no cell by itself.
    pub fn html(&self) -> String {
        let head: String = self
            .policies
            .iter()
            .map(|policy| {
                format!("<th role=\"columnheader\" scope=\"col\">{}</th>", escape(policy))
            })
            .collect();
        let body: String = self.rows.iter().map(|row| self.row(row)).collect();
        format!(
            "<table role=\"table\" class=\"numbers\"><caption>{}</caption>\n\
             <thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">metric</th>{head}</tr></thead>\n\
             <tbody role=\"rowgroup\">\n{body}</tbody></table>\n",
            escape(&self.caption)
        )
    }

    fn row(&self, (metric, unit, cells): &(String, String, Vec<String>)) -> String {
        let cell = |(policy, text): (&String, &String)| {
            format!("<td role=\"cell\" data-policy=\"{}\">{}</td>", escape(policy), escape(text))
        };
        let cells: String = self.policies.iter().zip(cells).map(cell).collect();
        format!(
            "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><code>{}</code> <span class=\"unit\">{}</span></th>{cells}</tr>\n",
            escape(metric),
            escape(unit)
        )
    }
}
