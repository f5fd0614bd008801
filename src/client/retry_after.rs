//! What a client makes of the server's Retry-After header.
//!
//! The official SDKs of one vendor read the same header in four different ways; each option here
//! is what some real library does (see the files of `src/presets/sdk`).

use serde::{Deserialize, Serialize};

use crate::answer::{Hint, Rejection, Statement};
use crate::header::{HeaderValue, Kind, until_date};
use crate::rng::Stream;
use crate::units::{NANOS_PER_SECOND, Span};

/// What a layer makes of the server's Retry-After.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryAfter {
    /// The header is not read.
    #[default]
    Ignore,
    /// The server's wait takes the place of the backoff.
    Obey(Obey),
}

/// How the header is obeyed. Without any key: to the nanosecond and without a ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Obey {
    /// The ceiling; without it every wait is obeyed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Span>,
    /// What is made of a wait of exactly `max`.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "obeyed")))]
    pub at_max: AtMax,
    /// What happens beyond `max`.
    pub beyond: Beyond,
    /// Random time added after the ceiling, so that nobody comes too early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Added>,
    /// The backoff's wait t is moved towards the server's within [t, t + window], as the AWS SDKs
    /// do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Span>,
    /// How odd values are read.
    #[serde(skip_serializing_if = "is_default")]
    pub reading: Reading,
}

/// How values are read that libraries disagree about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// What is made of a wait of 0.
    pub zero: Otherwise,
    /// What is made of a negative number or a date that has passed.
    pub negative: Otherwise,
    /// What is made of text that is neither number nor date, and of NaN.
    pub unreadable: Otherwise,
    /// What is made of an infinite number.
    pub infinite: Infinite,
    /// Whether `retry-after-ms` is read, before `retry-after`.
    pub millis: bool,
    /// Whether a `retry-after-ms` of 0 hides `retry-after`.
    pub zero_millis: ZeroMillis,
    /// Which numbers `retry-after` may be.
    pub seconds: Seconds,
    /// Whether the words `inf` and `nan` are numbers, as for Python's `float`.
    pub words: bool,
    /// How long the wait until an HTTP date is.
    pub dates: Dates,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Random time on top of a wait w: uniform in [0, min(fraction · w, max)); one of the two may be
/// left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Added {
    /// As a share of the wait, 0 to 10; without it only `max` bounds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 10.0)))]
    pub fraction: Option<f64>,
    /// The longest addition; without it only `fraction` bounds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Span>,
}

/// What is made of a wait of exactly the ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AtMax {
    /// It is obeyed.
    #[default]
    Obeyed,
    /// It is beyond.
    Beyond,
}

/// What a client does when the server asks for more than its ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// It waits by its own schedule instead.
    #[default]
    OwnSchedule,
    /// The call is given up.
    Stop,
    /// It waits as long as the ceiling.
    Max,
    /// It retries at once, as a timer does that overflows.
    AtOnce,
}

/// What a client does with a value that names no wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Otherwise {
    /// It waits by its own schedule.
    #[default]
    OwnSchedule,
    /// It retries at once.
    AtOnce,
}

/// What a client does with an infinite number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Infinite {
    /// It is beyond the ceiling; without a ceiling it is waited.
    #[default]
    Beyond,
    /// It waits by its own schedule.
    OwnSchedule,
}

/// Whether a `retry-after-ms` of 0 hides `retry-after`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ZeroMillis {
    /// It decides, and `retry-after` is not looked at.
    #[default]
    Decides,
    /// It yields to `retry-after` where there is one.
    Yields,
}

/// Which numbers `retry-after` may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Seconds {
    /// Any.
    #[default]
    Decimal,
    /// Whole ones; others are unreadable.
    Whole,
}

/// How long the wait until an HTTP date is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dates {
    /// Until the date.
    #[default]
    Exact,
    /// Until the date, cut to whole seconds.
    Whole,
    /// A date is unreadable.
    Unreadable,
}

/// What follows from a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing: the own schedule holds.
    Nothing,
    /// Wait this many nanoseconds.
    Wait(u64),
    /// Wait the own schedule's t, moved to this many nanoseconds as far as [t, t + window] allows.
    Within {
        /// The server's wait.
        wait: u64,
        /// The window in nanoseconds.
        window: u64,
    },
    /// Do not retry.
    Stop,
}

/// A header as a client has read it.
#[derive(Clone, Copy)]
enum Read {
    Absent,
    Unreadable,
    Infinite,
    Nanos(i128),
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            zero: Otherwise::default(),
            negative: Otherwise::default(),
            unreadable: Otherwise::default(),
            infinite: Infinite::default(),
            millis: true,
            zero_millis: ZeroMillis::default(),
            seconds: Seconds::default(),
            words: true,
            dates: Dates::default(),
        }
    }
}

impl RetryAfter {
    /// What follows from an answer that arrives at `now`; `stream` gives the jitter.
    #[inline]
    pub fn told(&self, answer: &Rejection<'_>, now: u64, stream: &Stream) -> Told {
        let RetryAfter::Obey(rule) = self else { return Told::Nothing };
        let read = match answer.hint {
            Hint::None => return Told::Nothing,
            Hint::RetryAfter(wait) => Read::Nanos(wait.nanos().into()),
            Hint::Stated(statement) => rule.reading.read(statement, now),
        };
        rule.follow(read, &mut stream.clone())
    }

    /// The rule in words that follow "Retry-After".
    pub fn in_words(&self) -> String {
        let RetryAfter::Obey(rule) = self else { return "is not read".to_owned() };
        let ceiling = match (rule.max, rule.at_max) {
            (None, _) => "without a ceiling".to_owned(),
            (Some(max), AtMax::Obeyed) => format!("up to {max}"),
            (Some(max), AtMax::Beyond) => format!("below {max}"),
        };
        let beyond = match rule.beyond {
            _ if rule.max.is_none() => "",
            Beyond::OwnSchedule => ", beyond that the own schedule holds",
            Beyond::Stop => ", beyond that the call is given up",
            Beyond::Max => ", beyond that it waits the ceiling",
            Beyond::AtOnce => ", beyond that it retries at once",
        };
        let jitter = rule.jitter.map_or("without jitter", |_| "with jitter added");
        let zero = match rule.reading.zero {
            Otherwise::OwnSchedule => "the own schedule holds",
            Otherwise::AtOnce => "it retries at once",
        };
        let window = rule.window.map_or(String::new(), |window| {
            format!("; it moves the own schedule's wait by at most {window}")
        });
        format!("is obeyed {ceiling}, {jitter}{beyond}; at 0 {zero}{window}")
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let RetryAfter::Obey(rule) = self else { return None };
        if rule.max.is_none()
            && (rule.beyond != Beyond::default() || rule.at_max != AtMax::default())
        {
            let text =
                "without a max nothing is beyond it; write max, or leave beyond and at_max out";
            return Some(("max", text.to_owned()));
        }
        let jitter = rule.jitter?;
        match jitter.fraction {
            Some(share) if !(0.0..=10.0).contains(&share) => {
                Some(("jitter", format!("the fraction {share} is out of range; write 0 to 10")))
            }
            None if jitter.max.is_none() => {
                Some(("jitter", "write fraction, max or both".to_owned()))
            }
            _ => None,
        }
    }
}

impl Reading {
    /// The wait that the headers name: `retry-after-ms` first, then `retry-after`.
    fn read(&self, statement: &Statement, now: u64) -> Read {
        let millis = statement.retry_after_ms.as_ref().filter(|_| self.millis);
        let millis = millis.map_or(Read::Absent, |value| self.number(value, 1e6));
        let Some(value) = statement.retry_after.as_ref().filter(|_| !self.decides(millis)) else {
            return millis;
        };
        match value.kind() {
            Kind::Number { whole: false, .. } if self.seconds == Seconds::Whole => Read::Unreadable,
            Kind::Date { offset } => self.date(offset, now),
            _ => self.number(value, 1e9),
        }
    }

    /// Whether `retry-after-ms` keeps `retry-after` from being looked at.
    fn decides(&self, read: Read) -> bool {
        match read {
            Read::Absent | Read::Unreadable => false,
            Read::Nanos(0) => self.zero_millis == ZeroMillis::Decides,
            Read::Infinite | Read::Nanos(_) => true,
        }
    }

    fn number(&self, value: &HeaderValue, nanos: f64) -> Read {
        let number = match value.kind() {
            Kind::Number { value, .. } => value,
            Kind::Word(value) if self.words => value,
            Kind::Word(_) | Kind::Date { .. } | Kind::Garbage => return Read::Unreadable,
        };
        match number {
            n if n.is_nan() => Read::Unreadable,
            n if n == f64::INFINITY => Read::Infinite,
            n => Read::Nanos((n * nanos) as i128),
        }
    }

    fn date(&self, offset: i64, now: u64) -> Read {
        let second = i128::from(NANOS_PER_SECOND);
        let exact = i128::from(until_date(offset, now));
        match self.dates {
            Dates::Exact => Read::Nanos(exact),
            Dates::Whole => Read::Nanos(exact / second * second),
            Dates::Unreadable => Read::Unreadable,
        }
    }
}

impl Obey {
    fn follow(&self, read: Read, stream: &mut Stream) -> Told {
        let or = |otherwise| match otherwise {
            Otherwise::OwnSchedule => Told::Nothing,
            Otherwise::AtOnce => Told::Wait(0),
        };
        let wait = match read {
            Read::Absent => return Told::Nothing,
            Read::Unreadable => return or(self.reading.unreadable),
            Read::Infinite if self.reading.infinite == Infinite::OwnSchedule => {
                return Told::Nothing;
            }
            Read::Infinite => u64::MAX,
            Read::Nanos(..0) => return or(self.reading.negative),
            Read::Nanos(0) => return or(self.reading.zero),
            Read::Nanos(wait) => u64::try_from(wait).unwrap_or(u64::MAX),
        };
        let max = self.max.map_or(u64::MAX, Span::nanos);
        let over = wait > max || (wait == max && self.at_max == AtMax::Beyond);
        let wait = match self.beyond {
            _ if !over || self.max.is_none() => wait,
            Beyond::OwnSchedule => return Told::Nothing,
            Beyond::Stop => return Told::Stop,
            Beyond::Max => max,
            Beyond::AtOnce => return Told::Wait(0),
        };
        let wait = wait.saturating_add(self.added(wait, stream));
        match self.window {
            None => Told::Wait(wait),
            Some(window) => Told::Within { wait, window: window.nanos() },
        }
    }

    fn added(&self, wait: u64, stream: &mut Stream) -> u64 {
        let Some(jitter) = self.jitter else { return 0 };
        let share = jitter.fraction.map_or(u64::MAX, |fraction| (wait as f64 * fraction) as u64);
        stream.below(share.min(jitter.max.map_or(u64::MAX, Span::nanos)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    fn told(rule: Obey, retry_after: &str, millis: &str) -> Told {
        let value = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        let statement = Statement {
            retry_after: value(retry_after),
            retry_after_ms: value(millis),
            ..Statement::default()
        };
        let answer = Rejection { status: 429, hint: Hint::Stated(&statement) };
        let stream = Streams::new(1, 0).backoff(0, 0, 0);
        RetryAfter::Obey(rule).told(&answer, 0, &stream)
    }

    fn seconds(s: f64) -> Told {
        Told::Wait((s * 1e9) as u64)
    }

    fn read(reading: Reading) -> Obey {
        Obey { reading, ..Obey::default() }
    }

    fn max(s: u64, beyond: Beyond) -> Obey {
        Obey { max: Some(Span::from_seconds(s)), beyond, ..Obey::default() }
    }

    #[test]
    fn ceilings_hold() {
        let stop = max(120, Beyond::Stop);
        assert_eq!(told(stop, "120", ""), seconds(120.0));
        assert_eq!(told(stop, "121", ""), Told::Stop);
        assert_eq!(told(stop, "0", ""), Told::Nothing);
        assert_eq!(told(max(60, Beyond::OwnSchedule), "61", ""), Told::Nothing);
        assert_eq!(told(max(60, Beyond::Max), "3600", ""), seconds(60.0));
        assert_eq!(told(max(60, Beyond::AtOnce), "61", ""), Told::Wait(0));
        let strict = Obey { at_max: AtMax::Beyond, ..max(60, Beyond::OwnSchedule) };
        assert_eq!(told(strict, "60", ""), Told::Nothing);
        assert_eq!(told(strict, "59.5", ""), seconds(59.5));
        assert_eq!(told(Obey::default(), "3600", ""), seconds(3_600.0));
        assert_eq!(told(Obey::default(), "inf", ""), Told::Wait(u64::MAX));
        assert_eq!(told(Obey::default(), "", ""), Told::Nothing);
    }

    #[test]
    fn milliseconds_come_first() {
        let yields = read(Reading { zero_millis: ZeroMillis::Yields, ..Reading::default() });
        assert_eq!(told(Obey::default(), "2", "700"), seconds(0.7));
        assert_eq!(told(Obey::default(), "2", "0"), Told::Nothing);
        assert_eq!(told(yields, "2", "0"), seconds(2.0));
        let hot = Reading { zero: Otherwise::AtOnce, ..yields.reading };
        assert_eq!(told(read(hot), "", "0"), Told::Wait(0));
        assert_eq!(told(Obey::default(), "2", "soon"), seconds(2.0));
        let deaf = read(Reading { millis: false, ..Reading::default() });
        assert_eq!(told(deaf, "2", "700"), seconds(2.0));
    }

    #[test]
    fn odd_values_are_read_as_each_library_does() {
        let own = Obey::default();
        let usual = Reading::default();
        let hot = read(Reading {
            zero: Otherwise::AtOnce,
            negative: Otherwise::AtOnce,
            unreadable: Otherwise::AtOnce,
            words: false,
            ..usual
        });
        for odd in ["0", "-1", "now-30s", "soon", "nan"] {
            assert_eq!(told(own, odd, ""), Told::Nothing, "{odd}");
            assert_eq!(told(hot, odd, ""), Told::Wait(0), "{odd}");
        }
        assert_eq!(told(hot, "inf", ""), Told::Wait(0));
        let whole = read(Reading { seconds: Seconds::Whole, ..usual });
        assert_eq!(told(whole, "1.5", ""), Told::Nothing);
        assert_eq!(told(whole, "2", ""), seconds(2.0));
        assert_eq!(told(own, "now+3s", ""), seconds(3.0));
        let dateless = read(Reading { dates: Dates::Unreadable, ..usual });
        assert_eq!(told(dateless, "now+3s", ""), Told::Nothing);
        let finite = read(Reading { infinite: Infinite::OwnSchedule, ..usual });
        assert_eq!(told(finite, "1e400", ""), Told::Nothing);
    }

    #[test]
    fn jitter_only_adds_and_after_the_ceiling() {
        let added = Added { fraction: Some(0.2), max: Some(Span::from_seconds(30)) };
        let rule = Obey { jitter: Some(added), ..max(600, Beyond::Max) };
        let statement = Statement { retry_after: "1800".parse().ok(), ..Statement::default() };
        let answer = Rejection { status: 429, hint: Hint::Stated(&statement) };
        let streams = Streams::new(1, 0);
        let waits: Vec<u64> = (0..1_000)
            .map(|i| RetryAfter::Obey(rule).told(&answer, 0, &streams.backoff(0, i, 0)))
            .map(|told| if let Told::Wait(wait) = told { wait } else { 0 })
            .collect();
        let second = NANOS_PER_SECOND;
        assert!(waits.iter().all(|w| (600 * second..630 * second).contains(w)));
        assert!(waits.iter().any(|w| *w < 601 * second) && waits.iter().any(|w| *w > 629 * second));
    }
}
