//! Commands and their options, from the command line.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

use crate::cell;

pub fn page() -> String {
    let mut text =
        "# Commands\n\nThe same as `retrylab COMMAND --help` and the man pages of `retrylab man` say.\n".to_owned();
    let mut command = retrylab::cli::command();
    command.build();
    let global = |arg: &&Arg| arg.is_global_set() || is_usual(arg);
    text += "\n## Every command\n";
    options(&mut text, command.get_arguments().filter(global));
    for command in command.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        section(&mut text, command);
    }
    text
}

fn is_usual(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

fn section(text: &mut String, command: &mut Command) {
    let usage = command.render_usage().to_string();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = usage.trim_start_matches("Usage: ");
    write!(text, "\n## `{}`\n\n{about}.\n\n```text\n{usage}\n```\n", command.get_name()).unwrap();
    let own = |arg: &&Arg| !arg.is_global_set() && !is_usual(arg);
    options(text, command.get_arguments().filter(own));
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let rest = after.strip_prefix("Examples:\n").unwrap_or(&after);
    let example = |line: &&str| line.starts_with("  ") && rest.len() < after.len();
    let examples: Vec<&str> = rest.lines().take_while(example).map(str::trim_start).collect();
    if !examples.is_empty() {
        write!(text, "\n```text\n{}\n```\n", examples.join("\n")).unwrap();
    }
    let rest: Vec<&str> = rest.lines().skip(examples.len()).collect();
    let rest = rest.join("\n");
    if !rest.trim().is_empty() {
        write!(text, "\n```text\n{}\n```\n", rest.trim_matches('\n')).unwrap();
    }
}

fn options<'a>(text: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let rows: Vec<String> = args.filter(|arg| !arg.is_hide_set()).map(row).collect();
    if !rows.is_empty() {
        *text += "\n| option | default | meaning |\n| --- | --- | --- |\n";
        rows.iter().for_each(|row| *text += row);
    }
}

fn row(arg: &Arg) -> String {
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let names = arg.get_value_names().unwrap_or_default();
    let values =
        if takes { names.iter().map(|n| format!(" {n}")).collect() } else { String::new() };
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let flags: Vec<String> = short.into_iter().chain(long).collect();
    let name = format!("{}{values}", flags.join(", "));
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|v| format!("`{}`", v.to_string_lossy())).collect();
    let shown = takes && !arg.is_hide_default_value_set();
    let defaults = if shown { defaults.join(", ") } else { String::new() };
    let mut meaning =
        arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let possible = arg.get_possible_values();
    if takes && !possible.is_empty() {
        let of = |value: &clap::builder::PossibleValue| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        };
        let values: Vec<String> = possible.iter().filter(|v| !v.is_hide_set()).map(of).collect();
        write!(meaning, "; one of {}", values.join(", ")).unwrap();
    }
    format!("| `{}` | {defaults} | {} |\n", name.trim(), cell(&meaning))
}
