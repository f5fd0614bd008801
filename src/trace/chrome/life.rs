//! The spans of a request that are open, each inside the one before.

use serde_json::Value as Json;

use super::file::Track;
use crate::units::Time;

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Request,
    /// A call into a layer.
    Call(usize),
    /// A permit of a layer.
    Permit(usize),
    Wait,
    /// An attempt by its number.
    Attempt(u32),
    Queue,
    Service,
}

impl What {
    /// Its category in the file.
    pub(super) fn category(self) -> &'static str {
        match self {
            What::Request => "request",
            What::Call(_) => "call",
            What::Permit(_) => "permit",
            What::Wait => "wait",
            What::Attempt(_) => "attempt",
            What::Queue => "queue",
            What::Service => "service",
        }
    }
}

/// A span that is open.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) what: What,
    pub(super) name: String,
    pub(super) start: Time,
    pub(super) args: Vec<(&'static str, Json)>,
}

/// Open spans of one track, the outermost first.
#[derive(Debug)]
pub(super) struct Stack {
    pub(super) track: Track,
    pub(super) spans: Vec<Open>,
}

impl Stack {
    pub(super) fn new(track: Track) -> Stack {
        Stack { track, spans: Vec::new() }
    }

    pub(super) fn open(&mut self, what: What, name: String, start: Time) {
        self.spans.push(Open { what, name, start, args: Vec::new() });
    }

    pub(super) fn wait(&mut self, name: String, start: Time) {
        self.open(What::Wait, name, start);
    }

    /// Adds to what is known of the innermost span.
    pub(super) fn note(&mut self, key: &'static str, value: Json) {
        if let Some(span) = self.spans.last_mut()
            && !value.is_null()
        {
            span.args.push((key, value));
        }
    }

    /// Adds to the attempt of this number how it ends.
    pub(super) fn end(&mut self, number: u32, outcome: &str) {
        let span = self.spans.iter_mut().rfind(|span| span.what == What::Attempt(number));
        span.into_iter().for_each(|span| span.args.push(("outcome", outcome.into())));
    }

    /// The innermost span, if it is time at the provider.
    pub(super) fn take_working(&mut self) -> Option<Open> {
        self.spans.pop_if(|span| matches!(span.what, What::Queue | What::Service))
    }
}

/// A request: its own spans, and those of hedges on tracks beside them.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) main: Stack,
    pub(super) hedges: Vec<Stack>,
}

impl Life {
    pub(super) fn new(main: Stack) -> Life {
        Life { main, hedges: Vec::new() }
    }

    fn stacks(&self) -> impl Iterator<Item = &Stack> {
        std::iter::once(&self.main).chain(&self.hedges)
    }

    /// The numbers of attempts in flight.
    pub(super) fn attempts(&self) -> Vec<u32> {
        let spans = self.stacks().flat_map(|stack| &stack.spans);
        let number = |span: &Open| match span.what {
            What::Attempt(number) => Some(number),
            _ => None,
        };
        spans.filter_map(number).collect()
    }

    /// The stack that has this attempt in flight.
    pub(super) fn with_attempt(&mut self, number: u32) -> Option<&mut Stack> {
        let mut stacks = std::iter::once(&mut self.main).chain(&mut self.hedges);
        stacks.find(|stack| stack.spans.iter().any(|span| span.what == What::Attempt(number)))
    }
}
