//! Service time from measured tables: prefill by the length of the prompt, then tokens at a pace
//! that depends on how many answers are decoded together.

use serde::{Deserialize, Serialize};

use crate::units::{LONGEST, Span};

/// Times from measured tables, with straight lines between their points; the last line goes on
/// unless it falls. The load at its start holds for a whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PrefillDecode {
    /// A measured model on a machine by name; see `retrylab presets`. What is written beside it
    /// wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Time to first token by prompt tokens, in ascending order, such as `[[128, "58ms"], [256,
    /// "62ms"]]`.
    pub prefill: Vec<(u64, Span)>,
    /// Time per token by the number of answers that one machine decodes together, in ascending
    /// order.
    pub decode: Vec<(u64, Span)>,
    /// Machines that share the answers in service evenly, 1 or more.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub machines: u32,
}

fn one() -> u32 {
    1
}

impl PrefillDecode {
    /// Time to first token in nanoseconds.
    pub fn first(&self, input: u64) -> u64 {
        at(&self.prefill, input)
    }

    /// Service time in nanoseconds of an answer that starts when `busy` are in service, itself
    /// included. The load at its start holds for the whole answer.
    pub fn whole(&self, input: u64, output: u64, busy: u32) -> u64 {
        let batch = busy.max(1).div_ceil(self.machines.max(1));
        let decoding = u128::from(output) * u128::from(at(&self.decode, batch.into()));
        let whole = u128::from(self.first(input)) + decoding;
        whole.min(u128::from(LONGEST)) as u64
    }

    /// What is wrong with the parameters.
    pub fn problem(&self) -> Option<String> {
        if self.machines == 0 {
            return Some("0 machines serve nobody; write machines = 1 or more".to_owned());
        }
        let tables = [("prefill", &self.prefill), ("decode", &self.decode)];
        tables.into_iter().find_map(|(key, table)| {
            let ascending = table.windows(2).all(|pair| pair[0].0 < pair[1].0);
            let good = !table.is_empty() && ascending;
            (!good).then(|| {
                format!("{key} needs points in ascending order, such as [[128, \"58ms\"], [256, \"62ms\"]]")
            })
        })
    }
}

/// The value at `x` on straight lines through the points. Before the first point its value holds;
/// after the last one the last line goes on, unless it falls: then the last value holds, because
/// a fall between two measurements does not foretell a machine that is ever faster.
fn at(table: &[(u64, Span)], x: u64) -> u64 {
    let Some((first, last)) = table.first().zip(table.last()) else { return 0 };
    if table.len() == 1 || x <= first.0 {
        return first.1.nanos();
    }
    let right = table.partition_point(|(point, _)| *point < x).min(table.len() - 1);
    let ((x0, y0), (x1, y1)) = (table[right - 1], table[right]);
    let (y0, y1) = (i128::from(y0.nanos()), i128::from(y1.nanos()));
    if x >= last.0 && y1 <= y0 {
        return last.1.nanos();
    }
    let run = i128::from(x1 - x0);
    let y = y0 + (y1 - y0) * (i128::from(x) - i128::from(x0)) / run;
    y.clamp(0, i128::from(LONGEST)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Span {
        Span::from_nanos(n * 1_000_000)
    }

    fn measured(machines: u32) -> PrefillDecode {
        PrefillDecode {
            preset: None,
            prefill: vec![(100, ms(50)), (200, ms(70)), (400, ms(170))],
            decode: vec![(1, ms(10)), (3, ms(20))],
            machines,
        }
    }

    #[test]
    fn points_are_joined_by_lines() {
        let service = measured(1);
        let first = [0, 100, 150, 200, 300, 400, 500].map(|n| service.first(n) / 1_000_000);
        assert_eq!(first, [50, 50, 60, 70, 120, 170, 220]);
    }

    #[test]
    fn a_fall_at_the_end_does_not_go_on() {
        let table = [(1, ms(10)), (2, ms(30)), (4, ms(20))];
        let values = [2, 3, 4, 5, 1_000].map(|x| at(&table, x) / 1_000_000);
        assert_eq!(values, [30, 25, 20, 20, 20]);
    }

    #[test]
    fn a_fuller_machine_decodes_more_slowly() {
        let whole = |machines, busy| measured(machines).whole(100, 10, busy) / 1_000_000;
        assert_eq!([whole(1, 1), whole(1, 2), whole(1, 3), whole(1, 5)], [150, 200, 250, 350]);
        // Two machines: five answers are three on the fuller one.
        assert_eq!([whole(2, 2), whole(2, 3), whole(2, 5)], [150, 200, 250]);
    }

    #[test]
    fn tables_must_ascend() {
        assert_eq!(measured(1).problem(), None);
        let mut falling = measured(1);
        falling.decode.reverse();
        assert!(falling.problem().unwrap().contains("decode"));
        assert!(measured(0).problem().unwrap().contains("machines"));
    }
}
