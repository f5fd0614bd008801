//! A condition on numbers that have names, in the language of formulas: `peak_bin > 1.5 * capacity`.

use super::op::Op;
use super::parse::{Fault, Node, Place, is_word, parse};

/// One comparison of two sums of named numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    op: Op,
    left: Node,
    right: Node,
}

impl Condition {
    /// Reads a condition; what is wrong is said with a caret under it.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let node = parse(text).map_err(|fault| fault.shown(text))?;
        if let Some((place, what)) = improper(&node) {
            let sentence = format!("{what} has no place in a condition");
            return Err(Fault { place, sentence }.shown(text));
        }
        let no_comparison =
            || format!("\"{text}\" compares nothing; write <, <=, >, >=, == or != and a number");
        let Node::Call(op, sides) = node else { return Err(no_comparison()) };
        match (op.compares(), <[Node; 2]>::try_from(sides)) {
            (true, Ok([left, right])) => Ok(Condition { text: text.to_owned(), op, left, right }),
            _ => Err(no_comparison()),
        }
    }

    /// A name as it is written in a condition: in backquotes unless it is one word.
    pub fn quoted(name: &str) -> String {
        if is_word(name) { name.to_owned() } else { format!("`{name}`") }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Refuses names that `known` does not have; `hint` says what may have been meant.
    pub fn check_names(
        &self,
        known: &[&str],
        hint: fn(&str, &[&str]) -> String,
    ) -> Result<(), String> {
        let Some((name, place)) = self.names().find(|(name, _)| !known.contains(name)) else {
            return Ok(());
        };
        // `group_a-b_peak_bin` without quotes is a difference.
        let unquoted = |known: &&&str| {
            !is_word(known) && known.starts_with(name) && self.text.contains(**known)
        };
        let hint = match known.iter().find(unquoted) {
            Some(whole) => format!("; write the name in backquotes: `{whole}`"),
            None => hint(name, known),
        };
        let sentence = format!("there is no metric `{name}`{hint}");
        Err(Fault { place, sentence }.shown(&self.text))
    }

    /// True when it has this name in it.
    pub fn names_has(&self, wanted: &str) -> bool {
        self.names().any(|(name, _)| name == wanted)
    }

    fn names(&self) -> impl Iterator<Item = (&str, Place)> {
        let mut found = Vec::new();
        names(&self.left, &mut found);
        names(&self.right, &mut found);
        found.into_iter()
    }

    /// What its two sides are, where all their names have a value.
    pub fn sides(&self, value: &impl Fn(&str) -> Option<f64>) -> Option<(f64, f64)> {
        Some((evaluate(&self.left, value)?, evaluate(&self.right, value)?))
    }

    /// True when its left side is to be the larger one, false for the smaller one; None for == and !=.
    pub fn is_more(&self) -> Option<bool> {
        match self.op {
            Op::More | Op::AtLeast => Some(true),
            Op::Less | Op::AtMost => Some(false),
            _ => None,
        }
    }

    /// Whether it holds between two numbers.
    pub fn holds(&self, (left, right): (f64, f64)) -> bool {
        self.op.apply(left, right, 0.0, || 0.0) != 0.0
    }
}

/// A part of a formula that needs a wait or a draw.
fn improper(node: &Node) -> Option<(Place, &'static str)> {
    match node {
        Node::Last(_, place) => Some((*place, "last()")),
        Node::Call(Op::Uniform, values) => {
            Some((values.iter().find_map(first_place).unwrap_or((0, 1)), "uniform()"))
        }
        Node::Call(_, values) => values.iter().find_map(improper),
        Node::Number(_) | Node::Name(..) => None,
    }
}

fn first_place(node: &Node) -> Option<Place> {
    match node {
        Node::Name(_, place) | Node::Last(_, place) => Some(*place),
        Node::Call(_, values) => values.iter().find_map(first_place),
        Node::Number(_) => None,
    }
}

fn names<'a>(node: &'a Node, found: &mut Vec<(&'a str, Place)>) {
    match node {
        Node::Name(name, place) => found.push((name, *place)),
        Node::Call(_, values) => values.iter().for_each(|value| names(value, found)),
        Node::Number(_) | Node::Last(..) => {}
    }
}

fn evaluate(node: &Node, value: &impl Fn(&str) -> Option<f64>) -> Option<f64> {
    match node {
        Node::Number(number) => Some(*number),
        Node::Name(name, _) => value(name),
        Node::Last(..) => None,
        Node::Call(op, values) => {
            let mut found = [0.0; 3];
            for (place, node) in found.iter_mut().zip(values) {
                *place = evaluate(node, value)?;
            }
            let [a, b, c] = found;
            Some(op.apply(a, b, c, || 0.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> Option<f64> {
        match name {
            "peak_bin" => Some(40.0),
            "capacity" => Some(20.0),
            _ => None,
        }
    }

    #[test]
    fn a_condition_holds_or_does_not() {
        for (text, holds) in [
            ("peak_bin > 1.5 * capacity", true),
            ("peak_bin <= 1.5*capacity", false),
            ("peak_bin == 2 * capacity", true),
            ("max(peak_bin, 50) / capacity >= 2.5", true),
            ("peak_bin * 1s < 1min", true),
        ] {
            let condition = Condition::parse(text).unwrap();
            assert_eq!(condition.holds(condition.sides(&value).unwrap()), holds, "{text}");
            assert_eq!(condition.text(), text);
        }
        let unknown = Condition::parse("completion_p99_s > 5s").unwrap();
        assert_eq!(unknown.sides(&value), None, "without a value");
        assert!(unknown.names_has("completion_p99_s") && !unknown.names_has("capacity"));
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for (text, part) in [
            ("peak_bin", "compares nothing"),
            ("peak_bin + 1", "compares nothing"),
            ("peak_bin >", "a value is missing"),
            ("peak_bin > uniform(peak_bin, 2)", "uniform() has no place"),
            ("peak_bin > last(peak_bin)", "last() has no place"),
            ("peak_bin => 5", "`=` means nothing here"),
            ("", "a value is missing"),
        ] {
            let error = Condition::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let condition = Condition::parse("peak_bim > 5").unwrap();
        let hint = |name: &str, known: &[&str]| format!("; {name} of {}", known.len());
        let error = condition.check_names(&["peak_bin", "retries"], hint).unwrap_err();
        assert!(error.contains("no metric `peak_bim`; peak_bim of 2"), "{error}");
    }

    #[test]
    fn a_name_in_backquotes_may_have_any_character() {
        let known = ["group_a-b_retries", "group_a"];
        let none = |_: &str, _: &[&str]| String::new();
        let condition = Condition::parse("2 * `group_a-b_retries` - group_a > 7").unwrap();
        assert_eq!(condition.check_names(&known, none), Ok(()));
        let value = |name: &str| Some(if name == "group_a" { 2.0 } else { 5.0 });
        assert_eq!(condition.sides(&value), Some((8.0, 7.0)));
        assert_eq!(Condition::quoted(known[0]), "`group_a-b_retries`");
        assert_eq!(Condition::quoted(known[1]), "group_a");
        let bare = Condition::parse("group_a-b_retries > 7").unwrap();
        let error = bare.check_names(&known[..1], none).unwrap_err();
        assert!(error.contains("write the name in backquotes: `group_a-b_retries`"), "{error}");
        for (text, part) in [
            ("`a-b > 7", "the ` is not closed"),
            ("`` > 7", "there is no name between ` and `"),
            ("`min`(1, 2) > 7", "nothing more was expected here"),
        ] {
            let error = Condition::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
