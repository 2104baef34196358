//! `cargo xtask sentences`: collects the sentences that Rust writes for people, for the translators.
//!
//! A sentence is in a catalogue as it is in the code, with `{{name}}` for each value. Window and command find
//! the sentence to which a text belongs, and show it in the language of the user
//! (`ui/src/messages/program/sentences.ts`, `crates/cli/src/language`).

use super::comments::walk_endings;
use super::kinds::product;
use super::lexer::literals;
use crate::project::Project;
use crate::shell::say;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, HashSet};
use std::fs;

/// A catalogue: the sentences of each file of some folders, in their order.
struct Catalogue {
    path: &'static str,
    folders: &'static [&'static str],
    /// Parts of paths whose sentences are not in it.
    without: &'static [&'static str],
    /// Whether single words above columns and next to bars are in it.
    has_tables: bool,
}

/// The catalogue of window and command.
const PROGRAM: Catalogue = Catalogue {
    path: "ui/src/messages/program/en.json",
    folders: &["crates", "src-tauri/src"],
    without: &NOT_SHOWN,
    has_tables: false,
};
/// The catalogue of the command alone, without its help and `schema`, which are English as the documents are.
const COMMAND: Catalogue = Catalogue {
    path: "ui/src/messages/command/en.json",
    folders: &["crates/cli/src"],
    without: &["crates/cli/src/args", "crates/cli/src/reference/", "crates/cli/src/commands/schema.rs"],
    has_tables: true,
};
/// Parts of paths whose sentences the window does not show: the command, papers and files for others, and
/// what a broken tensor is called.
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

/// Writes the catalogues.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn write(project: &Project) -> Result<()> {
    for (path, text) in catalogues(project)? {
        let path = project.root.join(path);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Compares the catalogues with the code.
///
/// # Errors
/// They differ, or a file cannot be read.
pub(crate) fn check(project: &Project) -> Result<()> {
    for (path, text) in catalogues(project)? {
        let found = fs::read_to_string(project.root.join(path)).with_context(|| format!("reading {path}"))?;
        ensure!(
            found == text,
            "{path} is older than the code: run `cargo xtask sentences`, then translate what is new"
        );
    }
    Ok(())
}

/// The catalogues as JSON, by their paths: file by file, each sentence where it occurs first.
fn catalogues(project: &Project) -> Result<Vec<(&'static str, String)>> {
    let (mut known, mut written) = (HashSet::new(), Vec::new());
    for catalogue in [PROGRAM, COMMAND] {
        let before = known.len();
        let mut files = BTreeMap::new();
        for folder in catalogue.folders {
            walk_endings(&project.root.join(folder), &["rs"], &mut |path| {
                let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
                let name = path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
                let name = name.replace('\\', "/");
                if !catalogue.without.iter().any(|part| name.contains(part)) {
                    files.insert(
                        name.clone(),
                        templates(product(&name, &text), fewest_words(&name), catalogue.has_tables),
                    );
                }
                Ok(())
            })?;
        }
        for templates in files.values_mut() {
            templates.retain(|template| known.insert(template.clone()));
        }
        files.retain(|_, templates| !templates.is_empty());
        say(format!("{} sentences in {} files", known.len() - before, files.len()));
        written.push((catalogue.path, serde_json::to_string_pretty(&files)? + "\n"));
    }
    Ok(written)
}

/// How many words a string of this file has at least, if people read it.
fn fewest_words(file: &str) -> usize {
    if OF_SENTENCES.contains(&file) { 1 } else { 2 }
}

/// The sentences of product code, and the counts of things that it writes.
fn templates(text: &str, fewest: usize, has_tables: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (at, string) in literals(text) {
        let before = text[..at].trim_end();
        let counted = before.rfind("counted(").map(|call| &before[call..]);
        let is_counted = counted.is_some_and(|call| call.ends_with(',') && !call.contains([';', '"', '{']));
        if is_counted && text[at + string.len() + 2..].starts_with(')') {
            found.extend([format!("1 {string}"), format!("{{{{0}}}} {string}s")]);
        } else if !FOR_DEVELOPERS.iter().any(|end| before.ends_with(end)) {
            let is_word = has_tables
                && string.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | ':'))
                && is_of_table(before, text[at + string.len() + 2..].trim_start());
            // What has values is a line of its own in the command.
            let is_line = has_tables && string.contains('{') && !string.contains('-');
            let fewest = if is_word { 1 } else { fewest };
            found.extend(template(unescaped(string).trim(), fewest, is_line));
        }
    }
    found
}

/// Whether a string is a word of its own: above a column, as an element of an array, or next to a bar.
fn is_of_table(before: &str, after: &str) -> bool {
    before.ends_with("Bar::new(")
        || before.ends_with("translate_word(")
        || before.ends_with(['[', ',']) && after.starts_with([',', ']']) && is_in_array(before)
}

/// Whether the last bracket that is open at the end of this code is the one of an array.
fn is_in_array(before: &str) -> bool {
    let mut closed = 0;
    let open = before.bytes().rev().find(|byte| match byte {
        b')' | b']' | b'}' => {
            closed += 1;
            false
        }
        b'(' | b'[' | b'{' if closed > 0 => {
            closed -= 1;
            false
        }
        byte => matches!(byte, b'(' | b'[' | b'{'),
    });
    open == Some(b'[')
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
fn template(string: &str, fewest: usize, is_line: bool) -> Option<String> {
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
    is_for_people(&words, fewest, is_line).then_some(template)
}

/// Whether these words are for people: enough of them, and neither SQL, markup nor code.
fn is_for_people(words: &str, fewest: usize, is_line: bool) -> bool {
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
    // A few letters between values could be part of a name.
    let is_line = is_line
        && (words.starts_with(char::is_alphabetic)
            || words.chars().filter(|c| c.is_alphabetic()).count() >= 5);
    let fewest = if is_line { 1 } else { fewest };
    // Names of products and formats have capitals only.
    words.split_whitespace().filter(is_word).any(|word| is_line || word.starts_with(char::is_lowercase))
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
            assert_eq!(template(string, 2, false).as_deref(), wanted, "{string}");
        }
    }

    #[test]
    fn only_strings_for_people_are_collected() {
        let code = "let a = self.read(\"reading all labels\", b); let c = format!(\"has {}\", counted(n, \"text\"));\n\
                    let d = \"one sentence \\\n    here \\\"{e}\\\"\"; // \"no text here\"\n tracing::warn!(\"not for people\");";
        assert_eq!(templates(code, 2, false), ["1 text", "{{0}} texts", "one sentence here \"{{e}}\""]);
    }

    #[test]
    fn words_of_tables_are_collected() {
        let code = "let header = [\"text\", \"most likely\", question]; Bar::new(\"rows\"); let a = (\"row\", \"run\", 1);";
        assert_eq!(templates(code, 2, true), ["text", "most likely", "rows"]);
        assert_eq!(templates(code, 2, false), ["most likely"]);
    }
}
