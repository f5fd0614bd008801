//! The kinds of pictures.

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Load per window over time: first attempts, retries, capacity; a panel for each policy
    Load,
    /// Attempts over time by their number; a panel for each policy
    Waves,
    /// When requests are answered: the share answered within a time
    Completion,
}

impl Kind {
    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Waves => "waves",
            Kind::Completion => "completion",
        }
    }

    /// A command that makes what it is drawn from.
    pub fn made_by(self) -> &'static str {
        match self {
            Kind::Load | Kind::Waves | Kind::Completion => "retrylab compare SCENARIO -o DIR",
        }
    }
}
