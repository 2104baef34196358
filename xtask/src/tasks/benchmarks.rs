//! `cargo xtask benchmarks`: renders BENCHMARKS.md from `benches/about.md` and `benches/results/*.json`.

use super::documents::GENERATED;
use crate::project::Project;
use crate::shell::say;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The page gets long with more; what needs more words belongs into the documentation.
const MAX_NOTES: usize = 2;

/// One table of the page: a file of `benches/results`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Topic {
    section: String,
    title: String,
    measures: String,
    command: String,
    machine: String,
    recorded: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

/// Writes the page.
///
/// # Errors
/// A file of results that is incomplete, or what the disk reports.
pub(crate) fn write(project: &Project) -> Result<()> {
    let page = render(&project.root)?;
    fs::write(project.root.join("BENCHMARKS.md"), page).context("writing BENCHMARKS.md")?;
    say("BENCHMARKS.md is written");
    Ok(())
}

/// Compares the page with the results.
///
/// # Errors
/// They differ, or a file of results is incomplete.
pub(crate) fn check(project: &Project) -> Result<()> {
    check_in(&project.root)
}

fn check_in(root: &Path) -> Result<()> {
    let page = fs::read_to_string(root.join("BENCHMARKS.md")).context("reading BENCHMARKS.md")?;
    ensure!(
        page == render(root)?,
        "BENCHMARKS.md differs from benches/results: run `cargo xtask benchmarks` after editing results"
    );
    Ok(())
}

fn render(root: &Path) -> Result<String> {
    let folder = root.join("benches");
    let mut page = fs::read_to_string(folder.join("about.md")).context("reading benches/about.md")?;
    ensure!(
        page.contains(GENERATED),
        "benches/about.md lacks the line that marks generated pages: {GENERATED}"
    );
    let mut files =
        fs::read_dir(folder.join("results"))?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    ensure!(!files.is_empty(), "benches/results has no file of results");
    let mut section = String::new();
    for path in files {
        let name = path.display();
        let topic: Topic =
            serde_json::from_str(&fs::read_to_string(&path)?).with_context(|| format!("reading {name}"))?;
        if topic.section != section {
            write!(page, "\n## {}\n", topic.section)?;
            section.clone_from(&topic.section);
        }
        topic.render(&mut page).with_context(|| format!("rendering {name}"))?;
    }
    Ok(page)
}

impl Topic {
    fn render(&self, page: &mut String) -> Result<()> {
        let width = self.columns.len();
        ensure!(width > 0 && !self.rows.is_empty(), "the table is empty");
        ensure!(self.notes.len() <= MAX_NOTES, "more than {MAX_NOTES} notes");
        let texts =
            [&self.section, &self.title, &self.measures, &self.command, &self.machine, &self.recorded];
        ensure!(texts.iter().all(|text| !text.trim().is_empty()), "a field is empty");
        write!(page, "\n### {}\n\n{}\n\n", self.title, self.measures)?;
        line(page, &self.columns)?;
        let rules: Vec<&str> =
            (0..width).map(|column| if self.is_numeric(column) { "---:" } else { "---" }).collect();
        line(page, &rules)?;
        for row in &self.rows {
            if row.len() != width {
                bail!("{} cells where the table has {width} columns: {row:?}", row.len());
            }
            line(page, row)?;
        }
        for note in &self.notes {
            write!(page, "\n{note}\n")?;
        }
        write!(page, "\n`{}` · {} · recorded {}\n", self.command, self.machine, self.recorded)?;
        Ok(())
    }

    /// Whether every cell of a column begins like a number, so that the column is aligned to the right.
    fn is_numeric(&self, column: usize) -> bool {
        let number = |cell: &str| {
            let start = cell.trim_start_matches(['-', '.']);
            cell == "–" || start.starts_with(|first: char| first.is_ascii_digit())
        };
        column > 0 && self.rows.iter().all(|row| row.get(column).is_some_and(|cell| number(cell)))
    }
}

fn line(page: &mut String, cells: &[impl AsRef<str>]) -> Result<()> {
    for cell in cells {
        write!(page, "| {} ", cell.as_ref().replace('|', "\\|"))?;
    }
    page.push_str("|\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"section": "Speed", "title": "One label", "measures": "Labels.", "command": "measure",
        "machine": "AMD", "recorded": "2026-11-28", "columns": ["step", "ms"], "rows": [["a|b", "3.5"]], "notes": []}"#;

    fn folder(result: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        let results = root.path().join("benches/results");
        fs::create_dir_all(&results).expect("made");
        fs::write(root.path().join("benches/about.md"), format!("# Benchmarks\n\n{GENERATED} benchmarks`\n"))
            .expect("written");
        fs::write(results.join("1.json"), result).expect("written");
        root
    }

    #[test]
    fn page_has_a_table_for_each_topic() {
        let page = render(folder(RESULT).path()).expect("rendered");
        assert!(page.contains(
            "## Speed\n\n### One label\n\nLabels.\n\n| step | ms |\n| --- | ---: |\n| a\\|b | 3.5 |\n"
        ));
        assert!(page.ends_with("`measure` · AMD · recorded 2026-11-28\n"));
    }

    #[test]
    fn row_of_another_width_an_empty_field_and_a_third_note_are_refused() {
        for (from, to) in [
            (r#"["a|b", "3.5"]"#, r#"["a"]"#),
            (r#""command": "measure""#, r#""command": """#),
            (r#""notes": []"#, r#""notes": ["a", "b", "c"]"#),
        ] {
            assert!(render(folder(&RESULT.replace(from, to)).path()).is_err(), "{to}");
        }
    }

    #[test]
    fn edited_page_is_detected() {
        let root = folder(RESULT);
        let page = render(root.path()).expect("rendered");
        fs::write(root.path().join("BENCHMARKS.md"), &page).expect("written");
        check_in(root.path()).expect("the page is what the results give");
        fs::write(root.path().join("BENCHMARKS.md"), page.replace("3.5", "2.5")).expect("written");
        assert!(check_in(root.path()).is_err());
    }

    #[test]
    fn page_of_this_checkout_is_up_to_date() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a checkout");
        check_in(root).expect("up to date");
    }
}
