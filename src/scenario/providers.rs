//! What is wrong with the providers of a scenario.

use super::problem::{Problem, Step, name_problem, steps, suggest};
use super::{Group, Provider, Scenario};
use crate::server::{Action, Fault, Queue};

/// Most providers.
const MOST: usize = 16;

pub(super) fn problem(scenario: &Scenario) -> Option<Problem> {
    if let Some(problem) = priorities(scenario).or_else(|| fallbacks(scenario)) {
        return Some(problem);
    }
    let roots = (0..).map(|index| [Step::key("fallback"), Step::Index(index)].to_vec());
    let roots = std::iter::once(vec![Step::key("provider")]).chain(roots);
    scenario.providers().zip(roots).find_map(|(provider, root)| {
        let (below, text) = own_problem(scenario, provider)?;
        Some(([root, below].concat(), text))
    })
}

fn priorities(scenario: &Scenario) -> Option<Problem> {
    let index = scenario.groups.iter().position(|group: &Group| group.priority > 0)?;
    let text = "classes go before each other in a queue, and there is none; write provider.queue, such as { fifo = { limit = 100 } }";
    let queue = scenario.providers().any(|provider| provider.queue.is_some());
    (!queue).then(|| (scenario.groups[index].path(index, "priority"), text.to_owned()))
}

/// Names of providers, and layers that fall back to them.
fn fallbacks(scenario: &Scenario) -> Option<Problem> {
    let fallback =
        |index: usize, key: &str| vec![Step::key("fallback"), Step::Index(index), Step::key(key)];
    if scenario.fallback.len() >= MOST {
        let text = format!("{} are too many; at most {}", scenario.fallback.len(), MOST - 1);
        return Some((steps(&["fallback"]), text));
    }
    if let Some(text) = scenario.provider.name.as_deref().and_then(name_problem) {
        return Some((steps(&["provider", "name"]), text));
    }
    for (index, provider) in scenario.fallback.iter().enumerate() {
        let Some(name) = &provider.name else {
            let text = "the key `name` is missing; write text in quotes, by which metrics call it";
            return Some((fallback(index, "name"), text.to_owned()));
        };
        let before = scenario.providers().take(index + 1);
        let text = name_problem(name).or_else(|| {
            before
                .map(Provider::label)
                .any(|label| label == name)
                .then(|| format!("two providers are called \"{name}\"; give each its own name"))
        });
        if let Some(text) = text {
            return Some((fallback(index, "name"), text));
        }
    }
    let uses = |group: &Group| group.client.layers.iter().any(|layer| layer.fallback);
    if !scenario.fallback.is_empty() && !scenario.groups.iter().any(uses) {
        let text = "nobody falls back; write fallback = true and max_attempts in a layer around the one that retries, or leave [[fallback]] out";
        return Some((steps(&["fallback"]), text.to_owned()));
    }
    scenario.groups.iter().enumerate().find_map(|(index, group)| {
        let (layer, text) = falling_layers(group, scenario.fallback.len())?;
        let below = [Step::key("layers"), Step::Index(layer), Step::key("fallback")];
        Some(([&group.path(index, "client"), &below[..]].concat(), text))
    })
}

/// What is wrong with the layers of a group that fall back to one of `fallbacks`: the number of a
/// layer and a sentence.
fn falling_layers(group: &Group, fallbacks: usize) -> Option<(usize, String)> {
    let layers = group.client.layers.iter().enumerate();
    let mut falling = layers.filter(|(_, layer)| layer.fallback);
    let (first, layer) = falling.next()?;
    if let Some((second, _)) = falling.next() {
        let text = "one layer inside falls back already; leave fallback out of one of them";
        return Some((second, text.to_owned()));
    }
    if fallbacks == 0 {
        let text = "there is nothing to fall back to; write [[fallback]] with a name and the keys of [provider]";
        return Some((first, text.to_owned()));
    }
    (layer.max_attempts == 1).then(|| {
        let text = format!(
            "with one attempt a layer never falls back; write max_attempts = {} for each provider once",
            fallbacks + 1
        );
        (first, text)
    })
}

/// What is wrong with one provider: the path below it and a sentence.
fn own_problem(scenario: &Scenario, provider: &Provider) -> Option<Problem> {
    if !(400..=599).contains(&provider.overload_status) {
        let text =
            format!("the status {} is not an error; write 400 to 599", provider.overload_status);
        return Some((steps(&["overload_status"]), text));
    }
    if let Some((key, text)) = provider.queue.and_then(Queue::problem) {
        return Some((steps(&["queue", "", key]), text));
    }
    if let Some(text) = slower_when_full(provider) {
        return Some((steps(&["slower_when_full"]), text));
    }
    if let Some((key, text)) = provider.cache.and_then(|cache| cache.problem()) {
        return Some((steps(&["cache", key]), text));
    }
    if let Some((key, text)) = provider.row.and_then(|row| row.problem()) {
        return Some((steps(&["row", key]), text));
    }
    if let Some((below, text)) = provider.limits.problem() {
        return Some((steps(&[&["limits"], &below[..]].concat()), text));
    }
    if provider.limits.spend.is_some() && provider.billing.price().is_none() {
        let text = "a spend cap needs prices; write provider.billing.price, or leave it out";
        return Some((steps(&["limits", "spend"]), text.to_owned()));
    }
    for (index, fault) in provider.faults.iter().enumerate() {
        if let Some((key, text)) = fault.problem().or_else(|| without_cache(provider, fault)) {
            let mut path = vec![Step::key("faults"), Step::Index(index), Step::Kind];
            path.extend((!key.is_empty()).then(|| Step::key(key)));
            return Some((path, text));
        }
    }
    for (index, action) in provider.actions.iter().enumerate() {
        let problem = action.problem().or_else(|| without_object(scenario, provider, action));
        if let Some((key, text)) = problem {
            let path = [Step::key("actions"), Step::Index(index), Step::Kind, Step::key(key)];
            return Some((path.to_vec(), text));
        }
    }
    let (key, text) = provider.billing.problem()?;
    Some((steps(&["billing", key]), text))
}

fn slower_when_full(provider: &Provider) -> Option<String> {
    let factor = provider.slower_when_full?;
    if !(1.0..=1000.0).contains(&factor) {
        return Some(format!("slower_when_full = {factor} is out of range; write 1 to 1000"));
    }
    let endless = provider.concurrency.is_none();
    endless.then(|| "unlimited places are never full; write provider.concurrency".to_owned())
}

/// A loss of a cache that is not there.
fn without_cache(provider: &Provider, fault: &Fault) -> Option<(&'static str, String)> {
    let loses = matches!(fault, Fault::CacheLoss(_)) && provider.cache.is_none();
    let text = "there is no cache to lose; write provider.cache, such as { entries = 10000, hit = \"1ms\" }";
    loses.then(|| ("", text.to_owned()))
}

/// An action on a layer or a limit that is not there.
fn without_object(
    scenario: &Scenario,
    provider: &Provider,
    action: &Action,
) -> Option<(&'static str, String)> {
    match action {
        Action::Timeout(set) => {
            let layers = scenario.groups.iter().flat_map(|group| &group.client.layers);
            let mut names: Vec<&str> = layers.map(|layer| layer.name.as_str()).collect();
            names.dedup();
            let layer = set.layer.as_str();
            let text = || format!("no layer is called \"{layer}\"{}", suggest(layer, &names));
            (!names.contains(&layer)).then(|| ("layer", text()))
        }
        Action::Limit(set) => {
            let limits = &provider.limits;
            let key = set.of.key();
            let Some(limit) = limits.rate(set.of) else {
                let text = format!(
                    "there is no limit on {key} to change; write it in provider.limits, such as provider.limits.requests"
                );
                return Some(("of", text));
            };
            let (key, text) = set.changed(limit).problem(set.of)?;
            Some((if key == "burst" { key } else { "rate" }, text))
        }
        _ => None,
    }
}
