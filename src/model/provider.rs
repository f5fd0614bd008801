//! The provider: the parts of [`crate::server`] in the order in which an attempt meets them.

use super::work::InHand;
use crate::answer::{Failure, Hint, Rejection};
use crate::rng::Streams;
use crate::server::{
    AcceptQueue, Admission, Backlog, Bucket, CancelledWork, Fault, Queue, RequestLimit,
    ServiceSampler,
};
use crate::units::Time;

/// A provider made ready to run.
#[derive(Clone, Debug)]
pub struct ProviderPlan {
    /// Places in service; None is unlimited.
    pub concurrency: Option<u32>,
    /// The queue in front of them.
    pub queue: Option<Queue>,
    /// What becomes of work whose client has gone.
    pub cancelled_work: CancelledWork,
    /// Status of a refusal for want of a place.
    pub overload_status: u16,
    /// The listen backlog.
    pub backlog: Option<Backlog>,
    /// The request limit.
    pub request_limit: Option<RequestLimit>,
    /// Service times.
    pub service: ServiceSampler,
    /// Faults.
    pub faults: Vec<Fault>,
}

/// The state of a provider.
pub(super) struct Provider<'a> {
    plan: &'a ProviderPlan,
    backlog: Option<AcceptQueue>,
    bucket: Option<Bucket>,
    pub(super) admission: Admission,
    pub(super) in_hand: Option<InHand>,
    /// True when free places are to be taken from the line at the end of this instant.
    pub(super) refill_pending: bool,
}

/// Which part refused.
pub(super) enum Refusal<'a> {
    Fault(Failure<'a>),
    Limit(Failure<'a>),
    Load(Failure<'a>),
}

impl<'a> Provider<'a> {
    pub(super) fn new(plan: &'a ProviderPlan) -> Provider<'a> {
        Provider {
            plan,
            backlog: plan.backlog.map(AcceptQueue::new),
            bucket: plan.request_limit.map(Bucket::new),
            admission: Admission::new(plan.concurrency, plan.queue),
            in_hand: (plan.cancelled_work == CancelledWork::Removed).then(InHand::new),
            refill_pending: false,
        }
    }

    /// When a connection made now is accepted; None when it is reset.
    #[inline]
    pub(super) fn connect(&mut self, now: Time) -> Option<Time> {
        match &mut self.backlog {
            None => Some(now),
            Some(queue) => queue.connect(now),
        }
    }

    /// Whether attempt number `attempt` of a request, accepted now, is refused, and by what.
    #[inline]
    pub(super) fn refusal(&mut self, now: Time, attempt: u32) -> Option<Refusal<'a>> {
        for fault in &self.plan.faults {
            if let Fault::Outage(outage) = fault
                && outage.refuses(now, attempt)
            {
                return Some(Refusal::Fault(outage.failure()));
            }
        }
        if let Some(Err(retry_after)) = self.bucket.as_mut().map(|bucket| bucket.take(now)) {
            let hint = retry_after.map_or(Hint::None, Hint::RetryAfter);
            return Some(Refusal::Limit(Failure::Status(Rejection { status: 429, hint })));
        }
        let full = !self.admission.has_place();
        full.then(|| Refusal::Load(Failure::status(self.plan.overload_status)))
    }

    /// The service time of an attempt.
    #[inline]
    pub(super) fn service(
        &self,
        streams: &Streams,
        number: u32,
        attempt: u32,
        output: impl FnOnce() -> u64,
    ) -> u64 {
        for (index, fault) in self.plan.faults.iter().enumerate() {
            if let Fault::Slow(slow) = fault
                && slow.hits(index as u32, number, attempt, streams)
            {
                return slow.service.nanos();
            }
        }
        self.plan.service.sample(streams, number, attempt, output)
    }

    /// The error that an attempt ends with after its service, if it does.
    #[inline]
    pub(super) fn error(
        &self,
        streams: &Streams,
        number: u32,
        attempt: u32,
    ) -> Option<Failure<'a>> {
        let faults = self.plan.faults.iter().enumerate();
        faults
            .filter_map(|(index, fault)| match fault {
                Fault::Error(error) if error.hits(index as u32, number, attempt, streams) => {
                    Some(Failure::status(error.status))
                }
                _ => None,
            })
            .next()
    }
}
