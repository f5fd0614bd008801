//! The outlines of the step curves, in data coordinates.

use super::columns::Column;

/// A position on the axes: seconds, and attempts per window.
pub type Place = (f64, f64);

/// The top of a step curve from the first column to the last, two points for each column.
pub fn top(columns: &[Column], value: impl Fn(&Column) -> f64) -> Vec<Place> {
    columns
        .iter()
        .flat_map(|column| {
            let height = value(column);
            [(column.start_s, height), (column.end_s, height)]
        })
        .collect()
}

/// The area between two step curves.
pub fn between(
    columns: &[Column],
    low: impl Fn(&Column) -> f64,
    high: impl Fn(&Column) -> f64,
) -> Vec<Place> {
    let mut outline = top(columns, high);
    outline.extend(top(columns, low).into_iter().rev());
    outline
}

/// The step curve in pieces that start and end at zero. Stretches without load are left out: a
/// thick line along the axis would look like a little load.
pub fn pieces(columns: &[Column], value: impl Fn(&Column) -> f64) -> Vec<Vec<Place>> {
    columns
        .split(|column| value(column) <= 0.0)
        .filter_map(|run| {
            let (first, last) = (run.first()?, run.last()?);
            let mut piece = vec![(first.start_s, 0.0)];
            piece.extend(top(run, &value));
            piece.push((last.end_s, 0.0));
            Some(piece)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(means: &[f64]) -> Vec<Column> {
        let column = |(index, &mean): (usize, &f64)| Column {
            start_s: index as f64,
            end_s: index as f64 + 1.0,
            first: 0.0,
            mean,
            low: 0.0,
            high: mean,
        };
        means.iter().enumerate().map(column).collect()
    }

    #[test]
    fn a_gap_splits_the_line() {
        let pieces = pieces(&columns(&[2.0, 0.0, 0.0, 3.0]), |column| column.mean);
        let expected = [
            vec![(0.0, 0.0), (0.0, 2.0), (1.0, 2.0), (1.0, 0.0)],
            vec![(3.0, 0.0), (3.0, 3.0), (4.0, 3.0), (4.0, 0.0)],
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn an_area_goes_there_and_back() {
        let area = between(&columns(&[2.0]), |_| 1.0, |column| column.mean);
        assert_eq!(area, [(0.0, 2.0), (1.0, 2.0), (1.0, 1.0), (0.0, 1.0)]);
    }
}
