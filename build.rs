//! Embeds data files (presets, experiments) and notes the commit for the manifest.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut presets = String::new();
    let folders: [(&str, &[&str]); 4] = [
        ("LAYERS", &["src/presets/sdk", "src/presets/libraries"]),
        ("PRICES", &["src/presets/prices"]),
        ("LIMITS", &["src/presets/limits"]),
        ("SERVICES", &["src/presets/service"]),
    ];
    for (constant, folders) in folders {
        let mut files = Vec::new();
        for folder in folders {
            files.extend(sorted(Path::new(folder))?);
        }
        files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
        embed(&mut presets, constant, &files, stem);
    }
    fs::write(out.join("presets.rs"), presets)?;

    let mut experiments = String::new();
    let mut files = Vec::new();
    for room in sorted(Path::new("experiments"))? {
        for experiment in sorted(&room)? {
            files.extend(
                sorted(&experiment)?
                    .into_iter()
                    .filter(|p| p.extension().is_some_and(|e| e == "toml")),
            );
        }
    }
    let name = |path: &Path| {
        let relative = path.strip_prefix("experiments").unwrap_or(path);
        relative.to_string_lossy().replace('\\', "/")
    };
    embed(&mut experiments, "FILES", &files, name);
    fs::write(out.join("experiments.rs"), experiments)?;

    // The sources too, so that the mark for uncommitted changes is never stale.
    for path in ["src", "Cargo.toml", ".git/logs/HEAD"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rustc-env=RETRYLAB_COMMIT={}", commit());
    Ok(())
}

/// The entries of a folder, sorted, so that the binary does not depend on the file system.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut entries =
        fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn embed(code: &mut String, constant: &str, files: &[PathBuf], name: impl Fn(&Path) -> String) {
    let _ = writeln!(code, "const {constant}: &[(&str, &str)] = &[");
    for path in files {
        let here = format!("/{}", path.display());
        let _ = writeln!(
            code,
            "    ({:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {here:?}))),",
            name(path)
        );
    }
    let _ = writeln!(code, "];");
}

/// The commit, with a mark for uncommitted changes; "unknown" outside a checkout.
fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok().filter(|o| o.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match (git(&["rev-parse", "--short=12", "HEAD"]), git(&["status", "--porcelain"])) {
        (Some(hash), Some(changes)) if changes.is_empty() => hash,
        (Some(hash), _) => format!("{hash}-dirty"),
        _ => "unknown".to_owned(),
    }
}
