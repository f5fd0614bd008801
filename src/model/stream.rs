//! A streamed answer: its head arrives when service starts, and it may break off.

use super::simulation::{Phase, Simulation};
use super::wire::Word;
use super::{Moment, Observer};
use crate::answer::Failure;
use crate::client::TimeoutOf;
use crate::engine::{Class, Pending};
use crate::server::{BillingRule, Break, How, Tokens};
use crate::units::Time;

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// The head of the answer to the attempt sent at `step` arrives, the first token a moment
    /// later: limits on silence start anew.
    pub(super) fn on_head(&mut self, request: u32, step: u32) {
        if !self.awaited(request, step) {
            return;
        }
        self.state_mut(request).phase = Phase::Streaming;
        self.tell_of(request, Moment::HeadArrives { step });
        let first =
            self.providers[self.provider_of(step)].first_token(|| self.tokens(request).input);
        let until = |timeout| if first > timeout { timeout } else { Time::MAX };
        self.set_silence(request, step, until);
    }

    /// Layers that limit silence, not attempts, get a new limit: so much from now on.
    fn set_silence(&mut self, request: u32, step: u32, limit: impl Fn(Time) -> Time) {
        let now = self.events.now();
        let (g, place) = self.split(request);
        let mut changed = false;
        for layer in &mut self.groups[g].layers {
            let limit = match layer.rule.timeout_of {
                TimeoutOf::Attempt => continue,
                TimeoutOf::Head => Time::MAX,
                TimeoutOf::Silence => layer.timeout().map_or(Time::MAX, &limit),
            };
            layer.set_expiry(place, now.saturating_add(limit));
            changed = true;
        }
        if changed {
            let next = self.limit_from(request, 0);
            self.schedule(next, Class::Timeout, request, step);
        }
    }

    /// False when the limit that a timeout was for has been put off since, by a sign of life or
    /// because the attempt was accepted.
    #[inline]
    pub(super) fn limit_stands(&self, request: u32) -> bool {
        !matches!(self.state(request).phase, Phase::InFlight | Phase::Streaming)
            || self.limit_from(request, 0) <= self.events.now()
    }

    /// What layer `l` sees when its limit of time is reached.
    pub(super) fn timed_out(&self, request: u32, l: usize) -> Failure<'static> {
        let silence = self.layers(request)[l].rule.timeout_of == TimeoutOf::Silence;
        match self.state(request).phase {
            Phase::Streaming if silence => Failure::Stream { delivered: false },
            Phase::Hung(delivered) if silence => Failure::Stream { delivered },
            _ => Failure::Timeout,
        }
    }

    /// Where the answer to the attempt sent at `step` breaks off, if it does.
    pub(super) fn broken(&self, request: u32, step: u32) -> Option<Break> {
        let (g, place) = self.split(request);
        let group = &self.groups[g];
        if !group.streams_to(place) {
            return None;
        }
        let output = || self.tokens(request).output;
        self.providers[self.provider_of(step)].broken(group.draws(place, step), output)
    }

    /// A streamed answer breaks off.
    pub(super) fn on_break(&mut self, request: u32, step: u32, broken: Break) {
        self.books(request).failed += 1;
        let all = self.spent(request, step);
        let output = (all.output as f64 * broken.part.unwrap_or(0.0)) as u64;
        self.let_go(request, step, output);
        if self.rule_of_billing(step) != BillingRule::FreeErrors {
            self.bill(request, step, Tokens { output, ..all });
        }
        let delivered = broken.part.is_some();
        let word = match broken.how {
            How::Error => Word::Failure(Failure::Stream { delivered }),
            How::Silence => Word::Hung { delivered },
        };
        self.say(request, step, word);
    }

    /// Nothing more comes, and no error either.
    pub(super) fn hang(&mut self, request: u32, delivered: bool) {
        let step = self.advance(request, Phase::Hung(delivered));
        self.tell_of(request, Moment::Hung { delivered });
        self.set_silence(request, step, |timeout| timeout);
        // Without a limit on silence the other limits are still to be kept.
        let next = self.limit_from(request, 0);
        self.schedule(next, Class::Timeout, request, step);
    }
}
