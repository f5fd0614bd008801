//! Everything that leaves the program: tables, CSV, JSON, pictures, folders.

mod folder;
mod format;
mod manifest;
mod read;
mod rows;
mod stdout;
mod table;

pub mod plot;

pub use folder::{Folder, JOURNAL, OURS, PACKED_RUNS, RUNS, check_place};
pub use format::{interval, number, with_halfwidth};
pub use manifest::{manifest, of_cells};
pub use read::{CellRows, Runs};
pub use rows::{runs_csv, summary_csv, windows_csv};
pub use stdout::print;
pub use table::{Style, Table};
