//! Checks of comments in Rust: their width, and words that we avoid.
//!
//! rustfmt does not wrap comments in the stable toolchain.

use super::documents::{avoided, contains_phrase, without_code};
use crate::project::Project;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The widest line of a comment, indentation included.
const WIDEST: usize = 110;
/// Folders with our own code.
const FOLDERS: [&str; 5] = ["crates", "python", "src-tauri", "tests", "xtask"];
/// Folders below these that are not ours or not committed.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// Checks every comment of every Rust file.
///
/// # Errors
/// All findings, one a line.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut findings = Vec::new();
    for folder in FOLDERS {
        walk(&project.root.join(folder), &mut |path| {
            let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            let name = path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
            findings.extend(findings_in(&name, &text));
            Ok(())
        })?;
    }
    ensure!(findings.is_empty(), "{}", findings.join("\n"));
    Ok(())
}

/// Calls `each` for every Rust file of ours below a folder.
pub(super) fn walk(folder: &Path, each: &mut impl FnMut(&Path) -> Result<()>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            if !SKIPPED.iter().any(|skipped| name == *skipped) {
                walk(&path, each)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            each(&path)?;
        }
    }
    Ok(())
}

fn findings_in(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.trim_start();
        if !comment.starts_with("//") {
            continue;
        }
        let columns = line.chars().count();
        if columns > WIDEST {
            findings.push(format!("{name}:{number}: {columns} columns, at most {WIDEST}"));
        }
        let prose = without_quotes(&without_code(comment)).to_lowercase();
        for (phrase, alternative) in avoided() {
            if prose.contains(phrase) && contains_phrase(&prose, phrase) {
                findings.push(format!("{name}:{number}: write {alternative} for `{phrase}`"));
            }
        }
    }
    findings
}

/// The line without what is between double quotes: messages and examples are not prose of the comment.
fn without_quotes(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_comments_and_avoided_words_are_findings() {
        let wide = format!("    // {}\nlet text = 1;\n", "x".repeat(WIDEST));
        assert_eq!(findings_in("a.rs", &wide), ["a.rs:1: 117 columns, at most 110"]);
        let word = "/// Removes whoever is left.\nfn remove() {}\n";
        assert_eq!(findings_in("a.rs", word), ["a.rs:1: write anyone who for `whoever`"]);
    }

    #[test]
    fn code_strings_and_names_are_free() {
        let text = "//! The column `whoever`, as in \"whoever\".\nlet whoever = \"whoever\"; // whoever\n";
        assert_eq!(findings_in("a.rs", text), Vec::<String>::new());
    }
}
