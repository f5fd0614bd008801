//! How cost grows: with clients, attempts, layers, replications and cells, and what a cluster would make of
//! it, as Markdown.
//!
//! ```text
//! cargo bench --bench scaling               # prints the tables of docs/background/scaling.md
//! BLESS=1 cargo bench --bench scaling       # puts them into that page
//! ```
//! Times are CPU time, the least of three. As a test, the smallest sizes are run once.

#[path = "../peers/clock.rs"]
mod clock;
mod cluster;
mod cost;
mod herd;
mod merging;
#[path = "../model/mod.rs"]
mod model;
mod page;
#[path = "../published/mod.rs"]
mod published;
mod single;
#[path = "../sweeps/mod.rs"]
mod sweeps;
mod table;
mod whole;

use cost::Care;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| args.iter().any(|arg| arg == wanted);
    // A name of another bench is a filter for that one.
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    if filter.is_some_and(|filter| !"scaling".contains(filter.as_str())) {
        return;
    }
    // As Criterion has it: `cargo test` does not say --bench.
    let care = if has("--bench") && !has("--test") { Care::MEASURE } else { Care::TRY };
    let sections = [
        ("clients", single::clients(care)),
        ("attempts", single::attempts(care)),
        ("layers", single::layers(care)),
        ("replications", whole::replications(care)),
        ("cells", whole::cells(care)),
        ("cluster", cluster::on_paper(care)),
    ];
    for (name, table) in &sections {
        println!("{name}\n\n{table}");
    }
    if std::env::var_os("BLESS").is_some() {
        page::renew(&sections);
    }
}
