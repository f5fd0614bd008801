//! The pages of docs/reference that the code writes. `BLESS=1 cargo test --test reference` renews them.

mod reference {
    pub mod exits;
    pub mod keys;
    pub mod options;
    pub mod presets;
    pub mod schema;
}

use std::fs;
use std::path::{Path, PathBuf};

use reference::{exits, keys, options, presets};

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(name)
}

/// The page is what the code says, or becomes it.
fn keep(name: &str, body: &str) {
    let note = "<!-- Written by the code: BLESS=1 cargo test --test reference -->\n\n";
    let made = format!("{note}{}\n", body.trim_end());
    if std::env::var_os("BLESS").is_some() {
        fs::write(here(name), &made).unwrap();
        return;
    }
    let text = fs::read_to_string(here(name)).unwrap_or_default();
    assert!(
        made == text,
        "docs/reference/{name} is not what the code says; look, then BLESS=1 cargo test --test reference"
    );
}

/// A cell of a table: one line, bars escaped.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[test]
fn keys_are_those_of_the_schema() {
    keep("keys.md", &keys::page());
}

#[test]
fn presets_are_those_of_the_data_files() {
    keep("presets.md", &presets::page());
}

#[test]
fn options_are_those_of_the_command_line() {
    keep("commands.md", &options::page());
}

#[test]
fn exit_codes_are_those_of_the_command() {
    keep("exit-codes.md", &exits::page());
}
