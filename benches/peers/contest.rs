//! Who runs against whom, how often, and what is asked of the library.

use crate::agreement;
use crate::game::{Batch, Game, Outcome};
use crate::ours::Ours;
use crate::peer::{Peer, Peers};

/// One model of one size, run by everybody in turn.
pub struct Contest {
    game: Game,
    clients: u32,
    /// Times are compared within a round, so that all have the same neighbours.
    rounds: usize,
    /// Runs of the library per round.
    runs: u32,
    rivals: &'static [Rival],
}

struct Rival {
    peer: Peer,
    /// Its runs per round.
    runs: u32,
    /// How many times its CPU time per run is to be the library's.
    gate: f64,
}

const fn rival(peer: Peer, runs: u32, gate: f64) -> Rival {
    Rival { peer, runs, gate }
}

/// Small ones are run more often: their times are short and their results spread more.
pub const CONTESTS: [Contest; 5] = [
    Contest {
        game: Game::Retry,
        clients: 1_000,
        rounds: 15,
        runs: 40,
        rivals: &[rival(Peer::SimPy, 5, 50.0), rival(Peer::Nexosim, 40, 4.0)],
    },
    Contest {
        game: Game::Retry,
        clients: 10_000,
        rounds: 9,
        runs: 5,
        rivals: &[rival(Peer::SimPy, 2, 80.0)],
    },
    Contest {
        game: Game::Retry,
        clients: 100_000,
        rounds: 5,
        runs: 2,
        rivals: &[rival(Peer::SimPy, 1, 120.0), rival(Peer::Nexosim, 2, 8.0)],
    },
    Contest {
        game: Game::Retry,
        clients: 1_000_000,
        rounds: 5,
        runs: 1,
        rivals: &[rival(Peer::Nexosim, 1, 16.0)],
    },
    Contest {
        game: Game::OpenLoop,
        clients: 1_000,
        rounds: 15,
        runs: 100,
        rivals: &[rival(Peer::NumPy, 1_000, 2.0)],
    },
];

/// What came out for one rival.
pub struct Line {
    pub peer: Peer,
    pub game: Game,
    pub clients: u32,
    /// CPU seconds per run, theirs and ours, by round.
    rounds: Vec<(f64, f64)>,
    pub gate: f64,
}

impl Line {
    /// Median seconds per run of the peer.
    pub fn theirs(&self) -> f64 {
        sorted(self.rounds.iter().map(|round| round.0))[self.rounds.len() / 2]
    }

    /// Median seconds per run of the library.
    pub fn ours(&self) -> f64 {
        sorted(self.rounds.iter().map(|round| round.1))[self.rounds.len() / 2]
    }

    /// How many times as long the peer takes: lowest, median and highest of all rounds.
    pub fn ratios(&self) -> [f64; 3] {
        let ratios = sorted(self.rounds.iter().map(|(theirs, ours)| theirs / ours));
        [ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]]
    }

    /// Whether the gate holds.
    pub fn holds(&self) -> bool {
        self.ratios()[1] >= self.gate
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

impl Contest {
    /// Lets all run, and compares their times when they agree on the result.
    pub fn hold(&self, peers: &mut Peers) -> Result<Vec<Line>, String> {
        let &Contest { game, clients, .. } = self;
        eprintln!("{}, {clients} clients", game.label());
        let mut own = Ours::new(game, clients);
        let mut ours: Vec<Batch> = Vec::new();
        let mut theirs: Vec<Vec<Batch>> = self.rivals.iter().map(|_| Vec::new()).collect();
        for _ in 0..self.rounds {
            ours.push(own.batch(self.runs));
            for (rival, batches) in self.rivals.iter().zip(&mut theirs) {
                let facts = game.facts().len();
                batches.push(peers.get(rival.peer).batch(clients, rival.runs, facts)?);
            }
        }
        let known = self.outcomes("retrylab", &ours)?;
        let rivals = || self.rivals.iter().zip(&theirs);
        for (rival, batches) in rivals() {
            let who = rival.peer.label();
            agreement::check(game, who, &self.outcomes(who, batches)?, &known)?;
        }
        Ok(rivals().map(|(rival, batches)| self.line(rival, batches, &ours)).collect())
    }

    /// All outcomes of `who`, if they are possible.
    fn outcomes(&self, who: &str, batches: &[Batch]) -> Result<Vec<Outcome>, String> {
        let outcomes: Vec<Outcome> = batches.iter().flat_map(|b| b.outcomes.clone()).collect();
        outcomes.iter().try_for_each(|outcome| self.game.check(who, self.clients, outcome))?;
        Ok(outcomes)
    }

    fn line(&self, rival: &Rival, theirs: &[Batch], ours: &[Batch]) -> Line {
        let rounds = theirs.iter().zip(ours);
        let rounds = rounds.map(|(t, o)| (t.seconds_per_run(), o.seconds_per_run())).collect();
        let &Contest { game, clients, .. } = self;
        Line { peer: rival.peer, game, clients, rounds, gate: rival.gate }
    }
}
