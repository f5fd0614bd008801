//! The counts on record, and what is said of a new count.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// A count may be off by so much of the one on record.
const TOLERANCE: f64 = 0.03;

/// What makes the instructions.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub struct Compiler {
    /// Its version.
    rustc: String,
    /// What it compiles for.
    host: String,
}

impl Compiler {
    /// The one that cargo uses here.
    pub fn here() -> Compiler {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc).arg("-vV").output().expect("rustc says its version");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let after = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let rustc = after("rustc ").unwrap_or_default().to_owned();
        Compiler { rustc, host: after("host: ").unwrap_or_default().to_owned() }
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rustc {} for {}", self.rustc, self.host)
    }
}

/// Instructions per event by case.
#[derive(Debug, Deserialize, Serialize)]
pub struct Record {
    /// The day on which they were counted.
    date: String,
    /// What counted them.
    valgrind: String,
    /// What made them.
    pub compiler: Compiler,
    instructions_per_event: BTreeMap<String, f64>,
}

const HEAD: &str = "# Written by BLESS=1 cargo bench --bench instructions; with another compiler nothing is held to it.
";

impl Record {
    /// The file, from the root of the repository.
    pub const PLACE: &str = "benches/instructions/record.toml";

    /// Counts of today.
    pub fn new(valgrind: String, counts: &[(&str, f64)]) -> Record {
        let tenth = |count: f64| (count * 10.0).round() / 10.0;
        let counts = counts.iter().map(|(case, count)| ((*case).to_owned(), tenth(*count)));
        let date = Command::new("date").arg("+%F").output().expect("date says the day");
        Record {
            date: String::from_utf8_lossy(&date.stdout).trim().to_owned(),
            valgrind,
            compiler: Compiler::here(),
            instructions_per_event: counts.collect(),
        }
    }

    fn path() -> String {
        format!("{}/{}", env!("CARGO_MANIFEST_DIR"), Record::PLACE)
    }

    /// Those in the file.
    pub fn read() -> Record {
        let text = fs::read_to_string(Record::path()).expect("counts on record");
        toml::from_str(&text).expect("counts on record")
    }

    /// Puts them into the file.
    pub fn write(&self) {
        let text = toml::to_string(self).expect("a record prints");
        fs::write(Record::path(), format!("{HEAD}{text}")).expect("the record is written");
    }

    /// What is said of a new count of a case.
    pub fn judge(&self, case: &str, count: f64) -> Verdict {
        let Some(before) = self.instructions_per_event.get(case) else { return Verdict::New };
        match count / before - 1.0 {
            change if change > TOLERANCE => Verdict::Risen(change),
            change if change < -TOLERANCE => Verdict::Fallen(change),
            change => Verdict::Kept(change),
        }
    }
}

/// What is said of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It is not on record.
    New,
    /// It is what it was, but for such a part.
    Kept(f64),
    /// It is greater by such a part.
    Risen(f64),
    /// It is less by such a part.
    Fallen(f64),
}

impl Verdict {
    /// Whether it may not land as it is.
    pub fn fails(self) -> bool {
        matches!(self, Verdict::New | Verdict::Risen(_))
    }

    /// Whether the record no longer tells the truth.
    pub fn asks_to_renew(self) -> bool {
        !matches!(self, Verdict::Kept(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::New => f.write_str("not on record"),
            Verdict::Kept(change) => write!(f, "as on record ({:+.2} %)", change * 100.0),
            Verdict::Risen(change) => write!(f, "MORE than on record ({:+.2} %)", change * 100.0),
            Verdict::Fallen(change) => write!(f, "less than on record ({:+.2} %)", change * 100.0),
        }
    }
}
