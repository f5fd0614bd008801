//! The observer that makes a run's facts.

use super::flow::{Flow, FlowWatch};
use super::latency::{Durations, MeanDuration, shares};
use super::windows::Load;
use crate::answer::Outcome;
use crate::model::{Ledger, Observer, Report, Side};
use crate::server::{Billing, Tokens};
use crate::units::Time;

/// What to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Window of load peaks in nanoseconds.
    pub window: u64,
    /// How many retries of a request are watched one by one.
    pub per_retry: u32,
    /// Windows of demand and goodput, where they are watched.
    pub flow: Option<FlowWatch>,
    /// How many groups are watched apart: none when there is only one.
    pub groups: usize,
    /// How many providers are watched apart: none when there is only one.
    pub providers: usize,
}

/// The k-th retries of all requests.
#[derive(Clone, Debug)]
pub(super) struct OneRetry {
    pub(super) load: Load,
    sum_of_times: u128,
    /// Waits before it in nanoseconds.
    waits: Vec<u64>,
}

impl OneRetry {
    fn new(window: u64) -> OneRetry {
        OneRetry { load: Load::new(window), sum_of_times: 0, waits: Vec::new() }
    }

    fn add(&mut self, now: Time) {
        self.load.add(now);
        self.sum_of_times += u128::from(now);
    }

    /// Share of waits that are, to the nanosecond, also somebody else's.
    pub(super) fn shared_waits(&self) -> Option<f64> {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        let alike = waits.chunk_by(|a, b| a == b).map(<[u64]>::len).filter(|len| *len > 1);
        let shared: usize = alike.sum();
        (!waits.is_empty()).then(|| shared as f64 / waits.len() as f64)
    }

    /// Mean instant in seconds.
    pub(super) fn mean_s(&self) -> Option<f64> {
        let n = self.load.total();
        (n > 0).then(|| self.sum_of_times as f64 / n as f64 / 1e9)
    }
}

/// Tasks of agents.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskRecord {
    pub(super) completion: MeanDuration,
    pub(super) failed: u64,
    /// Tokens of the answers of tasks that failed.
    pub(super) lost: Tokens,
}

impl TaskRecord {
    pub(super) fn completed(&self) -> u64 {
        self.completion.count()
    }

    fn over(&mut self, took: u64, completed: bool, spent: Tokens) {
        if completed {
            self.completion.add(took);
        } else {
            self.failed += 1;
            self.lost += spent;
        }
    }
}

/// Tokens billed, and those of delivered answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) billed: Tokens,
    pub(super) useful: Tokens,
}

/// What metrics are made of: of all clients, of a group, or of a provider.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) flow: Option<Flow>,
    pub(super) attempts: Load,
    pub(super) retries: Load,
    pub(super) by_retry: Vec<OneRetry>,
    pub(super) peak_present: u32,
    pub(super) completion: Durations,
    pub(super) gave_up_after: Durations,
    pub(super) last_resolved: Option<Time>,
    pub(super) send_delay: MeanDuration,
    pub(super) queue_wait: MeanDuration,
    pub(super) billed: Tokens,
    pub(super) useful: Tokens,
    /// The same by provider, where there are several.
    pub(super) of_providers: Vec<Spent>,
    /// Good answers delivered.
    pub(super) delivered: u64,
    pub(super) budget_refused: u64,
    pub(super) tasks: TaskRecord,
}

impl Record {
    fn new(watch: Watch) -> Record {
        let Watch { window, per_retry, .. } = watch;
        Record {
            flow: watch.flow.map(Flow::new),
            attempts: Load::new(window),
            retries: Load::new(window),
            by_retry: vec![OneRetry::new(window); per_retry as usize],
            peak_present: 0,
            completion: Durations::default(),
            gave_up_after: Durations::default(),
            last_resolved: None,
            send_delay: MeanDuration::default(),
            queue_wait: MeanDuration::default(),
            billed: Tokens::default(),
            useful: Tokens::default(),
            of_providers: vec![Spent::default(); watch.providers],
            delivered: 0,
            budget_refused: 0,
            tasks: TaskRecord::default(),
        }
    }

    /// The run is over.
    fn close(mut self) -> Record {
        self.completion.close();
        self.gave_up_after.close();
        self.attempts.close();
        self.retries.close();
        self.by_retry.iter_mut().for_each(|watched| watched.load.close());
        self
    }

    #[inline]
    fn created(&mut self, now: Time) {
        if let Some(flow) = &mut self.flow {
            flow.created(now);
        }
    }

    #[inline]
    fn attempt(&mut self, now: Time, number: u32) {
        if let Some(flow) = &mut self.flow {
            flow.attempt(now);
        }
        self.attempts.add(now);
        if number == 1 {
            return;
        }
        self.retries.add(now);
        if let Some(watched) = self.by_retry.get_mut(number as usize - 2) {
            watched.add(now);
        }
    }

    #[inline]
    fn billed(&mut self, provider: usize, tokens: Tokens) {
        self.billed += tokens;
        if let Some(own) = self.of_providers.get_mut(provider) {
            own.billed += tokens;
        }
    }

    #[inline]
    fn delivered(&mut self, provider: usize, tokens: Tokens) {
        self.delivered += 1;
        self.useful += tokens;
        if let Some(own) = self.of_providers.get_mut(provider) {
            own.useful += tokens;
        }
    }

    #[inline]
    fn sleeps(&mut self, retry: u32, wait: u64) {
        // A wait before anything was sent belongs to no retry.
        if let Some(watched) = self.by_retry.get_mut((retry as usize).wrapping_sub(1)) {
            watched.waits.push(wait);
        }
    }

    #[inline]
    fn resolved(&mut self, now: Time, created: Time, outcome: Outcome) {
        self.last_resolved = Some(now);
        match outcome {
            Outcome::Succeeded => {
                if let Some(flow) = &mut self.flow {
                    flow.answered(now);
                }
                self.completion.add(now - created);
            }
            Outcome::Partial => {}
            Outcome::GaveUp(_) => self.gave_up_after.add(now - created),
        }
    }
}

/// Collects during a run what metrics are made of.
#[derive(Clone, Debug)]
pub struct Recorder {
    all: Record,
    /// Those of each group, when there are several.
    groups: Vec<Record>,
    /// Those of each provider, when there are several.
    providers: Vec<Record>,
}

impl Recorder {
    /// A recorder that watches as told.
    pub fn new(watch: Watch) -> Recorder {
        let alone = Watch { providers: 0, ..watch };
        Recorder {
            all: Record::new(watch),
            groups: vec![Record::new(watch); watch.groups],
            providers: vec![Record::new(alone); watch.providers],
        }
    }

    /// Tells the record of the group as well, if it has one.
    #[inline]
    fn tell_group(&mut self, group: usize, what: impl Fn(&mut Record)) {
        if let Some(own) = self.groups.get_mut(group) {
            what(own);
        }
    }
}

impl Recorder {
    /// Tells the records of both sides, where they have one.
    #[inline]
    fn tell_sides(&mut self, (group, provider): Side, what: impl Fn(&mut Record)) {
        self.tell_group(group, &what);
        if let Some(own) = self.providers.get_mut(provider) {
            what(own);
        }
    }
}

impl Observer for Recorder {
    #[inline]
    fn created(&mut self, now: Time, group: usize) {
        self.all.created(now);
        self.tell_group(group, |record| record.created(now));
    }

    #[inline]
    fn left_host(&mut self, _now: Time, group: usize, waited: u64) {
        self.all.send_delay.add(waited);
        self.tell_group(group, |record| record.send_delay.add(waited));
    }

    #[inline]
    fn attempt(&mut self, now: Time, side: Side, number: u32) {
        self.all.attempt(now, number);
        self.tell_sides(side, |record| record.attempt(now, number));
    }

    #[inline]
    fn present(&mut self, _now: Time, present: u32) {
        self.all.peak_present = self.all.peak_present.max(present);
    }

    #[inline]
    fn started(&mut self, _now: Time, side: Side, waited: u64) {
        self.all.queue_wait.add(waited);
        self.tell_sides(side, |record| record.queue_wait.add(waited));
    }

    #[inline]
    fn billed(&mut self, _now: Time, side: Side, tokens: Tokens) {
        self.all.billed(side.1, tokens);
        self.tell_sides(side, |record| record.billed(side.1, tokens));
    }

    #[inline]
    fn delivered(&mut self, _now: Time, side: Side, tokens: Tokens) {
        self.all.delivered(side.1, tokens);
        self.tell_sides(side, |record| record.delivered(side.1, tokens));
    }

    #[inline]
    fn sleeps(&mut self, _now: Time, group: usize, retry: u32, wait: u64) {
        self.all.sleeps(retry, wait);
        self.tell_group(group, |record| record.sleeps(retry, wait));
    }

    #[inline]
    fn resolved(&mut self, now: Time, group: usize, created: Time, outcome: Outcome) {
        self.all.resolved(now, created, outcome);
        self.tell_group(group, |record| record.resolved(now, created, outcome));
    }

    fn task_over(
        &mut self,
        now: Time,
        group: usize,
        started: Time,
        completed: bool,
        spent: Tokens,
    ) {
        self.all.tasks.over(now - started, completed, spent);
        self.tell_group(group, |record| record.tasks.over(now - started, completed, spent));
    }

    fn budget_refused(&mut self, _now: Time, group: usize) {
        self.all.budget_refused += 1;
        self.tell_group(group, |record| record.budget_refused += 1);
    }
}

/// Everything that is known after a run; metrics are functions of it.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(super) recorder: Record,
    pub(super) report: Report,
    /// Of each provider.
    pub(super) billing: Vec<Billing>,
    /// The same of each group that is watched apart.
    pub(super) groups: Vec<Facts>,
    /// The same of each provider that is watched apart, without a ledger.
    pub(super) providers: Vec<Facts>,
    /// Demand and goodput of the same run without its trigger, where it has been made.
    pub(super) without_trigger: Option<Flow>,
}

impl Facts {
    /// Closes the books of a run; `billing` is that of each provider.
    pub fn new(recorder: Recorder, report: Report, billing: Vec<Billing>) -> Facts {
        let own = |ledger: Ledger| Report { ledger, groups: Vec::new(), ..report };
        let groups = recorder.groups.into_iter().zip(&report.groups);
        let groups = groups
            .map(|(record, ledger)| Facts::of(record, own(ledger.clone()), billing.clone()))
            .collect();
        let providers = recorder.providers.into_iter().zip(&billing);
        let providers = providers
            .map(|(record, billing)| {
                let record = record.close();
                let attempts = record.attempts.total();
                let ledger = Ledger::of_attempts(attempts, attempts - record.retries.total());
                Facts::of(record, own(ledger), vec![billing.clone()])
            })
            .collect();
        Facts { groups, providers, ..Facts::of(recorder.all, report, billing) }
    }

    fn of(recorder: Record, report: Report, billing: Vec<Billing>) -> Facts {
        let recorder = recorder.close();
        debug_assert_eq!(
            recorder.attempts.total(),
            report.ledger.arrived(),
            "I12: windows add up to attempts that arrive"
        );
        Facts {
            recorder,
            report,
            billing,
            groups: Vec::new(),
            providers: Vec::new(),
            without_trigger: None,
        }
    }

    /// The same with what was watched in the run without its trigger.
    pub fn beside(mut self, without_trigger: Recorder) -> Facts {
        let groups = self.groups.iter_mut().zip(without_trigger.groups);
        groups.for_each(|(own, record)| own.without_trigger = record.flow);
        Facts { without_trigger: without_trigger.all.flow, ..self }
    }

    /// What the tokens that `which` picks cost; None when a provider has no price.
    pub(super) fn usd(&self, which: fn(Spent) -> Tokens) -> Option<f64> {
        let Record { billed, useful, of_providers, .. } = &self.recorder;
        if of_providers.is_empty() {
            let all = Spent { billed: *billed, useful: *useful };
            return self.billing.first()?.usd(which(all));
        }
        let priced = of_providers.iter().zip(&self.billing);
        priced.map(|(spent, billing)| billing.usd(which(*spent))).sum()
    }

    /// Hash of the trajectory.
    pub fn fingerprint(&self) -> u64 {
        self.report.fingerprint
    }

    /// Events handled.
    pub fn events(&self) -> u64 {
        self.report.events
    }

    /// For each of the [`shares`], the time from creation to answer within which that share of all
    /// requests was answered, in seconds; None when fewer were.
    pub fn completion_s(&self) -> Vec<Option<f64>> {
        let requests = self.report.ledger.created as usize;
        shares().map(|share| self.recorder.completion.within_s(share, requests)).collect()
    }

    /// First attempts per window.
    pub fn first_attempts(&self) -> Vec<u32> {
        let attempts = self.recorder.attempts.counts();
        let retries = self.retries().iter().copied().chain(std::iter::repeat(0));
        let mut first: Vec<u32> =
            attempts.iter().zip(retries).map(|(all, more)| all - more).collect();
        first.truncate(first.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1));
        first
    }

    /// Retries per window.
    pub fn retries(&self) -> &[u32] {
        self.recorder.retries.counts()
    }
}
