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

/// Rows of text under a header; the first `left` columns are aligned to the left.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Table {
    /// A table with these columns, the first `left` of them words and the others numbers.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>, left: usize) -> Table {
        Table { header: header.into_iter().map(Into::into).collect(), rows: Vec::new(), left }
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
        for column in self.left..self.header.len() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let text = table.to_string();
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}
