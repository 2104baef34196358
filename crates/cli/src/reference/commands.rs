//! Pages of the commands: one per group, and an index of all.

use super::markdown::{after_help, anchor, escaped};
use clap::{Arg, Command};
use std::fmt::Write as _;

/// A page, with its file name without `.md`.
pub(super) struct Page {
    pub(super) name: String,
    pub(super) text: String,
}

/// The page of commands that belong to no group.
const OTHERS: &str = "other";

/// All pages: the index, then a page for each group in the order of the help, then that of ungrouped
/// commands.
pub(super) fn pages(mut command: Command) -> Vec<Page> {
    command.build();
    let (groups, others): (Vec<Command>, Vec<Command>) =
        shown(&command).cloned().partition(|below| shown(below).next().is_some());
    let mut index = format!("# Commands\n\n{}\n\n", escaped(&about(&command)));
    index.push_str(&options(command.get_arguments(), "Options of every command"));
    let mut pages = Vec::new();
    for group in &groups {
        let name = group.get_name().to_owned();
        let mut text = format!("# `dissensus {name}`\n\n{}.\n\n", escaped(&about(group)));
        let list = list(group, &name);
        text.push_str(&list.replace(&format!("{name}.md"), ""));
        let _ =
            write!(index, "\n## [`dissensus {name}`]({name}.md)\n\n{}.\n\n{list}", escaped(&about(group)));
        below(group, &mut text);
        pages.push(Page { name, text });
    }
    let mut text = "# Other commands\n".to_owned();
    index.push_str("\n## Other commands\n\n| Command | |\n|---|---|\n");
    for command in &others {
        row(command, OTHERS, &mut index);
        section(command, &mut text);
    }
    pages.push(Page { name: OTHERS.to_owned(), text });
    pages.insert(0, Page { name: "index".to_owned(), text: index });
    pages
}

/// Subcommands that are not hidden.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

/// Commands at any depth below `command`, as rows that link to the page `name`.
fn list(command: &Command, name: &str) -> String {
    let mut rows = "| Command | |\n|---|---|\n".to_owned();
    for below in leaves(command) {
        row(below, name, &mut rows);
    }
    rows
}

fn leaves(command: &Command) -> Vec<&Command> {
    let of = |below| if shown(below).next().is_some() { leaves(below) } else { vec![below] };
    shown(command).flat_map(of).collect()
}

fn row(command: &Command, page: &str, rows: &mut String) {
    let name = full_name(command);
    let _ = writeln!(rows, "| [`{name}`]({page}.md#{}) | {} |", anchor(&name), escaped(&about(command)));
}

fn below(command: &Command, text: &mut String) {
    leaves(command).into_iter().for_each(|leaf| section(leaf, text));
}

/// A command: what it does, its usage, arguments, options, examples.
fn section(command: &Command, text: &mut String) {
    let name = full_name(command);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(text, "\n## {name}\n\n{}.\n\n```text\n{usage}\n```\n\n", escaped(&about(command)));
    let own: Vec<&Arg> = command.get_arguments().filter(|argument| !argument.is_global_set()).collect();
    text.push_str(&options(own.iter().copied().filter(|argument| argument.is_positional()), "Argument"));
    text.push_str(&options(own.iter().copied().filter(|argument| !argument.is_positional()), "Option"));
    if let Some(more) = command.get_after_help() {
        text.push_str(&after_help(&more.to_string()));
    }
}

/// Arguments or options as a table; empty if there are none.
fn options<'a>(arguments: impl Iterator<Item = &'a Arg>, title: &str) -> String {
    let mut rows = String::new();
    for argument in
        arguments.filter(|a| !a.is_hide_set() && !["help", "version"].contains(&a.get_id().as_str()))
    {
        let mut meaning = escaped(&argument.get_help().map(ToString::to_string).unwrap_or_default());
        let values: Vec<_> =
            argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
        let takes_values = argument.get_num_args().is_none_or(|range| range.takes_values());
        if takes_values && !values.is_empty() {
            let value = |value: &clap::builder::PossibleValue| match value.get_help() {
                Some(help) => format!("`{}` ({})", value.get_name(), escaped(&help.to_string())),
                None => format!("`{}`", value.get_name()),
            };
            let _ = write!(meaning, ". One of {}", values.iter().map(value).collect::<Vec<_>>().join(", "));
        }
        let defaults = argument.get_default_values();
        if takes_values && !defaults.is_empty() && !argument.is_hide_default_value_set() {
            let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
            let _ = write!(meaning, ". Default: `{}`", defaults.join(" "));
        }
        let _ = writeln!(rows, "| `{}` | {meaning} |", argument.to_string().replace('|', "\\|"));
    }
    if rows.is_empty() { rows } else { format!("| {title} | |\n|---|---|\n{rows}\n") }
}

fn full_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).to_owned()
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_has_a_section_and_a_row_in_the_index() {
        let pages = pages(Cli::command());
        let all: String = pages.iter().skip(1).map(|page| page.text.as_str()).collect();
        let mut command = Cli::command();
        command.build();
        for leaf in leaves(&command) {
            let name = full_name(leaf);
            assert!(all.contains(&format!("\n## {name}\n")), "no section of {name}");
            assert!(pages[0].text.contains(&format!("[`{name}`]")), "{name} is not in the index");
        }
        assert!(!all.contains("## dissensus man\n"), "a hidden command has a section");
    }
}
