//! Addition that carries its rounding errors along.

/// Sum of the values in their order, with the lost low parts added back at the end.
///
/// Source: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher
/// Summen", ZAMM 54 (1974), <https://doi.org/10.1002/zamm.19740540106>.
pub(super) fn compensated_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        // What the smaller of the two summands contributed less than it should have.
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_survive_large_ones() {
        assert_eq!(compensated_sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(compensated_sum([0.1; 10]), 1.0);
        assert_eq!(compensated_sum([]), 0.0);
    }
}
