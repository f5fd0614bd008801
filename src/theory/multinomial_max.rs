//! The largest of several equally likely cells: the busiest bin of a flat wave.
//!
//! If `n` clients pick one of `k` bins independently and evenly, the busiest bin holds
//! more than the mean `n/k`. Its distribution is exact:
//!
//! ```text
//! P(max ≤ x) = P(Y_1 + … + Y_k = n and all Y_i ≤ x) / P(Y_1 + … + Y_k = n)
//! ```
//!
//! for independent Poisson counts `Y_i` of any mean. Source: B. Levin, "A representation
//! for multinomial cumulative distribution functions", Annals of Statistics 9 (1981),
//! <https://doi.org/10.1214/aos/1176345593>. Both probabilities are convolutions of
//! non-negative numbers, so nothing cancels and no logarithm is needed.

/// Mean and standard deviation of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Expected value.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// Once larger maxima are this unlikely, they no longer change the moments.
const NEGLIGIBLE: f64 = 1e-13;

/// Moments of the largest cell of Multinomial(`n`; `cells` equal probabilities).
///
/// By `E[M] = Σ_x P(M > x)` and `E[M²] = Σ_x (2x + 1) P(M > x)`. `None` without cells.
/// Takes about `n² log(cells)` steps for each of some `10·sd` values of `x`: meant for `n`
/// up to a few thousand. Relative error below 1e-9 there.
pub fn largest_cell(n: u32, cells: u32) -> Option<Moments> {
    if cells == 0 {
        return None;
    }
    let n = n as usize;
    let weights = poisson_weights(n, f64::from(cells));
    let anything = ways_to_reach(n, &weights, cells);
    // The largest cell is never below the mean; moments are taken from there upward.
    let least = n.div_ceil(cells as usize);
    let (mut first, mut second) = (0.0, 0.0);
    for (excess, x) in (least..n).enumerate() {
        let above = 1.0 - ways_to_reach(n, &weights[..=x], cells) / anything;
        if above <= NEGLIGIBLE {
            break;
        }
        first += above;
        second += (2.0 * excess as f64 + 1.0) * above;
    }
    Some(Moments { mean: least as f64 + first, sd: (second - first * first).max(0.0).sqrt() })
}

/// Moments of Binomial(`n`, `p`): `np` and `sqrt(np(1−p))`; `NaN` unless `0 ≤ p ≤ 1`.
pub fn binomial(n: u32, p: f64) -> Moments {
    if !(0.0..=1.0).contains(&p) {
        return Moments { mean: f64::NAN, sd: f64::NAN };
    }
    let mean = f64::from(n) * p;
    Moments { mean, sd: (mean * (1.0 - p)).sqrt() }
}

/// Poisson weights of mean `n/cells` for counts `0..=n`, scaled to the sum 1.
///
/// Recurrence `w_{j+1} = w_j · mean/(j+1)` away from the mode in both directions, so the
/// largest weight starts at 1 and no weight overflows.
fn poisson_weights(n: usize, cells: f64) -> Vec<f64> {
    let mean = n as f64 / cells;
    let mode = mean as usize;
    let mut weights = vec![0.0; n + 1];
    weights[mode] = 1.0;
    for j in mode..n {
        weights[j + 1] = weights[j] * mean / (j + 1) as f64;
    }
    for j in (1..=mode).rev() {
        weights[j - 1] = weights[j] * j as f64 / mean;
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

/// Weight of all ways in which `cells` independent counts add up to `n`.
fn ways_to_reach(n: usize, weights: &[f64], cells: u32) -> f64 {
    let others = convolution_power(weights, cells - 1, n);
    let last_cell = weights.iter().enumerate();
    last_cell.filter_map(|(j, w)| others.get(n.checked_sub(j)?).map(|o| w * o)).sum()
}

/// `weights` convolved with itself to `power` factors, cut off above `n`.
fn convolution_power(weights: &[f64], power: u32, n: usize) -> Vec<f64> {
    let mut result = vec![1.0];
    let mut square = weights.to_vec();
    let mut left = power;
    while left > 0 {
        if left % 2 == 1 {
            result = convolution(&result, &square, n);
        }
        left /= 2;
        if left > 0 {
            square = convolution(&square, &square, n);
        }
    }
    result
}

fn convolution(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let length = (a.len() + b.len() - 1).min(n + 1);
    let mut result = vec![0.0; length];
    for (i, weight) in a.iter().enumerate() {
        for (slot, other) in result[i..].iter_mut().zip(b) {
            *slot += weight * other;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousand_clients_in_five_bins_peak_as_published() {
        let moments = largest_cell(1000, 5).unwrap();
        assert!((moments.mean - 216.577).abs() <= 5.001e-4, "{moments:?}");
        assert!((moments.sd - 7.180).abs() <= 5.001e-4, "{moments:?}");
    }

    #[test]
    fn a_binomial_peak_is_as_published() {
        let moments = binomial(1000, 0.8);
        assert_eq!(moments.mean, 800.0);
        assert!((moments.sd - 12.649).abs() <= 5.001e-4);
        assert!(binomial(10, 1.5).mean.is_nan());
    }

    #[test]
    fn small_cases_can_be_counted_by_hand() {
        // Two in two cells: half the outcomes are (1, 1), half have both in one cell.
        let two = largest_cell(2, 2).unwrap();
        assert!((two.mean - 1.5).abs() < 1e-12 && (two.sd - 0.5).abs() < 1e-12);
        // Three in three cells: 6 of 27 all apart, 3 of 27 all together, else two.
        let three = largest_cell(3, 3).unwrap();
        let mean = (6.0 + 18.0 * 2.0 + 3.0 * 3.0) / 27.0;
        let square = (6.0 + 18.0 * 4.0 + 3.0 * 9.0) / 27.0;
        assert!((three.mean - mean).abs() < 1e-12);
        assert!((three.sd * three.sd - (square - mean * mean)).abs() < 1e-12);
    }

    #[test]
    fn edge_cases_are_certain() {
        let certain = |value: f64| Some(Moments { mean: value, sd: 0.0 });
        assert_eq!(largest_cell(0, 5), certain(0.0));
        assert_eq!(largest_cell(7, 1), certain(7.0));
        assert_eq!(largest_cell(1, 9), certain(1.0));
        assert_eq!(largest_cell(5, 0), None);
    }
}
