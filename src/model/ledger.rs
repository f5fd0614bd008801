//! Counts that must add up, whatever the scenario.

use super::RunError;
use crate::answer::Reason;
use crate::server::LimitKind;
use crate::units::Time;

/// The books of a group, or of all groups together. All times are sums in whole nanoseconds, so the laws are equalities.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Requests created.
    pub created: u64,
    /// Requests that succeeded.
    pub succeeded: u64,
    /// Requests of which a part of the answer was delivered.
    pub partial: u64,
    /// Requests given up, in the order of [`Reason::ALL`].
    pub gave_up: [u64; Reason::ALL.len()],
    /// Requests without an outcome at the end.
    pub open: u64,
    /// Attempts sent.
    pub attempts: u64,
    /// Attempts with number 1.
    pub first_attempts: u64,
    /// Attempts lost on the way to the provider.
    pub lost_attempts: u64,
    /// Attempts on the way to the provider at the end.
    pub on_the_way: u64,
    /// Attempts that were sent beside one that had not ended.
    pub hedges: u64,
    /// Hedges that were answered first.
    pub hedges_won: u64,
    /// Hedges that their budget refused.
    pub hedges_refused: u64,
    /// Attempts whose connection was reset.
    pub reset: u64,
    /// Attempts whose client had gone before they were accepted.
    pub gone_before_accept: u64,
    /// Attempts waiting in the backlog at the end.
    pub in_backlog: u64,
    /// Attempts accepted and never answered.
    pub unanswered: u64,
    /// Attempts refused by an outage, or by an error on arrival.
    pub refused_by_fault: u64,
    /// Attempts refused by an operator.
    pub refused_by_operator: u64,
    /// Attempts refused by a limit, in the order of [`LimitKind::ALL`].
    pub refused_by_limit: [u64; LimitKind::ALL.len()],
    /// Attempts refused because all places were taken.
    pub refused_by_load: u64,
    /// Attempts admitted.
    pub admitted: u64,
    /// Attempts whose service started.
    pub started: u64,
    /// Attempts whose service started with an answer that the cache held.
    pub cache_hits: u64,
    /// Attempts whose service finished.
    pub completed: u64,
    /// Attempts dropped from the queue.
    pub dropped: u64,
    /// Attempts removed from the queue because their client had gone.
    pub removed: u64,
    /// Attempts whose service was stopped because their client had gone.
    pub stopped: u64,
    /// Attempts lost from the queue.
    pub lost_waiting: u64,
    /// Attempts lost in service.
    pub lost_served: u64,
    /// Completions delivered to a waiting client.
    pub delivered: u64,
    /// Good answers lost on the way to their client.
    pub lost_answers: u64,
    /// Failures of which the word was lost on the way to the client.
    pub lost_words: u64,
    /// Good answers on the way to a client, or in the line of its process, at the end.
    pub on_the_way_back: u64,
    /// Completions whose client no longer waited.
    pub late: u64,
    /// Completions that were an error instead of an answer.
    pub failed: u64,
    /// Of those, writes of a row that had moved on.
    pub conflicts: u64,
    /// Attempts that attached to the work of an earlier one.
    pub attached: u64,
    /// Good answers to those.
    pub replayed: u64,
    /// Good completions for requests that had one before.
    pub repeated_effects: u64,
    /// Calls and attempts per layer, innermost first.
    pub layers: Vec<LayerCount>,
    /// ∫ jobs at the provider dt.
    pub occupancy: u128,
    /// ∫ jobs in service dt.
    pub busy: u128,
    sum_admitted_at: u128,
    sum_left_at: u128,
    sum_service: u128,
    in_system: u64,
    in_service: u64,
    changed_at: Time,
}

/// Calls into a layer, and attempts it made of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerCount {
    /// Calls.
    pub calls: u64,
    /// Attempts, without those that the layer's own breaker refused.
    pub attempts: u64,
    /// Attempts or calls that the layer's breaker refused.
    pub breaker_refused: u64,
    /// How often a breaker of the layer opened.
    pub breaker_openings: u64,
    /// How long breakers of the layer were open, up to the horizon, in nanoseconds.
    pub breaker_open: u64,
    /// Attempts that the layer's throttle refused.
    pub throttle_refused: u64,
    /// Attempts that waited for their turn in the layer's pace, and got it.
    pub pace_waited: u64,
    /// How long they waited, in nanoseconds.
    pub pace_wait: u64,
    /// Attempts that the layer's pace refused.
    pub pace_refused: u64,
}

impl LayerCount {
    /// The sum of two counts.
    pub(super) fn and(self, other: LayerCount) -> LayerCount {
        LayerCount {
            calls: self.calls + other.calls,
            attempts: self.attempts + other.attempts,
            breaker_refused: self.breaker_refused + other.breaker_refused,
            breaker_openings: self.breaker_openings + other.breaker_openings,
            breaker_open: self.breaker_open + other.breaker_open,
            throttle_refused: self.throttle_refused + other.throttle_refused,
            pace_waited: self.pace_waited + other.pace_waited,
            pace_wait: self.pace_wait + other.pace_wait,
            pace_refused: self.pace_refused + other.pace_refused,
        }
    }
}

impl Ledger {
    /// Books in which nothing stands but attempts.
    pub fn of_attempts(attempts: u64, first_attempts: u64) -> Ledger {
        Ledger { attempts, first_attempts, ..Ledger::default() }
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        let passed = u128::from(now - self.changed_at);
        self.occupancy += passed * u128::from(self.in_system);
        self.busy += passed * u128::from(self.in_service);
        self.changed_at = now;
    }

    /// An attempt is admitted.
    #[inline]
    pub(super) fn on_admitted(&mut self, now: Time) {
        self.advance(now);
        self.admitted += 1;
        self.in_system += 1;
        self.sum_admitted_at += u128::from(now);
    }

    /// Service of `service` nanoseconds starts.
    #[inline]
    pub(super) fn on_started(&mut self, now: Time, service: u64) {
        self.advance(now);
        self.started += 1;
        self.in_service += 1;
        self.sum_service += u128::from(service);
    }

    /// Service finishes.
    #[inline]
    pub(super) fn on_completed(&mut self, now: Time) {
        self.advance(now);
        self.completed += 1;
        self.in_service -= 1;
        self.leave(now);
    }

    #[inline]
    fn leave(&mut self, now: Time) {
        self.in_system -= 1;
        self.sum_left_at += u128::from(now);
    }

    /// Waiting work is dropped by the provider.
    pub(super) fn on_dropped(&mut self, now: Time) {
        self.advance(now);
        self.dropped += 1;
        self.leave(now);
    }

    /// Waiting work is removed, because its client has gone.
    pub(super) fn on_removed(&mut self, now: Time) {
        self.advance(now);
        self.removed += 1;
        self.leave(now);
    }

    /// Service stops `rest` nanoseconds before its end, because its client has gone.
    pub(super) fn on_stopped(&mut self, now: Time, rest: u64) {
        self.advance(now);
        self.stopped += 1;
        self.cut_short(now, rest);
    }

    fn cut_short(&mut self, now: Time, rest: u64) {
        self.in_service -= 1;
        self.sum_service -= u128::from(rest);
        self.leave(now);
    }

    /// Waiting work is lost.
    pub(super) fn on_lost_waiting(&mut self, now: Time) {
        self.advance(now);
        self.lost_waiting += 1;
        self.leave(now);
    }

    /// Work in service is lost `rest` nanoseconds before its end.
    pub(super) fn on_lost_served(&mut self, now: Time, rest: u64) {
        self.advance(now);
        self.lost_served += 1;
        self.cut_short(now, rest);
    }

    /// A request was given up.
    pub(super) fn on_gave_up(&mut self, reason: Reason) {
        self.gave_up[reason as usize] += 1;
    }

    /// Requests given up for any reason.
    pub fn gave_up_total(&self) -> u64 {
        self.gave_up.iter().sum()
    }

    /// Attempts refused for any reason.
    pub fn refused(&self) -> u64 {
        self.refused_by_fault
            + self.refused_by_operator
            + self.refused_by_limits()
            + self.refused_by_load
    }

    /// Attempts that have arrived at the provider.
    pub fn arrived(&self) -> u64 {
        self.attempts - self.lost_attempts - self.on_the_way
    }

    /// Attempts refused by any limit.
    pub fn refused_by_limits(&self) -> u64 {
        self.refused_by_limit.iter().sum()
    }

    /// Attempts with number 2 or more.
    pub fn retries(&self) -> u64 {
        self.attempts - self.first_attempts
    }

    /// The books of all groups together, but for their layers, which have names.
    pub(super) fn sum(groups: &[Ledger]) -> Ledger {
        let mut sum = Ledger::default();
        for group in groups {
            sum.add(group);
        }
        sum
    }

    #[rustfmt::skip]
    fn add(&mut self, other: &Ledger) {
        // Named one by one, so that none is forgotten.
        let &Ledger {
            created, succeeded, partial, gave_up, open, attempts, first_attempts,
            hedges, hedges_won, hedges_refused, lost_attempts, on_the_way, reset,
            gone_before_accept, in_backlog, unanswered, refused_by_fault, refused_by_operator,
            refused_by_limit, refused_by_load,
            admitted, started, cache_hits, completed, dropped, removed, stopped, lost_waiting, lost_served,
            delivered, lost_answers, lost_words, on_the_way_back, late, failed, conflicts,
            attached, replayed, repeated_effects,
            layers: _, occupancy, busy, sum_admitted_at, sum_left_at, sum_service,
            in_system, in_service, changed_at,
        } = other;
        self.created += created;
        self.succeeded += succeeded;
        self.partial += partial;
        self.gave_up.iter_mut().zip(gave_up).for_each(|(sum, part)| *sum += part);
        self.open += open;
        self.attempts += attempts;
        self.first_attempts += first_attempts;
        self.hedges += hedges;
        self.hedges_won += hedges_won;
        self.hedges_refused += hedges_refused;
        self.lost_attempts += lost_attempts;
        self.on_the_way += on_the_way;
        self.reset += reset;
        self.gone_before_accept += gone_before_accept;
        self.in_backlog += in_backlog;
        self.unanswered += unanswered;
        self.refused_by_fault += refused_by_fault;
        self.refused_by_operator += refused_by_operator;
        self.refused_by_limit.iter_mut().zip(refused_by_limit).for_each(|(sum, n)| *sum += n);
        self.refused_by_load += refused_by_load;
        self.admitted += admitted;
        self.started += started;
        self.cache_hits += cache_hits;
        self.completed += completed;
        self.dropped += dropped;
        self.removed += removed;
        self.stopped += stopped;
        self.lost_waiting += lost_waiting;
        self.lost_served += lost_served;
        self.delivered += delivered;
        self.lost_answers += lost_answers;
        self.lost_words += lost_words;
        self.on_the_way_back += on_the_way_back;
        self.late += late;
        self.failed += failed;
        self.conflicts += conflicts;
        self.attached += attached;
        self.replayed += replayed;
        self.repeated_effects += repeated_effects;
        self.occupancy += occupancy;
        self.busy += busy;
        self.sum_admitted_at += sum_admitted_at;
        self.sum_left_at += sum_left_at;
        self.sum_service += sum_service;
        self.in_system += in_system;
        self.in_service += in_service;
        self.changed_at = changed_at;
    }

    /// Attempts in the queue by these books, and in service.
    fn present(&self) -> (u64, u64) {
        let unserved = self.dropped + self.removed + self.lost_waiting;
        let queued = self.admitted.wrapping_sub(self.started + unserved);
        let cut_short = self.stopped + self.lost_served;
        (queued, self.started.wrapping_sub(self.completed + cut_short))
    }

    /// Checks all groups together against what is found at the provider.
    pub(super) fn check(&self, waiting: u64, busy: u64) -> Result<(), RunError> {
        let (queued, in_service) = self.present();
        hold(&self.laws())?;
        hold(&[
            (
                "I3: admitted, not started, dropped, removed or lost = waiting",
                queued.into(),
                waiting.into(),
            ),
            (
                "I3: started, not finished, stopped or lost = in service",
                in_service.into(),
                busy.into(),
            ),
        ])
    }

    /// Closes the books of a group at `end`, when `open` of its requests have no outcome, and
    /// checks the laws.
    pub(super) fn close(&mut self, end: Time, open: u64) -> Result<(), RunError> {
        self.advance(end);
        self.open = open;
        hold(&self.laws())
    }

    /// The laws of books that are closed.
    fn laws(&self) -> [Law; 7] {
        let arrived = self.refused() + self.unanswered + self.attached + self.admitted;
        let under_way = self.lost_attempts + self.on_the_way + self.in_backlog;
        let undelivered = self.late + self.lost_answers + self.on_the_way_back;
        let (queued, in_service) = self.present();
        let present = u128::from(queued.wrapping_add(in_service));
        let sojourn = self.sum_left_at + present * u128::from(self.changed_at);
        [
            (
                "I1: requests = succeeded + partial + gave up + open",
                self.created.into(),
                (self.succeeded + self.partial + self.gave_up_total() + self.open).into(),
            ),
            (
                "I2: every request that sent has one first attempt",
                self.first_attempts.min(self.created).into(),
                self.first_attempts.into(),
            ),
            (
                "I3: attempts = lost + on the way + in backlog + reset + gone + refused + unanswered + attached + admitted",
                self.attempts.into(),
                (under_way + self.reset + self.gone_before_accept + arrived).into(),
            ),
            (
                "I4: completions + replayed = delivered + late + lost + on the way back + failed",
                (self.completed + self.replayed).into(),
                (self.delivered + undelivered + self.failed).into(),
            ),
            ("I4: deliveries = succeeded", self.delivered.into(), self.succeeded.into()),
            (
                "I10: Little, sum of sojourns = integral of jobs",
                sojourn.wrapping_sub(self.sum_admitted_at),
                self.occupancy,
            ),
            (
                "I11: integral of busy places = service done, once nothing is in service",
                self.busy,
                if in_service == 0 { self.sum_service } else { self.busy },
            ),
        ]
    }
}

/// A law: its name, and two sides that must be equal.
type Law = (&'static str, u128, u128);

fn hold(laws: &[Law]) -> Result<(), RunError> {
    match laws.iter().find(|(_, left, right)| left != right) {
        None => Ok(()),
        Some((law, left, right)) => {
            Err(RunError::Law { law, found: format!("{left} is not {right}") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_completion_is_found() {
        let mut ledger = Ledger { created: 1, attempts: 1, first_attempts: 1, ..Ledger::default() };
        ledger.on_admitted(0);
        ledger.on_started(0, 10);
        ledger.on_completed(10);
        let mut good = Ledger { delivered: 1, succeeded: 1, ..ledger.clone() };
        assert_eq!(good.close(20, 0), Ok(()));
        assert!(
            matches!(ledger.close(20, 1), Err(RunError::Law { law, .. }) if law.starts_with("I4"))
        );
    }

    #[test]
    fn a_wrong_service_time_is_found() {
        let mut ledger = Ledger {
            created: 1,
            attempts: 1,
            first_attempts: 1,
            delivered: 1,
            succeeded: 1,
            ..Ledger::default()
        };
        ledger.on_admitted(0);
        ledger.on_started(0, 10);
        ledger.on_completed(11);
        assert!(
            matches!(ledger.close(20, 0), Err(RunError::Law { law, .. }) if law.starts_with("I11"))
        );
    }

    #[test]
    fn a_job_that_got_lost_in_the_queue_is_found() {
        let mut ledger = Ledger { created: 1, attempts: 1, first_attempts: 1, ..Ledger::default() };
        ledger.on_admitted(0);
        assert_eq!(ledger.close(20, 1), Ok(()));
        let sum = Ledger::sum(&[ledger.clone(), ledger]);
        assert!(matches!(
            sum.check(1, 0),
            Err(RunError::Law { law, .. }) if law.contains("waiting")
        ));
        assert_eq!(sum.check(2, 0), Ok(()));
    }

    #[test]
    fn work_that_is_taken_back_is_booked_to_the_end() {
        let mut ledger = Ledger { created: 2, attempts: 2, first_attempts: 2, ..Ledger::default() };
        ledger.on_admitted(0);
        ledger.on_started(0, 10);
        ledger.on_admitted(0);
        ledger.on_removed(3);
        ledger.on_stopped(4, 6);
        assert_eq!(ledger.clone().close(20, 2), Ok(()));
        assert_eq!((ledger.occupancy, ledger.busy), (7, 4));
        ledger.sum_service -= 1;
        assert!(
            matches!(ledger.close(20, 2), Err(RunError::Law { law, .. }) if law.starts_with("I11"))
        );
    }

    #[test]
    fn a_request_that_ends_twice_is_found() {
        let mut ledger = Ledger { created: 1, attempts: 1, first_attempts: 1, ..Ledger::default() };
        ledger.reset = 1;
        ledger.on_gave_up(Reason::Attempts);
        ledger.on_gave_up(Reason::Attempts);
        assert!(matches!(
            ledger.close(20, 0),
            Err(RunError::Law { law, .. }) if law.starts_with("I1")
        ));
    }
}
