//! What an unknown metric may have meant.

/// Names that are shown when nothing is written nearly like what was found.
const SHOWN: usize = 5;

/// "; did you mean …?", or the nearest few, and where all of them are: there can be hundreds.
pub fn nearest(found: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return String::new();
    }
    let mut near: Vec<(usize, &str)> =
        known.iter().map(|name| (distance(found, name), *name)).collect();
    near.sort_unstable();
    near.dedup();
    let (distance, first) = near[0];
    let hint = match distance <= 1 + first.len() / 4 {
        true => format!("did you mean `{first}`?"),
        false => {
            let names: Vec<&str> = near.iter().take(SHOWN).map(|(_, name)| *name).collect();
            format!("nearest: {}.", names.join(", "))
        }
    };
    format!("; {hint} All {} are listed by `retrylab run FILE -r 1 --csv`", near.len())
}

/// Edits from one to the other; a part of a name, such as `success` or `p99`, is near to it.
fn distance(found: &str, name: &str) -> usize {
    let edits = strsim::damerau_levenshtein(found, name);
    let part = !found.is_empty() && name.contains(found);
    if part { edits.min(2 + name.len() / 4) } else { edits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_names_are_shown_however_many_there_are() {
        let many: Vec<String> = (0..300).map(|i| format!("group_{i}_peak_bin")).collect();
        let mut known: Vec<&str> = many.iter().map(String::as_str).collect();
        known.extend(["peak_bin", "completion_p99_s", "success_ratio"]);
        let hint = nearest("peak_bim", &known);
        assert!(hint.starts_with("; did you mean `peak_bin`? All 303 are"), "{hint}");
        let hint = nearest("p99", &known);
        assert!(hint.starts_with("; nearest: completion_p99_s, "), "{hint}");
        assert!(hint.len() < 300, "{hint}");
        assert_eq!(nearest("x", &[]), "");
    }
}
