//! The peers, and what they need: a virtual environment of Python, and a program of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::child::Child;

/// Who is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A process per client.
    SimPy,
    /// One model of all clients, one thread.
    Nexosim,
    /// Arrays, without an event list.
    NumPy,
}

impl Peer {
    /// What it is called.
    pub fn label(self) -> &'static str {
        match self {
            Peer::SimPy => "SimPy 4.1.2",
            Peer::Nexosim => "nexosim 1.0.0, one model",
            Peer::NumPy => "NumPy 2.4.6, bincount",
        }
    }
}

/// All of them, running.
pub struct Peers {
    simpy: Child,
    nexosim: Child,
    numpy: Child,
}

impl Peers {
    /// Installs or builds what is not there yet, and starts them.
    pub fn start() -> Result<Peers, String> {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers");
        fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
        let python = python(&home.join("venv"))?;
        let nexosim = nexosim(&home.join("nexosim"))?;
        // -B: nothing is written beside the sources.
        let script = |name| {
            let mut command = Command::new(&python);
            command.arg("-B").arg(source(name));
            command
        };
        Ok(Peers {
            simpy: Child::start("SimPy", &mut script("retry_model.py"))?,
            nexosim: Child::start("nexosim", &mut Command::new(nexosim))?,
            numpy: Child::start("NumPy", &mut script("open_loop.py"))?,
        })
    }

    /// One of them.
    pub fn get(&mut self, peer: Peer) -> &mut Child {
        match peer {
            Peer::SimPy => &mut self.simpy,
            Peer::Nexosim => &mut self.nexosim,
            Peer::NumPy => &mut self.numpy,
        }
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers").join(name)
}

/// The Python of a virtual environment with what `requirements.txt` says.
fn python(environment: &Path) -> Result<PathBuf, String> {
    let (folder, system) = if cfg!(windows) { ("Scripts", "python") } else { ("bin", "python3") };
    let python = environment.join(folder).join("python");
    if !environment.join("pyvenv.cfg").exists() {
        done(Command::new(system).args(["-m", "venv"]).arg(environment))?;
    }
    // When all is there already, pip asks nobody.
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    done(Command::new(&python).args(pip).arg(source("requirements.txt")))?;
    Ok(python)
}

/// The program that runs the model on nexosim.
fn nexosim(target: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]);
    done(build.arg(source("nexosim/Cargo.toml")).arg("--target-dir").arg(target))?;
    Ok(target.join("release").join(format!("nexosim-peer{}", std::env::consts::EXE_SUFFIX)))
}

/// Runs `command`, which says by itself what is wrong.
fn done(command: &mut Command) -> Result<(), String> {
    // Standard output is the table's.
    let status = command.stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
