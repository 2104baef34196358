//! Tests of the whole command line.

use super::*;
use clap::CommandFactory as _;
use std::collections::BTreeSet;
use std::ffi::OsString;

#[test]
fn command_line_is_consistent() {
    Cli::command().debug_assert();
}

/// The help of the program and of every group, as `--help` prints it.
#[test]
fn help_matches_its_snapshots() {
    let mut command = Cli::command();
    insta::assert_snapshot!("help", command.render_help().to_string());
    for group in command.get_subcommands_mut().filter(|group| group.has_subcommands()) {
        let name = group.get_name().to_owned();
        insta::assert_snapshot!(format!("help_{name}"), group.render_help().to_string());
    }
}

#[test]
fn dry_run_conflicts_with_output_files() {
    let parses = |more: &[&str]| {
        let fixed = ["dissensus", "data", "export", "p", "a.csv", "--dry-run"];
        Cli::try_parse_from(fixed.iter().chain(more)).is_ok()
    };
    assert!(parses(&["--format", "crowd-kit"]));
    for more in [&["--rows", "people"][..], &["--rows", "texts"], &["--hugging-face"], &[]] {
        assert!(!parses(more), "{more:?}");
    }
}

/// Examples in the help of all commands, as lists of words.
fn examples() -> Vec<Vec<String>> {
    fn collect(command: &clap::Command, found: &mut Vec<Vec<String>>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        found.extend(help.lines().filter(|line| line.starts_with("  dissensus ")).map(words));
        command.get_subcommands().for_each(|below| collect(below, found));
    }
    let mut found = Vec::new();
    collect(&Cli::command(), &mut found);
    found
}

/// The words of a line of a shell, without quotes and without where its output goes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.trim().chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '>') => break,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn help_examples_are_accepted_and_fit_on_a_line() {
    for example in examples() {
        assert!(example.join(" ").len() <= 96, "{example:?} is longer than a line of the help");
        if let Err(error) = Cli::try_parse_from(&example) {
            panic!("{example:?}: {error}");
        }
    }
}

#[test]
fn every_command_has_an_example() {
    let examples = examples();
    for group in Cli::command().get_subcommands() {
        for command in group.get_subcommands() {
            let path = [group.get_name(), command.get_name()];
            assert!(
                examples.iter().any(|words| words[1..].starts_with(&path.map(str::to_owned))),
                "{path:?}"
            );
        }
    }
}

#[test]
fn every_old_name_runs_the_renamed_command() {
    let mut old_names = BTreeSet::new();
    for new in examples() {
        let is_new = |path: &[&str; 2]| new[1..].starts_with(&path.map(str::to_owned));
        let Some((old, _)) = old_names::OLD_NAMES.iter().find(|(_, path)| is_new(path)) else { continue };
        old_names.insert(*old);
        let written = [&["dissensus", "--log", "info", *old].map(str::to_owned)[..], &new[3..]].concat();
        let expected = [&["dissensus", "--log", "info"].map(str::to_owned)[..], &new[1..]].concat();
        let parse = |words: Vec<String>| {
            let words = with_new_names(words.into_iter().map(OsString::from));
            format!("{:?}", Cli::try_parse_from(words).unwrap())
        };
        assert_eq!(parse(written), parse(expected), "{new:?}");
    }
    assert_eq!(old_names, old_names::OLD_NAMES.iter().map(|(old, _)| *old).collect());
}

#[test]
fn groups_are_distinguished_from_old_commands() {
    let renamed = |line: &str| {
        let new = with_new_names(line.split(' ').map(OsString::from));
        new.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    };
    for (written, read) in [
        ("dissensus label P --annotator ana", "dissensus label record P --annotator ana"),
        ("dissensus --quiet label --annotator ana P", "dissensus --quiet label record --annotator ana P"),
        ("dissensus label --quiet undo P", "dissensus label --quiet undo P"),
        ("dissensus --log=debug study P", "dissensus --log=debug study status P"),
        ("dissensus study merge P a", "dissensus study merge P a"),
        ("dissensus study", "dissensus study"),
        ("dissensus label --help", "dissensus label --help"),
        ("dissensus help label", "dissensus help label"),
        ("dissensus help runs list", "dissensus help models runs list"),
        ("dissensus --log import project info P", "dissensus --log import project info P"),
        ("dissensus data import P import", "dissensus data import P import"),
        ("dissensus --version", "dissensus --version"),
        ("dissensus", "dissensus"),
    ] {
        assert_eq!(renamed(written), read);
    }
}
