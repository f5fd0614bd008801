//! Prints the JSON Schema of scenario files as the types say it;
//! `docs/reference/scenario.schema.json` keeps it.

use std::io::Write;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{:#}", retrylab::scenario::schema())
}
