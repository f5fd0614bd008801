//! The page that has the tables.

use std::fs;

/// Puts each table between its two marks in the page: `<!-- NAME -->` and `<!-- end -->`.
pub fn renew(sections: &[(&str, String)]) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/background/scaling.md");
    let mut page = fs::read_to_string(path).expect("the page");
    for (name, table) in sections {
        let mark = format!("<!-- {name} -->\n");
        let start = page.find(&mark).expect("a mark for each table") + mark.len();
        let length = page[start..].find("<!-- end -->").expect("an end for each table");
        page.replace_range(start..start + length, table);
    }
    fs::write(path, page).expect("the page is written");
}
