//! A sweep in parts: what each part takes, and their merging.

use std::path::{Path, PathBuf};
use std::time::Duration;

use retrylab::sweep::{Begin, Parts, Shard, Sweep, SweepFolder, Tables};

use crate::clock::cpu_time;
use crate::cost::Care;
use crate::sweeps::run_part;

/// CPU time of each of `of` parts that are run one after the other into folders in `home`.
pub fn run_parts(sweep: &Sweep, of: u32, home: &Path) -> Vec<Duration> {
    let part = |(number, folder): (u32, PathBuf)| {
        let shard: Shard = format!("{number}/{of}").parse().expect("a part");
        let start = cpu_time();
        run_part(sweep, shard, &folder);
        cpu_time() - start
    };
    (1..).zip(folders(of, home)).map(part).collect()
}

/// CPU time of the merging of these parts, with all tables.
pub fn merge(care: Care, of: u32, home: &Path) -> Duration {
    care.least(|| {
        let mut parts = Parts::open(&folders(of, home)).expect("all parts");
        let (folder, mut journal) =
            SweepFolder::open(&home.join("whole"), parts.header(), Begin::Fresh).expect("a folder");
        parts.copy_into(&mut journal).expect("all runs");
        let mut tables = Tables::new(journal).expect("a journal that has all its runs");
        folder.finish(&mut tables, 1, false).expect("the tables");
    })
}

fn folders(of: u32, home: &Path) -> Vec<PathBuf> {
    (1..=of).map(|number| home.join(number.to_string())).collect()
}
