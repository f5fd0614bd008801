//! Places for work: a concurrency limit and a line of waiting work in front of it, by class.

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
    /// Its class; 0 goes before 1.
    pub priority: u8,
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
    /// It waits, in the place of this job.
    Displaced(Job),
    /// No place is left.
    Refused,
}

/// The state: places in service, and for each class the waiting jobs in the order of arrival.
#[derive(Clone, Debug)]
pub struct Admission {
    limit: u32,
    /// The largest limit there was.
    most: u32,
    busy: u32,
    /// The first class, the only one of most scenarios, and the others.
    lines: Vec<VecDeque<Job>>,
    waiting: usize,
    line_limit: usize,
    newest_first: bool,
    drops_oldest: bool,
}

impl Admission {
    /// `concurrency` places (None: unlimited; 0: nothing is ever served), `queue` (None: no
    /// waiting places), and so many classes, at least one.
    pub fn new(concurrency: Option<u32>, queue: Option<Queue>, classes: usize) -> Admission {
        let rule = queue.map(Queue::line);
        let line_limit =
            rule.map_or(0, |rule| rule.limit.map_or(usize::MAX, |limit| limit as usize));
        Admission {
            limit: concurrency.unwrap_or(u32::MAX),
            most: concurrency.unwrap_or(u32::MAX),
            busy: 0,
            lines: vec![VecDeque::new(); classes],
            waiting: 0,
            line_limit,
            newest_first: matches!(queue, Some(Queue::Lifo(_))),
            drops_oldest: line_limit > 0
                && rule.is_some_and(|rule| rule.when_full == WhenFull::DropOldest),
        }
    }

    /// True when an arrival of a class would find a place, in service or in the line.
    #[inline]
    pub fn has_place(&self, priority: u8) -> bool {
        self.has_room() || self.displaced_by(priority).is_some()
    }

    /// True when the line can take one more. Places that are free but not yet taken from the line
    /// count as room in it.
    #[inline]
    fn has_room(&self) -> bool {
        let free = self.limit.saturating_sub(self.busy) as usize;
        self.waiting < self.line_limit.saturating_add(free)
    }

    /// The class of the job that makes room for an arrival when all places are taken: of the last
    /// class that waits, when that is behind the arrival's, or the same and the oldest is dropped.
    fn displaced_by(&self, priority: u8) -> Option<usize> {
        if self.lines.len() == 1 && !self.drops_oldest {
            return None;
        }
        let last = self.lines.iter().rposition(|line| !line.is_empty())?;
        let own = usize::from(priority);
        (own < last || (own == last && self.drops_oldest)).then_some(last)
    }

    /// Finds a place for `job`.
    #[inline]
    pub fn admit(&mut self, job: Job) -> Place {
        if self.busy < self.limit && self.waiting == 0 {
            self.busy += 1;
            return Place::Served;
        }
        if self.has_room() {
            self.lines[usize::from(job.priority)].push_back(job);
            self.waiting += 1;
            return Place::Queued;
        }
        let Some(class) = self.displaced_by(job.priority) else { return Place::Refused };
        let line = &mut self.lines[class];
        // Without a rule about the oldest, whoever came last has waited in vain the least.
        let displaced = if self.drops_oldest { line.pop_front() } else { line.pop_back() };
        self.lines[usize::from(job.priority)].push_back(job);
        displaced.map_or(Place::Queued, Place::Displaced)
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

    /// The job of the first class that has waited longest leaves the line without a place.
    pub fn turn_away(&mut self) -> Option<Job> {
        self.take(VecDeque::pop_front)
    }

    /// A place becomes free; who waits for it is asked for by [`Admission::next_job`].
    #[inline]
    pub fn leave(&mut self) {
        self.busy -= 1;
    }

    /// The job whose turn it is leaves the line, if a place is free; it has none yet.
    #[inline]
    pub fn next_job(&mut self) -> Option<Job> {
        if self.busy >= self.limit || self.waiting == 0 {
            return None;
        }
        self.take(if self.newest_first { VecDeque::pop_back } else { VecDeque::pop_front })
    }

    fn take(&mut self, end: fn(&mut VecDeque<Job>) -> Option<Job>) -> Option<Job> {
        let job = self.lines.iter_mut().find_map(end)?;
        self.waiting -= 1;
        Some(job)
    }

    /// A job from the line takes a free place.
    #[inline]
    pub fn occupy(&mut self) {
        self.busy += 1;
    }

    /// Takes the job of a class that `request` sent at `step`, admitted at `admitted`, out of the
    /// line.
    pub fn withdraw(
        &mut self,
        priority: u8,
        (request, step): (u32, u32),
        admitted: u64,
    ) -> Option<Job> {
        let line = &mut self.lines[usize::from(priority)];
        let first = line.partition_point(|job| job.admitted < admitted);
        let behind = line.range(first..).take_while(|job| job.admitted == admitted);
        let here = behind.into_iter().position(|job| (job.request, job.step) == (request, step))?;
        self.waiting -= 1;
        line.remove(first + here)
    }

    /// Jobs in service.
    #[inline]
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// Jobs waiting.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The largest number of places there was; None is unlimited.
    pub fn most_places(&self) -> Option<u32> {
        (self.most < u32::MAX).then_some(self.most)
    }

    /// True when neither limit is exceeded, and the lines hold what is counted.
    pub fn within_limits(&self) -> bool {
        let lines: usize = self.lines.iter().map(VecDeque::len).sum();
        self.busy <= self.most && self.waiting <= self.line_limit && self.waiting == lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Line;

    fn job(request: u32) -> Job {
        Job { request, step: 1, attempt: 1, priority: 0, admitted: u64::from(request / 2) }
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
        let mut admission =
            Admission::new(Some(1), Some(Queue::Fifo(line(2, WhenFull::Refuse))), 1);
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
        let mut admission =
            Admission::new(Some(1), Some(Queue::Fifo(line(1, WhenFull::Refuse))), 1);
        fill(&mut admission, 0..2);
        assert!(!admission.has_place(0));
        admission.leave();
        assert!(admission.has_place(0));
        assert_eq!(admission.admit(job(2)), Place::Queued);
        assert!(!admission.has_place(0));
        assert_eq!(admission.next_job(), Some(job(1)));
    }

    #[test]
    fn a_stack_serves_the_newest_first() {
        let mut admission =
            Admission::new(Some(1), Some(Queue::Lifo(line(3, WhenFull::Refuse))), 1);
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
            let mut admission =
                Admission::new(Some(1), Some(queue(line(2, WhenFull::DropOldest))), 1);
            fill(&mut admission, 0..3);
            assert!(admission.has_place(0));
            assert_eq!(admission.admit(job(3)), Place::Displaced(job(1)));
            assert_eq!(admission.waiting(), 2);
        }
        let none = Some(Queue::Fifo(line(0, WhenFull::DropOldest)));
        let mut admission = Admission::new(Some(0), none, 1);
        assert!(!admission.has_place(0));
        assert_eq!(admission.admit(job(0)), Place::Refused);
    }

    #[test]
    fn any_job_can_be_withdrawn() {
        for gone in 1..6 {
            let mut admission = Admission::new(Some(1), Some(Queue::Fifo(Line::default())), 1);
            fill(&mut admission, 0..6);
            let Job { request, step, admitted, .. } = job(gone);
            assert_eq!(admission.withdraw(0, (request, step + 1), admitted), None);
            assert_eq!(admission.withdraw(0, (request, step), admitted), Some(job(gone)));
            assert_eq!(admission.withdraw(0, (request, step), admitted), None);
            let rest: Vec<u32> = std::iter::from_fn(|| finish(&mut admission)).collect();
            let expected: Vec<u32> = (1..6).filter(|i| *i != gone).collect();
            assert_eq!(rest, expected);
        }
    }

    #[test]
    fn places_go_missing_and_come_back() {
        let mut admission = Admission::new(Some(2), Some(Queue::Fifo(Line::default())), 1);
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
        let mut admission = Admission::new(Some(0), None, 1);
        assert_eq!(admission.admit(job(0)), Place::Refused);
    }

    #[test]
    fn a_class_goes_before_the_next_and_takes_its_waiting_places() {
        let of = |priority: u8, request: u32| Job { priority, ..job(request) };
        let mut admission =
            Admission::new(Some(1), Some(Queue::Fifo(line(2, WhenFull::Refuse))), 3);
        assert_eq!(admission.admit(of(2, 0)), Place::Served, "nobody is put out of service");
        assert_eq!(admission.admit(of(2, 1)), Place::Queued);
        assert_eq!(admission.admit(of(1, 2)), Place::Queued);
        assert_eq!([0, 1, 2].map(|class| admission.has_place(class)), [true, true, false]);
        assert_eq!(admission.admit(of(2, 3)), Place::Refused);
        assert_eq!(admission.admit(of(1, 4)), Place::Displaced(of(2, 1)));
        assert_eq!(admission.admit(of(1, 5)), Place::Refused);
        assert_eq!(admission.admit(of(0, 6)), Place::Displaced(of(1, 4)), "the newest goes");
        assert!(admission.within_limits());
        assert_eq!([(); 3].map(|()| finish(&mut admission)), [Some(6), Some(2), None]);
    }

    #[test]
    fn a_queue_that_drops_the_oldest_drops_that_of_the_last_class() {
        let of = |priority: u8, request: u32| Job { priority, ..job(request) };
        let mut admission =
            Admission::new(Some(1), Some(Queue::Fifo(line(3, WhenFull::DropOldest))), 2);
        for arrival in [of(0, 0), of(0, 1), of(1, 2), of(1, 3)] {
            admission.admit(arrival);
        }
        assert_eq!(admission.admit(of(0, 4)), Place::Displaced(of(1, 2)));
        assert_eq!(admission.admit(of(1, 5)), Place::Displaced(of(1, 3)));
        assert_eq!(admission.withdraw(0, (5, 1), of(1, 5).admitted), None);
        assert_eq!(admission.withdraw(1, (5, 1), of(1, 5).admitted), Some(of(1, 5)));
        assert!(!admission.has_place(1) || admission.waiting() < 3);
        assert!(admission.within_limits());
    }
}
