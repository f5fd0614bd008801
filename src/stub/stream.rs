//! A streamed answer: events of a vendor at the pace of the provider's service.

use std::time::Duration;

use hyper::body::Bytes;
use tokio::sync::mpsc::{Sender, UnboundedReceiver};
use tokio::time::{Instant, sleep_until, timeout};

use super::answer::{Content, Named, words};
use super::ear::Word;
use super::vendor::{fill, text};

/// A reader that takes no piece for so long has gone.
const SLOWEST_READER: Duration = Duration::from_secs(30);

/// Most pieces of an answer, and the shortest time between two.
const MOST_PIECES: u64 = 32;
const SHORTEST_GAP: Duration = Duration::from_millis(2);

/// Writes the events of one answer.
pub struct Events<'v> {
    /// What it says.
    pub content: Content<'v>,
    /// Whose it is.
    pub named: Named<'v>,
    /// Whether tokens are counted at the end.
    pub counts: bool,
    /// Where pieces go.
    pub out: Sender<Bytes>,
    /// Tokens sent, and events.
    sent: u64,
    number: u64,
}

/// Nobody reads any more.
struct Gone;

impl<'v> Events<'v> {
    /// An answer of which nothing has been sent.
    pub fn new(content: Content<'v>, named: Named<'v>, counts: bool, out: Sender<Bytes>) -> Self {
        Events { content, named, counts, out, sent: 0, number: 0 }
    }

    /// Sends what is said until nothing more comes, or `patience` is at its end: the first token after
    /// `first`, the last one after `until`.
    pub async fn send(
        mut self,
        (first, until): (Duration, Duration),
        said: &mut UnboundedReceiver<Word>,
        patience: Duration,
    ) {
        let start = Instant::now();
        let output = self.content.tokens.output;
        let gap = until.saturating_sub(first);
        let mut pieces = output.min(MOST_PIECES);
        pieces = pieces.min((gap.as_nanos() / SHORTEST_GAP.as_nanos()) as u64);
        let mut piece = 0;
        let mut over = start + patience;
        loop {
            let next = match piece < pieces {
                true => start + first + gap.mul_f64((piece + 1) as f64 / (pieces + 1) as f64),
                false => over,
            };
            let out = self.out.clone();
            let word = tokio::select! {
                biased;
                () = out.closed() => return,
                word = said.recv() => word,
                () = sleep_until(next) => {
                    if piece >= pieces {
                        return;
                    }
                    piece += 1;
                    if self.tokens(output * piece / (pieces + 1)).await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            match word {
                Some(Word::Hung(delivered)) => {
                    // A token has been delivered before, or none ever is.
                    piece = pieces;
                    over = Instant::now() + patience;
                    if delivered && self.tokens(self.sent.max(1)).await.is_err() {
                        return;
                    }
                }
                Some(word) => {
                    let _ = self.finish(word).await;
                    return;
                }
                None => return,
            }
        }
    }

    async fn finish(&mut self, word: Word) -> Result<(), Gone> {
        match word {
            Word::Answered(tokens) => {
                self.content.tokens = tokens;
                self.tokens(tokens.output).await?;
                self.end().await
            }
            Word::Broken(delivered) => {
                if delivered {
                    self.tokens(self.sent.max(1)).await?;
                }
                let broken = self.content.endpoint.broken.clone();
                self.event(&broken, &[]).await
            }
            Word::Failed(_) => {
                let broken = self.content.endpoint.broken.clone();
                self.event(&broken, &[]).await
            }
            Word::Reset | Word::Head { .. } | Word::Hung(_) => Ok(()),
        }
    }

    /// Sends tokens until so many are sent; the events that come before the first one with it.
    async fn tokens(&mut self, until: u64) -> Result<(), Gone> {
        if self.number == 0 {
            for event in &self.content.endpoint.begin {
                self.event(event, &[]).await?;
            }
        }
        if until > self.sent {
            let piece = words(until - self.sent);
            self.sent = until;
            let delta = &self.content.endpoint.delta;
            self.event(delta, &[("text", text(&piece))]).await?;
        }
        Ok(())
    }

    async fn end(&mut self) -> Result<(), Gone> {
        let all = text(&words(self.content.tokens.output));
        let answer = self.content.document(&self.named);
        let endpoint = self.content.endpoint;
        for event in &endpoint.end {
            self.event(event, &[("whole_text", all.clone()), ("answer", answer.clone())]).await?;
        }
        if let Some(usage) = endpoint.usage.as_ref().filter(|_| self.counts) {
            self.event(usage, &[]).await?;
        }
        match &endpoint.last {
            Some(last) => self.event(last, &[]).await,
            None => Ok(()),
        }
    }

    async fn event(&mut self, template: &str, more: &[(&'static str, String)]) -> Result<(), Gone> {
        let mut words = self.content.words(&self.named);
        words.push(("n", self.number.to_string()));
        words.extend_from_slice(more);
        self.number += 1;
        let event = format!("{}\n", fill(template.trim_start(), &words));
        let sent = timeout(SLOWEST_READER, self.out.send(Bytes::from(event))).await;
        match sent {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }
}
