//! What the documents show works as they show it.

mod command;

use std::fs;
use std::path::PathBuf;

use command::{here, run, run_with};
use retrylab::experiment::{Cell, Effort, NamedPolicy, Place, Seed, execute, swap};
use retrylab::output::{Curve, sparklines};
use retrylab::scenario::{Document, MemoryLimit};

/// README.md, DESIGN.md and docs, as far as they are there.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["README.md", "DESIGN.md", "CONTRIBUTING.md"].map(here).to_vec();
    let mut folders = vec![here("docs"), here("experiments")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.retain(|path| path.is_file());
    found
}

/// The blocks of a language with their lines.
fn blocks(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String, bool)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(info)) => {
                let wanted = info.split([',', ' ']).next() == Some(language);
                open = Some((number + 1, String::new(), wanted));
            }
            (Some(_), Some(_)) => {
                if let Some((line, block, true)) = open.take() {
                    blocks.push((line, block));
                }
            }
            (Some((_, block, _)), None) => block.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn whole_scenarios_in_the_documents_are_right() {
    let home = tempfile::tempdir().unwrap();
    let mut count = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for (line, block) in blocks(&text, "toml") {
            let whole = block.contains("workload") && block.contains("provider");
            if !whole || block.contains("[dependencies]") {
                continue;
            }
            count += 1;
            fs::write(home.path().join("block.toml"), &block).unwrap();
            let ran = run(home.path(), &["check", "block.toml"]);
            assert_eq!(ran.code, 0, "{}:{line}: {}", path.display(), ran.err);
        }
    }
    eprintln!("{count} scenarios in documents");
}

/// Console blocks are run, by tests/console.rs.
#[test]
fn commands_in_the_documents_are_known() {
    let home = tempfile::tempdir().unwrap();
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        let shell = ["sh", "bash"].iter().flat_map(|language| blocks(&text, language));
        for (line, block) in shell {
            for command in block.lines() {
                let Some(rest) = command.strip_prefix("retrylab ") else { continue };
                // The options are known, whatever the files are.
                let mut words: Vec<&str> = rest
                    .split(" #")
                    .next()
                    .unwrap()
                    .split(['|', '>'])
                    .next()
                    .unwrap()
                    .split_whitespace()
                    .collect();
                words.push("--help");
                let ran = run(home.path(), &words);
                assert_eq!(ran.code, 0, "{}:{line}: {command}: {}", path.display(), ran.err);
            }
        }
    }
}

/// The names that a page's headings can be linked by, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| {
        line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_lowercase())
    };
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let name = |heading: String| heading.chars().filter(kept).collect::<String>().replace(' ', "-");
    text.lines().filter_map(heading).map(name).collect()
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let mut count = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains(':') {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(to.exists(), "{}: no {file}", path.display());
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&to).unwrap());
                assert!(there.iter().any(|name| name == anchor), "{}: no {link}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn what_init_writes_runs_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let template = run(home.path(), &["init"]);
    assert_eq!((template.code, template.err.as_str()), (0, ""));
    assert_eq!(template.out, fs::read_to_string(here("src/cli/init.toml")).unwrap());
    let ran = run_with(home.path(), &["run", "-", "-r", "3", "--json"], template.out.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    let document = ran.json();
    assert_eq!(document["metrics"]["requests"]["mean"], 500.0);
    // A first scenario in which nothing ever succeeds would teach little.
    assert!(document["metrics"]["success_ratio"]["mean"].as_f64().unwrap() > 0.5, "{document}");
    assert_eq!(run(home.path(), &["init", "storm.toml"]).code, 0);
    assert_eq!(fs::read_to_string(home.path().join("storm.toml")).unwrap(), template.out);
    let schema = ["init", "for-editors.toml", "--schema", "./scenario.schema.json"];
    assert_eq!(run(home.path(), &schema).code, 0);
    let for_editors = fs::read_to_string(home.path().join("for-editors.toml")).unwrap();
    assert_eq!(for_editors, format!("#:schema ./scenario.schema.json\n{}", template.out));
    assert_eq!(run(home.path(), &["check", "for-editors.toml"]).code, 0);
    assert_eq!(run(home.path(), &["init", "--schema", "x\n[workload]"]).code, 2);
}

#[test]
fn the_schema_is_printed_as_the_reference_has_it() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["schema"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out, fs::read_to_string(here("docs/reference/scenario.schema.json")).unwrap());
}

#[test]
fn every_line_that_init_comments_out_is_right_when_it_is_taken_in() {
    let home = tempfile::tempdir().unwrap();
    let template = run(home.path(), &["init"]).out;
    let lines: Vec<&str> = template.lines().collect();
    fs::write(
        home.path().join("trace.csv"),
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n",
    )
    .unwrap();
    let optional = |line: &str| line.strip_prefix("# ").is_some_and(|l| l.contains(" = {"));
    let mut count = 0;
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| optional(line)) {
        count += 1;
        let workload = ["poisson", "closed_loop", "trace"].iter().any(|w| line[2..].starts_with(w));
        let text: String = (lines.iter().enumerate())
            .filter(|(_, other)| !(workload && other.starts_with("burst")))
            .map(|(i, other)| format!("{}\n", if i == index { &other[2..] } else { other }))
            .collect();
        fs::write(home.path().join("storm.toml"), text).unwrap();
        let ran = run(home.path(), &["run", "storm.toml", "-r", "1", "--json"]);
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    }
    assert_eq!(count, 7);
}

/// What `retrylab compare experiments/studies/ten-second-outage/scenario.toml --policies none,sdk,full -r 5` shows on
/// a terminal of 80 columns.
#[test]
fn the_load_on_a_terminal_is_as_the_document_shows_it() {
    let scenario = here("experiments/studies/ten-second-outage/scenario.toml");
    let document = Document::read(&scenario).unwrap();
    let cell = |name: &str| {
        let policy = NamedPolicy::parse(name).unwrap();
        Cell::new(name, &swap(&document, &policy, &Place::default()).unwrap()).unwrap()
    };
    let cells = ["none", "sdk", "full"].map(cell).to_vec();
    let memory = MemoryLimit::default();
    let effort = Effort { seed: Seed::default(), replications: 5, threads: 2, memory };
    let cells = execute(cells, effort, &|| {}).unwrap();
    let curves: Vec<Curve> = cells.iter().map(Curve::of).collect();
    let shown = sparklines(&curves, cells[0].cell.scenario.measure.curve_window(), 80);
    let text = fs::read_to_string(here("docs/results.md")).unwrap();
    assert!(text.contains(&shown), "docs/results.md does not show\n{shown}");
}
