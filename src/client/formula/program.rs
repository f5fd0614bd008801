//! A formula as a flat program: every line is a value, and may use the lines before it.
//!
//! Numbers stand in front, and are copied instead of computed.

use std::collections::BTreeMap;

use super::interval::{self, Interval};
use super::op::Op;
use super::parse::{Fault, Node, Place};
use crate::client::After;
use crate::rng::Stream;

/// Most lines of a program.
pub(super) const MOST_LINES: usize = 256;

/// Lines of a short program, whose values fit into a few cache lines.
const SHORT: usize = 16;

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// The retry's number, 0 for the first.
    Retry,
    /// The status of the failure before it, 0 without one.
    Status,
    /// What a cell held when the wait before was computed.
    Cell(u8),
    Apply(Op, [u8; 3]),
}

/// What is remembered from one wait of a call to the next; 0 at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// The wait itself, in seconds.
    Wait,
    /// The value of a part.
    Part(String),
}

/// A program for one retry, or for any.
#[derive(Clone, Debug)]
pub(super) struct Program {
    numbers: Vec<f64>,
    /// The first numbers, ready to be copied.
    short: [f64; SHORT],
    lines: Vec<Line>,
    /// Numbers that it draws.
    draws: usize,
    result: u8,
    /// For each cell that holds a part, the line that it takes over.
    keeps: Vec<Option<u8>>,
}

/// A value while a program is made: numbers get their places when all are known.
#[derive(Clone, Copy, Debug)]
enum Value {
    Number(f64),
    Line(usize),
}

/// Values of a line that uses none.
const NONE: [Value; 3] = [Value::Number(0.0); 3];

/// Makes a program of a tree and the parts that it names.
pub(super) struct Compiler<'a> {
    parts: &'a BTreeMap<String, Node>,
    cells: &'a [Cell],
    /// The retry that it is made for; None for any.
    retry: Option<u32>,
    /// Operations with what they use; of other lines only the first is meant.
    lines: Vec<(Line, [Value; 3])>,
    done: BTreeMap<&'a str, Value>,
}

impl Program {
    /// The program for `retry` (None: for any), with everything that needs neither a draw nor a
    /// cell computed beforehand.
    pub(super) fn new(
        wait: &Node,
        parts: &BTreeMap<String, Node>,
        cells: &[Cell],
        retry: Option<u32>,
    ) -> Result<Program, Fault> {
        let mut compiler =
            Compiler { parts, cells, retry, lines: Vec::new(), done: BTreeMap::new() };
        let result = compiler.value(wait)?;
        let mut keeps = Vec::new();
        for cell in cells {
            keeps.push(match cell {
                Cell::Wait => None,
                Cell::Part(name) => Some(compiler.part(name, (0, 1))?),
            });
        }
        compiler.finish(result, &keeps)
    }

    /// The wait in seconds, if it is always the same and nothing is remembered.
    pub(super) fn constant(&self) -> Option<f64> {
        let plain = self.lines.is_empty() && self.keeps.is_empty();
        self.numbers.get(usize::from(self.result)).copied().filter(|_| plain)
    }

    /// The wait in seconds before the retry after `after`; `cells` are read, and parts written back.
    #[inline]
    pub(super) fn run(&self, after: After, cells: &mut [u64], mut stream: Stream) -> f64 {
        if self.numbers.len() + self.lines.len() <= SHORT && self.draws <= 2 {
            let mut values = self.short;
            // One block of random bits serves two draws.
            let mut block = if self.draws > 0 { [stream.unit(), stream.unit()] } else { [0.0; 2] };
            self.run_in(&mut values, after, cells, || {
                block.swap(0, 1);
                block[1]
            })
        } else {
            let mut values = [0.0; MOST_LINES];
            values[..self.numbers.len()].copy_from_slice(&self.numbers);
            self.run_in(&mut values, after, cells, || stream.unit())
        }
    }

    #[inline]
    fn run_in<const N: usize>(
        &self,
        values: &mut [f64; N],
        after: After,
        cells: &mut [u64],
        mut draw: impl FnMut() -> f64,
    ) -> f64 {
        for (line, index) in self.lines.iter().zip(self.numbers.len()..) {
            values[index] = match *line {
                Line::Retry => f64::from(after.n),
                Line::Status => f64::from(after.status),
                Line::Cell(cell) => f64::from_bits(cells[usize::from(cell)]),
                Line::Apply(op, [a, b, c]) => {
                    let [a, b, c] = [a, b, c].map(|line| values[usize::from(line)]);
                    op.apply(a, b, c, &mut draw)
                }
            };
        }
        for (cell, keep) in cells.iter_mut().zip(&self.keeps) {
            if let Some(line) = keep {
                *cell = values[usize::from(*line)].to_bits();
            }
        }
        values[usize::from(self.result)]
    }

    /// Where the wait in seconds lies for retries in `n`, and what parts leave in their cells.
    pub(super) fn range(
        &self,
        n: Interval,
        cells: &[Interval],
    ) -> (Interval, Vec<Option<Interval>>) {
        let mut values: Vec<Interval> = self.numbers.iter().copied().map(Interval::point).collect();
        for line in &self.lines {
            values.push(match *line {
                Line::Retry => n,
                Line::Status => Interval::new(0.0, f64::from(After::MOST_STATUS)),
                Line::Cell(cell) => cells[usize::from(cell)],
                Line::Apply(op, args) => {
                    let [a, b, c] = args.map(|line| {
                        values.get(usize::from(line)).copied().unwrap_or(Interval::point(0.0))
                    });
                    interval::apply(op, a, b, c)
                }
            });
        }
        let kept = self.keeps.iter().map(|keep| keep.map(|line| values[usize::from(line)]));
        (values[usize::from(self.result)], kept.collect())
    }
}

impl<'a> Compiler<'a> {
    fn value(&mut self, node: &'a Node) -> Result<Value, Fault> {
        match node {
            Node::Number(value) => Ok(Value::Number(*value)),
            Node::Name(name, _) if name == "n" => match self.retry {
                Some(n) => Ok(Value::Number(f64::from(n))),
                None => self.push(Line::Retry, NONE),
            },
            Node::Name(name, _) if name == "status" => self.push(Line::Status, NONE),
            Node::Name(name, _) if name == "prev" => self.cell(&Cell::Wait),
            Node::Name(name, place) => self.part(name, *place),
            Node::Last(name, _) => self.cell(&Cell::Part(name.clone())),
            Node::Call(op, nodes) => self.call(*op, nodes),
        }
    }

    /// A part is computed where it is first named, once.
    fn part(&mut self, name: &str, place: Place) -> Result<Value, Fault> {
        if let Some(value) = self.done.get(name) {
            return Ok(*value);
        }
        let Some((name, node)) = self.parts.get_key_value(name) else {
            return Err(Fault { place, sentence: format!("unknown name `{name}`") });
        };
        let value = self.value(node)?;
        self.done.insert(name, value);
        Ok(value)
    }

    fn cell(&mut self, cell: &Cell) -> Result<Value, Fault> {
        let index = self.cells.iter().position(|known| known == cell).unwrap_or(0);
        self.push(Line::Cell(index as u8), NONE)
    }

    fn call(&mut self, op: Op, nodes: &'a [Node]) -> Result<Value, Fault> {
        let mut values = NONE;
        for (value, node) in values.iter_mut().zip(nodes) {
            *value = self.value(node)?;
        }
        let first = values[0];
        values[nodes.len()..].fill(first);
        let known = values.map(|value| match value {
            Value::Number(number) => Some(number),
            Value::Line(_) => None,
        });
        if let ([Some(a), Some(b), Some(c)], false) = (known, op == Op::Uniform) {
            return Ok(Value::Number(op.apply(a, b, c, || 0.0)));
        }
        self.push(Line::Apply(op, [0; 3]), values)
    }

    fn push(&mut self, line: Line, values: [Value; 3]) -> Result<Value, Fault> {
        if self.lines.len() == MOST_LINES {
            return Err(too_long());
        }
        self.lines.push((line, values));
        Ok(Value::Line(self.lines.len() - 1))
    }

    /// Puts the numbers in front, and numbers the places.
    fn finish(self, result: Value, keeps: &[Option<Value>]) -> Result<Program, Fault> {
        let mut numbers: Vec<f64> = Vec::new();
        let operations = self.lines.iter().filter(|(line, _)| matches!(line, Line::Apply(..)));
        let used = operations.flat_map(|(_, values)| values);
        for value in used.chain(keeps.iter().flatten()).chain([&result]) {
            if let Value::Number(number) = value
                && !numbers.iter().any(|known| known.to_bits() == number.to_bits())
            {
                numbers.push(*number);
            }
        }
        if numbers.len() + self.lines.len() > MOST_LINES {
            return Err(too_long());
        }
        let place = |value: &Value| match value {
            Value::Line(line) => (numbers.len() + line) as u8,
            Value::Number(number) => {
                let same = |known: &f64| known.to_bits() == number.to_bits();
                numbers.iter().position(same).unwrap_or(0) as u8
            }
        };
        let placed = |(line, values): &(Line, [Value; 3])| match line {
            Line::Apply(op, _) => Line::Apply(*op, [0, 1, 2].map(|i| place(&values[i]))),
            other => *other,
        };
        let lines: Vec<Line> = self.lines.iter().map(placed).collect();
        let draw = |line: &&Line| matches!(line, Line::Apply(Op::Uniform, _));
        let mut short = [0.0; SHORT];
        short.iter_mut().zip(&numbers).for_each(|(place, number)| *place = *number);
        Ok(Program {
            short,
            draws: lines.iter().filter(draw).count(),
            result: place(&result),
            keeps: keeps.iter().map(|keep| keep.as_ref().map(place)).collect(),
            lines,
            numbers,
        })
    }
}

fn too_long() -> Fault {
    let sentence = format!("the formula has more than {MOST_LINES} operations; make it shorter");
    Fault { place: (0, 1), sentence }
}
