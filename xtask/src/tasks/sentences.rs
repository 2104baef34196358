//! `cargo xtask sentences`: collects the sentences that Rust writes for people, for the translators of the
//! window.
//!
//! A sentence is in the catalogue as it is in the code, with `{{name}}` for each value; the window finds the
//! sentence to which a text belongs, and shows it in the language of the user (`ui/src/messages/program.ts`).

use super::comments::walk_endings;
use super::kinds::product;
use super::lexer::literals;
use crate::project::Project;
use crate::shell::say;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

/// The catalogue: the sentences of each file, in their order.
const CATALOGUE: &str = "ui/src/messages/program/en.json";
/// Folders whose sentences the window can show.
const FOLDERS: [&str; 2] = ["crates", "src-tauri/src"];
/// Parts of paths whose sentences it does not show: the command, papers and files for others, and what a
/// broken tensor is called.
const NOT_SHOWN: [&str; 19] = [
    "crates/bench/",
    "crates/cli/",
    "crates/report/",
    "crates/render/",
    "crates/test-support/",
    "crates/exchange/src/dataset_writer.rs",
    "crates/training/src/runs/export/",
    "crates/analysis/src/bundles/card.rs",
    "crates/encoder/src/blocks/",
    "crates/encoder/src/families/",
    "crates/encoder/src/kernels/",
    "crates/encoder/src/ops/",
    "crates/encoder/src/training/",
    "/bin/",
    "/examples/",
    "/tests/",
    "/session_tests/",
    "_tests.rs",
    "crates/store/src/kept_formats.rs",
];
/// Files whose strings are sentences and their parts, where one word is enough: elsewhere it takes two.
const OF_SENTENCES: [&str; 4] = [
    "crates/analysis/src/explain_sentence.rs",
    "crates/analysis/src/group_comparison/words.rs",
    "crates/analysis/src/who_differs/words.rs",
    "crates/editing/src/history.rs",
];
/// How code ends before strings for developers: what the database was asked for, the log, and failed tests.
const FOR_DEVELOPERS: [&str; 9] =
    ["read(", "explain(", "expect(", "info!(", "warn!(", "error!(", "debug!(", "unreachable!(", "panic!("];
/// Words in capitals that only SQL has.
const SQL: [&str; 11] =
    ["ALTER", "AND", "CREATE", "DELETE", "FROM", "INSERT", "ORDER", "PRAGMA", "SELECT", "UPDATE", "WHERE"];

/// Writes the catalogue.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn write(project: &Project) -> Result<()> {
    let path = path(project);
    fs::write(&path, catalogue(project)?).with_context(|| format!("writing {}", path.display()))
}

/// Compares the catalogue with the code.
///
/// # Errors
/// They differ, or a file cannot be read.
pub(crate) fn check(project: &Project) -> Result<()> {
    let path = path(project);
    let found = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    ensure!(
        found == catalogue(project)?,
        "{CATALOGUE} is older than the code: run `cargo xtask sentences`, then translate what is new"
    );
    Ok(())
}

fn path(project: &Project) -> PathBuf {
    project.root.join(CATALOGUE)
}

/// The catalogue as JSON: file by file, each sentence where it occurs first.
fn catalogue(project: &Project) -> Result<String> {
    let mut files = BTreeMap::new();
    for folder in FOLDERS {
        walk_endings(&project.root.join(folder), &["rs"], &mut |path| {
            let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            let name = path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
            let name = name.replace('\\', "/");
            if !NOT_SHOWN.iter().any(|part| name.contains(part)) {
                files.insert(name.clone(), templates(product(&name, &text), fewest_words(&name)));
            }
            Ok(())
        })?;
    }
    let mut known = HashSet::new();
    for templates in files.values_mut() {
        templates.retain(|template| known.insert(template.clone()));
    }
    files.retain(|_, templates| !templates.is_empty());
    say(format!("{} sentences in {} files", known.len(), files.len()));
    Ok(serde_json::to_string_pretty(&files)? + "\n")
}

/// How many words a string of this file has at least, if people read it.
fn fewest_words(file: &str) -> usize {
    if OF_SENTENCES.contains(&file) { 1 } else { 2 }
}

/// The sentences of product code, and the counts of things that it writes.
fn templates(text: &str, fewest: usize) -> Vec<String> {
    let mut found = Vec::new();
    for (at, string) in literals(text) {
        let before = text[..at].trim_end();
        let counted = before.rfind("counted(").map(|call| &before[call..]);
        let is_counted = counted.is_some_and(|call| call.ends_with(',') && !call.contains([';', '"', '{']));
        if is_counted && text[at + string.len() + 2..].starts_with(')') {
            found.extend([format!("1 {string}"), format!("{{{{0}}}} {string}s")]);
        } else if !FOR_DEVELOPERS.iter().any(|end| before.ends_with(end)) {
            found.extend(template(unescaped(string).trim(), fewest));
        }
    }
    found
}

/// A string of Rust as it is written out.
fn unescaped(string: &str) -> String {
    let (mut text, mut letters) = (String::with_capacity(string.len()), string.chars().peekable());
    while let Some(letter) = letters.next() {
        match (letter, (letter == '\\').then(|| letters.next()).flatten()) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('t')) => text.push('\t'),
            ('\\', Some('\n')) => while letters.next_if(|next| next.is_whitespace()).is_some() {},
            ('\\', Some(other)) => text.push(other),
            (letter, _) => text.push(letter),
        }
    }
    text
}

/// The format string with `{{name}}` for each value, or with its number where it has no name; none if it is
/// no text for people.
fn template(string: &str, fewest: usize) -> Option<String> {
    let (mut template, mut words, mut next) = (String::new(), String::new(), 0);
    let mut rest = string;
    while let Some(at) = rest.find(['{', '}']) {
        words += &rest[..at];
        template += &rest[..at];
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            template += brace;
            rest = after;
            continue;
        }
        let (value, after) = after.split_once('}')?;
        let name = value.split(':').next().unwrap_or_default();
        if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        if name.is_empty() {
            template += &format!("{{{{{next}}}}}");
            next += 1;
        } else {
            template += &format!("{{{{{name}}}}}");
        }
        words.push('0');
        rest = after;
    }
    template += rest;
    words += rest;
    is_for_people(&words, fewest).then_some(template)
}

/// Whether these words are for people: enough of them, and neither SQL, markup nor code.
fn is_for_people(words: &str, fewest: usize) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.chars().filter(|c| c.is_lowercase()).count() >= 2
            && word.chars().all(|c| c.is_alphabetic() || c == '-')
    };
    let of_sql = |word: &str| SQL.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_list_of_columns = words.contains('_') && words.split(", ").all(|name| !name.contains(' '));
    // What goes into a hash begins with the name of the program.
    let is_code = is_list_of_columns
        || words.starts_with("dissensus ")
        || ["coalesce(", "iif(", " IN (", "-src '"].iter().any(|code| words.contains(code))
        || words.contains(['<', '>', '\t'])
        || words.contains(" = ")
        || words.contains("::");
    // Names of products and formats have capitals only.
    words.split_whitespace().filter(is_word).any(|word| word.starts_with(char::is_lowercase))
        && words.split_whitespace().filter(is_word).count() >= fewest
        && !words.split_whitespace().any(of_sql)
        && !is_code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_names_or_numbers() {
        for (string, wanted) in [
            ("there is no text \"{0}\" in it", Some("there is no text \"{{0}}\" in it")),
            ("{path}: line {line:?} of {} and {:.2}", Some("{{path}}: line {{line}} of {{0}} and {{1}}")),
            ("spans such as [{{\"start\": 0}}]", Some("spans such as [{\"start\": 0}]")),
            ("{a} {b}", None),
            ("text-id", None),
            ("<p>two words</p>", None),
            ("WHERE text is null", None),
        ] {
            assert_eq!(template(string, 2).as_deref(), wanted, "{string}");
        }
    }

    #[test]
    fn only_strings_for_people_are_collected() {
        let code = "let a = self.read(\"reading all labels\", b); let c = format!(\"has {}\", counted(n, \"text\"));\n\
                    let d = \"one sentence \\\n    here \\\"{e}\\\"\"; // \"no text here\"\n tracing::warn!(\"not for people\");";
        assert_eq!(templates(code, 2), ["1 text", "{{0}} texts", "one sentence here \"{{e}}\""]);
    }
}
