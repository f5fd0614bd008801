//! Between which bounds the waits of a formula lie, found before the first of them.

use super::interval::Interval;
use super::program::{Cell, Program};
use super::{Compiled, STEPS, nanos, seconds};
use crate::client::{After, Layer};
use crate::rng::{Purpose, Streams};
use crate::units::Span;

/// The bounds of each program in nanoseconds. What is remembered may be from any earlier wait of
/// the call, or from none: a wait that the server told leaves it as it is.
pub(super) fn of(programs: &[Program], cells: &[Cell]) -> Vec<(u64, u64)> {
    let mut memory = vec![Interval::point(0.0); cells.len()];
    let mut bounds = Vec::with_capacity(programs.len());
    for (n, program) in (0..STEPS).zip(programs) {
        let (wait, kept) = program.range(Interval::point(n.into()), &memory);
        bounds.push(whole(wait));
        memory = joined(&memory, wait, &kept);
    }
    // For all later retries at once: what still grows is taken to grow for ever.
    let Some(rest) = programs.last() else { return bounds };
    let later = Interval::new(STEPS.into(), Layer::MAX_ATTEMPTS.into());
    loop {
        let (wait, kept) = rest.range(later, &memory);
        let grown = joined(&memory, wait, &kept);
        if grown == memory {
            bounds.push(whole(wait));
            return bounds;
        }
        for ((old, new), cell) in memory.iter_mut().zip(grown).zip(cells) {
            widen(old, new, cell);
        }
    }
}

fn widen(old: &mut Interval, new: Interval, cell: &Cell) {
    let (least, most) = match cell {
        Cell::Wait => (0.0, seconds(Span::LONGEST.nanos())),
        Cell::Part(_) => (f64::NEG_INFINITY, f64::INFINITY),
    };
    old.nan |= new.nan;
    if new.low < old.low {
        old.low = least;
    }
    if new.high > old.high {
        old.high = most;
    }
}

/// What is remembered after a wait: what was, or what the wait left.
fn joined(memory: &[Interval], wait: Interval, kept: &[Option<Interval>]) -> Vec<Interval> {
    let (low, high) = whole(wait);
    let wait = Interval::new(seconds(low), seconds(high));
    memory.iter().zip(kept).map(|(old, kept)| old.hull(kept.unwrap_or(wait))).collect()
}

/// A range of seconds in nanoseconds; what is not a number counts as 0.
fn whole(range: Interval) -> (u64, u64) {
    let low = if range.nan { 0 } else { nanos(range.low) };
    (low, nanos(range.high))
}

/// The first retry for which some drawn waits are not a number, or are all negative, and a sentence.
pub(super) fn doubt(compiled: &Compiled) -> Option<(u32, String)> {
    const PATHS: u32 = 8;
    let mut memory = vec![vec![0; compiled.cells.len()]; PATHS as usize];
    for n in 0..=STEPS {
        let waits: Vec<f64> = (0..PATHS)
            .zip(&mut memory)
            .map(|(path, memory)| {
                let stream = Streams::new(0, 0).stream(Purpose::Backoff, path, n);
                let status = [0, 429, 503][path as usize % 3];
                compiled.wait(After { n, status }, memory, stream)
            })
            .collect();
        let text = if waits.iter().any(|wait| wait.is_nan()) {
            "not a number: it divides 0 by 0, or takes the logarithm or the root of a negative number"
        } else if waits.iter().all(|wait| *wait < 0.0) {
            "negative; write max(0, …) if the layer shall retry at once"
        } else {
            continue;
        };
        return Some((n, format!("the wait before retry {} is {text}", n + 1)));
    }
    None
}
