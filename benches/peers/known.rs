//! What the peers gave once, for a check without them.

use crate::agreement;
use crate::game::Game;
use crate::ours::Ours;

const CLIENTS: u32 = 1_000;
const RUNS: u32 = 40;

/// Means with their standard errors, in the order of [`Game::facts`].
type Known = &'static [(f64, f64)];

/// From 20,000 runs of `nexosim/` (SimPy's mean of 1,000 lies within one standard error of it), and as
/// many of `open_loop.py`.
const KNOWN: [(Game, Known); 2] = [
    (Game::Retry, &[(3055.784, 0.307), (997.926, 0.0106), (1095.797, 0.0673), (1095.797, 0.0673)]),
    (Game::OpenLoop, &[(4000.0, 0.0), (159.299, 0.0597)]),
];

/// A few runs of the library against it.
pub fn check() -> Result<bool, String> {
    for (game, known) in KNOWN {
        let outcomes = Ours::new(game, CLIENTS).batch(RUNS).outcomes;
        outcomes.iter().try_for_each(|outcome| game.check("retrylab", CLIENTS, outcome))?;
        agreement::with_known(game, known, &outcomes)?;
    }
    eprintln!("`cargo bench --bench peers` alone runs the peers");
    Ok(true)
}
