//! The one owner of the provider's state: a thread that does what attempts ask for, in the order in which they
//! come, and what time brings in between.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::clock::Clock;
use super::ear::{Ear, Word};
use super::log::Arriving;
use crate::model::{GroupPlan, Guest, Live, Plan, RequestId};
use crate::server::{Caller, LimitKind, Tokens};
use crate::trace::Names;

/// Most clients of a group; whoever comes then shares the last number.
pub const MOST_CLIENTS: u32 = 100_000;

/// An attempt as it comes from the wire.
pub struct Attempt {
    /// Its number among all.
    pub ticket: u64,
    /// When it was read.
    pub at: Instant,
    /// The name of its client.
    pub client: String,
    /// The provider's number.
    pub provider: u32,
    /// What its request is known by, and whether that is a name.
    pub key: (u64, bool),
    /// The SDK's own count of retries.
    pub retry_count: Option<u32>,
    /// Tokens of its prompt, where they are not the scenario's.
    pub input: Option<u64>,
    /// Most tokens of its answer.
    pub most: Option<u64>,
    /// Whether its answer is streamed.
    pub stream: bool,
    /// Where words for it go.
    pub reply: UnboundedSender<Word>,
    /// Where the headers go that every answer has.
    pub standing: oneshot::Sender<Vec<Stand>>,
}

/// Where a client stands with a limit: kind, most, left, and nanoseconds of the wall clock until it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// The limit.
    pub kind: LimitKind,
    /// Most at once, and what is left.
    pub numbers: (u64, u64),
    /// Until it is whole.
    pub whole_in: Option<u64>,
}

/// What the owner is asked to do.
pub enum Command {
    /// An attempt has come.
    Attempt(Box<Attempt>),
    /// The attempt with this ticket is over, or its client has gone away.
    Gone(u64),
    /// No more attempts will come: end when those that wait are answered.
    Drain,
    /// End now.
    Stop,
}

/// The owner and what it owns.
pub struct Owner<'p> {
    live: Live<'p, Ear<'p>>,
    clock: Clock,
    /// The scenario's groups, for tokens.
    originals: &'p [GroupPlan],
    names: &'p Names,
    /// Numbers of clients by group and name.
    clients: BTreeMap<(usize, String), u32>,
    counts: Vec<u32>,
    /// The requests of attempts under way, by ticket.
    under_way: BTreeMap<u64, RequestId>,
}

impl<'p> Owner<'p> {
    /// An owner of a provider that nobody has called.
    pub fn new(
        live: Live<'p, Ear<'p>>,
        clock: Clock,
        original: &'p Plan,
        names: &'p Names,
    ) -> Self {
        let originals = original.groups.as_slice();
        let counts = vec![0; originals.len()];
        let (clients, under_way) = (BTreeMap::new(), BTreeMap::new());
        Owner { live, clock, originals, names, clients, counts, under_way }
    }

    /// Works until it is told to end; the attempts that have come.
    pub fn run(mut self, commands: &Receiver<Command>) -> io::Result<u64> {
        let mut draining = false;
        while !draining || self.live.observer().is_waited_for() {
            match self.next(commands) {
                Ok(Command::Attempt(attempt)) => self.attempt(*attempt),
                Ok(Command::Gone(ticket)) => self.gone(ticket),
                Ok(Command::Drain) => draining = true,
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.catch_up(),
            }
            if let Some(error) = self.live.observer().tracer.error() {
                return Err(io::Error::new(error.kind(), error.to_string()));
            }
        }
        self.live.observer().close();
        // Work that nobody waits for is finished and billed as it would have been.
        self.live.run_out();
        let log = self.live.observer().tracer.sink_mut();
        log.flush()?;
        Ok(log.attempts)
    }

    /// The next command, or what time has brought before it.
    fn next(&mut self, commands: &Receiver<Command>) -> Result<Command, RecvTimeoutError> {
        if let Ok(command) = commands.try_recv() {
            return Ok(command);
        }
        // Nothing to do: what has been written is worth keeping.
        if self.live.observer().tracer.sink_mut().flush().is_err() {
            return Err(RecvTimeoutError::Disconnected);
        }
        let started = self.clock.now().is_some();
        match self.live.next_time().filter(|_| started) {
            Some(at) => commands.recv_timeout(self.clock.until(at)),
            None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn catch_up(&mut self) {
        if let Some(now) = self.clock.now() {
            self.live.run_until(now);
        }
    }

    /// The group that a client belongs to by its name: `batch` and `batch-17` to group batch, others to the first.
    fn group_of(&self, client: &str) -> usize {
        let is_of = |group: &&str| {
            let rest = client.strip_prefix(group);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let groups = self.names.groups().into_iter().filter(is_of);
        let group = groups.max_by_key(|group| group.len());
        group.and_then(|group| self.names.find_group(Some(group))).unwrap_or(0)
    }

    fn client(&mut self, group: usize, name: &str) -> u32 {
        if let Some(number) = self.clients.get(&(group, name.to_owned())) {
            return *number;
        }
        let number = self.counts[group];
        if number == MOST_CLIENTS {
            return number - 1;
        }
        self.counts[group] += 1;
        self.clients.insert((group, name.to_owned()), number);
        self.live.observer().tracer.sink_mut().add_client(group, name.to_owned());
        number
    }

    fn attempt(&mut self, attempt: Attempt) {
        let now = self.clock.at(attempt.at);
        self.live.run_until(now);
        let group = self.group_of(&attempt.client);
        let client = self.client(group, &attempt.client);
        let (hash, named) = attempt.key;
        let alike = (group, client, hash);
        let found = self.live.observer().requests.find(alike, named, attempt.retry_count);
        let drawn = self.live.drawn(&self.originals[group], group);
        let (id, before, tokens) = match found {
            Some((id, before)) => (id, before, self.live.guest(id).tokens),
            None => {
                let output = attempt.most.map_or(drawn.output, |most| drawn.output.min(most));
                let input = attempt.input.unwrap_or(drawn.input);
                let tokens = Tokens { input, output, ..drawn };
                let guest =
                    Guest { client, provider: attempt.provider, tokens, stream: attempt.stream };
                // When all numbers are used up, nobody is answered any more.
                let Some(id) = self.live.request(group, guest) else { return };
                (id, attempt.retry_count.unwrap_or(0), tokens)
            }
        };
        self.live.gone(now, id);
        let ear = self.live.observer();
        ear.requests.sent(id, alike, named, before);
        ear.wait(id, attempt.ticket, tokens, attempt.reply);
        ear.tracer.sink_mut().arriving = Arriving { tokens, retry_count: attempt.retry_count };
        self.under_way.insert(attempt.ticket, id);
        self.live.attempt(now, id, attempt.provider, before);
        let who = Caller { group, client };
        let standing = self.live.standing(now, attempt.provider as usize, who);
        let wall = |nanos| self.clock.wall(nanos).as_nanos() as u64;
        let stand = standing.into_iter().map(|s| Stand {
            kind: s.kind,
            numbers: (s.most, s.left),
            whole_in: s.whole_in.map(wall),
        });
        let _ = attempt.standing.send(stand.collect());
    }

    fn gone(&mut self, ticket: u64) {
        let Some(id) = self.under_way.remove(&ticket) else { return };
        // It may have been answered, and the request may have a newer attempt under way.
        if self.live.observer().is_open(id, ticket)
            && let Some(now) = self.clock.now()
        {
            self.live.gone(now, id);
        }
    }
}
