//! The names in a formula: known, used, and not made of themselves.

use std::collections::BTreeMap;

use super::op::FUNCTIONS;
use super::parse::{Fault, Node, Place};

/// Names that have a value in every formula.
const VALUES: [&str; 3] = ["n", "prev", "status"];

/// A part's name is a word without a meaning of its own.
pub(super) fn check_part(name: &str) -> Result<(), String> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let plain = name.chars().all(|c| letter(c) || c.is_ascii_digit());
    if !plain || !name.starts_with(letter) {
        return Err(format!("the name \"{name}\" does not fit; use letters, digits and _"));
    }
    let taken = ["n", "prev", "status", "last"].contains(&name)
        || FUNCTIONS.iter().any(|(f, ..)| *f == name);
    if taken {
        return Err(format!("`{name}` has a meaning of its own in formulas; choose another name"));
    }
    Ok(())
}

/// Every name is known, every part is used, and no part is made of itself; `texts` gives the text
/// of a part.
pub(super) fn check<'a>(
    wait: &Node,
    text: &'a str,
    parts: &'a BTreeMap<String, Node>,
    texts: impl Fn(&str) -> &'a str,
) -> Result<(), String> {
    let mut walk = Walk { parts, texts, done: vec![], inside: vec![], remembered: vec![] };
    walk.node(wait, text)?;
    while let Some(name) = walk.remembered.pop() {
        walk.part(&name)?;
    }
    match parts.keys().find(|name| !walk.done.contains(name)) {
        None => Ok(()),
        Some(unused) => Err(format!(
            "the part `{unused}` is not used in the formula \"{text}\"; use it or leave it out"
        )),
    }
}

struct Walk<'a, F> {
    parts: &'a BTreeMap<String, Node>,
    texts: F,
    /// Parts that have been walked through.
    done: Vec<String>,
    /// Parts that the walk is inside of.
    inside: Vec<String>,
    /// Parts of which the value of the wait before is used: walked through later, because a part may be made
    /// of what it was.
    remembered: Vec<String>,
}

impl<'a, F: Fn(&str) -> &'a str> Walk<'a, F> {
    fn node(&mut self, node: &Node, text: &str) -> Result<(), String> {
        match node {
            Node::Number(_) => Ok(()),
            Node::Name(name, _) if VALUES.contains(&name.as_str()) => Ok(()),
            Node::Name(name, _) if self.inside.contains(name) => Err(format!(
                "the part `{name}` is made of itself; last({name}) is what it was at the wait before"
            )),
            Node::Name(name, place) | Node::Last(name, place) if !self.parts.contains_key(name) => {
                Err(self.unknown(name, *place, text))
            }
            Node::Name(name, _) => self.part(name),
            Node::Last(name, _) => {
                self.remembered.push(name.clone());
                Ok(())
            }
            Node::Call(_, nodes) => nodes.iter().try_for_each(|node| self.node(node, text)),
        }
    }

    fn part(&mut self, name: &str) -> Result<(), String> {
        if self.done.iter().any(|done| done == name) {
            return Ok(());
        }
        let Some(node) = self.parts.get(name) else { return Ok(()) };
        self.inside.push(name.to_owned());
        let text = (self.texts)(name);
        self.node(node, text).map_err(|sentence| format!("{name}: {sentence}"))?;
        self.inside.pop();
        self.done.push(name.to_owned());
        Ok(())
    }

    fn unknown(&self, name: &str, place: Place, text: &str) -> String {
        let mut known: Vec<&str> = VALUES.to_vec();
        known.extend(self.parts.keys().map(String::as_str));
        let hint = match FUNCTIONS.iter().any(|(function, ..)| *function == name) {
            true => format!("; {name} is a function, write {name}( … )"),
            false => suggest(name, &known),
        };
        Fault { place, sentence: format!("unknown name `{name}`{hint}") }.shown(text)
    }
}

/// "; did you mean …?" and what there is.
pub(super) fn suggest(found: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), *name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4 && *distance < name.len())
        .min();
    let known = known.join(", ");
    match near {
        Some((_, name)) => format!("; did you mean `{name}`? Known: {known}"),
        None => format!("; known: {known}"),
    }
}
