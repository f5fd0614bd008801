//! Mean waits of decorrelated jitter: `D_k = min(cap, U(base, 3·D_{k−1}))`, `D_0 = base`.
//!
//! Source of the rule: M. Brooker, "Exponential Backoff And Jitter",
//! <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>.
//! Without a cap `E[D_k] = (base + 3·E[D_{k−1}])/2`, hence `E[D_k] = base·(2·1.5^k − 1)`.
//!
//! **With a cap** the mean follows backward from the last wait. Let `h_j(x)` be the mean of
//! the wait that comes `j` steps after a wait of `x`; then `h_0(x) = x`,
//!
//! ```text
//! h_j(x) = [ ∫_base^{min(3x, cap)} h_{j−1}(y) dy + (3x − cap)₊ · h_{j−1}(cap) ] / (3x − base)
//! ```
//!
//! and `E[D_k] = h_k(base)`. Each `h_j` is smooth except at `cap/3, cap/9, …`. The grid
//! puts those points, and `base·3, base·9, …`, on the borders of panels, so that three
//! times a node is again a node, and Simpson's rule inside a panel keeps its fourth order.
//! The error is below 1e-10 of the wait; only + − × ÷ are used.

/// Simpson intervals in one panel (even). Twice as many change the means by less than 1e-10.
const INTERVALS: usize = 512;

/// Mean of the `k`-th wait without a cap, `base·(2·1.5^k − 1)`, in the unit of `base_s`.
///
/// `k = 0` is the base itself, `k = 1` the wait before the first retry.
pub fn mean_wait_uncapped(base_s: f64, k: usize) -> f64 {
    let growth = (0..k).fold(1.0, |power, _| power * 1.5);
    base_s * (2.0 * growth - 1.0)
}

/// Mean waits before retries `1..=n_retries`, in seconds.
///
/// `base_s > 0`, finite; `cap_s > 0`, infinite for no cap; otherwise all are `NaN`. A cap
/// at or below the base makes every wait equal to the cap. As long as no wait can reach
/// the cap (`base·3^k ≤ cap`) the closed form is used.
pub fn mean_waits(base_s: f64, cap_s: f64, n_retries: usize) -> Vec<f64> {
    mean_waits_on(base_s, cap_s, n_retries, INTERVALS)
}

/// Mean time of the `k`-th retry after the first failure, in seconds: `Σ_{j=1..k} E[D_j]`.
///
/// Arguments as for [`mean_waits`].
pub fn mean_retry_time(base_s: f64, cap_s: f64, k: usize) -> f64 {
    mean_waits(base_s, cap_s, k).iter().sum()
}

fn mean_waits_on(base_s: f64, cap_s: f64, n_retries: usize, intervals: usize) -> Vec<f64> {
    let valid = base_s > 0.0 && base_s.is_finite() && cap_s > 0.0;
    if !valid {
        return vec![f64::NAN; n_retries];
    }
    if cap_s <= base_s {
        return vec![cap_s; n_retries];
    }
    let (mut means, mut longest_s) = (Vec::with_capacity(n_retries), base_s);
    for k in 1..=n_retries {
        longest_s *= 3.0;
        if longest_s > cap_s {
            break;
        }
        means.push(mean_wait_uncapped(base_s, k));
    }
    if means.len() < n_retries {
        let grid = Grid::new(base_s, cap_s, intervals);
        let by_steps = grid.mean_after_steps(n_retries);
        means.extend_from_slice(&by_steps[means.len()..]);
    }
    means
}

/// Nodes over `[base, cap]`: panels one after another, each of `intervals + 1` nodes.
///
/// Panel borders are `base, cap/3^p, 3·base, cap/3^(p−1), …, 3^p·base, cap`, so three
/// times node `i` of panel `s` is node `i` of panel `s + 2`.
struct Grid {
    base: f64,
    cap: f64,
    intervals: usize,
    panels: Vec<(f64, f64)>,
    nodes: Vec<f64>,
}

impl Grid {
    fn new(base: f64, cap: f64, intervals: usize) -> Self {
        let panels = panels(base, cap);
        let steps = intervals as f64;
        let node = |&(from, to): &(f64, f64), i: usize| from + (to - from) * (i as f64 / steps);
        let nodes =
            panels.iter().flat_map(|panel| (0..=intervals).map(move |i| node(panel, i))).collect();
        Self { base, cap, intervals, panels, nodes }
    }

    /// `E[D_1], …, E[D_n]`.
    fn mean_after_steps(&self, n: usize) -> Vec<f64> {
        let mut means = self.nodes.clone();
        (0..n)
            .map(|_| {
                means = self.one_step_earlier(&means);
                means[0]
            })
            .collect()
    }

    /// `h_j` on the nodes from `h_{j−1}` on the nodes.
    fn one_step_earlier(&self, later: &[f64]) -> Vec<f64> {
        let integral = self.integral_from_base(later);
        let (at_cap, whole) = (later[later.len() - 1], integral[integral.len() - 1]);
        let two_panels = 2 * (self.intervals + 1);
        let one = |(i, &x): (usize, &f64)| {
            let area = match integral.get(i + two_panels) {
                Some(&area) => area,
                None => whole + (3.0 * x - self.cap).max(0.0) * at_cap,
            };
            area / (3.0 * x - self.base)
        };
        self.nodes.iter().enumerate().map(one).collect()
    }

    /// `∫_base^node values` at every node.
    ///
    /// Simpson's rule over pairs of intervals; the node between takes the integral of the
    /// same parabola over the first half, `(5f₀ + 8f₁ − f₂)·width/12`.
    fn integral_from_base(&self, values: &[f64]) -> Vec<f64> {
        let mut integral = Vec::with_capacity(values.len());
        let mut area = 0.0;
        let per_panel = values.chunks(self.intervals + 1);
        for (&(from, to), f) in self.panels.iter().zip(per_panel) {
            let width = (to - from) / self.intervals as f64;
            integral.push(area);
            for i in (0..self.intervals).step_by(2) {
                integral.push(area + (5.0 * f[i] + 8.0 * f[i + 1] - f[i + 2]) * width / 12.0);
                area += (f[i] + 4.0 * f[i + 1] + f[i + 2]) * width / 3.0;
                integral.push(area);
            }
        }
        integral
    }
}

/// Panels between the borders listed at [`Grid`], from low to high.
fn panels(base: f64, cap: f64) -> Vec<(f64, f64)> {
    let mut panels = Vec::new();
    let mut cap_border = cap;
    let mut triplings = 0;
    while cap_border / 3.0 > base {
        cap_border /= 3.0;
        triplings += 1;
    }
    let mut base_border = base;
    for left in (0..=triplings).rev() {
        panels.push((base_border, cap_border));
        if left > 0 {
            panels.push((cap_border, base_border * 3.0));
            base_border *= 3.0;
            cap_border = if left == 1 { cap } else { cap_border * 3.0 };
        }
    }
    panels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_cap_the_means_are_the_closed_form() {
        let expected = [2.0, 3.5, 5.75, 9.125, 14.1875, 21.78125];
        assert_eq!(mean_waits(1.0, f64::INFINITY, 6), expected);
        assert_eq!(mean_retry_time(1.0, f64::INFINITY, 4), 20.375);
        assert_eq!(mean_wait_uncapped(1.0, 0), 1.0);
    }

    #[test]
    fn with_a_cap_the_fourth_retry_comes_at_the_published_mean() {
        let waits = mean_waits(1.0, 30.0, 4);
        assert_eq!(waits[..3], [2.0, 3.5, 5.75]);
        assert!((waits[3] - 8.8396).abs() <= 5.001e-5, "{}", waits[3]);
        // The same by nested adaptive quadrature of an independent program.
        assert!((waits[3] - 8.839_618_236_05).abs() < 1e-9, "{}", waits[3]);
        let time = mean_retry_time(1.0, 30.0, 4);
        assert!((time - 20.0896).abs() <= 5.001e-5, "{time}");
    }

    #[test]
    fn the_grid_alone_gives_the_closed_form_where_the_cap_is_out_of_reach() {
        let grid = Grid::new(1.0, 1000.0, INTERVALS);
        for (i, mean) in grid.mean_after_steps(6).iter().enumerate() {
            let exact = mean_wait_uncapped(1.0, i + 1);
            assert!((mean / exact - 1.0).abs() < 1e-10, "{mean} {exact}");
        }
    }

    #[test]
    fn a_wait_capped_at_once_has_an_elementary_mean() {
        // min(2, U(1, 3)): half the mass is uniform on [1, 2], half is at 2.
        assert!((mean_waits(1.0, 2.0, 1)[0] - 1.75).abs() < 1e-12);
        // Cap 3: the mean after a wait of x is 3 − 2/(3x − 1), averaged over [1, 3].
        let second = 3.0 - crate::math::ln(4.0) / 3.0;
        assert!((mean_waits(1.0, 3.0, 2)[1] - second).abs() < 1e-10);
    }

    #[test]
    fn a_finer_grid_changes_nothing_that_is_printed() {
        for cap in [1.01, 3.0, 9.5, 20.0, 27.0, 30.0, 1e4] {
            let coarse = mean_waits_on(1.0, cap, 12, INTERVALS);
            let fine = mean_waits_on(1.0, cap, 12, 2 * INTERVALS);
            for (a, b) in coarse.iter().zip(&fine) {
                assert!((a / b - 1.0).abs() < 1e-10, "cap {cap}: {a} {b}");
            }
        }
    }

    #[test]
    fn after_many_retries_the_mean_is_the_stationary_one() {
        let waits = mean_waits(1.0, 20.0, 60);
        assert!((waits[59] - 13.174).abs() <= 5.001e-4, "{}", waits[59]);
    }

    #[test]
    fn times_scale_with_their_unit() {
        let (seconds, tenths) = (mean_waits(1.0, 30.0, 6), mean_waits(0.1, 3.0, 6));
        for (a, b) in seconds.iter().zip(&tenths) {
            assert!((a - 10.0 * b).abs() < 1e-9);
        }
    }

    #[test]
    fn odd_arguments_do_not_panic() {
        assert_eq!(mean_waits(5.0, 2.0, 2), [2.0, 2.0]);
        assert!(mean_waits(0.0, 2.0, 2)[1].is_nan());
        assert!(mean_waits(1.0, f64::NAN, 1)[0].is_nan());
        assert_eq!(mean_retry_time(1.0, 30.0, 0), 0.0);
    }
}
