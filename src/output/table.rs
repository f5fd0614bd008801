//! One table type, shown as text or as Markdown.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, TableStyle, presets};

/// How a table is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Lines for a terminal.
    #[default]
    Text,
    /// GitHub's Markdown.
    Markdown,
}

/// A line under the header and none between rows.
const PLAIN: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Rows of text under a header.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    alignment: String,
}

impl Table {
    /// A table with these columns; `alignment` has an `l` or an `r` for each, and its last letter
    /// holds for all further columns.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>, alignment: &str) -> Table {
        let header = header.into_iter().map(Into::into).collect();
        Table { header, rows: Vec::new(), alignment: alignment.to_owned() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as text.
    pub fn show(&self, style: Style) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(match style {
            Style::Text => PLAIN,
            Style::Markdown => presets::ASCII_MARKDOWN,
        });
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.header);
        for row in &self.rows {
            table.add_row(row.iter().map(Cell::new));
        }
        let last = self.alignment.chars().last().unwrap_or('l');
        let letters = self.alignment.chars().chain(std::iter::repeat(last));
        for (column, letter) in letters.take(self.header.len()).enumerate() {
            if letter == 'r'
                && let Some(column) = table.column_mut(column)
            {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let text = table.to_string();
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}
