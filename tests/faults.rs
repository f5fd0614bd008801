//! What goes wrong around the command: readers that go away, full disks, folders of others.

#![cfg(unix)]

mod command;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use command::{Ran, SMALL, names, no_panic, retrylab, run};

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    home
}

/// Every command that prints, with a small amount of work.
const PRINTING: [&[&str]; 13] = [
    &["--help"],
    &["--version"],
    &["run", "--help"],
    &["reproduce", "retry-layers"],
    &["reproduce", "retry-layers", "--json"],
    &["reproduce", "--list"],
    &["run", "storm.toml"],
    &["run", "storm.toml", "--json"],
    &["run", "storm.toml", "--csv"],
    &["compare", "storm.toml", "--json"],
    &["check", "storm.toml"],
    &["presets"],
    &["completions", "zsh"],
];

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in PRINTING {
        // As in `… | head -1`, but gone before the first byte, so that the pipe breaks every time.
        let home = home();
        let mut command = retrylab(home.path());
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        no_panic(&ran.err);
        let notes = ran.err.lines().filter(|line| !line.starts_with("wrote "));
        assert_eq!(notes.count(), 0, "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_reader_of_one_line_is_no_error() {
    let home = home();
    for args in ["completions bash", "run storm.toml --json", "presets --json", "--help"] {
        let program = env!("CARGO_BIN_EXE_retrylab");
        let script = format!("set -o pipefail; '{program}' {args} | head -1");
        let Ok(output) =
            Command::new("bash").args(["-c", &script]).current_dir(home.path()).output()
        else {
            eprintln!("skipped: no bash");
            return;
        };
        let ran = Ran::of(&output);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args}");
        assert_eq!(ran.out.lines().count(), 1, "{args}");
    }
}

#[test]
fn a_standard_output_that_is_full_is_exit_3() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full");
        return;
    }
    let home = home();
    for args in PRINTING {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = retrylab(home.path()).args(args).stdout(full).output().unwrap();
        let ran = Ran::of(&output);
        assert_eq!(ran.code, 3, "{args:?}: {ran:?}");
        no_panic(&ran.err);
        let sentence = ran.err.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(sentence.contains("standard output: No space left on device"), "{sentence}");
    }
}

#[test]
fn a_standard_error_that_is_closed_or_full_changes_nothing() {
    let home = home();
    if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
        let args = ["run", "storm.toml", "--csv", "-o", "out"];
        assert_eq!(
            retrylab(home.path()).args(args).stderr(full).output().unwrap().status.code(),
            Some(0)
        );
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let args = ["run", "nowhere.toml"];
        assert_eq!(
            retrylab(home.path()).args(args).stderr(full).output().unwrap().status.code(),
            Some(2)
        );
    }
    let script = format!("'{}' run storm.toml 2>&- >&- <&-", env!("CARGO_BIN_EXE_retrylab"));
    let status = Command::new("sh").args(["-c", &script]).current_dir(home.path()).status();
    assert_eq!(status.unwrap().code(), Some(0));
}

/// Long enough that nobody waits for it: what is refused after it is refused too late.
const LONG: [&str; 6] = ["storm.toml", "-r", "1000000", "--set", "workload.clients=1000", "-q"];

fn refused_at_once(home: &Path, command: &str, output: &str, code: i32, part: &str) {
    let start = Instant::now();
    let mut child = retrylab(home)
        .args(command.split(' '))
        .args(LONG)
        .args(["-o", output])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command} -o {output}: still running");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert_eq!(ran.code, code, "{command} -o {output}: {ran:?}");
    assert_eq!(ran.out, "");
    no_panic(&ran.err);
    assert!(ran.err.contains(part), "{command} -o {output}: {}", ran.err);
}

#[test]
fn an_output_that_is_a_file_or_below_one_is_exit_3_before_anything_runs() {
    let home = home();
    fs::write(home.path().join("file"), "mine").unwrap();
    for command in ["run", "compare"] {
        refused_at_once(home.path(), command, "file", 3, "this is a file; name a folder with -o");
        refused_at_once(home.path(), command, "file/below", 3, "file");
    }
    refused_at_once(home.path(), "plot load", "file/load.svg", 3, "file/load.svg");
    refused_at_once(home.path(), "plot load", "nowhere/load.svg", 3, "nowhere/load.svg");
    refused_at_once(home.path(), "run", "/proc/out", 3, "/proc");
    assert_eq!(fs::read_to_string(home.path().join("file")).unwrap(), "mine");
    assert_eq!(names(home.path()), ["file", "storm.toml"]);
}

#[test]
fn a_folder_of_someone_else_is_refused_and_stays_as_it_is() {
    let home = home();
    fs::create_dir(home.path().join("thesis")).unwrap();
    fs::write(home.path().join("thesis/chapter.tex"), "years of work").unwrap();
    for command in ["run", "compare"] {
        refused_at_once(
            home.path(),
            command,
            "thesis",
            2,
            "files that are not results of retrylab",
        );
    }
    let ran = run(home.path(), &["reproduce", "retry-layers", "-o", "thesis"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    // The working folder itself holds the scenario.
    refused_at_once(home.path(), "run", ".", 2, "not results of retrylab");
    let text = fs::read_to_string(home.path().join("thesis/chapter.tex")).unwrap();
    assert_eq!(text, "years of work");
    assert_eq!(names(&home.path().join("thesis")), ["chapter.tex"]);
    assert_eq!(names(home.path()), ["storm.toml", "thesis"]);
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_runs() {
    let home = home();
    let many = "none,sdk,equal,full,decorrelated,additive,no-backoff,no-retry,\
                preset:openai-python-3.57,preset:openai-node-7.59,preset:anthropic-python-2.14";
    for args in [
        ["compare", "--policies", many, "-oout"],
        ["plot load", "--policies", many, "-oout"],
        ["run", "--set", "measure.window=500ns", "-oout"],
    ] {
        let start = Instant::now();
        let words: Vec<&str> = args[0].split(' ').collect();
        let ran = run(
            home.path(),
            &[&words[..], &args[1..], &LONG[..3], &["--set", "measure.horizon=1ms"]].concat(),
        );
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{args:?}");
    }
    assert_eq!(names(home.path()), ["storm.toml"]);
    // Without a picture eleven policies are fine.
    let ran = run(home.path(), &["compare", "storm.toml", "--policies", many, "--csv"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// A small file system that is unmounted at the end; None without the right to mount.
struct Disk {
    place: tempfile::TempDir,
}

impl Disk {
    fn of_64_kib() -> Option<Disk> {
        let place = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(place.path())
            .output();
        mount.is_ok_and(|o| o.status.success()).then_some(Disk { place })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.place.path()).output();
    }
}

#[test]
fn a_full_disk_is_exit_3_and_leaves_the_old_results() {
    let Some(disk) = Disk::of_64_kib() else {
        eprintln!("skipped: no right to mount a small file system");
        return;
    };
    let home = home();
    let disk = disk.place.path();
    let old = disk.join("out");
    fs::create_dir(&old).unwrap();
    fs::write(old.join("manifest.json"), "{\"schema\": \"retrylab.manifest/1\"}").unwrap();
    fs::write(old.join("runs.csv"), "old").unwrap();
    fs::write(disk.join("ballast"), vec![0; 40_000]).unwrap();
    let before = names(disk);
    for args in [
        vec!["run", "storm.toml", "-o", old.to_str().unwrap()],
        vec!["compare", "storm.toml", "-o", old.to_str().unwrap()],
        vec!["reproduce", "retry-layers", "-o", old.to_str().unwrap()],
    ] {
        let ran = run(home.path(), &args);
        assert_eq!(ran.code, 3, "{args:?}: {ran:?}");
        assert_eq!(ran.out, "", "{args:?}");
        assert!(ran.err.contains("No space left on device"), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(old.to_str().unwrap()), "{args:?}: {}", ran.err);
        assert_eq!(names(disk), before, "{args:?}");
        assert_eq!(names(&old), ["manifest.json", "runs.csv"], "{args:?}");
        assert_eq!(fs::read_to_string(old.join("runs.csv")).unwrap(), "old");
    }
    let picture = disk.join("load.svg");
    let ran = run(home.path(), &["plot", "load", "storm.toml", "-o", picture.to_str().unwrap()]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!names(disk).iter().any(|name| name.ends_with(".part")), "{:?}", names(disk));
    // Full to the last byte: no half-written scenario.
    let _ = fs::write(disk.join("ballast"), vec![0; 60_000]);
    let _ = fs::remove_file(&picture);
    while fs::write(disk.join(format!("x{}", names(disk).len())), [0; 4096]).is_ok() {}
    let mine = disk.join("mine.toml");
    let ran = run(home.path(), &["init", mine.to_str().unwrap()]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!mine.exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_exit_3_before_anything_runs() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let locked = home.path().join("locked");
    fs::create_dir(&locked).unwrap();
    for (path, mode) in [(locked.as_path(), 0o555), (home.path(), 0o755)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    // Root may write everywhere, so it becomes nobody for this.
    let setpriv = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let program = home.path().join("retrylab");
    fs::copy(env!("CARGO_BIN_EXE_retrylab"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let able = Command::new("setpriv").args(setpriv).arg(&program).arg("--version").output();
    if !able.is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: no right to become another user");
        return;
    }
    for (command, output) in
        [("run", "locked/out"), ("compare", "locked/a/b"), ("plot load", "locked/load")]
    {
        let start = Instant::now();
        let mut child = Command::new("setpriv")
            .args(setpriv)
            .arg(&program)
            .args(command.split(' '))
            .args(LONG)
            .args(["-o", output])
            .current_dir(home.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(10) {
                child.kill().unwrap();
                panic!("{command} -o {output}: still running");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{err}");
        assert!(err.contains("Permission denied") && err.contains("locked"), "{err}");
        no_panic(&err);
    }
}

#[test]
fn a_written_scenario_is_never_replaced() {
    let home = home();
    let ran = run(home.path(), &["init", "storm.toml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("storm.toml: the file exists; choose another name"), "{}", ran.err);
    assert_eq!(fs::read_to_string(home.path().join("storm.toml")).unwrap(), SMALL);
}

#[test]
fn results_are_replaced_whole_and_notes_in_the_folder_stay() {
    let home = home();
    let args = ["run", "storm.toml", "-o", "deep/er/out", "-q"];
    assert_eq!(run(home.path(), &args).code, 0);
    let out = home.path().join("deep/er/out");
    let files = [
        "completions.csv",
        "load.png",
        "load.svg",
        "manifest.json",
        "runs.csv",
        "scenario.toml",
        "summary.csv",
        "waves.csv",
        "windows.csv",
    ];
    assert_eq!(names(&out), files);
    fs::write(out.join("zz-notes.md"), "mine").unwrap();
    fs::write(out.join("runs.csv"), "spoilt").unwrap();
    assert_eq!(run(home.path(), &args).code, 0);
    assert_eq!(names(&out), [&files[..], &["zz-notes.md"]].concat());
    assert!(fs::read_to_string(out.join("runs.csv")).unwrap().starts_with("policy,replication,"));
    assert_eq!(names(&home.path().join("deep/er")), ["out"]);
    // The folder's own scenario gives the same bytes again.
    let args = ["run", "deep/er/out/scenario.toml", "-o", "again", "-q"];
    assert_eq!(run(home.path(), &args).code, 0);
    for file in ["runs.csv", "summary.csv", "windows.csv", "load.svg", "load.png", "scenario.toml"]
    {
        let read = |folder: &str| fs::read(home.path().join(folder).join(file)).unwrap();
        assert!(read("again") == read("deep/er/out"), "{file}");
    }
}
