//! The page around the chapters: head, policy, style and script.

use std::fmt::Write as _;

use super::escape::escape;
use super::{limitations, sha256};
use crate::output::plot::Theme;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("chart.js");

/// A whole document. Nothing is loaded, and nothing runs but the script whose hash the policy names.
pub fn document(title: &str, chapters: &[String]) -> String {
    let colours = Theme::series_variables() + &Theme::dark_rules(".figure svg");
    let style = format!("{STYLE}{colours}");
    let policy = format!(
        "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        sha256::source(&style),
        sha256::source(SCRIPT)
    );
    let mut html = String::new();
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n",
        escape(title)
    );
    chapters.iter().for_each(|chapter| html.push_str(chapter));
    let _ = write!(
        html,
        "<section class=\"part\">\n<h2>Limitations</h2>\n{}</section>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        limitations::html()
    );
    html
}
