//! The results folders that a picture is drawn from.

use std::path::PathBuf;

use super::kind::Kind;
use crate::error::{Error, Result};
use crate::output::{ByPolicy, Results, Setting, TableFile, number};

/// Folders, of which the first one tells title and circumstances.
pub struct Sources {
    kind: Kind,
    folders: Vec<Results>,
}

impl Sources {
    /// Opens the folders.
    pub fn open(kind: Kind, folders: &[PathBuf]) -> Result<Sources> {
        if folders.len() > 1 && !kind.takes_several() {
            return Err(Error::Input(format!(
                "{} is drawn from one results folder; found {}",
                kind.name(),
                folders.len()
            )));
        }
        let folders = folders.iter().map(|folder| Results::open(folder)).collect::<Result<_>>()?;
        Ok(Sources { kind, folders })
    }

    /// What is drawn from them.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The folders themselves.
    pub fn folders(&self) -> &[Results] {
        &self.folders
    }

    /// The first of them.
    pub fn first(&self) -> &Results {
        &self.folders[0]
    }

    /// The circumstances.
    pub fn setting(&self) -> &Setting {
        &self.first().setting
    }

    /// The heading.
    pub fn title(&self) -> String {
        self.first().title()
    }

    /// A table of a folder.
    pub fn table(&self, folder: &Results, file: &str) -> Result<TableFile> {
        folder.table(file, self.kind.name(), self.kind.made_by())
    }

    /// The summary of a sweep, in the first folder.
    pub fn sweep_table(&self) -> Result<TableFile> {
        let first = self.first();
        let file = if first.is_sweep() { "summary.csv" } else { "the summary.csv of a sweep" };
        self.table(first, file)
    }

    /// Rows by policy from a table of every folder. With several folders, the folder is in the name.
    pub fn by_policy<R>(
        &self,
        file: &str,
        read: fn(&TableFile) -> Result<ByPolicy<R>>,
    ) -> Result<ByPolicy<R>> {
        let mut all = Vec::new();
        for folder in &self.folders {
            let rows = read(&self.table(folder, file)?)?;
            let one = rows.len() == 1;
            all.extend(
                rows.into_iter().map(|(policy, rows)| (self.label(folder, &policy, one), rows)),
            );
        }
        Ok(all)
    }

    /// What a policy of a folder is called; it may be the only one there.
    pub fn label(&self, folder: &Results, policy: &str, only: bool) -> String {
        match (self.folders.len(), only) {
            (1, _) => policy.to_owned(),
            (_, true) => folder.name(),
            _ => format!("{}: {policy}", folder.name()),
        }
    }

    /// "1,000 clients · 200 replications from seed 0x2a"
    pub fn note(&self) -> String {
        let clients = self.setting().clients;
        let mut parts = Vec::new();
        if clients > 1.0 {
            parts.push(counted(clients, "client"));
        }
        let first = self.first();
        parts.push(format!(
            "{} from seed {}",
            counted(first.replications() as f64, "replication"),
            first.seed()
        ));
        parts.join(" · ")
    }
}

/// "1 client", "1,000 clients".
pub fn counted(count: f64, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1.0 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1.0, "client"), "1 client");
        assert_eq!(counted(1000.0, "client"), "1,000 clients");
    }
}
