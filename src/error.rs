//! What can go wrong, and the exit code that says whose turn it is.

use std::path::{Path, PathBuf};

/// What the command exits with, and what it means.
pub const EXIT_CODES: [(u8, &str); 5] = [
    (0, "it is done; checks, if there were any, held"),
    (
        1,
        "a check said no: a claim of `reproduce`, an `[expect]` or `--fail-if` that is not met, a metric that `diff` finds worse, a goal of `tune` that nothing meets, an interval of `steady` that is not sound, two runs of `trace --check` that differ",
    ),
    (2, "bad usage, or bad, missing or unreadable input; nothing was written"),
    (3, "output cannot be written"),
    (70, "a bug of ours; please report the command and its input"),
];

/// An error with a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Bad usage, or bad, missing or unreadable input: the user's turn.
    #[error("{0}")]
    Input(String),
    /// Output that cannot be written: the machine's turn.
    #[error("{}: {source}", path.display())]
    Output {
        /// The file, folder or stream.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Something of ours is broken.
    #[error("{0}")]
    Bug(String),
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The exit code: 2 bad input, 3 output or resources, 70 a bug.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input(_) => 2,
            Error::Output { .. } => 3,
            Error::Bug(_) => 70,
        }
    }

    /// True when the reader of a pipe has gone, which is no error.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// An output error at `path`.
    pub fn output(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Output { path, source }
    }
}

impl From<crate::model::RunError> for Error {
    fn from(error: crate::model::RunError) -> Error {
        use crate::model::RunError;
        match error {
            RunError::Livelock { .. } | RunError::TooManySteps => Error::Input(error.to_string()),
            RunError::Law { .. } | RunError::Incomplete => Error::Bug(error.to_string()),
        }
    }
}
