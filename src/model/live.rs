//! A run that is driven from outside: attempts come when somebody sends them, and time is what the
//! caller says it is.
//!
//! The provider is the one of every other run, to the last line: only who retries, and when, is decided
//! elsewhere. A client here is one layer that sends once. What the provider says to an attempt is
//! told to the observer as [`super::Moment`]s.

use std::sync::{Arc, Mutex, PoisonError};

use super::simulation::{Phase, Simulation};
use super::{Arrivals, GroupPlan, Observer, Plan, RunError};
use crate::client::Layer;
use crate::engine::{Class, Heap, Key};
use crate::rng::Streams;
use crate::server::{Caller, Standing, Tokens};
use crate::units::{Span, Time};

/// What is known of a request that comes from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guest {
    /// The number of its client in its group.
    pub client: u32,
    /// The number of the provider that its next attempt goes to.
    pub provider: u32,
    /// The tokens of its prompt and of its answer.
    pub tokens: Tokens,
    /// Whether its answer is streamed.
    pub stream: bool,
}

/// The requests of a group that have come from outside, by place.
#[derive(Debug, Default)]
pub struct Outside(Mutex<Vec<Guest>>);

impl Outside {
    /// What is known of the request at `place`; nothing of one that has not come.
    pub(super) fn guest(&self, place: u32) -> Guest {
        self.with(|guests| guests.get(place as usize).copied()).unwrap_or_default()
    }

    fn with<T>(&self, act: impl FnOnce(&mut Vec<Guest>) -> T) -> T {
        // A list of numbers is whole whatever became of who held it.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The name of a request that has come from outside: its group, and its number there, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId {
    /// The group.
    pub group: usize,
    /// The number.
    pub number: u32,
}

impl Plan {
    /// The same providers, and the same groups with at most so many clients, whose requests come from outside.
    /// `tokens` of a request are still those of the scenario: see [`Live::drawn`].
    pub fn open_to_outside(self, clients: u32) -> Plan {
        let groups = self.groups.into_iter().map(|group| GroupPlan {
            clients,
            arrivals: Arrivals::Outside(Arc::default()),
            shares: None,
            layers: vec![Layer { name: "wire".to_owned(), ..Layer::single_attempt() }],
            host: None,
            path: None,
            ..group
        });
        Plan { groups: groups.collect(), horizon: Span::LONGEST.nanos(), ..self }
    }
}

const BITS: u32 = GroupPlan::NUMBER_BITS;

/// A run that is driven from outside.
pub struct Live<'a, O: Observer> {
    run: Simulation<'a, O, Heap, BITS, false>,
}

impl<'a, O: Observer> Live<'a, O> {
    /// A provider that nobody has called, of a plan that is [open](Plan::open_to_outside).
    pub fn new(
        plan: &'a Plan,
        streams: Streams,
        observer: &'a mut O,
    ) -> Result<Live<'a, O>, RunError> {
        let mut run = Simulation::new(plan, streams, observer)?;
        run.schedule_timeline();
        Ok(Live { run })
    }

    /// Who listens.
    pub fn observer(&mut self) -> &mut O {
        self.run.observer
    }

    /// When something happens next at the provider, if nobody comes before.
    pub fn next_time(&self) -> Option<Time> {
        self.run.events.next_time()
    }

    /// Everything until `now` happens, that instant included.
    pub fn run_until(&mut self, now: Time) {
        while let Some(key) = self.run.events.pop_before(now.saturating_add(1)) {
            self.run.handle(key);
        }
    }

    /// Everything happens that is still to come.
    pub fn run_out(&mut self) {
        self.run_until(Time::MAX);
    }

    /// The tokens that the scenario of `original` gives to the next new request of a group.
    pub fn drawn(&self, original: &GroupPlan, group: usize) -> Tokens {
        let state = &self.run.groups[group];
        let number = state.requests.states.len() as u32;
        let number = match &original.arrivals {
            // It starts again when it is over.
            Arrivals::Trace(trace) => number % trace.rows.len().max(1) as u32,
            _ => number,
        };
        original.tokens(number, &state.streams)
    }

    /// What is known of a request that has come.
    pub fn guest(&self, id: RequestId) -> Guest {
        match &self.run.groups[id.group].plan.arrivals {
            Arrivals::Outside(outside) => outside.guest(id.number),
            _ => Guest::default(),
        }
    }

    /// A new request of a group; nothing is sent yet. None when there have been 67 million.
    pub fn request(&mut self, group: usize, guest: Guest) -> Option<RequestId> {
        let state = &mut self.run.groups[group];
        let place = state.requests.states.len() as u32;
        if place == GroupPlan::MOST_REQUESTS {
            return None;
        }
        if let Arrivals::Outside(outside) = &state.plan.arrivals {
            outside.with(|guests| guests.push(guest));
        }
        state.grow_to(place as usize + 1);
        Some(RequestId { group, number: place })
    }

    /// An attempt of a request reaches provider number `provider` at `now`, which is no earlier than what has
    /// happened; `before` attempts have been sent at least. One that is still under way is given up for
    /// it.
    pub fn attempt(&mut self, now: Time, id: RequestId, provider: u32, before: u32) {
        self.gone(now, id);
        let request = Simulation::<O, Heap, BITS, false>::join(id.group, id.number);
        if let Arrivals::Outside(outside) = &self.run.groups[id.group].plan.arrivals {
            outside.with(|guests| guests[id.number as usize].provider = provider);
        }
        let state = self.run.state_mut(request);
        state.phase = Phase::Unborn;
        state.attempts = state.attempts.max(before);
        let step = state.step;
        self.run.schedule(now, Class::Attempt, request, step);
        self.run_until(now);
    }

    /// Where a client stands with the limits of provider number `provider` that count per time: of each its kind,
    /// the most it lets through at once, what is left of that, and when it is whole again, in
    /// nanoseconds from `now`.
    pub fn standing(&mut self, now: Time, provider: usize, who: Caller) -> Vec<Standing> {
        let limiter = self.run.providers[provider].limiter.as_mut();
        limiter.map_or(Vec::new(), |limiter| limiter.standing(now, who))
    }

    /// The client of a request's attempt has gone away, if that is still under way.
    pub fn gone(&mut self, now: Time, id: RequestId) {
        self.run_until(now);
        let request = Simulation::<O, Heap, BITS, false>::join(id.group, id.number);
        let state = self.run.state(request);
        if matches!(state.phase, Phase::Unborn | Phase::Resolved) {
            return;
        }
        self.run.groups[id.group].layers[0].set_expiry(id.number, now);
        self.run.events.push(Key::new(now, Class::Timeout, self.run.rank(request), state.step));
        self.run_until(now);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::answer::Failure;
    use crate::model::{Moment, Who};
    use crate::scenario::Document;

    /// What was said to attempts: request, words, time.
    #[derive(Default)]
    struct Heard(Vec<(u32, String, Time)>);

    impl Observer for Heard {
        const HEARS_MOMENTS: bool = true;

        fn moment(&mut self, now: Time, who: impl Fn() -> Who, moment: Moment<'_>) {
            let text = match moment {
                Moment::AttemptFailed { failure: Failure::Status(answer), .. } => {
                    format!("failed {}", answer.status)
                }
                Moment::AttemptFailed { failure, .. } => format!("{failure:?}"),
                Moment::Delivered { tokens, .. } => format!("delivered {}", tokens.output),
                Moment::Billed { tokens, .. } => format!("billed {}", tokens.output),
                Moment::TakenBack { .. } => "taken back".to_owned(),
                Moment::Late { .. } => "late".to_owned(),
                _ => return,
            };
            self.0.push((who().request, text, now));
        }
    }

    fn plan(provider: &str) -> Plan {
        let text = format!(
            "workload = {{ clients = 1, burst = {{}} }}\n[request]\noutput_tokens = 50\n[provider]\n{provider}\n"
        );
        let document = Document::parse("live", text, PathBuf::new()).unwrap();
        document.scenario().unwrap().plan(document.folder()).unwrap().open_to_outside(10)
    }

    /// Sends attempts (request, time) and takes clients away (request, time with a minus).
    fn drive(provider: &str, deeds: &[(u32, i64)]) -> Vec<(u32, String, Time)> {
        let plan = plan(provider);
        let mut heard = Heard::default();
        let mut live = Live::new(&plan, Streams::new(1, 0), &mut heard).unwrap();
        let mut ids = Vec::new();
        for (request, at) in deeds {
            if ids.len() == *request as usize {
                let tokens = Tokens { input: 10, cached: 0, output: 20 };
                let guest = Guest { client: *request, tokens, ..Guest::default() };
                ids.push(live.request(0, guest).unwrap());
            }
            let id = ids[*request as usize];
            match *at {
                at if at >= 0 => live.attempt(at as u64, id, 0, 0),
                at => live.gone(at.unsigned_abs(), id),
            }
        }
        live.run_out();
        heard.0
    }

    fn expect(found: Vec<(u32, String, Time)>, expected: &[(u32, &str, Time)]) {
        let found: Vec<(u32, &str, Time)> =
            found.iter().map(|(r, text, at)| (*r, text.as_str(), *at)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn attempts_from_outside_meet_places_queue_and_service() {
        let found = drive(
            "concurrency = 1\nqueue = { fifo = { limit = 1 } }\nservice = \"100ns\"",
            &[(0, 10), (1, 20), (2, 30), (2, 115)],
        );
        expect(
            found,
            &[
                (2, "failed 529", 30),
                (0, "billed 20", 110),
                (0, "delivered 20", 110),
                (1, "billed 20", 210),
                (1, "delivered 20", 210),
                (2, "billed 20", 310),
                (2, "delivered 20", 310),
            ],
        );
    }

    #[test]
    fn a_script_counts_the_attempts_of_a_request() {
        let faults = "faults = [{ outage = { from = \"0s\", status = 429, attempts = 1 } }, \
                      { outage = { from = \"0s\", status = 500, attempts = 3 } }]";
        let deeds = [(0, 1), (0, 2), (1, 3), (0, 4), (0, 5)];
        expect(
            drive(faults, &deeds),
            &[
                (0, "failed 429", 1),
                (0, "failed 500", 2),
                (1, "failed 429", 3),
                (0, "failed 500", 4),
                (0, "billed 20", 5),
                (0, "delivered 20", 5),
            ],
        );
    }

    #[test]
    fn a_client_that_goes_away_is_billed_or_its_work_taken_back() {
        let deeds = [(0, 10), (0, -50)];
        let kept = drive("service = \"100ns\"", &deeds);
        expect(kept, &[(0, "billed 20", 110), (0, "late", 110)]);
        let removed = drive("service = \"100ns\"\ncancelled_work = \"removed\"", &deeds);
        assert_eq!(
            removed.first().map(|(_, text, at)| (text.as_str(), *at)),
            Some(("taken back", 50))
        );
    }

    #[test]
    fn a_new_attempt_takes_the_place_of_the_one_under_way() {
        let found = drive("service = \"100ns\"", &[(0, 10), (0, 60)]);
        expect(
            found,
            &[
                (0, "billed 20", 110),
                (0, "late", 110),
                (0, "billed 20", 160),
                (0, "delivered 20", 160),
            ],
        );
    }
}
