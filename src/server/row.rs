//! A row under optimistic concurrency: work reads its version first and writes last, and a write stands
//! only when no other one came in between.
//!
//! It is what the clients of Brooker's simulator of 2015 contend for
//! (<https://github.com/aws-samples/aws-arch-backoff-simulator>): of pieces of work that overlap one
//! succeeds, and all others have been in vain.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Caller;
use crate::client::Scope;

/// Optimistic concurrency: work reads the version of a row when its service starts and writes when
/// it is done. When another write has stood in between it has been in vain: it ends with `status`,
/// unbilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Row {
    /// Status of a write that finds another version than was read, 400 to 599.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: u16,
    /// Whose work is for the same row.
    pub shared_by: Scope,
}

impl Default for Row {
    fn default() -> Row {
        Row { status: 409, shared_by: Scope::Fleet }
    }
}

impl Row {
    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let text = || format!("the status {} is not an error; write 400 to 599", self.status);
        (!(400..=599).contains(&self.status)).then(|| ("status", text()))
    }

    /// The row that the work of `who` is for.
    fn of(&self, who: Caller) -> (usize, u32) {
        match self.shared_by {
            Scope::Client => (who.group, who.client),
            Scope::Group => (who.group, 0),
            Scope::Fleet => (0, 0),
        }
    }
}

/// The rows, and what is about to write them. Work is known by its request and the step of its attempt.
#[derive(Clone, Debug)]
pub struct Rows {
    rule: Row,
    /// How many writes have stood, by row.
    versions: BTreeMap<(usize, u32), u64>,
    /// The version that work in service has read.
    read: BTreeMap<(u32, u32), u64>,
}

impl Rows {
    /// Rows that nobody has written.
    pub fn new(rule: Row) -> Rows {
        Rows { rule, versions: BTreeMap::new(), read: BTreeMap::new() }
    }

    /// `work` of `who` reads its row.
    pub fn read(&mut self, who: Caller, work: (u32, u32)) {
        let version = *self.versions.entry(self.rule.of(who)).or_default();
        self.read.insert(work, version);
    }

    /// `work` of `who` writes its row: true when the write stands.
    pub fn write(&mut self, who: Caller, work: (u32, u32)) -> bool {
        let version = self.versions.entry(self.rule.of(who)).or_default();
        let stands = self.read.remove(&work) == Some(*version);
        *version += u64::from(stands);
        stands
    }

    /// `work` ends without a write.
    pub fn forget(&mut self, work: (u32, u32)) {
        self.read.remove(&work);
    }

    /// How many writes have stood, of all rows.
    pub fn written(&self) -> u64 {
        self.versions.values().sum()
    }

    /// How much work has read and not yet written.
    pub fn readers(&self) -> usize {
        self.read.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Caller = Caller { group: 0, client: 0 };
    const OTHER: Caller = Caller { group: 1, client: 0 };

    #[test]
    fn of_writes_that_overlap_the_first_stands() {
        let mut rows = Rows::new(Row::default());
        rows.read(ONE, (1, 1));
        rows.read(OTHER, (2, 1));
        assert!(rows.write(OTHER, (2, 1)));
        rows.read(ONE, (3, 1));
        assert!(!rows.write(ONE, (1, 1)), "it has read what was before");
        assert!(rows.write(ONE, (3, 1)), "a write that failed moves nothing");
        assert_eq!((rows.written(), rows.readers()), (2, 0));
    }

    #[test]
    fn work_without_a_write_moves_nothing() {
        let mut rows = Rows::new(Row::default());
        rows.read(ONE, (1, 1));
        rows.read(ONE, (2, 1));
        rows.forget((1, 1));
        assert!(rows.write(ONE, (2, 1)));
        assert!(!rows.write(ONE, (1, 1)), "it has nothing to write");
        assert_eq!((rows.written(), rows.readers()), (1, 0));
    }

    #[test]
    fn who_shares_no_row_does_not_conflict() {
        let second = Caller { client: 1, ..ONE };
        for (shared_by, stand) in [
            (Scope::Fleet, [true, false, false]),
            (Scope::Group, [true, false, true]),
            (Scope::Client, [true, true, true]),
        ] {
            let mut rows = Rows::new(Row { shared_by, ..Row::default() });
            let all = [(ONE, (1, 1)), (second, (2, 1)), (OTHER, (3, 1))];
            for (who, work) in all {
                rows.read(who, work);
            }
            assert_eq!(all.map(|(who, work)| rows.write(who, work)), stand, "{shared_by:?}");
        }
    }

    #[test]
    fn only_an_error_is_a_status() {
        assert_eq!(Row::default().problem(), None);
        assert_eq!(Row { status: 200, ..Row::default() }.problem().map(|p| p.0), Some("status"));
    }
}
