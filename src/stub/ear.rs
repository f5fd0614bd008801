//! Who listens to the provider: passes its words on to the attempts they are for, and events to the log.

use std::collections::BTreeMap;

use tokio::sync::mpsc::UnboundedSender;

use super::log::Log;
use super::requests::Requests;
use crate::answer::{Failure, Hint, Rejection, Statement};
use crate::model::{Moment, Observer, RequestId, Who};
use crate::server::Tokens;
use crate::trace::Tracer;
use crate::units::{Span, Time};

/// What is said to an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Its answer begins, and will end after so much scenario time.
    Head {
        /// Until its end.
        until: Time,
        /// The tokens of its prompt and of its answer.
        tokens: Tokens,
    },
    /// Nothing more will be said; true when a token is to be delivered before.
    Hung(bool),
    /// It is answered.
    Answered(Tokens),
    /// An error.
    Failed(Error),
    /// The connection breaks.
    Reset,
    /// The stream breaks off; true when a token is to be delivered before.
    Broken(bool),
}

/// An error as it is answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Error {
    /// The status.
    pub status: u16,
    /// A wait that the provider has worked out, in scenario time.
    pub wait: Option<Span>,
    /// What the scenario makes it say.
    pub stated: Option<Statement>,
}

impl Error {
    fn of(answer: &Rejection<'_>) -> Error {
        let (wait, stated) = match answer.hint {
            Hint::None => (None, None),
            Hint::RetryAfter(wait) => (Some(wait), None),
            Hint::Stated(statement) => (None, Some(statement.clone())),
        };
        Error { status: answer.status, wait, stated }
    }
}

/// An attempt that waits for words.
struct Open {
    ticket: u64,
    reply: UnboundedSender<Word>,
    tokens: Tokens,
    /// The step at which it was sent, once it was.
    step: Option<u32>,
    /// When its service ends, once that has started.
    until: Time,
    /// True when nothing more will be said.
    silent: bool,
}

/// Listens.
pub struct Ear<'p> {
    /// Writes the log.
    pub tracer: Tracer<'p, Log<'p>>,
    /// Which requests may go on.
    pub requests: Requests,
    open: BTreeMap<RequestId, Open>,
    /// Attempts of requests that the provider works on.
    work: BTreeMap<RequestId, u32>,
}

impl<'p> Ear<'p> {
    /// One that has heard nothing.
    pub fn new(tracer: Tracer<'p, Log<'p>>) -> Ear<'p> {
        let (open, work) = (BTreeMap::new(), BTreeMap::new());
        Ear { tracer, requests: Requests::default(), open, work }
    }

    /// The next attempt of a request waits for words.
    pub fn wait(
        &mut self,
        id: RequestId,
        ticket: u64,
        tokens: Tokens,
        reply: UnboundedSender<Word>,
    ) {
        let open = Open { ticket, reply, tokens, step: None, until: 0, silent: false };
        self.open.insert(id, open);
    }

    /// True when attempts wait that will be answered.
    pub fn is_waited_for(&self) -> bool {
        self.open.values().any(|open| !open.silent)
    }

    /// True when the attempt with this ticket is the one of the request that waits.
    pub fn is_open(&self, id: RequestId, ticket: u64) -> bool {
        self.open.get(&id).is_some_and(|open| open.ticket == ticket)
    }

    /// Nobody is told anything any more.
    pub fn close(&mut self) {
        self.open.clear();
    }

    fn say(&mut self, id: RequestId, step: Option<u32>, word: Word) {
        let Some(open) = self.open.get_mut(&id).filter(|o| step.is_none() || o.step == step) else {
            return;
        };
        let goes_on = matches!(word, Word::Head { .. } | Word::Hung(_));
        open.silent |= matches!(word, Word::Hung(_));
        // Who has gone away does not hear it.
        let _ = open.reply.send(word);
        if !goes_on {
            self.open.remove(&id);
        }
    }

    /// True when nothing more happens to a request unless it comes again.
    fn is_over(&mut self, id: RequestId, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Admitted { .. } => *self.work.entry(id).or_default() += 1,
            Moment::Served { .. }
            | Moment::Dropped { .. }
            | Moment::TakenBack { .. }
            | Moment::Lost { .. } => {
                if let Some(work) = self.work.get_mut(&id) {
                    *work -= 1;
                    if *work == 0 {
                        self.work.remove(&id);
                    }
                }
            }
            _ => {}
        }
        let last = matches!(moment, Moment::Resolved { .. } | Moment::Late { .. });
        last && !self.work.contains_key(&id)
    }

    fn hear(&mut self, now: Time, id: RequestId, moment: &Moment<'_>) {
        match *moment {
            Moment::Sent { step, .. } => {
                if let Some(open) = self.open.get_mut(&id) {
                    open.step = Some(step);
                }
            }
            Moment::Started { step, until, .. } => {
                if let Some(open) = self.open.get_mut(&id).filter(|o| o.step == Some(step)) {
                    open.until = until;
                }
            }
            Moment::Swallowed { step } => {
                if let Some(open) = self.open.get_mut(&id).filter(|o| o.step == Some(step)) {
                    open.silent = true;
                }
            }
            Moment::HeadArrives { step } => {
                let Some(open) = self.open.get(&id) else { return };
                let word = Word::Head { until: open.until - now, tokens: open.tokens };
                self.say(id, Some(step), word);
            }
            Moment::Hung { delivered } => self.say(id, None, Word::Hung(delivered)),
            Moment::Delivered { step, tokens } => {
                self.say(id, Some(step), Word::Answered(tokens));
                self.requests.answered(id);
            }
            Moment::AttemptFailed { step, ref failure } => {
                self.requests.failed(id);
                self.say(id, Some(step), word_of(failure));
            }
            Moment::TimedOut { .. } => {
                self.requests.failed(id);
                self.open.remove(&id);
            }
            _ => {}
        }
    }
}

fn word_of(failure: &Failure<'_>) -> Word {
    match failure {
        Failure::Status(answer) => Word::Failed(Error::of(answer)),
        Failure::Stream { delivered } => Word::Broken(*delivered),
        Failure::Reset | Failure::Timeout | Failure::NotSent(_) => Word::Reset,
    }
}

impl Observer for Ear<'_> {
    const HEARS_MOMENTS: bool = true;

    fn present(&mut self, now: Time, present: u32) {
        self.tracer.present(now, present);
    }

    fn moment(&mut self, now: Time, who: impl Fn() -> Who, moment: Moment<'_>) {
        let whose = who();
        self.tracer.moment(now, who, moment);
        let id = RequestId { group: whose.group, number: whose.request };
        self.hear(now, id, &moment);
        if self.is_over(id, &moment) {
            self.tracer.forget(whose);
        }
    }
}
