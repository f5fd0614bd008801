//! The report page: the same bytes for the same folder, safe with any text, and refused in a sentence.
//!
//! `BLESS=1` renews the digest; the page is looked at then. `tests/report/check.py` opens pages in a browser.

mod command;

use std::fs;
use std::path::Path;

use command::{SMALL, here, run};

const DIGEST: &str = "tests/data/report.txt";

/// FNV-1a.
fn digest(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}\n")
}

/// The page of a folder.
fn page(folder: &Path, results: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = home.path().join("page.html");
    let ran =
        run(folder, &[&["report"], results, &["-q", "-o", output.to_str().unwrap()]].concat());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{results:?}");
    fs::read_to_string(output).unwrap()
}

#[test]
fn the_page_of_recorded_results_is_that_of_the_record() {
    let html = page(&here("tests/data/plots"), &["storm"]);
    for part in [
        "Content-Security-Policy",
        "<h1>Sixty clients and a short outage</h1>",
        "<strong>none</strong>",
        "layer client",
        "by policy",
        "<code>peak_bin</code>",
        "0x2a",
        "peaks count arrivals at the provider",
        "What is left out",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    assert!(!html.contains("NaN") && !html.contains("undefined"));
    let found = digest(html.as_bytes());
    if std::env::var_os("BLESS").is_some() {
        return fs::write(here(DIGEST), found).unwrap();
    }
    let noted = fs::read_to_string(here(DIGEST)).unwrap();
    assert_eq!(found, noted, "look at the page, then BLESS=1 cargo test --test report");
}

/// Nothing is loaded from anywhere: the only addresses are names of formats, and links that nobody follows by reading.
#[test]
fn the_page_needs_nothing_else() {
    let html = page(&here("tests/data/plots"), &["storm"]);
    for loads in [
        " src=",
        "url(",
        "@import",
        "<link rel=\"stylesheet\"",
        "<iframe",
        "<img",
        " style=\"",
        " onclick=",
    ] {
        assert!(!html.contains(loads), "{loads}");
    }
    assert_eq!(html.matches("<link").count(), 1, "the empty icon");
}

#[test]
fn text_of_a_scenario_is_text_on_the_page() {
    let home = tempfile::tempdir().unwrap();
    let storm = fs::read_to_string(here("tests/data/plots/storm.toml")).unwrap();
    let evil = "</script><script>alert(1)</script><!--";
    let (_, rest) = storm.split_once("title").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    fs::write(home.path().join("evil.toml"), format!("title = '{evil}'\n{rest}")).unwrap();
    let made = run(
        home.path(),
        &["compare", "evil.toml", "--policies", "none,full", "-r", "2", "-q", "-o", "<b>evil"],
    );
    assert_eq!(made.code, 0, "{made:?}");
    let html = page(home.path(), &["<b>evil"]);
    assert!(
        !html.contains("alert(1)<") && !html.contains("<b>evil") && !html.contains("<!--"),
        "markup"
    );
    let safe = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--";
    assert!(
        html.contains(&format!("<title>{safe}</title>"))
            && html.contains(&format!("<h1>{safe}</h1>"))
    );
    assert_eq!(html.matches("<script").count(), 2, "the data and the chart");
}

#[test]
fn two_folders_are_two_chapters() {
    let html = page(&here("tests/data/plots"), &["storm", "storm"]);
    assert_eq!(html.matches("<h2>Recommendation</h2>").count(), 2);
    assert_eq!(html.matches("<h2>Limitations</h2>").count(), 1);
}

#[test]
fn what_is_no_comparison_is_refused_in_a_sentence() {
    let record = here("tests/data/plots");
    for (words, parts) in [
        (&["nowhere"][..], &["nowhere", "no results folder"][..]),
        (&["failing"], &["a sweep", "windows.csv", "retrylab compare"]),
        (&["tuned"], &["what tune has found", "retrylab compare"]),
        (&["queue"], &["what metastable has found", "retrylab plot"]),
        (&["storm", "-o", "storm"], &["-o storm", "report.html"]),
        (&[], &["RESULTS"]),
    ] {
        let ran = run(&record, &[&["report"], words].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words:?}: {ran:?}");
        for part in parts {
            assert!(ran.err.contains(part), "{words:?}: no {part} in {}", ran.err);
        }
    }
    assert!(!record.join("report.html").exists());
}

/// Where nothing is answered there are no times to draw, and the page says so.
#[test]
fn a_picture_with_nothing_to_show_is_named() {
    let home = tempfile::tempdir().unwrap();
    let down = SMALL.replace("to = \"1s\"", "to = \"600s\"");
    fs::write(home.path().join("down.toml"), down).unwrap();
    let ran = run(home.path(), &["run", "down.toml", "-q", "-o", "down"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let html = page(home.path(), &["down"]);
    assert!(
        html.contains("<p>Not drawn: When requests are answered (down: no request was answered")
    );
    assert!(!page(&here("tests/data/plots"), &["storm"]).contains("Not drawn"));
}
