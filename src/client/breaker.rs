//! Circuit breakers: after too many failures nothing is let through for a while.
//!
//! ```text
//!            too many failures                 `open` is over
//!  closed ─────────────────────► open ─────────────────────────► half-open
//!    ▲                            ▲                                  │
//!    │                            └──── probes fail ─────────────────┤
//!    └────────────────────────────────── probes succeed ─────────────┘
//! ```
//! Source: Nygard, "Release It!", 2007; the settings of Hystrix 1.5, Polly 8 and resilience4j 2 can
//! be written. An outcome counts in the state in which its attempt was let through, as in
//! sony/gobreaker: a late answer of the time before neither closes a half-open breaker nor opens it again.

use serde::{Deserialize, Serialize};

use super::{AtOnce, RetryOn, Scope, SlidingCounts};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// A circuit breaker lets nothing through for a while after too many failures, and then tries with
/// a few probes. It stands behind the semaphore, the pace and adaptive throttling. What it refuses
/// fails at once, uses up an attempt, and is retried where `retry_on` says `refusals`. An outcome
/// counts in the state (closed or half-open) in which its attempt was let through; an attempt that
/// an outer limit of time cuts off says nothing and frees its place. Half-open begins with the
/// first attempt after the open time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BreakerRule {
    /// It opens after so many failures in a row; this or `ratio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consecutive: Option<Consecutive>,
    /// It opens when a share of the outcomes in a window failed; this or `consecutive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<FailureRatio>,
    /// How long it stays open, above 0s.
    pub open: Span,
    /// Uniform addition to `open`, as a share of it, 0 to 10.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 10.0), extend("default" = 0.0)))]
    pub open_jitter: f64,
    /// How it finds out whether it may close, once it has been open long enough.
    #[serde(default)]
    pub half_open: HalfOpen,
    /// What is asked for, and counts.
    #[serde(default)]
    pub counts: Counts,
    /// What it stops while it is not closed.
    #[serde(default, skip_serializing_if = "Stops::is_all")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "all")))]
    pub stops: Stops,
    /// Which failures count, written like `retry_on`; without it those that the layer retries.
    /// Every other end is a success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<RetryOn>,
    /// Who shares it.
    pub scope: Scope,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Failures in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Consecutive {
    /// How many, at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub failures: u32,
}

/// A share of failures in a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FailureRatio {
    /// It opens at this share, above 0, at most 1.
    #[cfg_attr(feature = "schema", schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0)))]
    pub failures: f64,
    /// Fewer outcomes than this in the window open nothing; at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub min_calls: u32,
    /// The window as time; either this or `last`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Span>,
    /// In how many slices the window moves, 1 to 1000.
    #[serde(default = "ten")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub slices: u32,
    /// The window as a number of outcomes, 1 to 100,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100000)))]
    pub last: Option<u32>,
}

fn ten() -> u32 {
    10
}

/// How a breaker finds out whether it may close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HalfOpen {
    /// Probes under way at once, or `"unlimited"`.
    pub probes: AtOnce,
    /// Outcomes that it judges by, 1 to 100,000. No more probes are let through than these, unless
    /// `probes` is unlimited.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100000)))]
    pub trials: u32,
    /// Failures among them that open it again, 1 to `trials`; otherwise it closes.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100000)))]
    pub failures: u32,
    /// When it decides.
    pub verdict: Verdict,
}

impl Default for HalfOpen {
    fn default() -> HalfOpen {
        HalfOpen { probes: AtOnce::Most(1), trials: 1, failures: 1, verdict: Verdict::Early }
    }
}

/// When a half-open breaker decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As soon as the outcomes to come cannot change it.
    #[default]
    Early,
    /// When all outcomes are there.
    Complete,
}

/// What a breaker watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// Every attempt of the layer: the breaker stands inside the retries.
    #[default]
    Attempts,
    /// Every call into the layer, with all its retries: the breaker stands around them.
    Calls,
}

/// What a breaker stops while it is not closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stops {
    /// Every attempt, or call.
    #[default]
    All,
    /// Retries of its layer: first attempts go through, and those that are sent meanwhile do not
    /// count. Needs `counts = "attempts"`.
    Retries,
}

impl Stops {
    fn is_all(&self) -> bool {
        *self == Stops::All
    }
}

impl BreakerRule {
    /// What is wrong with the parameters: the path below `breaker` and a sentence.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let at = |path: &[&'static str], text: &str| Some((path.to_vec(), text.to_owned()));
        match (&self.consecutive, &self.ratio) {
            (None, None) => {
                return at(&[], "the breaker never opens; write one of consecutive, ratio");
            }
            (Some(_), Some(_)) => {
                return at(&["ratio"], "the breaker has both consecutive and ratio; keep one");
            }
            (Some(c), None) if c.failures == 0 => {
                return at(
                    &["consecutive", "failures"],
                    "0 failures open nothing; write 1 or more",
                );
            }
            _ => {}
        }
        if let Some((key, text)) = self.ratio.as_ref().and_then(FailureRatio::problem) {
            return Some((vec!["ratio", key], text));
        }
        if self.open == Span::ZERO {
            return at(&["open"], "open = 0s lets everything through at once; write more");
        }
        if !(0.0..=10.0).contains(&self.open_jitter) {
            let text = format!("open_jitter = {} is out of range; write 0 to 10", self.open_jitter);
            return Some((vec!["open_jitter"], text));
        }
        if (self.counts, self.stops) == (Counts::Calls, Stops::Retries) {
            let text = "a breaker of calls stands around the retries; leave out stops, or write counts = \"attempts\"";
            return at(&["stops"], text);
        }
        let HalfOpen { probes, trials, failures, .. } = self.half_open;
        if probes == AtOnce::Most(0) {
            return at(
                &["half_open", "probes"],
                "without a probe it never closes; write 1 or more",
            );
        }
        if !(1..=100_000).contains(&trials) {
            let text = format!("trials = {trials} is out of range; write 1 to 100000");
            return Some((vec!["half_open", "trials"], text));
        }
        if !(1..=trials).contains(&failures) {
            let text =
                format!("failures = {failures} is out of range; write 1 to trials ({trials})");
            return Some((vec!["half_open", "failures"], text));
        }
        None
    }
}

impl FailureRatio {
    fn problem(&self) -> Option<(&'static str, String)> {
        if !(self.failures > 0.0 && self.failures <= 1.0) {
            let text = format!(
                "failures = {} is out of range; write a share above 0, at most 1",
                self.failures
            );
            return Some(("failures", text));
        }
        if self.min_calls == 0 {
            return Some((
                "min_calls",
                "min_calls = 0 is out of range; write 1 or more".to_owned(),
            ));
        }
        if !(1..=1_000).contains(&self.slices) {
            return Some((
                "slices",
                format!("slices = {} is out of range; write 1 to 1000", self.slices),
            ));
        }
        match (self.window, self.last) {
            (None, None) => Some((
                "window",
                "there is no window; write window = \"10s\", or last = 100 outcomes".to_owned(),
            )),
            (Some(_), Some(_)) => {
                Some(("last", "there are both window and last; keep one".to_owned()))
            }
            (Some(Span::ZERO), None) => {
                Some(("window", "a window of 0s holds nothing; write more".to_owned()))
            }
            (None, Some(last)) if !(1..=100_000).contains(&last) => {
                Some(("last", format!("last = {last} is out of range; write 1 to 100000")))
            }
            (None, Some(last)) if last < self.min_calls => Some((
                "min_calls",
                format!(
                    "the last {last} outcomes are never min_calls = {}; write at most {last}",
                    self.min_calls
                ),
            )),
            _ => None,
        }
    }
}

/// The right to one attempt or call, which must end in [`Breaker::report`] or [`Breaker::forget`]; 0
/// has no such duty.
pub type Ticket = u32;

/// The state of one breaker.
#[derive(Clone, Debug)]
pub struct Breaker {
    state: State,
    /// Counts the changes of state; a ticket is the count when it was given.
    epoch: Ticket,
    window: Window,
    openings: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Time },
    HalfOpen { under_way: u32, succeeded: u32, failed: u32 },
}

/// What a closed breaker remembers.
#[derive(Clone, Debug)]
enum Window {
    /// Failures in a row.
    Row(u32),
    Time(SlidingCounts),
    Last(LastOutcomes),
}

/// The last outcomes, as bits in a ring.
#[derive(Clone, Debug)]
struct LastOutcomes {
    bits: Box<[u64]>,
    most: u32,
    next: u32,
    count: u32,
    failed: u32,
}

impl LastOutcomes {
    fn new(most: u32) -> LastOutcomes {
        let words = most.div_ceil(64) as usize;
        LastOutcomes { bits: vec![0; words].into(), most, next: 0, count: 0, failed: 0 }
    }

    fn add(&mut self, failed: bool) {
        let (word, bit) = ((self.next / 64) as usize, 1 << (self.next % 64));
        if self.count == self.most {
            self.failed -= u32::from(self.bits[word] & bit != 0);
        } else {
            self.count += 1;
        }
        self.bits[word] = if failed { self.bits[word] | bit } else { self.bits[word] & !bit };
        self.failed += u32::from(failed);
        self.next = (self.next + 1) % self.most;
    }
}

impl Breaker {
    /// A closed breaker.
    pub fn new(rule: &BreakerRule) -> Breaker {
        let window = match rule.ratio {
            None => Window::Row(0),
            Some(FailureRatio { last: Some(last), .. }) => Window::Last(LastOutcomes::new(last)),
            Some(ratio) => {
                Window::Time(SlidingCounts::new(ratio.window.unwrap_or_default(), ratio.slices))
            }
        };
        Breaker { state: State::Closed, epoch: 1, window, openings: 0 }
    }

    /// Lets an attempt through at `now`, or refuses it; `first` says whether it is no retry.
    pub fn admit(&mut self, rule: &BreakerRule, now: Time, first: bool) -> Option<Ticket> {
        if let State::Open { until } = self.state
            && until <= now
        {
            self.change(State::HalfOpen { under_way: 0, succeeded: 0, failed: 0 });
        }
        match &mut self.state {
            State::Closed => Some(self.epoch),
            _ if first && rule.stops == Stops::Retries => Some(0),
            State::Open { .. } => None,
            State::HalfOpen { under_way, succeeded, failed } => {
                let HalfOpen { probes, trials, .. } = rule.half_open;
                let free = match probes {
                    AtOnce::Unlimited => true,
                    AtOnce::Most(most) => {
                        *under_way < most && *under_way + *succeeded + *failed < trials
                    }
                };
                *under_way += u32::from(free);
                free.then_some(self.epoch)
            }
        }
    }

    /// An attempt that was let through has ended at `now`. When that opens the breaker, `stream`
    /// gives the stream of its so many-th opening, and the end of the open time is returned.
    pub fn report(
        &mut self,
        rule: &BreakerRule,
        now: Time,
        ticket: Ticket,
        failed: bool,
        stream: impl FnOnce(u32) -> Stream,
    ) -> Option<Time> {
        if ticket != self.epoch {
            return None;
        }
        let opens = match &mut self.state {
            State::Closed => self.window.add(rule, now, failed),
            State::Open { .. } => false,
            State::HalfOpen { under_way, succeeded, failed: failures } => {
                *under_way -= 1;
                *succeeded += u32::from(!failed);
                *failures += u32::from(failed);
                match rule.half_open.judge(*succeeded, *failures) {
                    None => false,
                    Some(opens) => {
                        if !opens {
                            self.change(State::Closed);
                            self.window.clear();
                        }
                        opens
                    }
                }
            }
        };
        opens.then(|| self.open(rule, now, stream))
    }

    /// An attempt that was let through has ended for a reason that says nothing: its place is free
    /// again.
    pub fn forget(&mut self, ticket: Ticket) {
        if let State::HalfOpen { under_way, .. } = &mut self.state
            && ticket == self.epoch
        {
            *under_way -= 1;
        }
    }

    /// Probes under way, and the ticket they have.
    pub fn probes(&self) -> Option<(Ticket, u32)> {
        match self.state {
            State::HalfOpen { under_way, .. } => Some((self.epoch, under_way)),
            State::Closed | State::Open { .. } => None,
        }
    }

    fn open(&mut self, rule: &BreakerRule, now: Time, stream: impl FnOnce(u32) -> Stream) -> Time {
        self.openings += 1;
        let open = rule.open.nanos();
        let jitter = (open as f64 * rule.open_jitter) as u64;
        let added = if jitter > 0 { stream(self.openings).below(jitter) } else { 0 };
        let until = now.saturating_add(open).saturating_add(added);
        self.change(State::Open { until });
        self.window.clear();
        until
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.epoch += 1;
    }
}

impl HalfOpen {
    /// Whether these outcomes open it again (true) or close it (false); None when it is open yet.
    fn judge(self, succeeded: u32, failed: u32) -> Option<bool> {
        let opens = failed >= self.failures;
        match self.verdict {
            Verdict::Complete => (succeeded + failed >= self.trials).then_some(opens),
            Verdict::Early if opens => Some(true),
            Verdict::Early => (succeeded + self.failures > self.trials).then_some(false),
        }
    }
}

impl Window {
    /// Counts an outcome; true when the breaker opens.
    fn add(&mut self, rule: &BreakerRule, now: Time, failed: bool) -> bool {
        match self {
            Window::Row(row) => {
                *row = if failed { *row + 1 } else { 0 };
                rule.consecutive.is_some_and(|rule| *row >= rule.failures)
            }
            Window::Time(counts) => {
                counts.add(now, usize::from(failed), 1);
                let [succeeded, failures] = counts.sums(now);
                rule.too_many(failures, succeeded + failures)
            }
            Window::Last(last) => {
                last.add(failed);
                rule.too_many(last.failed.into(), last.count.into())
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Window::Row(row) => *row = 0,
            Window::Time(counts) => counts.clear(),
            Window::Last(last) => *last = LastOutcomes::new(last.most),
        }
    }
}

impl BreakerRule {
    fn too_many(&self, failed: u64, all: u64) -> bool {
        let Some(rule) = &self.ratio else { return false };
        all >= rule.min_calls.into() && failed as f64 >= rule.failures * all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    fn rule(text: &str) -> BreakerRule {
        let rule: BreakerRule = toml::from_str(&format!("{text}\nscope = \"fleet\"")).unwrap();
        assert_eq!(rule.problem(), None, "{text}");
        rule
    }

    const S: u64 = 1_000_000_000;

    /// A breaker with its rule and a clock.
    struct Bench {
        rule: BreakerRule,
        breaker: Breaker,
        now: Time,
        until: Option<Time>,
    }

    impl Bench {
        fn new(text: &str) -> Bench {
            let rule = rule(text);
            Bench { breaker: Breaker::new(&rule), rule, now: 0, until: None }
        }

        fn admit(&mut self) -> Option<Ticket> {
            self.breaker.admit(&self.rule, self.now, false)
        }

        fn admit_first(&mut self) -> Option<Ticket> {
            self.breaker.admit(&self.rule, self.now, true)
        }

        fn end(&mut self, ticket: Ticket, failed: bool) {
            let stream = |n| Streams::new(1, 0).stream(Purpose::Breaker, 0, n);
            let opened = self.breaker.report(&self.rule, self.now, ticket, failed, stream);
            self.until = opened.or(self.until);
        }

        /// An attempt that is let through and ends at once.
        fn one(&mut self, failed: bool) -> bool {
            let ticket = self.admit();
            ticket.inspect(|ticket| self.end(*ticket, failed)).is_some()
        }
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_starts_anew() {
        let mut b = Bench::new("consecutive = { failures = 3 }\nopen = \"30s\"");
        for failed in [true, true, false, true, true] {
            assert!(b.one(failed));
        }
        assert_eq!(b.until, None);
        assert!(b.one(true) && !b.one(true));
        assert_eq!(b.until, Some(30 * S));
        b.now = 30 * S - 1;
        assert!(!b.one(false));
        b.now = 30 * S;
        // One probe at a time; its success closes the breaker.
        let probe = b.admit().unwrap();
        assert_eq!((b.admit(), b.breaker.probes()), (None, Some((probe, 1))));
        b.end(probe, false);
        assert!(b.one(true) && b.one(true) && b.one(true) && !b.one(true));
        // The probe of the next time fails.
        b.now = 60 * S;
        assert!(b.one(true) && !b.one(true));
        assert_eq!(b.until, Some(90 * S));
    }

    #[test]
    fn a_late_answer_of_the_time_before_says_nothing() {
        let mut b = Bench::new("consecutive = { failures = 1 }\nopen = \"1s\"");
        let [early, late] = [b.admit().unwrap(), b.admit().unwrap()];
        b.end(early, true);
        b.now = S;
        let probe = b.admit().unwrap();
        b.end(late, false);
        assert_eq!(b.admit(), None, "half-open still, with its one probe");
        // A probe whose caller has gone frees its place.
        b.breaker.forget(late);
        assert_eq!(b.admit(), None);
        b.breaker.forget(probe);
        let next = b.admit().unwrap();
        b.end(next, false);
        assert!(b.admit().is_some() && b.admit().is_some());
    }

    /// Hystrix: 20 requests in 10 s, 50 %, open 5 s, one probe.
    #[test]
    fn a_share_in_a_window_of_time_opens_it() {
        let text = "ratio = { failures = 0.5, min_calls = 20, window = \"10s\" }\nopen = \"5s\"";
        let mut b = Bench::new(text);
        (0..19).for_each(|_| assert!(b.one(true)));
        // What is older than ten slices is forgotten: 1 of 20, not 20 of 20.
        b.now = 10 * S;
        (0..19).for_each(|_| assert!(b.one(false)));
        assert!(b.one(true));
        assert_eq!(b.until, None);
        (0..17).for_each(|_| assert!(b.one(true)));
        assert!(b.one(true), "the 38th outcome, 19th failure, is let through");
        assert_eq!(b.until, Some(15 * S));
        assert!(!b.one(true));
    }

    /// resilience4j: of the last 100 calls at least 100, 50 %, 10 calls in half-open.
    #[test]
    fn a_share_of_the_last_outcomes_opens_it() {
        let mut b = Bench::new(
            "ratio = { failures = 0.5, min_calls = 100, last = 100 }\nopen = \"60s\"\n\
             half_open = { probes = 10, trials = 10, failures = 5, verdict = \"complete\" }",
        );
        (0..100).for_each(|n| assert!(b.one(n % 2 == 1 && n < 98)));
        assert_eq!(b.until, None, "49 of 100");
        // The oldest outcome, a success, falls out when the next one comes.
        assert!(b.one(true));
        assert_eq!(b.until, Some(60 * S), "50 of the last 100");
        for (failures, open) in [(5, true), (4, false)] {
            b.now = b.until.unwrap();
            let probes: Vec<Ticket> = (0..10).map(|_| b.admit().unwrap()).collect();
            assert_eq!(b.admit(), None);
            for (n, probe) in probes.into_iter().enumerate() {
                b.end(probe, n < failures);
            }
            assert_eq!(b.admit().is_none(), open, "{failures} of 10 probes fail");
        }
    }

    #[test]
    fn half_open_lets_through_what_it_is_told() {
        let with = |half_open: &str| {
            let mut b = Bench::new(&format!(
                "consecutive = {{ failures = 1 }}\nopen = \"1s\"\nhalf_open = {half_open}"
            ));
            assert!(b.one(true));
            b.now = S;
            b
        };
        // Unlimited, until three have failed.
        let mut b = with("{ probes = \"unlimited\", trials = 3, failures = 3 }");
        let probes: Vec<Ticket> = (0..300).map(|_| b.admit().unwrap()).collect();
        probes[..2].iter().for_each(|probe| b.end(*probe, true));
        assert!(b.admit().is_some());
        b.end(probes[2], true);
        assert_eq!((b.admit(), b.until), (None, Some(2 * S)));
        // At most two at once, four in all, of which two must fail.
        let mut b = with("{ probes = 2, trials = 4, failures = 2 }");
        let [first, second] = [b.admit().unwrap(), b.admit().unwrap()];
        assert_eq!(b.admit(), None);
        b.end(first, false);
        b.end(second, false);
        let [third, fourth] = [b.admit().unwrap(), b.admit().unwrap()];
        b.end(third, true);
        assert_eq!(b.admit(), None, "four were let through");
        b.end(fourth, false);
        assert!(b.admit().is_some(), "three of four succeeded");
    }

    #[test]
    fn open_times_are_spread_by_their_jitter() {
        let mut until: Vec<Time> = (0..2_000)
            .map(|entity| {
                let rule =
                    rule("consecutive = { failures = 1 }\nopen = \"30s\"\nopen_jitter = 0.25");
                let mut breaker = Breaker::new(&rule);
                let ticket = breaker.admit(&rule, 0, false).unwrap();
                let stream = |n| Streams::new(1, 0).stream(Purpose::Breaker, entity, n);
                breaker.report(&rule, 0, ticket, true, stream).unwrap()
            })
            .collect();
        until.sort_unstable();
        let (first, last) = (until[0], until[1_999]);
        assert!((30 * S..30 * S + S / 50).contains(&first), "{first}");
        assert!(last < 75 * S / 2 && last > 75 * S / 2 - S / 50, "{last}");
        let middle = until[1_000] as f64 / 1e9;
        assert!((middle - 33.75).abs() < 0.35, "{middle}");
    }

    #[test]
    fn one_that_stops_retries_lets_first_attempts_through_and_does_not_count_them() {
        let text = "consecutive = { failures = 1 }\nopen = \"2s\"\nstops = \"retries\"";
        let mut bench = Bench::new(text);
        let first = bench.admit_first().unwrap();
        bench.end(first, true);
        assert_eq!((bench.until, bench.admit()), (Some(2 * S), None));
        assert_eq!(bench.admit_first(), Some(0));
        bench.now = 2 * S;
        // It is half-open now, and the one probe is a retry's.
        assert_eq!(bench.admit_first(), Some(0));
        let probe = bench.admit().unwrap();
        assert_eq!((bench.admit(), bench.breaker.probes()), (None, Some((probe, 1))));
        bench.end(probe, false);
        assert!(bench.admit_first().is_some_and(|ticket| ticket > 0));
    }

    #[test]
    fn bad_parameters_are_named() {
        let problem = |text: &str| {
            let rule: BreakerRule = toml::from_str(&format!("{text}\nscope = \"client\"")).unwrap();
            rule.problem().map(|(path, _)| path.join("."))
        };
        let ratio = |keys: &str| problem(&format!("ratio = {{ {keys} }}\nopen = \"1s\""));
        let half = |keys: &str| {
            problem(&format!(
                "consecutive = {{ failures = 1 }}\nopen = \"1s\"\nhalf_open = {{ {keys} }}"
            ))
        };
        for (found, expected) in [
            (problem("open = \"1s\""), ""),
            (problem("consecutive = { failures = 0 }\nopen = \"1s\""), "consecutive.failures"),
            (problem("consecutive = { failures = 1 }\nopen = \"0s\""), "open"),
            (
                problem("consecutive = { failures = 1 }\nopen = \"1s\"\nopen_jitter = nan"),
                "open_jitter",
            ),
            (ratio("failures = 0, min_calls = 1, last = 5"), "ratio.failures"),
            (ratio("failures = 0.5, min_calls = 0, last = 5"), "ratio.min_calls"),
            (ratio("failures = 0.5, min_calls = 9, last = 5"), "ratio.min_calls"),
            (ratio("failures = 0.5, min_calls = 9"), "ratio.window"),
            (ratio("failures = 0.5, min_calls = 9, window = \"1s\", last = 9"), "ratio.last"),
            (ratio("failures = 0.5, min_calls = 9, window = \"1s\", slices = 0"), "ratio.slices"),
            (half("probes = 0"), "half_open.probes"),
            (half("trials = 0"), "half_open.trials"),
            (half("trials = 2, failures = 3"), "half_open.failures"),
        ] {
            assert_eq!(found.as_deref(), Some(expected));
        }
    }
}
