//! Classical queues in steady state: what a server does when nobody retries.
//!
//! The unit of time is the mean service of one server, so the service rate is 1, an
//! arrival rate is the offered load in erlangs, and all times are in mean services.
//! Arrivals are Poisson, service is exponential, first come first served.
//!
//! Source: D. Gross, J. F. Shortle, J. M. Thompson, C. M. Harris, "Fundamentals of Queueing
//! Theory", 4th ed. (2008), chapter 2, <https://doi.org/10.1002/9781118625651>. A load at
//! or above the capacity has no steady state: means are infinite and every customer waits.
//! Negative or `NaN` loads give `NaN`.
use crate::math;

/// M/M/1: mean number in the system, `ρ/(1−ρ)`.
pub fn mm1_mean_in_system(load: f64) -> f64 {
    load * mm1_mean_sojourn(load)
}

/// M/M/1: mean number waiting, `ρ²/(1−ρ)`.
pub fn mm1_mean_in_queue(load: f64) -> f64 {
    load * mm1_mean_wait(load)
}

/// M/M/1: mean time in the system, `1/(1−ρ)`, in mean services.
pub fn mm1_mean_sojourn(load: f64) -> f64 {
    1.0 / spare_capacity(1, load)
}

/// M/M/1: mean time before service starts, `ρ/(1−ρ)`, in mean services.
pub fn mm1_mean_wait(load: f64) -> f64 {
    load / spare_capacity(1, load)
}

/// M/M/1 with classes that go before each other and do not interrupt service: mean time before
/// service starts of class `class`, `ρ / ((1−σ)(1−σ'))`, in mean services, where `ρ` is the sum
/// of `loads`, `σ` that of the classes before it, and `σ'` that with its own.
///
/// Cobham, "Priority assignment in waiting line problems", Operations Research 2 (1954),
/// <https://doi.org/10.1287/opre.2.1.70>. `NaN` when there is no such class, infinite when `σ'` is
/// not below 1, and true only while `ρ` is.
pub fn mm1_mean_wait_of_class(loads: &[f64], class: usize) -> f64 {
    if class >= loads.len() {
        return f64::NAN;
    }
    let all: f64 = loads.iter().sum();
    let before: f64 = loads[..class].iter().sum();
    all / spare_capacity(1, before) / spare_capacity(1, before + loads[class])
}

/// M/M/1: probability to wait longer than `t` mean services, `ρ·e^{−(1−ρ)t}`.
pub fn mm1_wait_tail(load: f64, t: f64) -> f64 {
    mmc_wait_tail(1, load, t)
}

/// M/M/1: the time in the system that the share `p` does not exceed, `−ln(1−p)/(1−ρ)`.
///
/// `0 ≤ p < 1`, otherwise `NaN`; in mean services.
pub fn mm1_sojourn_quantile(load: f64, p: f64) -> f64 {
    if !(0.0..1.0).contains(&p) {
        return f64::NAN;
    }
    -math::ln_1p(-p) / spare_capacity(1, load)
}

/// Erlang B: the share lost by `servers` servers without waiting places.
///
/// `B(0) = 1, B(n) = a·B(n−1) / (n + a·B(n−1))` with offered load `a`. Holds for *every*
/// service distribution with this mean (insensitivity). Source: A. K. Erlang (1917).
pub fn erlang_b(servers: u32, load: f64) -> f64 {
    mmck(servers, servers, load).loss
}

/// Erlang C: probability that an arrival at an M/M/c queue must wait.
///
/// `C = c·B / (c − a(1−B))`; 1 when the load reaches the number of servers.
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let c = f64::from(servers);
    if load >= c {
        return 1.0;
    }
    let blocked = erlang_b(servers, load);
    c * blocked / (c - load * (1.0 - blocked))
}

/// M/M/c: mean time before service starts, `C/(c−a)`, in mean services.
pub fn mmc_mean_wait(servers: u32, load: f64) -> f64 {
    erlang_c(servers, load) / spare_capacity(servers, load)
}

/// M/M/c: probability to wait longer than `t` mean services, `C·e^{−(c−a)t}`; 1 if `t < 0`.
pub fn mmc_wait_tail(servers: u32, load: f64, t: f64) -> f64 {
    if t < 0.0 {
        return 1.0;
    }
    erlang_c(servers, load) * math::exp(-spare_capacity(servers, load) * t)
}

/// What an M/M/c/K queue does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiniteQueue {
    /// Share of arrivals turned away because all `K` places are taken.
    pub loss: f64,
    /// Mean number in the system, in service or waiting.
    pub mean_in_system: f64,
}

/// M/M/c/K: `servers` servers, at most `places` customers including those in service.
///
/// The stationary distribution is `p_n ∝ Π_{i≤n} λ/min(i, c)`. Place by place: with `n`
/// places the loss is `E_n = λE_{n−1} / (min(n, c) + λE_{n−1})`, `E_0 = 1`, and since the
/// states below `n` keep their proportions, `L_n = (1−E_n)·L_{n−1} + n·E_n`. Nothing
/// overflows, however large `K` or the load; the load may exceed the capacity.
pub fn mmck(servers: u32, places: u32, load: f64) -> FiniteQueue {
    let mut queue = FiniteQueue { loss: 1.0, mean_in_system: 0.0 };
    if load.is_nan() || load < 0.0 {
        queue.loss = f64::NAN;
        queue.mean_in_system = f64::NAN;
        return queue;
    }
    for n in 1..=places {
        let inflow = load * queue.loss;
        let full = inflow / (f64::from(n.min(servers)) + inflow);
        queue.mean_in_system = (1.0 - full) * queue.mean_in_system + f64::from(n) * full;
        queue.loss = full;
    }
    queue
}

/// M/D/1/K: share of arrivals turned away from one server with constant service and `places` customers
/// at most, the one in service included; 1 without a place.
///
/// States left behind by departures are a Markov chain with Poisson arrivals per service,
/// `a_k = e^{−ρ}ρ^k/k!`; its first K − 1 balances are those of an unbounded queue, and the loss is
/// `1 − 1/(π₀ + ρ)`. Source: Gross et al., chapter 5 (M/G/1/K).
pub fn md1k_loss(places: u32, load: f64) -> f64 {
    if load.is_nan() || load < 0.0 {
        return f64::NAN;
    }
    let k = places as usize;
    if k == 0 {
        return 1.0;
    }
    let mut arrivals = vec![math::exp(-load)];
    (1..=k).for_each(|j| arrivals.push(arrivals[j - 1] * load / j as f64));
    let mut left = vec![1.0];
    for j in 0..k - 1 {
        let through: f64 = (1..=j).map(|i| left[i] * arrivals[j + 1 - i]).sum();
        left.push((left[j] - left[0] * arrivals[j] - through) / arrivals[0]);
    }
    let empty = 1.0 / left.iter().sum::<f64>();
    1.0 - 1.0 / (empty + load)
}

/// `c − a`, zero when the load leaves nothing, `NaN` for an impossible load.
fn spare_capacity(servers: u32, load: f64) -> f64 {
    if load.is_nan() || load < 0.0 {
        return f64::NAN;
    }
    (f64::from(servers) - load).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} instead of {want}");
    }

    #[test]
    fn mm1_at_four_fifths_has_the_textbook_values() {
        assert_close(mm1_mean_in_system(0.8), 4.0, 1e-14);
        assert_close(mm1_mean_in_queue(0.8), 3.2, 1e-14);
        assert_close(mm1_mean_sojourn(0.8), 5.0, 1e-14);
        assert_close(mm1_mean_wait(0.8), 4.0, 1e-14);
        assert_close(mm1_wait_tail(0.8, 5.0), 0.294_303_552_9, 5.001e-11);
        assert_close(mm1_sojourn_quantile(0.8, 0.5), 3.4657, 5.001e-5);
        assert_close(mm1_sojourn_quantile(0.8, 0.99), 23.0259, 5.001e-5);
    }

    #[test]
    fn classes_wait_in_their_order_and_together_as_one() {
        let loads = [0.3, 0.2, 0.3];
        let waits = [0, 1, 2].map(|class| mm1_mean_wait_of_class(&loads, class));
        assert_close(waits[0], 0.8 / 0.7, 1e-14);
        assert_close(waits[1], 0.8 / 0.7 / 0.5, 1e-14);
        assert_close(waits[2], 0.8 / 0.5 / 0.2, 1e-13);
        // Kleinrock's conservation law: the order moves waits, it does not remove work.
        let weighted: f64 = loads.iter().zip(waits).map(|(load, wait)| load * wait).sum();
        assert_close(weighted, 0.8 * mm1_mean_wait(0.8), 1e-13);
        assert!(mm1_mean_wait_of_class(&loads, 3).is_nan());
    }

    #[test]
    fn several_servers_have_the_reference_values() {
        assert_close(erlang_c(10, 8.0), 0.409_180_150_8, 5.001e-11);
        assert_close(mmc_mean_wait(10, 8.0), 0.204_590_075_4, 5.001e-11);
        assert_close(mmc_wait_tail(10, 8.0, 1.0), 0.055_376_511_6, 5.001e-11);
        assert_close(erlang_c(100, 90.0), 0.216_940_480_9, 5.001e-11);
        assert_close(erlang_c(1, 0.3), 0.3, 1e-15);
    }

    #[test]
    fn erlang_b_has_the_reference_values() {
        assert_close(erlang_b(10, 8.0), 0.121_661_064_3, 5.001e-11);
        assert_close(erlang_b(10, 12.0), 0.301_925_040_3, 5.001e-11);
        assert_close(erlang_b(100, 100.0), 0.075_700_452_7, 5.001e-11);
        assert_eq!(erlang_b(0, 3.0), 1.0);
    }

    #[test]
    fn finite_queues_have_the_reference_values() {
        let one = mmck(1, 10, 0.8);
        assert_close(one.loss, 0.023_492_857_6, 5.001e-11);
        assert_close(one.mean_in_system, 2.966_314_266_5, 5.001e-11);
        let critical = mmck(1, 10, 1.0);
        assert_close(critical.loss, 1.0 / 11.0, 1e-15);
        assert_close(critical.mean_in_system, 5.0, 1e-14);
        let overloaded = mmck(1, 10, 1.2);
        assert_close(overloaded.loss, 0.192_586_495_1, 5.001e-11);
        assert_close(overloaded.mean_in_system, 6.710_708_678_4, 5.001e-11);
        let ten = mmck(10, 20, 12.0);
        assert_close(ten.loss, 0.179_665_915_7, 5.001e-11);
        assert_close(ten.mean_in_system, 16.104_497_9, 5.001e-8);
        assert_close(mmck(10, 20, 8.0).loss, 0.009_107_178_7, 5.001e-11);
    }

    #[test]
    fn constant_service_has_the_reference_values() {
        for (places, served) in [(4, 0.94124), (8, 0.99121), (10, 0.99636)] {
            assert_close(1.0 - md1k_loss(places, 0.8), served, 5.001e-6);
        }
        // One place is Erlang's loss formula, whatever the service.
        assert_close(md1k_loss(1, 0.8), erlang_b(1, 0.8), 1e-15);
        assert_close(md1k_loss(60, 0.5), 0.0, 1e-12);
        assert_eq!(md1k_loss(0, 0.5), 1.0);
        assert!(md1k_loss(3, -0.5).is_nan());
    }

    #[test]
    fn huge_and_tiny_queues_stay_finite() {
        let huge = mmck(3, 100_000, 30.0);
        assert_close(huge.loss, 0.9, 1e-12);
        assert_close(huge.mean_in_system, 100_000.0, 0.2);
        assert_eq!(mmck(4, 0, 2.0).loss, 1.0);
        assert_eq!(mmck(4, 9, 0.0).mean_in_system, 0.0);
    }

    #[test]
    fn without_a_steady_state_means_are_infinite() {
        assert_eq!(mm1_mean_in_system(1.0), f64::INFINITY);
        assert_eq!(mm1_mean_wait(1.3), f64::INFINITY);
        assert_eq!(mmc_mean_wait(4, 4.0), f64::INFINITY);
        assert_eq!(mmc_wait_tail(4, 5.0, 9.0), 1.0);
        assert_eq!(mm1_mean_in_system(0.0), 0.0);
    }

    #[test]
    fn bad_arguments_give_nan() {
        assert!(mm1_mean_in_system(-0.1).is_nan());
        assert!(mm1_sojourn_quantile(0.5, 1.0).is_nan());
        assert!(erlang_c(3, f64::NAN).is_nan());
        assert!(erlang_b(3, -1.0).is_nan());
    }
}
