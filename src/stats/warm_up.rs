//! How much of a series to cut off because it remembers how it began.

use super::running::Running;

/// Values that are averaged before they are looked at.
const BATCH: usize = 5;

/// How many values to cut off the front of a series by MSER-5, a multiple of five.
///
/// Of all cuts within the first half it takes the one after which the standard error of the mean, as if
/// values were independent, is smallest; the series is averaged in fives first. `None` when the
/// best cut is at the very end of that half, or there are fewer than ten fives: the series is too short to
/// tell. Source: K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation
/// heuristics for simulation", Winter Simulation Conference (2000),
/// <https://doi.org/10.1109/WSC.2000.899921>.
pub fn mser5(values: &[f64]) -> Option<usize> {
    let means: Vec<f64> =
        values.chunks_exact(BATCH).map(|five| five.iter().sum::<f64>() / BATCH as f64).collect();
    let half = means.len() / 2;
    if half < 5 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    // From the back, so that each cut has what is left behind it.
    let mut left = Running::default();
    let (mut best, mut cut) = (f64::INFINITY, 0);
    for (index, value) in means.iter().enumerate().rev() {
        left.add(*value);
        let n = f64::from(left.n());
        let marginal = left.squares() / (n * n);
        // The shortest of equal cuts.
        if index <= half && marginal <= best {
            (best, cut) = (marginal, index);
        }
    }
    (cut < half).then_some(cut * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_is_off_is_cut_and_no_more() {
        let wave = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let series: Vec<f64> = (0..1_000).map(|i| if i < 100 { 50.0 } else { wave(i) }).collect();
        assert_eq!(mser5(&series), Some(100));
        let steady: Vec<f64> = (0..1_000).map(wave).collect();
        assert!(mser5(&steady).unwrap() < 10);
        assert_eq!(mser5(&[3.0; 100]), Some(0));
    }

    #[test]
    fn a_series_that_never_settles_is_too_short() {
        let ramp: Vec<f64> = (0..1_000).map(f64::from).collect();
        assert_eq!(mser5(&ramp), None);
        assert_eq!(mser5(&[1.0; 49]), None);
        assert_eq!(mser5(&[]), None);
        assert_eq!(mser5(&[f64::NAN; 100]), None);
    }
}
