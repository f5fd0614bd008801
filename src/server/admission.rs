//! Places for work: a concurrency limit and a bounded queue in front of it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The queue in front of the concurrency limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// First in, first out.
    Fifo(Fifo),
}

/// A first-in-first-out queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fifo {
    /// Waiting places; work in service is not counted. Without it the queue is unbounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A piece of admitted work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its request.
    pub request: u32,
    /// The step of the request when it was sent.
    pub step: u32,
    /// When it was admitted.
    pub admitted: u64,
    /// Its service time in nanoseconds.
    pub service: u64,
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Service starts now.
    Served,
    /// It waits.
    Queued,
    /// No place is left.
    Refused,
}

/// The state: places in service, and the line of waiting jobs.
#[derive(Clone, Debug)]
pub struct Admission {
    limit: u32,
    busy: u32,
    queue: VecDeque<Job>,
    queue_limit: usize,
}

impl Admission {
    /// `concurrency` places (None: unlimited; 0: nothing is ever served) and `queue` (None: no
    /// waiting places).
    pub fn new(concurrency: Option<u32>, queue: Option<Queue>) -> Admission {
        let queue_limit = match queue {
            None => 0,
            Some(Queue::Fifo(fifo)) => fifo.limit.map_or(usize::MAX, |n| n as usize),
        };
        Admission {
            limit: concurrency.unwrap_or(u32::MAX),
            busy: 0,
            queue: VecDeque::new(),
            queue_limit,
        }
    }

    /// True when an arrival would find a place, in service or in the queue.
    #[inline]
    pub fn has_place(&self) -> bool {
        self.busy < self.limit || self.queue.len() < self.queue_limit
    }

    /// Finds a place for `job`.
    #[inline]
    pub fn admit(&mut self, job: Job) -> Place {
        if self.busy < self.limit {
            self.busy += 1;
            return Place::Served;
        }
        if self.queue.len() < self.queue_limit {
            self.queue.push_back(job);
            return Place::Queued;
        }
        Place::Refused
    }

    /// A job is finished; the next one in line, if any, takes its place.
    #[inline]
    pub fn finish(&mut self) -> Option<Job> {
        let next = self.queue.pop_front();
        if next.is_none() {
            self.busy -= 1;
        }
        next
    }

    /// Jobs in service.
    #[inline]
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// Jobs waiting.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// True when neither limit is exceeded.
    pub fn within_limits(&self) -> bool {
        self.busy <= self.limit && self.queue.len() <= self.queue_limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(request: u32) -> Job {
        Job { request, step: 1, admitted: 0, service: 1 }
    }

    #[test]
    fn places_then_queue_then_refusal_in_order() {
        let mut admission = Admission::new(Some(1), Some(Queue::Fifo(Fifo { limit: Some(2) })));
        let places: Vec<Place> = (0..4).map(|i| admission.admit(job(i))).collect();
        assert_eq!(places, [Place::Served, Place::Queued, Place::Queued, Place::Refused]);
        assert_eq!(admission.finish().map(|j| j.request), Some(1));
        assert_eq!(admission.finish().map(|j| j.request), Some(2));
        assert_eq!((admission.busy(), admission.waiting()), (1, 0));
        assert_eq!(admission.finish(), None);
        assert_eq!(admission.busy(), 0);
    }

    #[test]
    fn no_capacity_serves_nobody() {
        let mut admission = Admission::new(Some(0), None);
        assert_eq!(admission.admit(job(0)), Place::Refused);
    }
}
