//! Every console block of the documents works as it stands, one command after the other, in a folder of the
//! document's own: with the repository's experiments, what `retrylab init` writes as storm.toml, a request log as
//! requests.csv, and every scenario that the document names before it shows it ("`queue.toml`, …").
//!
//! What is shown below a `$ ` is what the command prints, to the character; `BLESS=1 cargo test --test console`
//! writes it anew. Commands without one are asked for two replications only, and must not fail.

mod command;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use command::{Ran, here, no_panic, run};

/// All Markdown files of a folder and the folders in it, in order of their names.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let of = |path: PathBuf| match path.is_dir() {
        true => documents(&path),
        false if path.extension().is_some_and(|e| e == "md") => vec![path],
        false => Vec::new(),
    };
    entries.into_iter().flat_map(of).collect()
}

/// A document's folder, and a shell in it.
struct Home {
    folder: tempfile::TempDir,
    path: String,
}

impl Home {
    fn of(text: &str) -> Home {
        let folder = tempfile::tempdir().unwrap();
        symlink(here("experiments"), folder.path().join("experiments")).unwrap();
        let log = here("tests/data/logs/afternoon.csv");
        fs::copy(log, folder.path().join("requests.csv")).unwrap();
        if !text.contains("$ retrylab init storm.toml") {
            assert_eq!(run(folder.path(), &["init", "storm.toml"]).code, 0);
        }
        let program = Path::new(env!("CARGO_BIN_EXE_retrylab")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        Home { folder, path }
    }

    fn shell(&self, line: &str) -> Ran {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let ran = Ran::of(&output);
        no_panic(&ran.err);
        // What a reader's folder is called is not the document's business.
        let own = format!("{}/", self.folder.path().display());
        Ran { out: ran.out.replace(&own, ""), err: ran.err.replace(&own, ""), ..ran }
    }
}

/// The file that a line of text names for the block below it: "`queue.toml`, …".
fn named(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('`')?.split_once('`')?;
    name.ends_with(".toml").then_some(name)
}

/// Fewer replications, where a command takes some and nobody sees its output.
fn quick(line: &str) -> String {
    let repeats = ["run", "compare", "sweep", "tune", "metastable", "steady", "reproduce"];
    let takes = line.split(' ').nth(1).is_some_and(|command| repeats.contains(&command));
    let said = line.contains(" -r ") || line.contains("--list") || line.contains(['|', '>']);
    if takes && !said { format!("{line} -q -r 2") } else { line.to_owned() }
}

/// The block with what its commands print.
fn with_output(home: &Home, block: &[&str], place: &str) -> String {
    let shows = block.iter().any(|line| line.starts_with("$ "));
    let mut text = String::new();
    for line in block {
        match line.strip_prefix("$ ") {
            Some(command) => {
                let ran = home.shell(command);
                text += &format!("{line}\n{}{}", ran.out, ran.err);
            }
            // What it prints, or a line to keep the commands apart.
            None if shows || line.is_empty() => {}
            None => {
                let ran = home.shell(&quick(line));
                // A tuning of two replications need not find anything that is sure.
                let well = ran.code == 0 || ran.code == 1 && line.starts_with("retrylab tune");
                assert!(well, "{place}: {line}: {ran:?}");
            }
        }
    }
    if shows { text } else { block.iter().map(|line| format!("{line}\n")).collect() }
}

/// The document as its commands have it.
fn renewed(path: &Path, text: &str) -> String {
    let home = Home::of(text);
    let mut lines = text.lines();
    let mut renewed = String::new();
    let mut before = "";
    while let Some(line) = lines.next() {
        renewed += &format!("{line}\n");
        let Some(language) = line.strip_prefix("```") else {
            before = if line.is_empty() { before } else { line };
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let as_is: String = block.iter().map(|line| format!("{line}\n")).collect();
        if let Some(name) = named(before).filter(|_| language == "toml") {
            fs::write(home.folder.path().join(name), &as_is).unwrap();
        }
        let place = path.display().to_string();
        renewed += &if language == "console" { with_output(&home, &block, &place) } else { as_is };
        renewed += "```\n";
    }
    renewed
}

#[test]
fn what_the_documents_show_is_what_the_commands_print() {
    let mut stale = Vec::new();
    let mut count = 0;
    let front = ["README.md", "CONTRIBUTING.md"].map(here).into_iter().filter(|p| p.is_file());
    for path in front.chain(documents(&here("docs"))).chain(documents(&here("experiments"))) {
        let text = fs::read_to_string(&path).unwrap();
        let blocks = text.matches("\n```console\n").count();
        if blocks == 0 {
            continue;
        }
        count += blocks;
        let renewed = renewed(&path, &text);
        if renewed == text {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, renewed).unwrap();
        } else {
            let pairs = text.lines().zip(renewed.lines());
            let first = pairs.enumerate().find(|(_, (shown, printed))| shown != printed);
            stale.push(format!("{}: {first:?}", path.display()));
        }
    }
    assert!(stale.is_empty(), "BLESS=1 cargo test --test console renews\n{}", stale.join("\n"));
    assert!(count >= 15, "{count}");
}
