//! `cargo xtask book`: the documentation as web pages, with the reference pages that the command writes.
//!
//! mdBook is installed below the target folder on first use: as a dependency of this program it would make
//! every first `cargo xtask` minutes longer.

use crate::project::Project;
use crate::shell::{Program, step};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// The version of mdBook, whose pages are packed: another one may look different.
pub(crate) const MDBOOK: &str = "0.5.4";
/// The line of the table of contents below which the pages of the commands are listed.
const COMMANDS: &str = "(reference/commands/index.md)";

/// Builds the book with the reference that `command` writes; returns its folder, `book` in the target folder,
/// where the window finds it too.
///
/// # Errors
/// mdBook cannot be installed, or a page is missing.
pub(crate) fn build(project: &Project, command: &Path) -> Result<PathBuf> {
    let mdbook = step("mdBook", || mdbook(project))?;
    step("book", || {
        let source = project.stamps().join("book");
        if source.exists() {
            fs::remove_dir_all(&source).with_context(|| format!("removing {}", source.display()))?;
        }
        copy(&project.root.join("docs/src"), &source.join("src"))?;
        fs::copy(project.root.join("docs/book.toml"), source.join("book.toml"))
            .context("copying docs/book.toml")?;
        let reference = source.join("src/reference");
        Program::new(command).arg("reference").arg(&reference).run()?;
        let contents = source.join("src/SUMMARY.md");
        let text =
            fs::read_to_string(&contents).with_context(|| format!("reading {}", contents.display()))?;
        let text = with_commands(&text, &command_pages(&reference.join("commands"))?)?;
        fs::write(&contents, text).with_context(|| format!("writing {}", contents.display()))?;
        let folder = project.target.join("book");
        Program::new(&mdbook).arg("build").arg(&source).arg("--dest-dir").arg(&folder).run()?;
        Ok(folder)
    })
}

/// mdBook's program, installed if it is not there in this version.
fn mdbook(project: &Project) -> Result<PathBuf> {
    let tools = project.target.join("tools").join(format!("mdbook-{MDBOOK}"));
    let program = tools.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    if !Program::new(&program).arg("--version").succeeds() {
        Program::cargo()
            .args(["install", "mdbook", "--version", MDBOOK, "--locked"])
            .args(["--no-default-features", "--features", "search", "--root"])
            .arg(&tools)
            .in_folder(&project.root)
            .run()?;
    }
    Ok(program)
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), &place).with_context(|| format!("copying {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Title and file name of each page of commands but the index, in the order in which the index links to them.
fn command_pages(folder: &Path) -> Result<Vec<(String, String)>> {
    let index = fs::read_to_string(folder.join("index.md")).context("reading the index of commands")?;
    let mut pages: Vec<(String, String)> = Vec::new();
    for part in index.split("](").skip(1) {
        let target = part.split([')', '#']).next().unwrap_or_default();
        if pages.iter().any(|(_, name)| name == target) {
            continue;
        }
        let page = fs::read_to_string(folder.join(target)).with_context(|| format!("reading {target}"))?;
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ").replace('`', "");
        pages.push((title, target.to_owned()));
    }
    Ok(pages)
}

/// The table of contents with the pages of commands below their index.
fn with_commands(contents: &str, pages: &[(String, String)]) -> Result<String> {
    if !contents.contains(COMMANDS) {
        bail!("docs/src/SUMMARY.md does not link to {COMMANDS}");
    }
    let mut text = String::new();
    for line in contents.lines() {
        text.push_str(&format!("{line}\n"));
        if line.contains(COMMANDS) {
            for (title, name) in pages {
                text.push_str(&format!("  - [{title}](reference/commands/{name})\n"));
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_listed_below_their_index() {
        let contents = "- [Commands](reference/commands/index.md)\n- [Glossary](reference/glossary.md)\n";
        let pages = [("dissensus data".to_owned(), "data.md".to_owned())];
        assert_eq!(
            with_commands(contents, &pages).unwrap(),
            "- [Commands](reference/commands/index.md)\n  - [dissensus data](reference/commands/data.md)\n- [Glossary](reference/glossary.md)\n"
        );
        assert!(with_commands("# Summary\n", &pages).is_err());
    }
}
