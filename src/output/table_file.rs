//! A CSV file of ours, read again.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A table whose columns have names.
#[derive(Clone, Debug)]
pub struct TableFile {
    path: PathBuf,
    columns: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

impl TableFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<TableFile> {
        let bad = |e: csv::Error| Error::Input(format!("{}: {e}", path.display()));
        let mut reader = csv::Reader::from_path(path).map_err(bad)?;
        let columns = reader.headers().map_err(bad)?.iter().map(str::to_owned).collect();
        let rows = reader.records().collect::<csv::Result<_>>().map_err(bad)?;
        Ok(TableFile { path: path.to_owned(), columns, rows })
    }

    /// The names of the columns of a file, without its rows.
    pub fn columns_of(path: &Path) -> csv::Result<Vec<String>> {
        let mut reader = csv::Reader::from_path(path)?;
        Ok(reader.headers()?.iter().map(str::to_owned).collect())
    }

    /// The names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A field as it stands.
    pub fn text(&self, row: usize, column: &str) -> Result<&str> {
        let place = self.columns.iter().position(|name| name == column).ok_or_else(|| {
            Error::Input(format!(
                "{}: there is no column {column}; the folder may be of another version of retrylab, so make it anew",
                self.path.display()
            ))
        })?;
        Ok(self.rows[row].get(place).unwrap_or_default())
    }

    /// A number.
    pub fn number(&self, row: usize, column: &str) -> Result<f64> {
        self.optional(row, column)?.ok_or_else(|| self.problem(row, column, "no number"))
    }

    /// A number, or an empty field.
    pub fn optional(&self, row: usize, column: &str) -> Result<Option<f64>> {
        match self.text(row, column)? {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(self.problem(row, column, &format!("\"{text}\" is no number"))),
            },
        }
    }

    /// What is wrong with a field.
    pub fn problem(&self, row: usize, column: &str, what: &str) -> Error {
        Error::Input(format!("{}:{}: {column}: {what}", self.path.display(), row + 2))
    }
}
