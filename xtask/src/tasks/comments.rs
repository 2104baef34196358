//! Checks of comments in Rust and in the window's code: their width, and words that we avoid.
//!
//! Neither rustfmt in the stable toolchain nor prettier wraps comments.

use super::documents::without_code;
use super::words::refused;
use crate::project::Project;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The widest line of a comment, indentation included.
const WIDEST: usize = 110;
/// Folders with our own code.
const FOLDERS: [&str; 6] = ["crates", "python", "src-tauri", "tests", "ui/src", "xtask"];
/// Endings of files with comments that are checked.
const ENDINGS: [&str; 4] = ["css", "rs", "svelte", "ts"];
/// Folders and files below these that are not ours, not committed or generated.
const SKIPPED: [&str; 3] = ["target", "node_modules", "api/bindings.ts"];

/// Checks every comment of every file with one of [`ENDINGS`].
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

/// Calls `each` for every file of ours below a folder with one of [`ENDINGS`].
pub(super) fn walk(folder: &Path, each: &mut impl FnMut(&Path) -> Result<()>) -> Result<()> {
    walk_endings(folder, &ENDINGS, each)
}

/// Applies `findings_in` to the name and the text of every file of ours below these folders with one of these
/// endings.
///
/// # Errors
/// All findings, one a line; or a file cannot be read.
pub(super) fn check_files(
    project: &Project,
    folders: &[&str],
    endings: &[&str],
    findings_in: impl Fn(&str, &str) -> Vec<String>,
) -> Result<()> {
    let mut findings = Vec::new();
    for folder in folders {
        walk_endings(&project.root.join(folder), endings, &mut |path| {
            let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            let name = path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
            findings.extend(findings_in(&name.replace('\\', "/"), &text));
            Ok(())
        })?;
    }
    ensure!(findings.is_empty(), "{}", findings.join("\n"));
    Ok(())
}

/// Calls `each` for every file of ours below a folder with one of these endings.
pub(super) fn walk_endings(
    folder: &Path,
    endings: &[&str],
    each: &mut impl FnMut(&Path) -> Result<()>,
) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk_endings(&path, endings, each)?;
        } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
            each(&path)?;
        }
    }
    Ok(())
}

fn findings_in(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let of_rust = name.ends_with(".rs");
    // The end of the block comment that the line is in.
    let mut block = None;
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.trim_start();
        let opened = if of_rust { None } else { block_end(comment) };
        if block.is_none() && opened.is_none() && !comment.starts_with("//") {
            continue;
        }
        block = block.or(opened).filter(|end| !comment.contains(*end));
        // A directive for a checker has to stay on one line.
        if comment.contains("svelte-ignore") {
            continue;
        }
        let columns = line.chars().count();
        if columns > WIDEST {
            findings.push(format!("{name}:{number}: {columns} columns, at most {WIDEST}"));
        }
        let prose = without_quotes(&without_code(comment));
        findings.extend(refused(&prose).map(|what| format!("{name}:{number}: {what}")));
    }
    findings
}

/// The end of a block comment that begins the line, as in TypeScript, CSS and Svelte.
fn block_end(line: &str) -> Option<&'static str> {
    if line.starts_with("/*") {
        Some("*/")
    } else if line.starts_with("<!--") {
        Some("-->")
    } else {
        None
    }
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
    fn block_comments_of_the_window_are_checked() {
        let block = "/**\n * Removes\n * whoever is left. */\nlet whoever = 1;\n";
        assert_eq!(findings_in("a.ts", block), ["a.ts:3: write anyone who for `whoever`"]);
        let markup = "<!-- For whoever is left. -->\n<p>whoever</p>\n";
        assert_eq!(findings_in("a.svelte", markup), ["a.svelte:1: write anyone who for `whoever`"]);
        let directive = format!("<!-- svelte-ignore {} -->\n", "x".repeat(WIDEST));
        assert_eq!(findings_in("a.svelte", &directive), Vec::<String>::new());
    }

    #[test]
    fn code_strings_and_names_are_not_checked() {
        let text = "//! The column `whoever`, as in \"whoever\".\nlet whoever = \"whoever\"; // whoever\n";
        assert_eq!(findings_in("a.rs", text), Vec::<String>::new());
    }
}
