//! Names that commands had before they were grouped, accepted for one more release.

use super::Cli;
use clap::CommandFactory as _;
use std::ffi::OsString;

/// Old names, with the group and the name of the command now.
pub(super) const OLD_NAMES: [(&str, [&str; 2]); 49] = [
    ("new", ["project", "new"]),
    ("sample", ["project", "sample"]),
    ("info", ["project", "info"]),
    ("overview", ["project", "overview"]),
    ("copy", ["project", "copy"]),
    ("history", ["project", "history"]),
    ("remove", ["project", "remove"]),
    ("import", ["data", "import"]),
    ("export", ["data", "export"]),
    ("texts", ["data", "texts"]),
    ("question", ["data", "question"]),
    ("guideline", ["data", "guideline"]),
    ("annotator", ["people", "show"]),
    ("attribute-form", ["people", "form"]),
    ("withdraw", ["people", "withdraw"]),
    ("care", ["people", "care"]),
    ("reveal", ["people", "reveal"]),
    ("label", ["label", "record"]),
    ("undo", ["label", "undo"]),
    ("practice", ["label", "practice"]),
    ("checks", ["label", "checks"]),
    ("remarks", ["label", "notes"]),
    ("decide", ["label", "decide"]),
    ("decisions", ["label", "decisions"]),
    ("plan", ["study", "plan"]),
    ("assign", ["study", "assign"]),
    ("hand-in", ["study", "hand-in"]),
    ("merge", ["study", "merge"]),
    ("study", ["study", "status"]),
    ("encode", ["models", "encode"]),
    ("embed", ["models", "embed"]),
    ("train", ["models", "train"]),
    ("evaluate", ["models", "evaluate"]),
    ("runs", ["models", "runs"]),
    ("predict", ["models", "predict"]),
    ("predictions", ["models", "predictions"]),
    ("bundle", ["models", "bundle"]),
    ("disagreement", ["analyse", "disagreement"]),
    ("agreement", ["analyse", "agreement"]),
    ("annotators", ["analyse", "annotators"]),
    ("explain", ["analyse", "explain"]),
    ("who-differs", ["analyse", "who-differs"]),
    ("compare-groups", ["analyse", "compare-groups"]),
    ("panel", ["analyse", "panel"]),
    ("words", ["analyse", "words"]),
    ("correlate-questions", ["analyse", "correlate-questions"]),
    ("repeats", ["analyse", "repeats"]),
    ("slips", ["analyse", "slips"]),
    ("aggregate", ["analyse", "aggregate"]),
];

/// The group and the present name of a command that was called `old`.
pub(crate) fn new_path(old: &str) -> Option<[&'static str; 2]> {
    OLD_NAMES.iter().find(|(name, _)| *name == old).map(|(_, path)| *path)
}

/// The arguments of this program with the present name of the command in place of an old one.
///
/// `label` and `study` were commands and are groups: they are the old command where what follows is no
/// command of the group.
pub(crate) fn with_new_names(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let Some(at) = next_word(&arguments, 1) else { return arguments };
    // `help import` is about `data import`.
    let help = arguments[at] == "help";
    let Some(at) = (if help { next_word(&arguments, at + 1) } else { Some(at) }) else { return arguments };
    let Some(path) = arguments[at].to_str().and_then(new_path) else { return arguments };
    let is_group = Cli::command().find_subcommand(&arguments[at]).is_some();
    if is_group && (help || names_group(&arguments, at)) {
        return arguments;
    }
    arguments.splice(at..=at, path.map(OsString::from));
    arguments
}

/// Whether the group at `at` is followed by one of its commands, by nothing, or by a request for its help.
fn names_group(arguments: &[OsString], at: usize) -> bool {
    let Some(next) = next_word(arguments, at + 1).map(|next| &arguments[next]) else { return true };
    let group = Cli::command();
    let group = group.find_subcommand(&arguments[at]);
    ["help", "--help", "-h"].iter().any(|word| next == word)
        || group.is_some_and(|group| group.find_subcommand(next).is_some())
}

/// Where the first argument from `from` on is that is none of the options that every command takes.
fn next_word(arguments: &[OsString], mut from: usize) -> Option<usize> {
    while let Some(argument) = arguments.get(from) {
        match argument.to_str() {
            Some("--log") => from += 2,
            Some("--quiet") => from += 1,
            Some(option) if option.starts_with("--log=") => from += 1,
            _ => return Some(from),
        }
    }
    None
}
