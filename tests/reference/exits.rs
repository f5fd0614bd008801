//! Exit codes, from the command.

use std::fmt::Write as _;

use retrylab::error::EXIT_CODES;

use crate::cell;

pub fn page() -> String {
    let mut text = "# Exit codes\n\n| code | means |\n| --- | --- |\n".to_owned();
    for (code, meaning) in EXIT_CODES {
        writeln!(text, "| {code} | {} |", cell(meaning)).unwrap();
    }
    text + "\nErrors are one sentence on standard error: what was found, where, what is allowed.\n"
}
