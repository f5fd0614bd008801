//! Load with retries as a fixed point: where a healthy and a collapsed state exist side by side.
//!
//! A server of `c` places with exponential service fails an attempt that waits longer than its timeout
//! `T`, with probability `q(x)` at load `x`; each failure is retried, so that the load is
//! `x = λ·(1 + q(x) + q(x)² + …)` over the attempts of a request. An M/M/c queue gives
//! `q(x) = C(c, x/μ)·e^{−(cμ−x)T}`, and 1 from the capacity `cμ` on. Where two solutions are stable the system is
//! bistable: the smallest is the healthy one, the largest the collapsed one.
//!
//! Such a fixed point is the steady state of the mean load, not of a queue that remembers: it says where
//! states exist, not how long they last. Source: <https://github.com/0xelitesystem/metastable-failure-explorer>,
//! after Bronson et al., HotOS 2021, <https://doi.org/10.1145/3458336.3465286>.

use super::queue::mmc_wait_tail;

/// A server with clients that retry at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryLoad {
    /// Places, at least 1.
    pub servers: u32,
    /// Services per second of one place, above 0.
    pub service_rate: f64,
    /// New requests per second, above 0.
    pub demand: f64,
    /// How long an attempt may wait before its service starts, in seconds.
    pub timeout_s: f64,
    /// Attempts of a request, the first included, at least 1.
    pub attempts: u32,
    /// A retry budget: no more than this many attempts per request on average; infinite without one.
    pub most_amplification: f64,
}

/// Most steps of an iteration. Just beside a fold it is slow; the bisections below need no more.
const STEPS: u32 = 20_000;

impl RetryLoad {
    /// Probability that an attempt waits longer than the timeout at a load of `x` attempts per second.
    pub fn failure(&self, x: f64) -> f64 {
        mmc_wait_tail(self.servers, x / self.service_rate, self.timeout_s * self.service_rate)
    }

    /// Attempts per second when each of them fails with the probability of load `x`.
    pub fn offered(&self, x: f64) -> f64 {
        let q = self.failure(x);
        let attempts = (0..self.attempts).fold(0.0, |sum, _| 1.0 + q * sum);
        self.demand * attempts.min(self.most_amplification)
    }

    /// The smallest load that makes itself: from demand upwards.
    pub fn healthy(&self) -> f64 {
        self.settle(self.demand)
    }

    /// The largest load that makes itself: from every attempt failing downwards.
    pub fn collapsed(&self) -> f64 {
        self.settle(self.demand * f64::from(self.attempts).min(self.most_amplification))
    }

    /// `offered` grows with the load, so that the iteration goes one way and cannot pass a solution.
    fn settle(&self, mut x: f64) -> f64 {
        for _ in 0..STEPS {
            let next = self.offered(x);
            if (next - x).abs() <= 1e-12 * x {
                return next;
            }
            x = next;
        }
        x
    }

    /// The same server with services `factor` times as fast.
    fn scaled(&self, factor: f64) -> RetryLoad {
        RetryLoad { service_rate: self.service_rate * factor, ..*self }
    }

    /// True when more than half of the attempts succeed at load `x`.
    fn works(&self, x: f64) -> bool {
        self.failure(x) < 0.5
    }

    /// The speed, as a factor on the service rate, below which there is no healthy state.
    pub fn healthy_lost_below(&self) -> f64 {
        self.threshold(|server| server.works(server.healthy()))
    }

    /// The speed above which there is no collapsed state: what an operator would have to bring.
    pub fn collapsed_lost_above(&self) -> f64 {
        self.threshold(|server| server.works(server.collapsed()))
    }

    /// The smallest speed at which `holds`, which it does from there on, between 1/100 and 100.
    fn threshold(&self, holds: impl Fn(&RetryLoad) -> bool) -> f64 {
        let (mut low, mut high) = (0.01, 100.0);
        while high - low > 1e-7 {
            let middle = (low + high) / 2.0;
            if holds(&self.scaled(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 25 servers of 25 ms, 600 requests a second, 200 ms, three attempts.
    const SERVER: RetryLoad = RetryLoad {
        servers: 25,
        service_rate: 40.0,
        demand: 600.0,
        timeout_s: 0.2,
        attempts: 3,
        most_amplification: f64::INFINITY,
    };

    fn percent(factor: f64) -> f64 {
        (factor * 1e4).round() / 1e2
    }

    #[test]
    fn published_thresholds_are_met() {
        assert_eq!(percent(SERVER.healthy_lost_below()), 62.78);
        assert_eq!(percent(SERVER.collapsed_lost_above()), 180.00);
    }

    /// The repository prints 67.14 % for the second; its form of the cap is not stated.
    #[test]
    fn a_budget_of_a_tenth_closes_the_loop() {
        let with_budget = RetryLoad { most_amplification: 1.1, ..SERVER };
        assert_eq!(percent(with_budget.healthy_lost_below()), 62.78);
        assert_eq!(percent(with_budget.collapsed_lost_above()), 66.33);
    }

    #[test]
    fn both_states_exist_in_between() {
        assert!((SERVER.healthy() - 600.0).abs() < 0.1);
        assert_eq!(SERVER.collapsed(), 1800.0);
        assert!((SERVER.failure(1000.0), SERVER.failure(1800.0)) == (1.0, 1.0));
        let loads = [SERVER.healthy(), SERVER.collapsed()];
        for x in loads {
            assert!((SERVER.offered(x) - x).abs() < 1e-6, "{x} makes itself");
        }
    }

    #[test]
    fn without_retries_there_is_one_state() {
        let once = RetryLoad { attempts: 1, ..SERVER };
        assert_eq!(once.healthy(), once.collapsed());
        assert!((once.healthy_lost_below() - once.collapsed_lost_above()).abs() < 1e-6);
    }
}
