//! A results folder, swapped in whole: it is there complete, or as it was before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A folder that is being made beside its place.
#[derive(Debug)]
pub struct Folder {
    place: PathBuf,
    staged: PathBuf,
    /// The folder above, when it was made for this.
    made: Option<PathBuf>,
}

/// The file that marks a folder as ours.
const MARK: &str = "manifest.json";

impl Folder {
    /// Starts to make the folder at `place`; fails early when it could not be written later.
    ///
    /// A folder that exists must be empty or one of ours, so that nothing foreign is replaced.
    pub fn stage(place: &Path) -> Result<Folder> {
        let place = absolute(place)?;
        check_place(&place)?;
        if place.join(JOURNAL).exists() {
            return Err(Error::Input(format!(
                "{}: the folder has a sweep; name another one with -o",
                place.display()
            )));
        }
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parent = place.parent().unwrap_or(Path::new("/")).to_owned();
        let made = (!parent.exists()).then(|| parent.clone());
        fs::create_dir_all(&parent).map_err(Error::output(&parent))?;
        let staged = parent.join(format!(".{name}.{}", std::process::id()));
        fs::create_dir_all(&staged).map_err(Error::output(&place))?;
        Ok(Folder { place, staged, made })
    }

    /// Where the folder will be.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let write = || {
            let mut file = fs::File::create(self.staged.join(name))?;
            io::Write::write_all(&mut file, bytes)?;
            file.sync_all()
        };
        write().map_err(Error::output(&self.place.join(name)))
    }

    /// True when the folder in its place already has these files: nothing but the manifest's date
    /// and the pixels of pictures would change.
    pub fn is_there(&self, files: &[(&str, &[u8])]) -> bool {
        let text = |name: &str| !name.ends_with(".png");
        is_ours(&self.place)
            && OURS.iter().all(|name| {
                let new = files.iter().find(|(file, _)| file == name).map(|(_, bytes)| *bytes);
                let old = fs::read(self.place.join(name)).ok();
                *name == MARK || !text(name) || old.as_deref() == new
            })
    }

    /// Puts the folder in its place. Files of the old one that the new one lacks are kept.
    pub fn swap_in(self) -> Result<()> {
        let swap = || -> io::Result<()> {
            let mut old = self.staged.clone().into_os_string();
            old.push(".old");
            let old = PathBuf::from(old);
            if self.place.exists() {
                fs::rename(&self.place, &old)?;
            }
            if let Err(error) = fs::rename(&self.staged, &self.place) {
                // The old results go back to where they were.
                let _ = fs::rename(&old, &self.place);
                return Err(error);
            }
            if old.exists() {
                for entry in fs::read_dir(&old)? {
                    let entry = entry?;
                    let kept = self.place.join(entry.file_name());
                    let ours = OURS.iter().any(|name| entry.file_name() == *name);
                    if !ours && !kept.exists() {
                        fs::rename(entry.path(), kept)?;
                    }
                }
                fs::remove_dir_all(&old)?;
            }
            Ok(())
        };
        swap().map_err(Error::output(&self.place))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // After `swap_in` it is gone already; otherwise nothing half-written stays behind.
        let _ = fs::remove_dir_all(&self.staged);
        if let Some(made) = &self.made {
            // Only when it is empty.
            let _ = fs::remove_dir(made);
        }
    }
}

/// Refuses a place that is a file, or a folder with something foreign in it.
pub fn check_place(place: &Path) -> Result<()> {
    if place.exists() && !place.is_dir() {
        return Err(Error::Output {
            path: place.to_owned(),
            source: io::Error::new(
                io::ErrorKind::NotADirectory,
                "this is a file; name a folder with -o",
            ),
        });
    }
    let taken = fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some());
    // A sweep that was killed has no manifest yet.
    if taken && !is_ours(place) && !place.join(JOURNAL).exists() {
        return Err(Error::Input(format!(
            "{}: the folder has files that are not results of retrylab; name another one with -o",
            place.display()
        )));
    }
    Ok(())
}

/// The table of runs.
pub const RUNS: &str = "runs.csv";

/// The table of runs, packed by gzip.
pub const PACKED_RUNS: &str = "runs.csv.gz";

/// The journal of a sweep.
pub const JOURNAL: &str = "journal.bin";

/// True when a manifest of ours is in the folder.
fn is_ours(place: &Path) -> bool {
    let text = fs::read(place.join(MARK)).unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    manifest["schema"].as_str().is_some_and(|schema| schema.starts_with("retrylab.manifest/"))
}

/// Names of files that only retrylab writes: an old one must not stay beside new results.
pub const OURS: [&str; 14] = [
    MARK,
    RUNS,
    PACKED_RUNS,
    "summary.csv",
    "windows.csv",
    "waves.csv",
    "completions.csv",
    "ramp.csv",
    "scenario.toml",
    "settings.csv",
    "tune.json",
    "load.svg",
    "load.png",
    JOURNAL,
];

fn absolute(place: &Path) -> Result<PathBuf> {
    let whole = std::path::absolute(place).map_err(Error::output(place))?;
    Ok(whole.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_comes_whole_and_keeps_what_was_added() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("results");
        for round in ["one", "two"] {
            let folder = Folder::stage(&place).unwrap();
            folder.write(MARK, br#"{"schema":"retrylab.manifest/1"}"#).unwrap();
            folder.write("runs.csv", round.as_bytes()).unwrap();
            folder.swap_in().unwrap();
            fs::write(place.join("notes.md"), "mine").unwrap();
        }
        assert_eq!(fs::read_to_string(place.join("runs.csv")).unwrap(), "two");
        assert_eq!(fs::read_to_string(place.join("notes.md")).unwrap(), "mine");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_abandoned_folder_leaves_nothing_and_a_foreign_one_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("results");
        drop(Folder::stage(&place).unwrap());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("thesis.tex"), "years of work").unwrap();
        assert!(matches!(Folder::stage(&place), Err(Error::Input(_))));
        assert!(matches!(Folder::stage(&place.join("thesis.tex")), Err(Error::Output { .. })));
    }
}
