//! `cargo xtask vpat`: renders docs/vpat.md, the accessibility conformance report, from `docs/vpat`.

use super::documents::GENERATED;
use crate::project::Project;
use crate::shell::say;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// What VPAT 2.5 allows for criteria of the levels A and AA.
const LEVELS: [&str; 4] = ["Supports", "Partially Supports", "Does Not Support", "Not Applicable"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    part: Vec<Part>,
}

/// One table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    title: String,
    /// Where its criteria are from.
    source: String,
    /// Criterion, conformance level and explanation.
    rows: Vec<[String; 3]>,
}

/// Writes the page.
///
/// # Errors
/// A row that is incomplete, or what the disk reports.
pub(crate) fn write(project: &Project) -> Result<()> {
    fs::write(project.root.join("docs/vpat.md"), render(&project.root)?).context("writing docs/vpat.md")?;
    say("docs/vpat.md is written");
    Ok(())
}

/// Compares the page with its source.
///
/// # Errors
/// They differ, or a row is incomplete.
pub(crate) fn check(project: &Project) -> Result<()> {
    let page = fs::read_to_string(project.root.join("docs/vpat.md")).context("reading docs/vpat.md")?;
    ensure!(page == render(&project.root)?, "docs/vpat.md differs from docs/vpat: run `cargo xtask vpat`");
    Ok(())
}

fn render(root: &Path) -> Result<String> {
    let folder = root.join("docs/vpat");
    let about = fs::read_to_string(folder.join("about.md")).context("reading docs/vpat/about.md")?;
    ensure!(about.contains(GENERATED), "docs/vpat/about.md lacks the line that marks generated pages");
    let criteria =
        fs::read_to_string(folder.join("criteria.toml")).context("reading docs/vpat/criteria.toml")?;
    let report: Report = toml::from_str(&criteria).context("docs/vpat/criteria.toml")?;
    let mut page = about;
    for part in report.part {
        part.render(&mut page).with_context(|| part.title.clone())?;
    }
    Ok(page)
}

impl Part {
    fn render(&self, page: &mut String) -> Result<()> {
        write!(page, "\n## {}\n\n{}.\n", self.title, self.source)?;
        if self.rows.is_empty() {
            return Ok(());
        }
        page.push_str("\n| Criteria | Conformance level | Remarks |\n| --- | --- | --- |\n");
        for [criterion, level, remark] in &self.rows {
            ensure!(LEVELS.contains(&level.as_str()), "{criterion}: {level:?} is no level");
            ensure!(level == "Supports" || !remark.is_empty(), "{criterion}: {level} needs a remark");
            writeln!(page, "| {criterion} | {level} | {remark} |")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of one row.
    fn page(row: &str) -> Result<String> {
        let root = tempfile::tempdir()?;
        let folder = root.path().join("docs/vpat");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("about.md"), format!("# Report\n\n<!-- {GENERATED} vpat`. -->\n"))?;
        fs::write(
            folder.join("criteria.toml"),
            format!("[[part]]\ntitle = \"Level A\"\nsource = \"WCAG\"\nrows = [{row}]\n"),
        )?;
        render(root.path())
    }

    #[test]
    fn page_has_a_table_for_each_part() -> Result<()> {
        let page = page(r#"["1.1.1 Names", "Partially Supports", "Not all."]"#)?;
        assert!(page.contains("## Level A\n\nWCAG.\n\n| Criteria |"), "{page}");
        assert!(page.ends_with("| 1.1.1 Names | Partially Supports | Not all. |\n"), "{page}");
        Ok(())
    }

    #[test]
    fn other_levels_and_limits_without_remark_are_refused() {
        assert!(page(r#"["1.1.1 Names", "Fully", "Yes."]"#).is_err());
        assert!(page(r#"["1.1.1 Names", "Does Not Support", ""]"#).is_err());
        assert!(page(r#"["1.1.1 Names", "Supports", ""]"#).is_ok());
    }

    #[test]
    fn every_criterion_of_wcag_2_2_has_a_row() -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("a checkout")?;
        let page = render(root)?;
        let rows = |title: &str| {
            let part = page.split("\n## ").find(|part| part.starts_with(title)).unwrap_or_default();
            part.lines().filter(|line| line.starts_with('|')).count().saturating_sub(2)
        };
        // WCAG 2.2 has 31 criteria of level A and 24 of AA; 4.1.1 is listed though it was removed.
        assert_eq!((rows("WCAG 2.2, level A\n"), rows("WCAG 2.2, level AA")), (32, 24));
        Ok(())
    }
}
