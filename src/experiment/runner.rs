//! Runs cells × replications in parallel; the order of results is that of their keys.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::metrics::{CurveWatch, Curves, Facts, GroupLayers, Metric, Recorder, catalog};
use crate::model::{self, Arrivals, GroupPlan, Observer, Plan, Report, RunError, Watcher};
use crate::rng::Streams;
use crate::scenario::{Document, MemoryLimit, Scenario, assumptions};

use super::Seed;
use crate::units::Span;
use crate::workload::{Arrival, Trace};

/// The first attempts of a group as they came in reality.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstAttempts {
    /// When they came, and the tokens of their requests, in the order of time.
    pub arrivals: Vec<Arrival>,
    /// Clients that sent them.
    pub clients: u32,
}

/// One point of a comparison: a scenario under one policy.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The policy's name.
    pub policy: String,
    /// What errors call it.
    label: String,
    /// The scenario.
    pub scenario: Scenario,
    /// Its metrics.
    pub metrics: Vec<Metric>,
    plan: Plan,
    /// The same without its trigger, where the scenario names one.
    without_trigger: Option<Plan>,
}

impl Cell {
    /// The cell of `document` under the name `policy`.
    pub fn new(policy: &str, document: &Document) -> Result<Cell> {
        Cell::labelled(policy, format!("policy {policy}"), document)
    }

    /// The same; errors call it `label`.
    pub fn labelled(policy: &str, label: String, document: &Document) -> Result<Cell> {
        let scenario = document.scenario()?;
        let plan = scenario.plan(document.folder())?;
        let without_trigger = match document.without_trigger(&scenario)? {
            Some(other) => Some(other.scenario()?.plan(other.folder())?),
            None => None,
        };
        let metrics = metrics(&plan, &scenario);
        Ok(Cell { policy: policy.to_owned(), label, metrics, plan, without_trigger, scenario })
    }

    /// The same with requests that come when they came in reality, from as many clients; all that do have to
    /// have come before the horizon.
    pub fn with_first_attempts(mut self, first: &[FirstAttempts]) -> Result<Cell> {
        for (group, first) in self.plan.groups.iter_mut().zip(first) {
            let last = first.arrivals.last().map_or(0, |arrival| arrival.at);
            if last >= self.plan.horizon {
                let text = format!(
                    "a request came at {}, and the scenario ends at {}; write a longer measure.horizon",
                    Span::from_nanos(last),
                    Span::from_nanos(self.plan.horizon)
                );
                return Err(Error::Input(text));
            }
            let rows = first.arrivals.clone();
            group.arrivals = Arrivals::Trace(Arc::new(Trace { rows, spread: 0 }));
            group.clients = first.clients.max(1);
            group.shares = None;
        }
        Ok(self)
    }

    /// Its scenario made ready to run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The assumptions that moved its results.
    pub fn assumptions(&self) -> Vec<String> {
        assumptions(&self.scenario, &self.plan)
    }

    /// Attempts per window that the provider can serve; None when nothing bounds it.
    pub fn capacity_per_window(&self) -> Option<f64> {
        self.scenario.capacity_per_window(&self.plan)
    }

    /// The load curve that counts per window make.
    fn curve(&self, counts: &[u32]) -> Vec<u32> {
        let points = counts.chunks(self.scenario.measure.windows_per_point());
        points.map(|point| point.iter().sum()).collect()
    }

    /// One run of it.
    pub fn run(&self, seed: Seed, replication: u32) -> Result<Run> {
        let (recorder, report) = self.watched(&self.plan, seed, replication)?;
        Ok(self.finish(recorder, report, seed, replication)?.0)
    }

    /// The same with its curves.
    pub fn run_with_curves(&self, seed: Seed, replication: u32) -> Result<Run> {
        let curves = CurveWatch::new(self.scenario.measure.curve_window().nanos());
        let mut both = (Recorder::new(self.scenario.watch()), curves);
        let report = self.run_plan(&self.plan, seed, replication, &mut both)?;
        let (run, facts) = self.finish(both.0, report, seed, replication)?;
        Ok(Run { curves: both.1.close(), completion_s: facts.completion_s(), ..run })
    }

    /// The run that has been watched, and that without its trigger where there is one.
    fn finish(
        &self,
        recorder: Recorder,
        report: Report,
        seed: Seed,
        replication: u32,
    ) -> Result<(Run, Facts)> {
        let billing = self.scenario.providers().map(|provider| provider.billing.clone()).collect();
        let mut facts = Facts::new(recorder, report, billing);
        if let Some(plan) = &self.without_trigger {
            facts = facts.beside(self.watched(plan, seed, replication)?.0);
        }
        let run = Run {
            replication,
            fingerprint: facts.fingerprint(),
            events: facts.events(),
            values: self.metrics.iter().map(|metric| metric.value(&facts)).collect(),
            first_attempts: self.curve(&facts.first_attempts()),
            retries: self.curve(facts.retries()),
            curves: Curves::default(),
            completion_s: Vec::new(),
        };
        Ok((run, facts))
    }
}

impl Cell {
    /// A run of `plan`, watched as the cell's scenario says.
    fn watched(&self, plan: &Plan, seed: Seed, replication: u32) -> Result<(Recorder, Report)> {
        let mut recorder = Recorder::new(self.scenario.watch());
        let report = self.run_plan(plan, seed, replication, &mut recorder)?;
        Ok((recorder, report))
    }

    /// One run of it under a watcher of one's own.
    pub fn watch(&self, seed: Seed, replication: u32, watcher: &mut dyn Watcher) -> Result<Report> {
        let streams = Streams::new(seed.0, replication);
        let report = model::watch(&self.plan, streams, watcher);
        report.map_err(|error| self.explained(error, seed, replication))
    }

    /// The same on a heap, with nothing left out that a plain run does without; nothing depends on it.
    pub fn watch_in_full(
        &self,
        seed: Seed,
        replication: u32,
        watcher: &mut dyn Watcher,
    ) -> Result<Report> {
        let streams = Streams::new(seed.0, replication);
        let report = model::watch_in_full(&self.plan, streams, watcher);
        report.map_err(|error| self.explained(error, seed, replication))
    }

    fn run_plan<O: Observer>(
        &self,
        plan: &Plan,
        seed: Seed,
        replication: u32,
        observer: &mut O,
    ) -> Result<Report> {
        let streams = Streams::new(seed.0, replication);
        let report = model::run(plan, streams, observer);
        report.map_err(|error| self.explained(error, seed, replication))
    }

    /// An error of a run, and which run it is.
    fn explained(&self, error: RunError, seed: Seed, replication: u32) -> Error {
        let place = format!("{}, replication {replication}, seed {seed}", self.label);
        match Error::from(error) {
            Error::Input(text) => Error::Input(format!("{place}: {text}")),
            other => Error::Bug(format!("{place}: {other}")),
        }
    }

    /// The plans of a run: its own, and the one without the trigger.
    fn plans(&self) -> impl Iterator<Item = &Plan> {
        std::iter::once(&self.plan).chain(&self.without_trigger)
    }
}

fn metrics(plan: &Plan, scenario: &Scenario) -> Vec<Metric> {
    let groups: Vec<GroupLayers<'_>> = plan.groups.iter().filter_map(group_layers).collect();
    let providers: Vec<&str> = scenario.providers().map(|provider| provider.label()).collect();
    catalog(&plan.layer_names(), &groups, &providers, scenario.watch(), &scenario.parts())
}

fn group_layers(group: &GroupPlan) -> Option<GroupLayers<'_>> {
    let layers = group.layers.iter().map(|layer| layer.name.as_str()).collect();
    Some(GroupLayers { name: group.name.as_ref()?, layers })
}

/// One run: a cell under one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Number of the replication, from 0.
    pub replication: u32,
    /// Hash of the trajectory.
    pub fingerprint: u64,
    /// Events handled.
    pub events: u64,
    /// Values in the order of the cell's metrics.
    pub values: Vec<Option<f64>>,
    /// First attempts per window of the load curve.
    pub first_attempts: Vec<u32>,
    /// Retries per window of the load curve.
    pub retries: Vec<u32>,
    /// All that result files and pictures show over time; empty unless it was asked for.
    pub curves: Curves,
    /// Times within which shares of all requests were answered ([`Facts::completion_s`]); empty unless curves
    /// were asked for.
    pub completion_s: Vec<Option<f64>>,
}

/// A cell with its runs, in order of replication.
#[derive(Clone, Debug)]
pub struct CellRuns {
    /// The cell.
    pub cell: Cell,
    /// Its runs.
    pub runs: Vec<Run>,
}

impl CellRuns {
    /// The values of one metric over replications, where it has one.
    pub fn values(&self, metric: &str) -> Vec<f64> {
        self.column(metric).flatten().collect()
    }

    /// The value of one metric in every run, None where a run has none.
    pub fn column(&self, metric: &str) -> impl Iterator<Item = Option<f64>> {
        let index = self.cell.metrics.iter().position(|m| m.name == metric);
        self.runs.iter().map(move |run| index.and_then(|index| run.values[index]))
    }
}

/// How much work to do, and with what.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Master seed.
    pub seed: Seed,
    /// Replications of each cell.
    pub replications: u32,
    /// Threads; 0 means one per core.
    pub threads: usize,
    /// Limit of memory.
    pub memory: MemoryLimit,
}

impl Effort {
    /// Refuses a cell that needs too much memory.
    pub fn check(&self, cell: &Cell) -> Result<()> {
        let runs = f64::from(self.replications);
        let threads = self.thread_count();
        cell.plans().try_for_each(|plan| self.memory.check(&cell.scenario, plan, threads, runs))
    }

    /// The threads to run on.
    pub fn pool(&self) -> Result<rayon::ThreadPool> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.thread_count())
            .build()
            .map_err(|e| Error::Bug(format!("no threads: {e}")))
    }

    /// Threads that are used: as told, or one per core.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        }
    }
}

/// Told after every finished run.
pub type Progress<'a> = &'a (dyn Fn() + Sync);

/// Runs every cell under every replication.
pub fn execute(cells: Vec<Cell>, effort: Effort, progress: Progress<'_>) -> Result<Vec<CellRuns>> {
    execute_by(Cell::run, cells, effort, progress)
}

/// The same with the curves of every run, for result files and pictures.
pub fn execute_with_curves(
    cells: Vec<Cell>,
    effort: Effort,
    progress: Progress<'_>,
) -> Result<Vec<CellRuns>> {
    execute_by(Cell::run_with_curves, cells, effort, progress)
}

fn execute_by(
    run: fn(&Cell, Seed, u32) -> Result<Run>,
    cells: Vec<Cell>,
    effort: Effort,
    progress: Progress<'_>,
) -> Result<Vec<CellRuns>> {
    let replications = effort.replications as usize;
    let total = cells.len() * replications;
    let threads = effort.thread_count().min(total.max(1));
    for cell in &cells {
        for plan in cell.plans() {
            effort.memory.check(&cell.scenario, plan, threads, total as f64)?;
        }
    }
    let pool = Effort { threads, ..effort }.pool()?;
    let one = |index: usize| {
        let cell = &cells[index / replications];
        let run = run(cell, effort.seed, (index % replications) as u32);
        progress();
        run
    };
    // Collected in order, so that the first error is the same for any number of threads.
    let runs: Vec<Result<Run>> = pool.install(|| (0..total).into_par_iter().map(one).collect());
    let mut runs = runs.into_iter();
    cells
        .into_iter()
        .map(|cell| {
            Ok(CellRuns { cell, runs: runs.by_ref().take(replications).collect::<Result<_>>()? })
        })
        .collect()
}
