//! Streams whose rate changes with time: Poisson, or with another law of gaps.
//!
//! The rate is a straight line on each of a few pieces. The number of requests in a span is
//! Poisson with the area under the rate as its mean, and numbers in spans that do not overlap are
//! independent. Requests are found by exact inversion: the area between one and the next is
//! exponential with mean 1 (Çinlar, "Introduction to Stochastic Processes", 1975, ch. 4), and the
//! area under a straight line is inverted in closed form. So the request number i depends on the
//! i-th random number and on the request before it only. With another law of gaps that area has this
//! law instead ([`super::Renewal`]).

use super::GapSampler;
use crate::math;
use crate::rng::{Purpose, Streams};
use crate::units::{Rate, Span, Time, round_nanos};

/// A straight line of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    /// Its length in nanoseconds; [`Time::MAX`] has no end.
    length: u64,
    /// Requests per nanosecond at its start.
    from: f64,
    /// Requests per nanosecond at its end.
    to: f64,
}

/// A rate by time, from t = 0 on.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pieces: Vec<Piece>,
    /// When each piece begins.
    starts: Vec<Time>,
    /// The law of the area between a request and the next.
    gaps: GapSampler,
    /// Length of the pieces together in nanoseconds, when they come over and over.
    cycle: Option<u64>,
}

fn per_nano(rate: Rate) -> f64 {
    rate.events() as f64 / rate.period() as f64
}

impl Piece {
    /// The rate `offset` nanoseconds after its start.
    fn rate(&self, offset: u64) -> f64 {
        self.from + (self.to - self.from) * (offset as f64 / self.length as f64)
    }

    /// Expected requests between two offsets.
    fn area(&self, start: u64, end: u64) -> f64 {
        (self.rate(start) + self.rate(end)) / 2.0 * (end - start) as f64
    }

    /// How long after `start` the area under the rate is `need`, which is less than what is left.
    fn invert(&self, start: u64, need: f64) -> f64 {
        let rate = self.rate(start);
        let slope = (self.to - self.from) / self.length as f64;
        // The root of rate·x + slope·x²/2 = need, in the form that does not cancel.
        2.0 * need / (rate + math::sqrt((rate * rate + 2.0 * slope * need).max(0.0)))
    }
}

impl Curve {
    /// Straight lines (length, rate at its start, rate at its end), and then `last` for good.
    pub fn then(lines: &[(Span, Rate, Rate)], last: Rate) -> Curve {
        let mut pieces = Curve::pieces(lines);
        pieces.push(Piece { length: Time::MAX, from: per_nano(last), to: per_nano(last) });
        Curve::of(pieces, None)
    }

    /// Straight lines that come over and over.
    pub fn again(lines: &[(Span, Rate, Rate)]) -> Curve {
        let pieces = Curve::pieces(lines);
        let cycle = pieces.iter().map(|piece| piece.length).sum();
        Curve::of(pieces, Some(cycle))
    }

    fn of(pieces: Vec<Piece>, cycle: Option<u64>) -> Curve {
        let mut start: Time = 0;
        let begin = |piece: &Piece| {
            let this = start;
            start = start.saturating_add(piece.length);
            this
        };
        let starts = pieces.iter().map(begin).collect();
        Curve { pieces, starts, gaps: GapSampler::default(), cycle }
    }

    /// The same rate with another law of gaps.
    pub fn with_gaps(self, gaps: GapSampler) -> Curve {
        Curve { gaps, ..self }
    }

    fn pieces(lines: &[(Span, Rate, Rate)]) -> Vec<Piece> {
        let lines = lines.iter().filter(|(length, ..)| *length > Span::ZERO);
        let piece = |(length, from, to): &(Span, Rate, Rate)| Piece {
            length: length.nanos(),
            from: per_nano(*from),
            to: per_nano(*to),
        };
        lines.map(piece).collect()
    }

    /// The instant of `request`, given that of the one before it; far off when none comes.
    pub fn next(&self, previous: Time, request: u32, streams: &Streams) -> Time {
        let mut stream = streams.stream(Purpose::Arrival, request, 0);
        let need = match request {
            0 => self.gaps.rest(&mut stream),
            _ => self.gaps.gap(&mut stream),
        };
        self.after(previous, need)
    }

    /// The instant at which the area under the rate from `start` on is `need`.
    fn after(&self, start: Time, mut need: f64) -> Time {
        let mut at = start;
        if let Some(cycle) = self.cycle {
            // Whole cycles have one area, wherever they start.
            let area = self.cycle_area();
            let whole = (need / area) as u64;
            need -= whole as f64 * area;
            at = at.saturating_add(whole.saturating_mul(cycle));
        }
        let place = self.cycle.map_or(at, |cycle| at % cycle);
        let first = self.starts.partition_point(|start| *start <= place).max(1) - 1;
        let mut offset = place - self.starts[first];
        // The second turn ends in what the first began with; a third is for a rounded area.
        for piece in self.pieces.iter().cycle().skip(first).take(3 * self.pieces.len()) {
            let left = piece.length - offset;
            let area = piece.area(offset, piece.length);
            if need < area {
                // Never in the next piece, whose rate may be nothing.
                let wait = round_nanos(piece.invert(offset, need)).min(left - 1);
                return at.saturating_add(wait);
            }
            need -= area;
            at = at.saturating_add(left);
            offset = 0;
        }
        Time::MAX
    }

    fn cycle_area(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.area(0, piece.length)).sum()
    }

    /// Expected requests before `end`.
    pub fn expected(&self, end: Time) -> f64 {
        let whole = self.cycle.map_or(0, |cycle| end / cycle);
        let mut left = self.cycle.map_or(end, |cycle| end % cycle);
        let mut sum = if whole > 0 { whole as f64 * self.cycle_area() } else { 0.0 };
        for piece in &self.pieces {
            let length = left.min(piece.length);
            sum += piece.area(0, length);
            left -= length;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::NANOS_PER_SECOND;

    const S: u64 = NANOS_PER_SECOND;

    fn s(seconds: u64) -> Span {
        Span::from_seconds(seconds)
    }

    fn hz(events: u64) -> Rate {
        Rate::per_second(events)
    }

    /// 0 to 4/s in 8 s, 4/s from then on; 3/s for 2 s and nothing for 1 s, over and over.
    fn curves() -> [Curve; 2] {
        let ramp = Curve::then(&[(s(8), hz(0), hz(4))], hz(4));
        [ramp, Curve::again(&[(s(2), hz(3), hz(3)), (s(1), hz(0), hz(0))])]
    }

    #[test]
    fn areas_are_those_of_triangles_and_rectangles() {
        let [ramp, wave] = curves();
        for (end, area) in [(0, 0.0), (4, 4.0), (8, 16.0), (10, 24.0)] {
            assert!((ramp.expected(end * S) - area).abs() < 1e-9, "{end}");
        }
        for (end, area) in [(0, 0.0), (1, 3.0), (2, 6.0), (3, 6.0), (4, 9.0), (30, 60.0)] {
            assert!((wave.expected(end * S) - area).abs() < 1e-9, "{end}");
        }
    }

    #[test]
    fn areas_are_inverted() {
        let [ramp, wave] = curves();
        // Area t²/4 on the ramp.
        for (start, need, at) in [(0, 1.0, 2), (2, 3.0, 4), (0, 16.0, 8), (4, 20.0, 10)] {
            assert_eq!(ramp.after(start * S, need), at * S, "{start} {need}");
        }
        // 600 areas are 100 cycles; over a pause nothing comes.
        for (start, need, at) in [(0, 3.0, 1), (1, 4.5, 3 * S + S / 2), (1, 600.0, 301)] {
            let at = if at < S { at * S } else { at };
            assert_eq!(wave.after(start * S, need), at, "{start} {need}");
        }
    }

    #[test]
    fn nothing_comes_where_the_rate_is_nothing() {
        let [_, wave] = curves();
        for k in 0..10_000 {
            let at = wave.after(0, f64::from(k) * 0.01);
            assert!(at % (3 * S) < 2 * S, "{k}: {at}");
        }
        let over = Curve::then(&[(s(8), hz(4), hz(0))], hz(0));
        assert_eq!(over.after(0, 15.9999) / S, 7);
        assert_eq!(over.after(0, 16.5), Time::MAX);
    }

    #[test]
    fn absurd_rates_end_at_once() {
        let hourly: Rate = "1/h".parse().unwrap();
        let blink = Span::from_nanos(1);
        let wave = Curve::again(&[(blink, hourly, hourly), (blink, hz(0), hz(0))]);
        // Thirty requests at half a request an hour.
        assert_eq!(wave.after(0, 30.0).div_ceil(S), 60 * 3_600);
    }
}
