//! From text to a tree: numbers, names and calls.
//!
//! ```text
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = sign { ("*" | "/") sign }
//! sign       = "-" sign | power
//! power      = atom [ ("^" | "**") sign ]
//! atom       = number [ unit ] | name | "`" any characters "`"
//!            | name "(" comparison { "," comparison } ")" | "(" comparison ")"
//! ```

use super::names::suggest;
use super::op::{FUNCTIONS, Op};
use crate::units;

/// A place in a text: the first character and how many.
pub(super) type Place = (usize, usize);

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) place: Place,
    pub(super) sentence: String,
}

impl Fault {
    /// The sentence, the text and a caret under the place.
    pub(super) fn shown(&self, text: &str) -> String {
        let (start, length) = self.place;
        // A long text is shown around the place.
        let skipped = if start > 100 { start - 40 } else { 0 };
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let line: String = text.chars().skip(skipped).take(140).map(plain).collect();
        let indent = " ".repeat(start - skipped);
        format!("{}\n    {line}\n    {indent}{}", self.sentence, "^".repeat(length.clamp(1, 40)))
    }
}

/// A part of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Number(f64),
    /// A name that stands for a value.
    Name(String, Place),
    /// `last(name)`: the value of a part when the wait before was computed.
    Last(String, Place),
    /// An operation on values, computed from left to right.
    Call(Op, Vec<Node>),
}

/// Deepest nesting: a text cannot exhaust the stack.
const DEEPEST: usize = 50;

/// Longest text.
const LONGEST: usize = 2_000;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    /// A name in backquotes, which no function has.
    Quoted(String),
    Symbol(&'static str),
    End,
}

/// Symbols, longer ones first.
const SYMBOLS: [&str; 15] =
    ["**", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ","];

/// Reads a formula.
pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    if text.len() > LONGEST {
        let sentence =
            format!("the formula is longer than {LONGEST} characters; give parts a name");
        return Err(Fault { place: (0, 1), sentence });
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let node = parser.comparison()?;
    match parser.peek() {
        Token::End => Ok(node),
        _ => Err(parser.fault(
            "nothing more was expected here; write an operator such as + - * / ^ before it",
        )),
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, Place)>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() || first == '.' {
            number(rest)
                .map_err(|(length, sentence)| Fault { place: place(text, at, length), sentence })?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let name = word(rest);
            (Token::Name(name.to_owned()), name.len())
        } else if first == '`' {
            let name =
                quoted(rest).map_err(|sentence| Fault { place: place(text, at, 1), sentence })?;
            (Token::Quoted(name.to_owned()), name.len() + 2)
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            let sentence = format!(
                "`{first}` means nothing here; write numbers, names, + - * / ^ ( ) or a comparison"
            );
            return Err(Fault { place: place(text, at, first.len_utf8()), sentence });
        };
        tokens.push((token, place(text, at, length)));
        at += length;
    }
    tokens.push((Token::End, place(text, at, 1)));
    Ok(tokens)
}

/// Characters instead of bytes, for carets.
fn place(text: &str, at: usize, length: usize) -> Place {
    (text[..at].chars().count(), length)
}

/// The name in backquotes at the start of `text`.
fn quoted(text: &str) -> Result<&str, String> {
    match text[1..].split_once('`') {
        None => Err("the ` is not closed; write another ` after the name".to_owned()),
        Some(("", _)) => Err("there is no name between ` and `".to_owned()),
        Some((name, _)) => Ok(name),
    }
}

/// True for a name that needs no backquotes.
pub(super) fn is_word(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit()) && word(name).len() == name.len()
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// A number at the start of `text`, in seconds when a unit follows: `0.5`, `1e-3`, `500ms`.
fn number(text: &str) -> Result<(Token, usize), (usize, String)> {
    let plain = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let mut end = text.find(|c: char| !plain(c)).unwrap_or(text.len());
    let exponent =
        text[end..].strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['+', '-']));
    if exponent.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit())) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let digits = &text[end + 1 + sign..];
        end += 1 + sign + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    }
    let unit = word(&text[end..]);
    let whole = end + unit.len();
    let value = text[..end].replace('_', "").parse::<f64>().ok().filter(|value| value.is_finite());
    let Some(value) = value else {
        return Err((whole, format!("`{}` is not a number", &text[..whole])));
    };
    if unit.is_empty() {
        return Ok((Token::Number(value), whole));
    }
    match units::unit_nanos(unit) {
        Some(nanos) => {
            Ok((Token::Number(value * nanos as f64 / units::NANOS_PER_SECOND as f64), whole))
        }
        None => Err((
            whole,
            format!(
                "`{}` is neither a number nor a duration; write {} * {unit}, or a unit: ns, us, ms, s, min, h, d",
                &text[..whole],
                &text[..end]
            ),
        )),
    }
}

struct Parser {
    tokens: Vec<(Token, Place)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn fault(&self, sentence: &str) -> Fault {
        Fault { place: self.tokens[self.at].1, sentence: sentence.to_owned() }
    }

    /// Takes the symbol if it comes next.
    fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(found) if *found == symbol);
        self.at += usize::from(found);
        found
    }

    fn one_of<const N: usize>(&mut self, symbols: [&str; N]) -> Option<usize> {
        symbols.iter().position(|symbol| self.accept(symbol))
    }

    fn comparison(&mut self) -> Result<Node, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("nested too deeply; give parts a name"));
        }
        let left = self.sum()?;
        let operators = ["<", "<=", ">", ">=", "==", "!="];
        let node = match self.one_of(operators) {
            None => left,
            Some(index) => {
                let right = self.sum()?;
                let ops = [Op::Less, Op::AtMost, Op::More, Op::AtLeast, Op::Equal, Op::Unequal];
                Node::Call(ops[index], vec![left, right])
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn sum(&mut self) -> Result<Node, Fault> {
        let mut node = self.product()?;
        while let Some(index) = self.one_of(["+", "-"]) {
            node = Node::Call([Op::Add, Op::Subtract][index], vec![node, self.product()?]);
        }
        Ok(node)
    }

    fn product(&mut self) -> Result<Node, Fault> {
        let mut node = self.sign()?;
        while let Some(index) = self.one_of(["*", "/"]) {
            node = Node::Call([Op::Multiply, Op::Divide][index], vec![node, self.sign()?]);
        }
        Ok(node)
    }

    fn sign(&mut self) -> Result<Node, Fault> {
        if !self.accept("-") {
            return self.power();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("nested too deeply; give parts a name"));
        }
        let node = Node::Call(Op::Negate, vec![self.sign()?]);
        self.depth -= 1;
        Ok(node)
    }

    fn power(&mut self) -> Result<Node, Fault> {
        let base = self.atom()?;
        if self.one_of(["^", "**"]).is_none() {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("nested too deeply; give parts a name"));
        }
        let node = Node::Call(Op::Power, vec![base, self.sign()?]);
        self.depth -= 1;
        Ok(node)
    }

    fn atom(&mut self) -> Result<Node, Fault> {
        let (token, place) = self.tokens[self.at].clone();
        match token {
            Token::Number(value) => {
                self.at += 1;
                Ok(Node::Number(value))
            }
            Token::Name(name) => {
                self.at += 1;
                if self.accept("(") { self.call(&name, place) } else { Ok(Node::Name(name, place)) }
            }
            Token::Quoted(name) => {
                self.at += 1;
                Ok(Node::Name(name, place))
            }
            Token::Symbol("(") => {
                self.at += 1;
                let node = self.comparison()?;
                self.close("the bracket is not closed; write )")?;
                Ok(node)
            }
            Token::Symbol(_) | Token::End => Err(self.fault(
                "a value is missing here; write a number, a duration, a name or a function",
            )),
        }
    }

    fn close(&mut self, sentence: &str) -> Result<(), Fault> {
        if self.accept(")") { Ok(()) } else { Err(self.fault(sentence)) }
    }

    /// What follows `name(`.
    fn call(&mut self, name: &str, place: Place) -> Result<Node, Fault> {
        if name == "last" {
            return self.last();
        }
        let Some((_, op, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(known, ..)| *known).collect();
            let sentence = format!("unknown function `{name}`{}", suggest(name, &known));
            return Err(Fault { place, sentence });
        };
        let mut values = vec![self.comparison()?];
        while self.accept(",") {
            values.push(self.comparison()?);
        }
        self.close("the function is not closed; write ) or another value after a comma")?;
        if !(*least..=*most).contains(&values.len()) {
            let wanted =
                if least == most { format!("{least}") } else { format!("at least {least}") };
            let noun = if wanted == "1" { "value" } else { "values" };
            let sentence = format!("{name} takes {wanted} {noun}, found {}", values.len());
            return Err(Fault { place, sentence });
        }
        let mut values = values.into_iter();
        let Some(first) = values.next() else { unreachable!("one value was read") };
        match op {
            // The least of many is the least of two, again and again.
            Op::Min | Op::Max => {
                Ok(values.fold(first, |node, value| Node::Call(*op, vec![node, value])))
            }
            _ => Ok(Node::Call(*op, std::iter::once(first).chain(values).collect())),
        }
    }

    fn last(&mut self) -> Result<Node, Fault> {
        let (token, place) = self.tokens[self.at].clone();
        let Token::Name(name) = token else {
            return Err(self.fault("last() takes the name of a part, such as last(f)"));
        };
        self.at += 1;
        self.close("last() takes one name; write )")?;
        Ok(Node::Last(name, place))
    }
}
