//! Between client and provider: attempts on their way there, and what comes back.

use std::collections::BTreeMap;

use super::guard::End;
use super::simulation::Simulation;
use super::{GroupPlan, Moment, Observer};
use crate::answer::{Failure, Outcome};
use crate::engine::{Class, Pending};
use crate::host::{Path, Way};
use crate::server::{CancelledWork, Tokens};
use crate::units::{Span, Time};

/// What the provider says to an attempt, its good answer apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word<'a> {
    /// It has failed.
    Failure(Failure<'a>),
    /// Nothing more: a stream has fallen silent, after a token or before.
    Hung {
        /// True when a token had been delivered.
        delivered: bool,
    },
}

/// What is under way between the clients of a group and the provider.
pub(super) struct Wire<'a> {
    path: Option<&'a Path>,
    /// By place: step and number of the last attempt, until it arrives.
    sent: Vec<(u32, u32)>,
    /// Numbers of attempts that later ones have overtaken, by place and step.
    overtaken: BTreeMap<(u32, u32), u32>,
    /// By place: the last word that set out, and the step of its attempt.
    word: Vec<Option<(u32, Word<'a>)>>,
    /// Words to other attempts in flight that set out before, by place and step.
    earlier_words: BTreeMap<(u32, u32), Word<'a>>,
}

impl<'a> Wire<'a> {
    /// None where all that is sent is there at once, and read at once.
    pub(super) fn of(plan: &'a GroupPlan) -> Option<Wire<'a>> {
        let reads = plan.host.as_ref().is_some_and(|host| host.cpu_per_answer > Span::ZERO);
        (plan.path.is_some() || reads).then(|| Wire::new(plan.path.as_ref()))
    }

    fn new(path: Option<&'a Path>) -> Wire<'a> {
        let (overtaken, earlier_words) = (BTreeMap::new(), BTreeMap::new());
        Wire { path, sent: Vec::new(), overtaken, word: Vec::new(), earlier_words }
    }

    /// Makes room for requests up to `len`.
    pub(super) fn grow_to(&mut self, len: usize) {
        self.sent.resize(len, (0, 0));
        self.word.resize(len, None);
    }

    /// Attempts on the way to the provider.
    pub(super) fn on_the_way(&self) -> u64 {
        let last = self.sent.iter().filter(|(_, number)| *number > 0).count();
        (last + self.overtaken.len()) as u64
    }

    /// Attempt number `number` sets out.
    fn set_out(&mut self, place: u32, step: u32, number: u32) {
        let (before, earlier) = std::mem::replace(&mut self.sent[place as usize], (step, number));
        if earlier > 0 {
            self.overtaken.insert((place, before), earlier);
        }
    }

    /// The number of the attempt sent at `step`, which arrives.
    fn arrive(&mut self, place: u32, step: u32) -> u32 {
        let last = &mut self.sent[place as usize];
        if last.0 == step {
            return std::mem::take(last).1;
        }
        self.overtaken.remove(&(place, step)).unwrap_or_default()
    }

    /// A word to the attempt sent at `step` sets out. An earlier one still matters where its attempt
    /// is in flight beside this one.
    fn keep(&mut self, place: u32, step: u32, word: Word<'a>, in_flight: impl Fn(u32) -> bool) {
        let before = self.word[place as usize].replace((step, word));
        if let Some((earlier, word)) = before
            && in_flight(earlier)
        {
            self.earlier_words.insert((place, earlier), word);
        }
    }

    /// What is said to the attempt sent at `step`, when it comes out.
    fn take(&mut self, place: u32, step: u32) -> Option<Word<'a>> {
        let last = self.word[place as usize].take_if(|(of, _)| *of == step);
        last.map(|(_, word)| word).or_else(|| self.earlier_words.remove(&(place, step)))
    }
}

impl<'a, O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'a, O, P, BITS, PLAIN>
{
    /// An attempt is sent.
    pub(super) fn send(&mut self, request: u32) {
        let state = self.state_mut(request);
        state.attempts += 1;
        let number = state.attempts;
        let step = self.take_off_to_provider(request);
        let books = self.books(request);
        books.attempts += 1;
        books.first_attempts += u64::from(number == 1);
        let provider = self.provider_of(step);
        self.tell_of(request, Moment::Sent { step, number, provider, hedge: false });
        self.start_flight(request, step);
        let now = self.events.now();
        let (g, place) = self.split(request);
        self.groups[g].layers[0].start_connecting(now, place);
        let limit = self.limit_from(request, 0);
        self.travel(request, step, number, limit);
    }

    /// Attempt number `number` is on its way; `limit` is when its client stops waiting, if that is
    /// still to be scheduled.
    #[inline(always)]
    pub(super) fn travel(&mut self, request: u32, step: u32, number: u32, limit: Time) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        let draws = group.draws(place, step);
        let wire = match &mut group.wire {
            Some(wire) if !PLAIN => wire,
            _ => return self.reach(request, step, number, limit),
        };
        let way = wire.path.map(|path| path.there(&draws.streams, draws.number, step));
        match way.unwrap_or(Way::Takes(0)) {
            Way::Takes(0) => {
                // What comes back may take longer.
                self.schedule(limit, Class::Timeout, request, step);
                self.reach(request, step, number, Time::MAX);
            }
            Way::Takes(latency) => {
                wire.set_out(place, step, number);
                group.ledger.on_the_way += 1;
                self.schedule(limit, Class::Timeout, request, step);
                let at = now.saturating_add(latency);
                self.schedule(at, Class::Arrival, request, step);
            }
            Way::Lost => {
                group.ledger.lost_attempts += 1;
                self.tell_of(request, Moment::LostAttempt { step });
                self.schedule(limit, Class::Timeout, request, step);
            }
        }
    }

    /// The attempt sent at `step` comes out of the network.
    pub(super) fn on_arrival(&mut self, request: u32, step: u32) {
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        group.ledger.on_the_way -= 1;
        let number = group.wire.as_mut().map_or(0, |wire| wire.arrive(place, step));
        let provider = self.provider_of(step);
        // Without a connection nothing has been asked for.
        let gone = self.plan.providers[provider].cancelled_work == CancelledWork::Removed
            || self.groups[g].layers[0].limits_connecting();
        if gone && !self.awaited(request, step) {
            self.books(request).gone_before_accept += 1;
            self.tell_of(request, Moment::Arrived { step, number, provider });
            self.tell_of(request, Moment::GoneBeforeAccept { step });
            return self.observer.attempt(self.events.now(), (g, provider), number);
        }
        self.reach(request, step, number, Time::MAX);
    }

    /// The way back from the provider of what is said to the attempt sent at `step`.
    #[inline]
    fn way_back(&self, request: u32, step: u32) -> Way {
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        match group.wire.as_ref().and_then(|wire| wire.path) {
            None => Way::Takes(0),
            Some(path) => path.back(&group.streams, group.number(place), step),
        }
    }

    /// The head of an answer sets out; see [`Simulation::on_head`].
    pub(super) fn send_head(&mut self, request: u32, step: u32) {
        match self.way_back(request, step) {
            Way::Takes(0) => self.on_head(request, step),
            Way::Takes(latency) => {
                let at = self.events.now().saturating_add(latency);
                self.schedule(at, Class::Head, request, step);
            }
            Way::Lost => {}
        }
    }

    /// The provider has something to say to the attempt sent at `step`, if its client still
    /// waits.
    #[inline]
    pub(super) fn say(&mut self, request: u32, step: u32, word: Word<'a>) {
        if !self.awaited(request, step) {
            return;
        }
        if PLAIN {
            return self.hear(request, step, word);
        }
        match self.way_back(request, step) {
            Way::Takes(0) => self.read_word(request, step, word),
            Way::Takes(latency) => {
                let at = self.events.now().saturating_add(latency);
                self.keep(request, step, word);
                self.schedule(at, Class::Word, request, step);
            }
            Way::Lost => {
                self.books(request).lost_words += 1;
                self.tell_of(request, Moment::LostAnswer { step });
            }
        }
    }

    /// A word is under way.
    fn keep(&mut self, request: u32, step: u32, word: Word<'a>) {
        let (g, place) = self.split(request);
        let group = &mut self.groups[g];
        let flight = group.requests.flights.get(place as usize);
        let in_flight = |step| flight.is_some_and(|flight| flight.has(step));
        if let Some(wire) = &mut group.wire {
            wire.keep(place, step, word, in_flight);
        }
    }

    fn kept(&mut self, request: u32, step: u32) -> Option<Word<'a>> {
        let (g, place) = self.split(request);
        self.groups[g].wire.as_mut()?.take(place, step)
    }

    /// A word comes out of the network, and its client still waits.
    pub(super) fn on_word(&mut self, request: u32, step: u32) {
        if let Some(word) = self.kept(request, step) {
            self.read_word(request, step, word);
        }
    }

    /// A word is there: the client's process has to read it.
    #[inline]
    fn read_word(&mut self, request: u32, step: u32, word: Word<'a>) {
        match self.time_to_read(request) {
            None => self.hear(request, step, word),
            Some(done) => {
                self.keep(request, step, word);
                self.schedule(done, Class::WordRead, request, step);
            }
        }
    }

    /// A process has read a word, and its client still waits.
    pub(super) fn on_word_read(&mut self, request: u32, step: u32) {
        if let Some(word) = self.kept(request, step) {
            self.hear(request, step, word);
        }
    }

    #[inline]
    fn hear(&mut self, request: u32, step: u32, word: Word<'a>) {
        if self.late_at_the_limit(request) {
            return;
        }
        match word {
            Word::Failure(failure) => self.attempt_failed(request, step, failure),
            Word::Hung { delivered } => self.hang(request, delivered),
        }
    }

    /// The good answer to the attempt sent at `step` sets out.
    pub(super) fn send_answer(&mut self, request: u32, step: u32) {
        if !self.awaited(request, step) {
            self.books(request).late += 1;
            self.tell_of(request, Moment::Late { step });
            return;
        }
        match self.way_back(request, step) {
            Way::Takes(0) => self.read_answer(request, step),
            Way::Takes(latency) => {
                self.books(request).on_the_way_back += 1;
                let at = self.events.now().saturating_add(latency);
                self.schedule(at, Class::Answer, request, step);
            }
            Way::Lost => {
                self.books(request).lost_answers += 1;
                self.tell_of(request, Moment::LostAnswer { step });
            }
        }
    }

    /// A good answer comes out of the network.
    pub(super) fn on_answer(&mut self, request: u32, step: u32) {
        self.books(request).on_the_way_back -= 1;
        self.read_answer(request, step);
    }

    /// A good answer is there: the client's process has to read it, if it still waits.
    #[inline]
    fn read_answer(&mut self, request: u32, step: u32) {
        let done = if self.awaited(request, step) { self.time_to_read(request) } else { None };
        match done {
            None => self.deliver(request, step, None),
            Some(done) => {
                self.books(request).on_the_way_back += 1;
                self.schedule(done, Class::AnswerRead, request, step);
            }
        }
    }

    /// A process has read a good answer.
    pub(super) fn on_answer_read(&mut self, request: u32, step: u32) {
        self.books(request).on_the_way_back -= 1;
        self.deliver(request, step, None);
    }

    /// A good answer is known: the request has succeeded, if it still waits. `spent` are its tokens, where
    /// they are known.
    #[inline]
    pub(super) fn deliver(&mut self, request: u32, step: u32, spent: Option<Tokens>) {
        if !self.awaited(request, step) || self.late_at_the_limit(request) {
            self.books(request).late += 1;
            self.tell_of(request, Moment::Late { step });
            return;
        }
        self.land(request, step);
        let (g, place) = self.split(request);
        let spent = spent.unwrap_or_else(|| self.spent(request, step));
        let side = (g, self.provider_of(step));
        self.observer.delivered(self.events.now(), side, spent);
        self.tell_of(request, Moment::Delivered { step, tokens: spent });
        if let Some(tasks) = &mut self.groups[g].tasks {
            tasks.on_answer(place, spent);
        }
        let books = self.books(request);
        books.delivered += 1;
        books.succeeded += 1;
        for l in 0..self.layers(request).len() {
            self.deposit_of_success(request, l);
            self.attempt_over(request, l, End::Answered);
            self.call_over(request, l, End::Answered);
        }
        self.resolve(request, Outcome::Succeeded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Network;

    #[test]
    fn attempts_that_are_overtaken_keep_their_numbers() {
        let path = Network { loss: 0.5, ..Network::default() }.path().unwrap();
        let mut wire = Wire::new(Some(&path));
        wire.grow_to(2);
        wire.set_out(1, 5, 1);
        wire.set_out(1, 8, 2);
        wire.set_out(0, 5, 1);
        assert_eq!([wire.arrive(1, 8), wire.arrive(1, 5), wire.arrive(0, 5)], [2, 1, 1]);
        wire.set_out(1, 11, 3);
        assert_eq!(wire.arrive(1, 11), 3);
        assert!(wire.overtaken.is_empty());
    }
}
