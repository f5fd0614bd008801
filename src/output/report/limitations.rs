//! LIMITATIONS.md as HTML: what it begins with, and its points with a bold start.

use super::escape::escape;

const TEXT: &str = include_str!("../../../LIMITATIONS.md");

/// The points by their first words, and all of them to unfold.
pub fn html() -> String {
    let (intro, points) = parts(TEXT);
    let leads: Vec<&str> = points
        .iter()
        .filter_map(|point| point.strip_prefix("**")?.split_once("**"))
        .map(|(lead, _)| lead)
        .collect();
    let leads: String = leads
        .iter()
        .map(|lead| format!("<li>{}</li>", inline(lead.trim_end_matches('.'))))
        .collect();
    let all: String = points.iter().map(|point| format!("<li>{}</li>", inline(point))).collect();
    format!(
        "<p>{}</p>\n<ul class=\"leads\">{leads}</ul>\n<details><summary>Each of them in full</summary><ul>{all}</ul></details>\n",
        inline(&intro)
    )
}

/// The first paragraph, and the points of the first section, each on one line.
fn parts(text: &str) -> (String, Vec<String>) {
    let section = text.split("\n## ").next().unwrap_or_default();
    let (intro, points) = section.split_once("\n- ").unwrap_or((section, ""));
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let intro: Vec<&str> = intro.lines().filter(|line| !line.starts_with('#')).collect();
    let points = points.split("\n- ").map(one_line).filter(|point| !point.is_empty());
    (one_line(&intro.join(" ")), points.collect())
}

/// Bold text and code.
fn inline(text: &str) -> String {
    let mut html = escape(text);
    for (mark, element) in [("**", "strong"), ("`", "code")] {
        let pieces: Vec<&str> = html.split(mark).collect();
        let wrap = |(i, piece): (usize, &&str)| match i % 2 {
            0 => (*piece).to_owned(),
            _ => format!("<{element}>{piece}</{element}>"),
        };
        html = pieces.iter().enumerate().map(wrap).collect();
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_an_intro_and_points_with_a_bold_start() {
        let (intro, points) = parts(TEXT);
        assert!(!intro.is_empty() && !intro.contains('#'), "{intro}");
        assert!(points.len() > 10 && points.iter().all(|point| point.starts_with("**")));
        assert!(points.iter().all(|point| point.matches("**").count() % 2 == 0));
    }

    #[test]
    fn marks_become_elements() {
        assert_eq!(inline("**A < b.** has `c`"), "<strong>A &lt; b.</strong> has <code>c</code>");
    }
}
