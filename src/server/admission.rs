//! Places for work: a concurrency limit and a line of waiting work in front of it.

use std::collections::VecDeque;

use super::queue::{Queue, WhenFull};

/// A piece of admitted work: one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its request.
    pub request: u32,
    /// The step of the request when it was sent.
    pub step: u32,
    /// The number of the attempt, 1 is the first.
    pub attempt: u32,
    /// When it was admitted.
    pub admitted: u64,
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Service starts now.
    Served,
    /// It waits.
    Queued,
    /// It waits, in the place of this job, which had waited longest.
    Displaced(Job),
    /// No place is left.
    Refused,
}

/// The state: places in service, and the line of waiting jobs in the order of their arrival.
#[derive(Clone, Debug)]
pub struct Admission {
    limit: u32,
    /// The largest limit there was.
    most: u32,
    busy: u32,
    line: VecDeque<Job>,
    line_limit: usize,
    newest_first: bool,
    displaces: bool,
}

impl Admission {
    /// `concurrency` places (None: unlimited; 0: nothing is ever served) and `queue` (None: no
    /// waiting places).
    pub fn new(concurrency: Option<u32>, queue: Option<Queue>) -> Admission {
        let rule = queue.map(Queue::line);
        let line_limit =
            rule.map_or(0, |rule| rule.limit.map_or(usize::MAX, |limit| limit as usize));
        Admission {
            limit: concurrency.unwrap_or(u32::MAX),
            most: concurrency.unwrap_or(u32::MAX),
            busy: 0,
            line: VecDeque::new(),
            line_limit,
            newest_first: matches!(queue, Some(Queue::Lifo(_))),
            displaces: line_limit > 0
                && rule.is_some_and(|rule| rule.when_full == WhenFull::DropOldest),
        }
    }

    /// True when an arrival would find a place, in service or in the line.
    #[inline]
    pub fn has_place(&self) -> bool {
        self.has_room() || self.displaces
    }

    /// True when the line can take one more. Places that are free but not yet taken from the line
    /// count as room in it.
    #[inline]
    fn has_room(&self) -> bool {
        let free = self.limit.saturating_sub(self.busy) as usize;
        self.line.len() < self.line_limit.saturating_add(free)
    }

    /// Finds a place for `job`.
    #[inline]
    pub fn admit(&mut self, job: Job) -> Place {
        if self.busy < self.limit && self.line.is_empty() {
            self.busy += 1;
            return Place::Served;
        }
        if self.has_room() {
            self.line.push_back(job);
            return Place::Queued;
        }
        if self.displaces
            && let Some(oldest) = self.line.pop_front()
        {
            self.line.push_back(job);
            return Place::Displaced(oldest);
        }
        Place::Refused
    }

    /// There are `places` from now on (None: unlimited). Work in service beyond them goes on.
    pub fn set_places(&mut self, places: Option<u32>) {
        self.limit = places.unwrap_or(u32::MAX);
        self.most = self.most.max(self.limit);
    }

    /// Jobs in service for which there is no place any more.
    pub fn excess(&self) -> u32 {
        self.busy.saturating_sub(self.limit)
    }

    /// The job that has waited longest leaves the line without a place.
    pub fn turn_away(&mut self) -> Option<Job> {
        self.line.pop_front()
    }

    /// A place becomes free; who waits for it is asked for by [`Admission::next_job`].
    #[inline]
    pub fn leave(&mut self) {
        self.busy -= 1;
    }

    /// The job whose turn it is leaves the line, if a place is free; it has none yet.
    #[inline]
    pub fn next_job(&mut self) -> Option<Job> {
        if self.busy >= self.limit {
            return None;
        }
        if self.newest_first { self.line.pop_back() } else { self.line.pop_front() }
    }

    /// A job from the line takes a free place.
    #[inline]
    pub fn occupy(&mut self) {
        self.busy += 1;
    }

    /// Takes the job that `request` sent at `step`, admitted at `admitted`, out of the line.
    pub fn withdraw(&mut self, request: u32, step: u32, admitted: u64) -> Option<Job> {
        let first = self.line.partition_point(|job| job.admitted < admitted);
        let behind = self.line.range(first..).take_while(|job| job.admitted == admitted);
        let here = behind.into_iter().position(|job| (job.request, job.step) == (request, step))?;
        self.line.remove(first + here)
    }

    /// Jobs in service.
    #[inline]
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// Jobs waiting.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    /// The largest number of places there was; None is unlimited.
    pub fn most_places(&self) -> Option<u32> {
        (self.most < u32::MAX).then_some(self.most)
    }

    /// True when neither limit is exceeded.
    pub fn within_limits(&self) -> bool {
        self.busy <= self.most && self.line.len() <= self.line_limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Line;

    fn job(request: u32) -> Job {
        Job { request, step: 1, attempt: 1, admitted: u64::from(request / 2) }
    }

    fn line(limit: u32, when_full: WhenFull) -> Line {
        Line { limit: Some(limit), when_full, ..Line::default() }
    }

    /// The next job takes the place of one that is finished.
    fn finish(admission: &mut Admission) -> Option<u32> {
        admission.leave();
        let next = admission.next_job()?;
        admission.occupy();
        Some(next.request)
    }

    fn fill(admission: &mut Admission, requests: std::ops::Range<u32>) {
        for request in requests {
            assert_ne!(admission.admit(job(request)), Place::Refused);
        }
    }

    #[test]
    fn places_then_line_then_refusal_in_order() {
        let mut admission = Admission::new(Some(1), Some(Queue::Fifo(line(2, WhenFull::Refuse))));
        let places: Vec<Place> = (0..4).map(|i| admission.admit(job(i))).collect();
        assert_eq!(places, [Place::Served, Place::Queued, Place::Queued, Place::Refused]);
        assert_eq!(admission.next_job(), None, "no place is free");
        assert_eq!(finish(&mut admission), Some(1));
        assert_eq!(finish(&mut admission), Some(2));
        assert_eq!((admission.busy(), admission.waiting()), (1, 0));
        assert_eq!(finish(&mut admission), None);
        assert_eq!(admission.busy(), 0);
    }

    #[test]
    fn nobody_jumps_the_line_while_a_free_place_is_not_yet_taken() {
        let mut admission = Admission::new(Some(1), Some(Queue::Fifo(line(1, WhenFull::Refuse))));
        fill(&mut admission, 0..2);
        assert!(!admission.has_place());
        admission.leave();
        assert!(admission.has_place());
        assert_eq!(admission.admit(job(2)), Place::Queued);
        assert!(!admission.has_place());
        assert_eq!(admission.next_job(), Some(job(1)));
    }

    #[test]
    fn a_stack_serves_the_newest_first() {
        let mut admission = Admission::new(Some(1), Some(Queue::Lifo(line(3, WhenFull::Refuse))));
        fill(&mut admission, 0..4);
        assert_eq!(admission.admit(job(4)), Place::Refused);
        assert_eq!(finish(&mut admission), Some(3));
        admission.admit(job(5));
        let order: Vec<_> = (0..3).map(|_| finish(&mut admission)).collect();
        assert_eq!(order, [Some(5), Some(2), Some(1)]);
    }

    #[test]
    fn the_oldest_makes_room() {
        for queue in [Queue::Fifo, Queue::Lifo] {
            let mut admission = Admission::new(Some(1), Some(queue(line(2, WhenFull::DropOldest))));
            fill(&mut admission, 0..3);
            assert!(admission.has_place());
            assert_eq!(admission.admit(job(3)), Place::Displaced(job(1)));
            assert_eq!(admission.waiting(), 2);
        }
        let none = Some(Queue::Fifo(line(0, WhenFull::DropOldest)));
        let mut admission = Admission::new(Some(0), none);
        assert!(!admission.has_place());
        assert_eq!(admission.admit(job(0)), Place::Refused);
    }

    #[test]
    fn any_job_can_be_withdrawn() {
        for gone in 1..6 {
            let mut admission = Admission::new(Some(1), Some(Queue::Fifo(Line::default())));
            fill(&mut admission, 0..6);
            let Job { request, step, admitted, .. } = job(gone);
            assert_eq!(admission.withdraw(request, step + 1, admitted), None);
            assert_eq!(admission.withdraw(request, step, admitted), Some(job(gone)));
            assert_eq!(admission.withdraw(request, step, admitted), None);
            let rest: Vec<u32> = std::iter::from_fn(|| finish(&mut admission)).collect();
            let expected: Vec<u32> = (1..6).filter(|i| *i != gone).collect();
            assert_eq!(rest, expected);
        }
    }

    #[test]
    fn places_go_missing_and_come_back() {
        let mut admission = Admission::new(Some(2), Some(Queue::Fifo(Line::default())));
        fill(&mut admission, 0..5);
        admission.set_places(Some(1));
        assert_eq!((admission.excess(), admission.next_job()), (1, None));
        assert_eq!(finish(&mut admission), None);
        assert_eq!((admission.excess(), admission.busy()), (0, 1));
        admission.set_places(Some(2));
        assert_eq!(admission.next_job(), Some(job(2)));
        assert_eq!(admission.turn_away(), Some(job(3)));
        assert_eq!(admission.most_places(), Some(2));
        assert!(admission.within_limits());
    }

    #[test]
    fn no_capacity_serves_nobody() {
        let mut admission = Admission::new(Some(0), None);
        assert_eq!(admission.admit(job(0)), Place::Refused);
    }
}
