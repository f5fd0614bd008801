//! Everything that leaves the program: tables, CSV, JSON, pictures, folders.

mod curves;
mod folder;
mod format;
mod manifest;
mod read;
mod rows;
mod setting;
mod stdout;
mod table;

pub mod plot;

pub use curves::{completions_csv, waves_csv, windows_csv};
pub use folder::{Folder, JOURNAL, OURS, PACKED_RUNS, RUNS, check_place};
pub use format::{interval, number, with_halfwidth};
pub use manifest::{manifest, of_cells};
pub use read::{CellRows, Runs};
pub use rows::{runs_csv, summary_csv};
pub use setting::Setting;
pub use stdout::print;
pub use table::{Style, Table};
