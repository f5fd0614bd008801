//! botocore's adaptive mode.
//!
//! Source: botocore 1.40 and 1.44, `botocore/retries/adaptive.py`, `throttling.py` and `bucket.py`.

use serde::{Deserialize, Serialize};

use super::Sign;
use crate::client::Scope;
use crate::math;

/// Adaptive mode of botocore: nothing is paced until the first 429; then the rate is 0.7·w, w being
/// what was measured, and 0.4·(t - (0.3·w/0.4)^(1/3))³ + w at t seconds after it, at most twice
/// what is measured and at least 0.5/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cubic {
    /// Who shares it; in botocore the calls of one client object.
    pub scope: Scope,
}

/// Constants of botocore.
const BETA: f64 = 0.7;
const SCALE: f64 = 0.4;
const SMOOTHING: f64 = 0.8;
const BUCKET_S: f64 = 0.5;
const MOST_GROWTH: f64 = 2.0;
pub(super) const LEAST_RATE: f64 = 0.5;

/// What botocore's limiter remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct CubicState {
    pub(super) enabled: bool,
    /// The rate before the last throttling, and when that was, in seconds.
    last_max: f64,
    last_fail: f64,
    /// Responses since the start of a bucket of half a second, and the smoothed rate of them.
    count: f64,
    bucket: f64,
    pub(super) measured: f64,
}

impl CubicState {
    /// The rate after a response at `now` seconds, when it has been `rate`.
    pub(super) fn learn(&mut self, sign: Sign, now: f64, rate: f64) -> f64 {
        self.measure(now);
        let new = match sign {
            Sign::Throttled => {
                let used = if self.enabled { self.measured.min(rate) } else { self.measured };
                (self.last_max, self.last_fail, self.enabled) = (used, now, true);
                used * BETA
            }
            Sign::Answered | Sign::Failed => {
                let zero = math::pow(self.last_max * (1.0 - BETA) / SCALE, 1.0 / 3.0);
                let off = now - self.last_fail - zero;
                SCALE * off * off * off + self.last_max
            }
        };
        new.min(MOST_GROWTH * self.measured)
    }

    fn measure(&mut self, now: f64) {
        let bucket = (now / BUCKET_S).floor() * BUCKET_S;
        self.count += 1.0;
        if bucket > self.bucket {
            let current = self.count / (bucket - self.bucket);
            self.measured = current * SMOOTHING + self.measured * (1.0 - SMOOTHING);
            self.count = 0.0;
            self.bucket = bucket;
        }
    }
}
