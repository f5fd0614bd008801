//! The library's side: whole replications, from the plan to the value of every metric.

use std::hint::black_box;

use retrylab::metrics::{Facts, Metric, Recorder, catalog};
use retrylab::model::{self as library, Plan};
use retrylab::rng::Streams;
use retrylab::scenario::Scenario;

use crate::clock::cpu_time;
use crate::game::{Batch, Game, Outcome};
use crate::model::storm;
use crate::published::thousand_clients;

/// A model that is ready to run.
pub struct Ours {
    game: Game,
    scenario: Scenario,
    plan: Plan,
    metrics: Vec<Metric>,
    next: u32,
}

impl Ours {
    /// `game` with so many clients.
    pub fn new(game: Game, clients: u32) -> Ours {
        let (scenario, plan) = match game {
            Game::Retry => storm(clients, "full_jitter"),
            Game::OpenLoop => open_loop(clients),
        };
        let (layers, watch) = (plan.layer_names(), scenario.watch());
        let metrics = catalog(&layers, &[], &[], watch, &scenario.parts());
        Ours { game, scenario, plan, metrics, next: 0 }
    }

    /// So many runs, each with random numbers of its own.
    pub fn batch(&mut self, runs: u32) -> Batch {
        let first = self.next;
        self.next += runs;
        let before = cpu_time();
        let outcomes = (first..self.next).map(|replication| self.run(replication)).collect();
        Batch { took: cpu_time() - before, outcomes }
    }

    fn run(&self, replication: u32) -> Outcome {
        let mut recorder = Recorder::new(self.scenario.watch());
        let report = library::run(&self.plan, Streams::new(42, replication), &mut recorder);
        let report = report.expect("the model runs");
        let (attempts, answered) = (report.ledger.attempts, report.ledger.succeeded);
        let billing = self.scenario.providers().map(|provider| provider.billing.clone()).collect();
        let facts = Facts::new(recorder, report, billing);
        for metric in &self.metrics {
            black_box(metric.value(&facts));
        }
        let (firsts, retries) = (facts.first_attempts(), facts.retries());
        match self.game {
            Game::Retry => {
                assert_eq!(firsts, [self.plan.groups[0].clients], "all fail together");
                let first = u64::from(firsts[0] + retries[0]);
                let later = retries[1..].iter().max().copied().unwrap_or(0);
                vec![attempts, answered, first, first.max(later.into())]
            }
            Game::OpenLoop => {
                let fullest = retries.iter().max().copied().unwrap_or(0);
                vec![retries.iter().copied().map(u64::from).sum(), fullest.into()]
            }
        }
    }
}

/// The published experiment with so many clients.
fn open_loop(clients: u32) -> (Scenario, Plan) {
    let document = thousand_clients()
        .with(&[format!("workload.clients={clients}")])
        .expect("the experiment takes any number of clients");
    let scenario = document.scenario().expect("the experiment is a valid scenario");
    let plan = scenario.plan(document.folder()).expect("the experiment needs no file");
    (scenario, plan)
}
