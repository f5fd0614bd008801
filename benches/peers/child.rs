//! A peer as a process of its own that is told what to run, so that its start is not measured.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::game::{Batch, Outcome};

/// A running peer; it ends when its standard input does.
pub struct Child {
    name: &'static str,
    process: Process,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    next_seed: u64,
}

impl Child {
    /// Starts `command`.
    pub fn start(name: &'static str, command: &mut Command) -> Result<Child, String> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().map_err(|e| format!("{name} does not start: {e}"))?;
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("it is piped"));
        Ok(Child { name, process, questions, answers, next_seed: 1 })
    }

    /// So many runs, each with random numbers of its own: replaying some trains the branch predictor.
    pub fn batch(&mut self, clients: u32, runs: u32, facts: usize) -> Result<Batch, String> {
        let seed = self.next_seed;
        self.next_seed += u64::from(runs);
        let question = format!("{clients} {runs} {seed}\n");
        let mut line = String::new();
        let asked =
            self.questions.as_mut().expect("open until dropped").write_all(question.as_bytes());
        asked
            .and_then(|()| self.answers.read_line(&mut line))
            .map_err(|e| format!("{} has gone: {e}", self.name))?;
        parse(&line, runs as usize, facts)
            .ok_or_else(|| format!("{} answers {line:?} to {question:?}", self.name))
    }
}

/// Nanoseconds, and then the facts of each run.
fn parse(line: &str, runs: usize, facts: usize) -> Option<Batch> {
    let numbers: Vec<u64> =
        line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let (&nanos, rest) = numbers.split_first()?;
    let outcomes: Vec<Outcome> = rest.chunks(facts).map(<[u64]>::to_vec).collect();
    let whole = outcomes.len() == runs && rest.len() == runs * facts;
    whole.then_some(Batch { took: Duration::from_nanos(nanos), outcomes })
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.questions.take());
        // Whatever its status: its answers have been read.
        let _ = self.process.wait();
    }
}
