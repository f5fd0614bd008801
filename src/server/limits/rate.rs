//! A limit on something per time, and the ways of counting it.

use serde::{Deserialize, Serialize};

use super::bucket::Bucket;
use super::header::Wait;
use super::window::{FixedWindow, SlidingWindow};
use super::{Kind, RetryAfterHeader, everyone};
use crate::client::Scope;
use crate::units::{Rate, Span, Time};

/// A limit on requests or tokens per time, counted in one of three ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// How many per time.
    pub rate: Rate,
    /// How they are counted.
    #[serde(default)]
    pub counting: Counting,
    /// The most that a bucket lets through at once, at least 1; needed for a bucket, which starts
    /// full. Providers that check a minute's limit every second behave like a burst of one second's
    /// worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub burst: Option<u64>,
    /// Length of a window; needed for windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Span>,
    /// A part of a fixed window in which only its share is let through, as where a minute is
    /// checked every 1 or 10 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_window: Option<Span>,
    /// Output tokens that an attempt takes when it arrives: its `max_tokens`, or the provider's
    /// estimate; 0 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<u64>,
    /// What becomes of the reservation when the attempt is over; `at_end` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
    /// How the Retry-After of a 429 is computed.
    #[serde(default)]
    pub retry_after: RetryAfterHeader,
    /// Who shares it.
    #[serde(default = "everyone")]
    pub shared_by: Scope,
}

/// How a rate is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// A bucket of `burst`, refilled continuously, full at first.
    #[default]
    Bucket,
    /// At most rate · window in each of [0, window), [window, 2 window), …
    FixedWindow,
    /// At most rate · window in any window that ends now.
    SlidingWindow,
}

/// What becomes of a reservation of output tokens when the attempt is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Settle {
    /// The tokens that were generated take its place.
    AtEnd,
    /// It stands.
    Never,
}

impl RateLimit {
    /// True when output tokens take the place of their reservation.
    pub(super) fn settles(&self) -> bool {
        self.settle.unwrap_or(Settle::AtEnd) == Settle::AtEnd
    }

    /// The meter of one of those who have their own.
    pub(super) fn meter(&self) -> Meter {
        let quota = |window: Span| self.quota(window);
        let window = self.window.unwrap_or_default();
        match self.counting {
            Counting::Bucket => Meter::Bucket(Bucket::new(self.rate, self.burst.unwrap_or(0))),
            Counting::FixedWindow => Meter::Fixed {
                long: FixedWindow::new(window, quota(window)),
                short: self.short_window.map(|short| FixedWindow::new(short, quota(short))),
            },
            Counting::SlidingWindow => Meter::Sliding(SlidingWindow::new(window, quota(window))),
        }
    }

    /// What a window lets through.
    fn quota(&self, window: Span) -> u64 {
        let whole = u128::from(self.rate.events()) * u128::from(window.nanos());
        u64::try_from(whole / u128::from(self.rate.period())).unwrap_or(u64::MAX)
    }

    /// What is wrong with the parameters: the key and a sentence.
    pub fn problem(&self, kind: Kind) -> Option<(&'static str, String)> {
        let problem = |key, text: &str| Some((key, text.to_owned()));
        let output = matches!(kind, Kind::OutputTokens | Kind::Tokens);
        if !output && (self.reserve.is_some() || self.settle.is_some()) {
            let key = if self.reserve.is_some() { "reserve" } else { "settle" };
            return problem(
                key,
                "only output tokens are reserved; write it in output_tokens or tokens",
            );
        }
        match self.counting {
            Counting::Bucket => self.bucket_problem(),
            Counting::FixedWindow | Counting::SlidingWindow => self.window_problem(output),
        }
    }

    fn bucket_problem(&self) -> Option<(&'static str, String)> {
        let problem = |key, text: &str| Some((key, text.to_owned()));
        if self.window.is_some() || self.short_window.is_some() {
            let key = if self.window.is_some() { "window" } else { "short_window" };
            return problem(
                key,
                "a bucket has no window; write counting = \"fixed_window\" or \"sliding_window\", or leave it out",
            );
        }
        match self.burst {
            None => problem(
                "burst",
                "the key `burst` is missing; write the most that is let through at once",
            ),
            Some(0) => problem("burst", "a burst of 0 lets nothing through, ever; write 1 or more"),
            Some(_) => None,
        }
    }

    fn window_problem(&self, output: bool) -> Option<(&'static str, String)> {
        let problem = |key, text: &str| Some((key, text.to_owned()));
        let sliding = self.counting == Counting::SlidingWindow;
        if self.burst.is_some() {
            return problem(
                "burst",
                "a window has no burst; leave it out, or write counting = \"bucket\"",
            );
        }
        let Some(window) = self.window else {
            return problem(
                "window",
                "the key `window` is missing; write its length, such as \"60s\"",
            );
        };
        if sliding && self.short_window.is_some() {
            return problem(
                "short_window",
                "a sliding window has no parts; leave it out, or write counting = \"fixed_window\"",
            );
        }
        if sliding && output && self.settles() {
            return problem(
                "settle",
                "a sliding window cannot settle; write settle = \"never\", or another counting",
            );
        }
        if self.short_window.is_some_and(|short| short > window) {
            return problem("short_window", "it is longer than the window; write a part of it");
        }
        let spans = [("window", Some(window)), ("short_window", self.short_window)];
        spans.into_iter().find_map(|(key, span)| {
            let span = span.filter(|span| self.quota(*span) == 0)?;
            let rate = self.rate;
            Some((key, format!("{rate} are less than one in {span}; write a longer {key}")))
        })
    }
}

/// What has been let through so far, for one of those who have their own.
#[derive(Clone, Debug)]
pub(super) enum Meter {
    /// A bucket.
    Bucket(Bucket),
    /// A window and a part of it.
    Fixed {
        /// The window.
        long: FixedWindow,
        /// Its part.
        short: Option<FixedWindow>,
    },
    /// A window that ends now.
    Sliding(SlidingWindow),
}

impl Meter {
    /// Whether `amount` fits at `now`; nothing is taken.
    #[inline]
    pub(super) fn fits(&mut self, now: Time, amount: u64) -> Result<(), Wait> {
        match self {
            Meter::Bucket(bucket) => bucket.fits(now, amount),
            Meter::Sliding(window) => window.fits(now, amount),
            Meter::Fixed { long, short } => {
                long.fits(now, amount)?;
                short.as_mut().map_or(Ok(()), |short| short.fits(now, amount))
            }
        }
    }

    /// Takes `amount`, or what is left of it.
    #[inline]
    pub(super) fn take(&mut self, now: Time, amount: u64) {
        match self {
            Meter::Bucket(bucket) => bucket.take(now, amount),
            Meter::Sliding(window) => window.take(now, amount),
            Meter::Fixed { long, short } => {
                long.take(now, amount);
                short.iter_mut().for_each(|short| short.take(now, amount));
            }
        }
    }

    /// Takes `amount` if that fits.
    #[inline]
    pub(super) fn admit(&mut self, now: Time, amount: u64) -> bool {
        if let Meter::Bucket(bucket) = self {
            return bucket.admit(now, amount);
        }
        let fits = self.fits(now, amount).is_ok();
        if fits {
            self.take(now, amount);
        }
        fits
    }

    /// The most it lets through at once, what is left, and nanoseconds until it is whole again.
    pub(super) fn standing(&mut self, now: Time) -> (u64, u64, Option<u64>) {
        match self {
            Meter::Bucket(bucket) => bucket.standing(now),
            Meter::Sliding(window) => window.standing(now),
            Meter::Fixed { long, .. } => long.standing(now),
        }
    }

    /// Puts `actual` in the place of a reservation of `reserved`.
    pub(super) fn settle(&mut self, now: Time, reserved: u64, actual: u64) {
        match self {
            Meter::Bucket(bucket) => bucket.settle(now, reserved, actual),
            Meter::Sliding(_) => {}
            Meter::Fixed { long, short } => {
                long.settle(now, reserved, actual);
                short.iter_mut().for_each(|short| short.settle(now, reserved, actual));
            }
        }
    }

    /// Another rate holds from `now` on; `burst` is the new size of a bucket.
    pub(super) fn change(&mut self, now: Time, rule: &RateLimit) {
        match (self, rule.meter()) {
            (Meter::Bucket(bucket), _) => bucket.change(now, rule.rate, rule.burst.unwrap_or(0)),
            (Meter::Sliding(window), Meter::Sliding(new)) => window.quota = new.quota,
            (Meter::Fixed { long, short }, Meter::Fixed { long: new, short: part }) => {
                long.quota = new.quota;
                short.iter_mut().zip(part).for_each(|(short, new)| short.quota = new.quota);
            }
            _ => {}
        }
    }
}
