//! What a run looks like over time: for result files and pictures, and watched only for them.

use crate::answer::Outcome;
use crate::model::{Moment, Observer, Side, Who};
use crate::units::Time;

/// Attempts are told apart by their numbers up to the one before this; it and all above are one.
pub const WAVES: usize = 5;

/// What happens in one window, and what there is at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurveWindow {
    /// Attempts that arrive at the providers, by number: 1, 2, … and [`WAVES`] or more.
    pub waves: [u32; WAVES],
    /// Requests created.
    pub requests: u32,
    /// Requests answered.
    pub answers: u32,
    /// Attempts in the providers' queues at the end of the window.
    pub queue: u32,
    /// Attempts at the providers at the end of the window, in queues and in service.
    pub in_flight: u32,
}

/// A run over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// From t = 0 to the last window with an event.
    pub windows: Vec<CurveWindow>,
}

impl Curves {
    /// A window of it; what is there after the last event stays.
    pub fn window(&self, index: usize) -> CurveWindow {
        let after = |last: &CurveWindow| CurveWindow {
            queue: last.queue,
            in_flight: last.in_flight,
            ..CurveWindow::default()
        };
        let there = self.windows.get(index).copied();
        there.or_else(|| self.windows.last().map(after)).unwrap_or_default()
    }
}

/// Collects [`Curves`] during a run, beside the [`super::Recorder`].
#[derive(Clone, Debug)]
pub struct CurveWatch {
    window: u64,
    /// The end of the current window.
    until: Time,
    /// The current window, in which queue and in-flight are those of this instant.
    here: CurveWindow,
    over: Vec<CurveWindow>,
}

impl CurveWatch {
    /// Windows of `window` nanoseconds, above 0.
    pub fn new(window: u64) -> CurveWatch {
        CurveWatch { window, until: window, here: CurveWindow::default(), over: Vec::new() }
    }

    /// The window of `now`, which never goes back.
    #[inline]
    fn at(&mut self, now: Time) -> &mut CurveWindow {
        if now >= self.until {
            self.turn_to(now);
        }
        &mut self.here
    }

    #[inline(never)]
    fn turn_to(&mut self, now: Time) {
        while now >= self.until {
            self.over.push(self.here);
            let CurveWindow { queue, in_flight, .. } = self.here;
            self.here = CurveWindow { queue, in_flight, ..CurveWindow::default() };
            self.until = self.until.saturating_add(self.window);
        }
    }

    /// The run is over.
    pub fn close(mut self) -> Curves {
        self.over.push(self.here);
        Curves { windows: self.over }
    }
}

impl CurveWindow {
    #[inline]
    fn enter_queue(&mut self) {
        self.queue += 1;
        self.in_flight += 1;
    }

    fn leave_queue(&mut self) {
        self.queue -= 1;
        self.in_flight -= 1;
    }
}

impl Observer for CurveWatch {
    const HEARS_MOMENTS: bool = true;

    fn created(&mut self, now: Time, _group: usize) {
        self.at(now).requests += 1;
    }

    #[inline]
    fn attempt(&mut self, now: Time, _side: Side, number: u32) {
        let wave = (number as usize).clamp(1, WAVES) - 1;
        self.at(now).waves[wave] += 1;
    }

    // Where it is called the moment is known, so that all but one arm go away.
    #[inline(always)]
    fn moment(&mut self, now: Time, _who: impl Fn() -> Who, moment: Moment<'_>) {
        match moment {
            Moment::Admitted { .. } => self.at(now).enter_queue(),
            Moment::Started { .. } => self.at(now).queue -= 1,
            Moment::Served { .. } => self.at(now).in_flight -= 1,
            Moment::Dropped { .. } => self.at(now).leave_queue(),
            Moment::TakenBack { in_service, .. } | Moment::Lost { in_service, .. } => {
                match in_service {
                    true => self.at(now).in_flight -= 1,
                    false => self.at(now).leave_queue(),
                }
            }
            _ => {}
        }
    }

    fn resolved(&mut self, now: Time, _group: usize, _created: Time, outcome: Outcome) {
        if outcome == Outcome::Succeeded {
            self.at(now).answers += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Service;

    const SIDE: Side = (0, 0);
    const WHO: Who = Who { group: 0, client: 0, request: 0 };

    #[test]
    fn windows_hold_what_happens_in_them_and_what_is_there_at_their_end() {
        let mut watch = CurveWatch::new(100);
        for now in [0, 99] {
            watch.created(now, 0);
            watch.attempt(now, SIDE, 1);
            watch.moment(now, || WHO, Moment::Admitted { step: 1 });
        }
        watch.moment(99, || WHO, Moment::Started { step: 1, hit: false, until: 9 });
        watch.attempt(100, SIDE, 2);
        watch.attempt(100, SIDE, 9);
        watch.moment(350, || WHO, Moment::Served { step: 1, end: Service::Answer });
        watch.resolved(350, 0, 99, Outcome::Succeeded);
        let curves = watch.close();
        let [a, b, c, d] = curves.windows[..] else { panic!("{curves:?}") };
        assert_eq!((a.waves, a.requests, a.queue, a.in_flight), ([2, 0, 0, 0, 0], 2, 1, 2));
        assert_eq!((b.waves, b.requests, b.queue, b.in_flight), ([0, 1, 0, 0, 1], 0, 1, 2));
        assert_eq!((c, d.answers), (CurveWindow { waves: [0; 5], ..b }, 1));
        // The one in the queue stays there.
        assert_eq!((d.queue, d.in_flight), (1, 1));
        assert_eq!(curves.window(9), CurveWindow { answers: 0, ..d });
    }
}
