//! Demand, goodput and load by window: whether a run has collapsed, and when it recovered.
//!
//! A window is *collapsed* when its goodput (requests answered in it) is below half of its demand
//! (requests created in it). Windows are counted back from the horizon, so that the last one is whole.

use crate::units::{NANOS_PER_SECOND, Time};

/// Below this share of demand a window is collapsed.
const COLLAPSED: f64 = 0.5;

/// From this share of demand on, a run is healthy.
const HEALTHY: f64 = 0.95;

/// How demand and goodput are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowWatch {
    /// The window in nanoseconds, above 0.
    pub window: u64,
    /// How many windows make the end of the run, at least 1.
    pub last: u32,
    /// The horizon.
    pub horizon: Time,
    /// When the trigger is over, where there is one.
    pub trigger_over: Option<Time>,
    /// When a ramp turns back, where one does.
    pub turn: Option<Time>,
}

/// What happens in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Window {
    /// Requests created.
    demand: u32,
    /// Requests answered.
    goodput: u32,
    /// Attempts that arrive at the provider.
    attempts: u32,
}

impl Window {
    fn is_collapsed(self) -> bool {
        f64::from(self.goodput) < COLLAPSED * f64::from(self.demand)
    }
}

/// Sums over the last windows of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct End {
    demand: u64,
    goodput: u64,
    attempts: u64,
}

/// Demand, goodput and load by window.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    watch: FlowWatch,
    /// The end of the window that is being filled.
    until: Time,
    windows: Vec<Window>,
}

impl Flow {
    pub(super) fn new(watch: FlowWatch) -> Flow {
        let first = watch.horizon % watch.window;
        let until = if first == 0 { watch.window } else { first };
        Flow { watch, until, windows: vec![Window::default()] }
    }

    /// The window of `now`, which never goes back. No division: this is on the hot path.
    #[inline]
    fn at(&mut self, now: Time) -> &mut Window {
        while now >= self.until {
            self.windows.push(Window::default());
            self.until = self.until.saturating_add(self.watch.window);
        }
        let last = self.windows.len() - 1;
        &mut self.windows[last]
    }

    #[inline]
    pub(super) fn created(&mut self, now: Time) {
        self.at(now).demand += 1;
    }

    #[inline]
    pub(super) fn answered(&mut self, now: Time) {
        self.at(now).goodput += 1;
    }

    #[inline]
    pub(super) fn attempt(&mut self, now: Time) {
        self.at(now).attempts += 1;
    }

    /// Windows until the horizon.
    fn count(&self) -> usize {
        self.watch.horizon.div_ceil(self.watch.window) as usize
    }

    /// The window number `index`; empty after the last event.
    fn window(&self, index: usize) -> Window {
        self.windows.get(index).copied().unwrap_or_default()
    }

    /// The instant at which the window number `index` begins.
    fn start(&self, index: usize) -> Time {
        let back = (self.count() - index) as u64;
        self.watch.horizon.saturating_sub(back.saturating_mul(self.watch.window))
    }

    /// The last windows of the run.
    fn last(&self) -> impl Iterator<Item = Window> {
        let count = self.count();
        (count.saturating_sub(self.watch.last as usize)..count).map(|index| self.window(index))
    }

    /// Sums over them; None when nobody asked for anything.
    fn end(&self) -> Option<End> {
        let sum = self.last().fold(End::default(), |sum, window| End {
            demand: sum.demand + u64::from(window.demand),
            goodput: sum.goodput + u64::from(window.goodput),
            attempts: sum.attempts + u64::from(window.attempts),
        });
        (sum.demand > 0).then_some(sum)
    }

    /// Answers per new request over the last windows.
    pub(super) fn goodput_at_end(&self) -> Option<f64> {
        self.end().map(|end| end.goodput as f64 / end.demand as f64)
    }

    /// Answers per second over the last windows.
    pub(super) fn goodput_at_end_per_s(&self) -> Option<f64> {
        let length = self.watch.horizon - self.start(self.count() - self.last().count());
        self.end().map(|end| end.goodput as f64 / (length as f64 / NANOS_PER_SECOND as f64))
    }

    /// Attempts per new request over the last windows.
    pub(super) fn amplification_at_end(&self) -> Option<f64> {
        self.end().map(|end| end.attempts as f64 / end.demand as f64)
    }

    /// Whether each of the last windows is collapsed. Those without demand say nothing.
    pub(super) fn is_collapsed(&self) -> Option<bool> {
        self.end()?;
        Some(self.last().filter(|window| window.demand > 0).all(Window::is_collapsed))
    }

    /// Whether none of them is.
    pub(super) fn has_recovered(&self) -> Option<bool> {
        self.end()?;
        Some(!self.last().any(Window::is_collapsed))
    }

    /// Whether goodput is nearly demand over the last windows.
    pub(super) fn is_healthy(&self) -> Option<bool> {
        self.goodput_at_end().map(|share| share >= HEALTHY)
    }

    /// Seconds from the end of the trigger to that of the last collapsed window, 0 when there is
    /// none; None when one of the last windows is still collapsed.
    pub(super) fn recovery_s(&self) -> Option<f64> {
        let over = self.watch.trigger_over?;
        self.has_recovered().filter(|recovered| *recovered)?;
        let last = (0..self.count()).rev().find(|&index| self.window(index).is_collapsed());
        let end = last.map_or(0, |index| self.start(index + 1));
        Some(end.saturating_sub(over) as f64 / NANOS_PER_SECOND as f64)
    }

    /// Demand per second in the first collapsed window of a ramp's way up.
    pub(super) fn collapse_load(&self) -> Option<f64> {
        let turn = self.watch.turn?;
        let up = (0..self.count()).take_while(|&index| self.start(index) < turn);
        self.load(up.into_iter().find(|&index| self.window(index).is_collapsed())?)
    }

    /// Demand per second in the first window of its way down that is not collapsed, after it had collapsed.
    pub(super) fn recovery_load(&self) -> Option<f64> {
        self.collapse_load()?;
        let turn = self.watch.turn?;
        let down = (0..self.count()).skip_while(|&index| self.start(index) < turn);
        self.load(down.into_iter().find(|&index| {
            let window = self.window(index);
            window.demand > 0 && !window.is_collapsed()
        })?)
    }

    /// Whether it collapsed at a higher load than it recovered at; a run that did not recover did.
    pub(super) fn has_hysteresis(&self) -> Option<bool> {
        let collapse = self.collapse_load()?;
        Some(self.recovery_load().is_none_or(|recovery| recovery < collapse))
    }

    /// Demand per second in a window.
    fn load(&self, index: usize) -> Option<f64> {
        let length = self.start(index + 1) - self.start(index);
        let seconds = length as f64 / NANOS_PER_SECOND as f64;
        (length > 0).then(|| f64::from(self.window(index).demand) / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = NANOS_PER_SECOND;

    fn watch(horizon: u64) -> FlowWatch {
        FlowWatch { window: S, last: 2, horizon, trigger_over: None, turn: None }
    }

    /// A flow with so many requests and answers in each second.
    fn flow(watch: FlowWatch, seconds: &[(u32, u32)]) -> Flow {
        let mut flow = Flow::new(watch);
        for (second, &(demand, goodput)) in (0..).zip(seconds) {
            (0..demand).for_each(|_| flow.created(second * S));
            (0..goodput).for_each(|_| flow.answered(second * S + S - 1));
        }
        flow
    }

    #[test]
    fn a_run_has_collapsed_when_each_of_the_last_windows_has() {
        let end = |seconds: &[(u32, u32)]| {
            let flow = flow(watch(4 * S), seconds);
            (flow.is_collapsed(), flow.has_recovered())
        };
        assert_eq!(end(&[(9, 9), (9, 9), (10, 4), (10, 4)]), (Some(true), Some(false)));
        assert_eq!(end(&[(9, 0), (9, 0), (10, 5), (10, 4)]), (Some(false), Some(false)));
        assert_eq!(end(&[(9, 0), (9, 0), (10, 5), (10, 5)]), (Some(false), Some(true)));
        // What is over does not collapse, and an empty window says nothing.
        assert_eq!(end(&[(9, 0), (9, 0)]), (None, None));
        assert_eq!(end(&[(9, 9), (9, 9), (10, 0)]), (Some(true), Some(false)));
    }

    #[test]
    fn windows_are_counted_back_from_the_horizon() {
        // 2.5 s: the first window is half as long.
        let mut flow = Flow::new(watch(2 * S + S / 2));
        [0, S / 2, S / 2 + 1, 3 * S / 2].iter().for_each(|&now| flow.created(now));
        assert_eq!(flow.windows.iter().map(|w| w.demand).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!([0, 1, 2, 3].map(|index| flow.start(index)), [0, S / 2, 3 * S / 2, 5 * S / 2]);
        assert_eq!(flow.load(0), Some(2.0));
    }

    #[test]
    fn the_end_is_summed_over_its_windows() {
        let mut flow = flow(watch(4 * S), &[(50, 0), (50, 0), (10, 3), (30, 5)]);
        (0..60).for_each(|_| flow.attempt(4 * S - 1));
        assert_eq!(flow.goodput_at_end(), Some(0.2));
        assert_eq!(flow.goodput_at_end_per_s(), Some(4.0));
        assert_eq!(flow.amplification_at_end(), Some(1.5));
        assert_eq!(flow.is_healthy(), Some(false));
    }

    #[test]
    fn recovery_ends_with_the_last_collapsed_window() {
        let watch = FlowWatch { trigger_over: Some(S + S / 2), ..watch(6 * S) };
        let recovery = |seconds: &[(u32, u32)]| flow(watch, seconds).recovery_s();
        assert_eq!(recovery(&[(9, 9); 6]), Some(0.0));
        assert_eq!(recovery(&[(9, 0), (9, 0), (9, 9), (9, 0), (9, 9), (9, 9)]), Some(2.5));
        assert_eq!(recovery(&[(9, 0), (9, 0), (9, 9), (9, 9), (9, 9), (9, 0)]), None);
    }

    #[test]
    fn a_ramp_collapses_on_its_way_up_and_recovers_on_its_way_down() {
        let watch = FlowWatch { turn: Some(3 * S), ..watch(6 * S) };
        let there = flow(watch, &[(2, 2), (5, 5), (8, 1), (8, 0), (5, 0), (2, 2)]);
        assert_eq!((there.collapse_load(), there.recovery_load()), (Some(8.0), Some(2.0)));
        assert_eq!(there.has_hysteresis(), Some(true));
        let never = flow(watch, &[(2, 2), (5, 5), (8, 8), (8, 8), (5, 5), (2, 2)]);
        assert_eq!((never.collapse_load(), never.recovery_load()), (None, None));
        let for_good = flow(watch, &[(2, 2), (5, 0), (8, 0), (8, 0), (5, 0), (2, 0)]);
        assert_eq!((for_good.collapse_load(), for_good.recovery_load()), (Some(5.0), None));
        let none = flow(watch, &[(2, 2), (5, 5), (8, 1), (9, 9), (5, 5), (2, 2)]);
        assert_eq!((for_good.has_hysteresis(), none.has_hysteresis()), (Some(true), Some(false)));
        assert_eq!(never.has_hysteresis(), None);
    }
}
