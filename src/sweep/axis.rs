//! What a sweep varies: `PATH=v1,v2`, `PATH=lo..hi:log8`, `A,B=(1,2),(3,4)`.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::math;
use crate::units::{Rate, Span};

/// Paths that change together, and their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// As it was written.
    pub text: String,
    /// Keys of the scenario, or `policy`.
    pub paths: Vec<String>,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// One after the other; one text for each path.
    List(Vec<Vec<String>>),
    /// Between two ends.
    Range(Range),
}

#[derive(Clone, Debug, PartialEq)]
struct Range {
    low: Quantity,
    high: Quantity,
    /// The ends as they were written.
    ends: [String; 2],
    /// Even in the logarithm.
    log: bool,
    /// How many, ends included; None when they are drawn.
    points: Option<u32>,
}

/// Most points of a range.
const MOST_POINTS: u32 = 100_000;

/// A number with the unit that it is written in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    Whole(i64),
    Real(f64),
    Span(Span),
    Rate(Rate),
}

impl Quantity {
    fn parse(text: &str) -> Option<Quantity> {
        let text = text.trim();
        if let Ok(whole) = i64::from_str(text) {
            return Some(Quantity::Whole(whole));
        }
        if let Some(real) = f64::from_str(text).ok().filter(|real| real.is_finite()) {
            return Some(Quantity::Real(real));
        }
        let span = Span::from_str(text).ok().map(Quantity::Span);
        span.or_else(|| Rate::from_str(text).ok().map(Quantity::Rate))
    }

    /// Its size, in seconds or per second where it has a unit.
    fn size(self) -> f64 {
        match self {
            Quantity::Whole(whole) => whole as f64,
            Quantity::Real(real) => real,
            Quantity::Span(span) => span.seconds(),
            Quantity::Rate(rate) => rate.hertz(),
        }
    }

    /// The text of a number of this kind.
    fn with_size(self, size: f64) -> String {
        match self {
            Quantity::Whole(_) => format!("{}", size.round() as i64),
            Quantity::Real(_) => {
                let text = format!("{size}");
                if text.contains('.') { text } else { format!("{text}.0") }
            }
            Quantity::Span(_) => format!("{}s", nanoseconds(&format!("{size}"))),
            Quantity::Rate(_) => format!("{size}/s"),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Quantity::Whole(_) | Quantity::Real(_) => "number",
            Quantity::Span(_) => "duration",
            Quantity::Rate(_) => "rate",
        }
    }
}

/// A number to six significant digits.
fn six_digits(size: f64) -> f64 {
    // What `{:e}` rounds is what is printed.
    format!("{size:.5e}").parse().unwrap_or(size)
}

/// Cuts a text of seconds after its ninth decimal: nothing is finer than a nanosecond.
fn nanoseconds(text: &str) -> &str {
    let end = text.find('.').map_or(text.len(), |point| text.len().min(point + 10));
    &text[..end]
}

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Axis, String> {
        let help = || {
            format!(
                "\"{text}\": write PATH=v1,v2 or PATH=low..high:lin5 or PATH=low..high:log5, such as workload.clients=100,1000"
            )
        };
        let (left, right) = text.split_once('=').ok_or_else(help)?;
        let paths: Vec<String> = left.split(',').map(|path| path.trim().to_owned()).collect();
        if paths.iter().any(String::is_empty) || right.trim().is_empty() {
            return Err(help());
        }
        if let Some(twice) = (1..paths.len()).find(|i| paths[..*i].contains(&paths[*i])) {
            return Err(format!("\"{text}\": {} is there twice", paths[twice]));
        }
        let range = Range::parse(right).map_err(|problem| format!("\"{text}\": {problem}"))?;
        let values = match range {
            Some(_) if paths.len() > 1 => {
                return Err(format!(
                    "\"{text}\": paths that vary together need a list, such as ({}),({})",
                    ["1"].repeat(paths.len()).join(","),
                    ["2"].repeat(paths.len()).join(",")
                ));
            }
            Some(range) => Values::Range(range),
            None => Values::List(list(right, paths.len()).map_err(|p| format!("\"{text}\": {p}"))?),
        };
        Ok(Axis { text: text.to_owned(), paths, values })
    }
}

impl Range {
    /// None when the text is not a range.
    fn parse(text: &str) -> Result<Option<Range>, String> {
        let quoted = text.contains(['"', '\'', '{', '[', '(']);
        let Some((low, rest)) = text.split_once("..").filter(|_| !quoted) else { return Ok(None) };
        let (high, form) = match rest.split_once(':') {
            Some((high, form)) => (high, Some(form.trim())),
            None => (rest, None),
        };
        let end = |text: &str| {
            Quantity::parse(text).ok_or_else(|| {
                format!("the end \"{}\" is no number, duration or rate", text.trim())
            })
        };
        let ends = [low.trim().to_owned(), high.trim().to_owned()];
        let (low, high) = (end(low)?, end(high)?);
        if low.kind() != high.kind() {
            return Err(format!("one end is a {} and the other a {}", low.kind(), high.kind()));
        }
        if low.size() >= high.size() {
            return Err("the range is empty; write the smaller end first".to_owned());
        }
        let (log, points) = Range::form(form)?;
        if log && low.size() <= 0.0 {
            return Err("a logarithmic range starts above 0".to_owned());
        }
        // 1..2.5 is of real numbers.
        let low = match (low, high) {
            (Quantity::Whole(low), Quantity::Real(_)) => Quantity::Real(low as f64),
            _ => low,
        };
        Ok(Some(Range { low, high, ends, log, points }))
    }

    /// `lin5`, `log5`, or `lin` and `log` for ranges that are drawn from.
    fn form(form: Option<&str>) -> Result<(bool, Option<u32>), String> {
        let Some(form) = form else { return Ok((false, None)) };
        let help = || format!("the form \"{form}\" is none of lin5, log5, lin, log");
        let (log, count) = match (form.strip_prefix("log"), form.strip_prefix("lin")) {
            (Some(count), _) => (true, count),
            (None, Some(count)) => (false, count),
            (None, None) => return Err(help()),
        };
        if count.is_empty() {
            return Ok((log, None));
        }
        let points: u32 = count.parse().map_err(|_| help())?;
        if !(2..=MOST_POINTS).contains(&points) {
            return Err(format!("{points} points are out of range; write 2 to {MOST_POINTS}"));
        }
        Ok((log, Some(points)))
    }

    /// The value at a share of the way from the low end to the high one.
    fn at(&self, share: f64) -> String {
        let (low, high) = (self.low.size(), self.high.size());
        // The ends are exact.
        if share <= 0.0 || share >= 1.0 {
            let end = &self.ends[usize::from(share >= 1.0)];
            let real = matches!(self.low, Quantity::Real(_)) && !end.contains(['.', 'e']);
            return if real { format!("{end}.0") } else { end.clone() };
        }
        let size = match self.log {
            true => low * math::pow(high / low, share),
            false => low + (high - low) * share,
        };
        let rounded = six_digits(size);
        // Rounding must not leave a narrow range.
        self.low.with_size(if (low..=high).contains(&rounded) { rounded } else { size })
    }

    /// The value that is drawn by a share, 0 to below 1: like [`Range::at`], but that whole numbers
    /// are as likely at the ends as between them (in a logarithmic range each as the piece from it to
    /// the next), so that they are cut and not rounded.
    fn drawn(&self, share: f64) -> String {
        let Quantity::Whole(_) = self.low else { return self.at(share) };
        let (low, high) = (self.low.size(), self.high.size());
        let size = match self.log {
            true => low * math::pow((high + 1.0) / low, share),
            false => low + (high + 1.0 - low) * share,
        };
        self.low.with_size(size.floor().clamp(low, high))
    }

    fn grid(&self, points: u32) -> Vec<String> {
        let mut values: Vec<String> =
            (0..points).map(|i| self.at(f64::from(i) / f64::from(points - 1))).collect();
        // Whole numbers may be the same after rounding.
        values.dedup();
        values
    }
}

/// Values separated by commas, each in parentheses when there are several paths.
fn list(text: &str, paths: usize) -> Result<Vec<Vec<String>>, String> {
    let items = split(text)?;
    let values: Vec<Vec<String>> = match paths {
        1 => items.into_iter().map(|item| vec![item]).collect(),
        _ => items.iter().map(|item| tuple(item, paths)).collect::<Result<_, _>>()?,
    };
    if values.iter().flatten().any(String::is_empty) {
        return Err("a value is empty; write one between two commas".to_owned());
    }
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (place, value) in values.iter().enumerate() {
        let Some(first) = places.insert(value.iter().map(|v| identity(v)).collect(), place) else {
            continue;
        };
        let (first, second) = (values[first].join(","), value.join(","));
        return Err(match first == second {
            true => format!("{first} is there twice"),
            false => format!("{first} and {second} are the same value; write it once"),
        });
    }
    Ok(values)
}

/// What tells a value from others, whatever unit it is written in: `60s` is `1min`, and 1e1 is 10.
fn identity(value: &str) -> String {
    match Quantity::parse(plain(value)) {
        // Larger whole numbers would be rounded.
        Some(Quantity::Whole(whole)) if whole.unsigned_abs() > 1 << 53 => value.to_owned(),
        Some(quantity) => format!("{} {:?}", quantity.kind(), quantity.size()),
        None => plain(value).to_owned(),
    }
}

fn tuple(item: &str, paths: usize) -> Result<Vec<String>, String> {
    let inner = item.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let values = split(inner.ok_or_else(|| {
        format!(
            "\"{item}\" is not in parentheses; {paths} paths need {paths} values, such as (1,2)"
        )
    })?)?;
    match values.len() == paths {
        true => Ok(values),
        false => Err(format!("{item} has {} values for {paths} paths", values.len())),
    }
}

/// Splits at commas outside of quotes, brackets, braces and parentheses.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut items, mut item) = (Vec::new(), String::new());
    let mut open = Vec::new();
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(end), _) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, '(') => open.push(')'),
            (None, ']' | '}' | ')') if open.pop() != Some(c) => {
                return Err(format!("the \"{c}\" closes nothing"));
            }
            (None, ',') if open.is_empty() => {
                items.push(std::mem::take(&mut item).trim().to_owned());
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    if let Some(missing) = quote.or(open.pop()) {
        return Err(format!("the closing {missing} is missing"));
    }
    items.push(item.trim().to_owned());
    Ok(items)
}

impl Axis {
    /// All its values in order, a text for each path; None when they are drawn.
    pub fn grid(&self) -> Option<Vec<Vec<String>>> {
        match &self.values {
            Values::List(values) => Some(values.clone()),
            Values::Range(range) => {
                let points = range.points?;
                Some(range.grid(points).into_iter().map(|value| vec![value]).collect())
            }
        }
    }

    /// Values by which the kind of each column is told: all of a list, the ends of a range.
    pub fn samples(&self) -> Vec<Vec<String>> {
        match &self.values {
            Values::List(values) => values.clone(),
            Values::Range(range) => vec![vec![range.at(0.0)], vec![range.at(1.0)]],
        }
    }

    /// The value at a share, 0 to below 1, of the way through the axis.
    pub fn at(&self, share: f64) -> Vec<String> {
        match &self.values {
            Values::List(values) => {
                let index = (share * values.len() as f64) as usize;
                values[index.min(values.len() - 1)].clone()
            }
            Values::Range(range) => vec![range.drawn(share)],
        }
    }
}

/// What a column is called, with its unit, and how its values are written: durations in seconds,
/// rates per second.
pub fn column(path: &str, values: &[&str]) -> (String, fn(&str) -> String) {
    let all = |is: fn(&str) -> Option<f64>| {
        !values.is_empty() && values.iter().all(|value| is(plain(value)).is_some())
    };
    if all(seconds) {
        return (format!("{path}_s"), |value| shown(value, seconds));
    }
    if all(hertz) {
        return (format!("{path}_per_s"), |value| shown(value, hertz));
    }
    (path.to_owned(), |value| plain(value).to_owned())
}

fn seconds(value: &str) -> Option<f64> {
    Span::from_str(value).ok().map(Span::seconds)
}

fn hertz(value: &str) -> Option<f64> {
    Rate::from_str(value).ok().map(Rate::hertz)
}

fn shown(value: &str, size: fn(&str) -> Option<f64>) -> String {
    size(plain(value)).map_or_else(|| value.to_owned(), |size| size.to_string())
}

/// A text without the quotes around it: `"1s"` is `1s`.
fn plain(value: &str) -> &str {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"')
        .or_else(|| within('\''))
        .filter(|text| !text.contains(['"', '\'', '\\']))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Vec<String> {
        let axis: Axis = text.parse().unwrap();
        axis.grid().unwrap().into_iter().map(|value| value.join("|")).collect()
    }

    #[test]
    fn values_are_split_outside_of_brackets_and_quotes() {
        assert_eq!(grid("workload.clients=10, 20"), ["10", "20"]);
        assert_eq!(
            grid("a.queue={ fifo = { limit = 1, max_wait = \"8s\" } },{ lifo = {} }"),
            ["{ fifo = { limit = 1, max_wait = \"8s\" } }", "{ lifo = {} }"]
        );
        assert_eq!(grid("t=[1, 2],\"a,b\""), ["[1, 2]", "\"a,b\""]);
        assert_eq!(grid("t=1s,1,1/s"), ["1s", "1", "1/s"], "three values");
        assert_eq!(grid("a,b=(1,x),(2,[3, 4])"), ["1|x", "2|[3, 4]"]);
    }

    #[test]
    fn ranges_have_even_steps_and_exact_ends() {
        assert_eq!(grid("clients=10..10000:log4"), ["10", "100", "1000", "10000"]);
        assert_eq!(grid("clients=1..3:lin9"), ["1", "2", "3"], "whole numbers, each once");
        assert_eq!(grid("share=0..1.0:lin3"), ["0.0", "0.5", "1.0"]);
        assert_eq!(grid("t=100ms..10s:log3"), ["100ms", "1s", "10s"]);
        assert_eq!(grid("t=1s..2s:log3"), ["1s", "1.41421s", "2s"]);
        assert_eq!(grid("x=1234567.0..1234569.0:lin3"), ["1234567.0", "1234568.0", "1234569.0"]);
        assert_eq!(grid("r=60/min..4/s:log3"), ["60/min", "2/s", "4/s"]);
        assert_eq!(grid("t=1ns..3ns:lin3"), ["1ns", "0.000000002s", "3ns"]);
    }

    #[test]
    fn a_share_of_an_axis_is_a_value() {
        let axis: Axis = "x=a,b,c".parse().unwrap();
        assert_eq!([0.0, 0.34, 0.999].map(|share| axis.at(share).join("")), ["a", "b", "c"]);
        let axis: Axis = "x=1..100:log".parse().unwrap();
        assert_eq!(axis.grid(), None);
        assert_eq!(axis.at(0.5), ["10"]);
    }

    #[test]
    fn whole_numbers_are_drawn_alike() {
        let drawn = |text: &str| {
            let axis: Axis = text.parse().unwrap();
            let mut counts = std::collections::BTreeMap::<i64, u32>::new();
            for i in 0..1_000 {
                let value = axis.at((f64::from(i) + 0.5) / 1_000.0).join("");
                *counts.entry(value.parse().unwrap()).or_default() += 1;
            }
            counts
        };
        assert_eq!(drawn("n=3..7"), (3..=7).map(|n| (n, 200)).collect());
        assert_eq!(drawn("n=-1..0:lin"), [(-1, 500), (0, 500)].into());
        // Each up to the next: ln 2, ln 3/2, ln 4/3 of ln 4.
        assert_eq!(drawn("n=1..3:log"), [(1, 500), (2, 292), (3, 208)].into());
        let axis: Axis = "n=1..2000000".parse().unwrap();
        assert_eq!(axis.at(0.617_283_5), ["1234568"], "no digit is rounded away");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("clients", "PATH=v1,v2"),
            ("=5", "PATH=v1,v2"),
            ("a=", "PATH=v1,v2"),
            ("a=1,,2", "a value is empty"),
            ("a=1,1", "1 is there twice"),
            ("a=60s,2min,1min", "60s and 1min are the same value; write it once"),
            ("a=1/s,\"60/min\"", "1/s and \"60/min\" are the same value"),
            ("a=10,1e1", "10 and 1e1 are the same value"),
            ("a,b=(1s,x),(1000ms,x)", "1s,x and 1000ms,x are the same value"),
            ("a,a=(1,2)", "a is there twice"),
            ("a=[1,2", "the closing ] is missing"),
            ("a=1],2", "closes nothing"),
            ("a=1..x:lin3", "the end \"x\""),
            ("a=1s..5:lin3", "one end is a duration and the other a number"),
            ("a=5..1:lin3", "the smaller end first"),
            ("a=0..1:log3", "starts above 0"),
            ("a=1..2:cubic", "none of lin5, log5"),
            ("a=1..2:lin1", "2 to 100000"),
            ("a,b=1,2", "not in parentheses"),
            ("a,b=(1,2,3)", "3 values for 2 paths"),
            ("a,b=1..2:lin3", "need a list"),
        ] {
            let error = text.parse::<Axis>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn columns_carry_units() {
        let of = |path, values: &[&str]| {
            let (name, show) = column(path, values);
            (name, values.iter().map(|v| show(v)).collect::<Vec<_>>().join(","))
        };
        assert_eq!(of("t", &["500ms", "1min"]), ("t_s".to_owned(), "0.5,60".to_owned()));
        assert_eq!(of("r", &["60/min", "2/s"]), ("r_per_s".to_owned(), "1,2".to_owned()));
        assert_eq!(of("t", &["'500ms'", "\"1min\""]), ("t_s".to_owned(), "0.5,60".to_owned()));
        assert_eq!(of("q", &["\"a\"", "[\"b\"]"]), ("q".to_owned(), "a,[\"b\"]".to_owned()));
        assert_eq!(of("n", &["5", "x"]), ("n".to_owned(), "5,x".to_owned()));
    }
}
