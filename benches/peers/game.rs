//! The two models that are compared, and what is known of one run of them.

use std::time::Duration;

/// A model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Game {
    /// N clients fail together against a provider with room for a hundredth of them.
    Retry,
    /// Every attempt of N clients fails at once.
    OpenLoop,
}

/// The numbers of one run, in the order of [`Game::facts`].
pub type Outcome = Vec<u64>;

/// Some runs, one after the other.
#[derive(Clone, Debug)]
pub struct Batch {
    /// CPU time of all of them.
    pub took: Duration,
    pub outcomes: Vec<Outcome>,
}

impl Batch {
    /// CPU seconds of one run.
    pub fn seconds_per_run(&self) -> f64 {
        self.took.as_secs_f64() / self.outcomes.len() as f64
    }
}

impl Game {
    /// What it is called in the table.
    pub fn label(self) -> &'static str {
        match self {
            Game::Retry => "retry storm",
            Game::OpenLoop => "open loop",
        }
    }

    /// What is known of a run; windows are of 100 ms.
    pub fn facts(self) -> &'static [&'static str] {
        match self {
            Game::Retry => {
                &["attempts", "answered", "in the first window", "in the fullest window"]
            }
            Game::OpenLoop => &["retries", "retries in the fullest window"],
        }
    }

    /// Refuses an outcome that no seed can give.
    pub fn check(self, who: &str, clients: u32, outcome: &[u64]) -> Result<(), String> {
        let clients = u64::from(clients);
        let possible = match (self, outcome) {
            // The herd is the peak, and each of its clients is in it.
            (Game::Retry, &[attempts, answered, first, fullest]) => {
                answered <= clients && first >= clients && first == fullest && attempts >= first
            }
            (Game::OpenLoop, &[retries, fullest]) => retries == 4 * clients && fullest <= clients,
            _ => false,
        };
        let named = || self.facts().join(", ");
        possible.then_some(()).ok_or_else(|| {
            format!("{who}, {clients} clients: impossible outcome {outcome:?} ({})", named())
        })
    }
}
