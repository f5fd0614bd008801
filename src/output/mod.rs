//! Everything that leaves the program: tables, CSV, JSON, pictures, folders.

mod curves;
mod folder;
mod format;
mod manifest;
mod read;
mod results;
mod rows;
mod setting;
mod sparkline;
mod stdout;
mod table;
mod table_file;

pub mod plot;
pub mod report;

pub use curves::{completions_csv, waves_csv, windows_csv};
pub use folder::{Folder, JOURNAL, OURS, PACKED_RUNS, RUNS, check_place};
pub use format::{interval, number, with_halfwidth};
pub use manifest::{manifest, of_cells};
pub use read::{CellRows, Runs};
pub use results::{ByPolicy, Mean, Results, not_drawn};
pub use rows::{runs_csv, summary_csv};
pub use setting::Setting;
pub use sparkline::{Curve, sparklines};
pub use stdout::print;
pub use table::{Style, Table};
pub use table_file::TableFile;
