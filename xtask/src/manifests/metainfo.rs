//! The AppStream data of the Linux packages: what software centres show.

use anyhow::{Context, Result};

/// Pictures of the window below the repository, and what they show.
const SCREENSHOTS: [(&str, &str); 2] = [
    ("docs/src/images/findings.png", "Which texts people would disagree about, and why"),
    ("docs/src/images/labelling.png", "Labelling, with what a model of the annotator expects"),
];
/// The line of the template before which releases and addresses are written.
const BEFORE: &str = "  <content_rating";

/// Adds to the template the releases that the changelog dates and, if the address of the repository is known,
/// that address and the pictures at this version.
///
/// # Errors
/// The template lacks the line before which they are written.
pub(crate) fn metainfo(
    template: &str,
    changelog: &str,
    version: &str,
    address: Option<&str>,
) -> Result<String> {
    let (start, end) = template.split_once(BEFORE).with_context(|| format!("there is no {BEFORE}"))?;
    let mut added = String::new();
    if let Some(address) = address {
        added += &format!("  <url type=\"homepage\">{address}</url>\n  <screenshots>\n");
        for (at, (path, caption)) in SCREENSHOTS.iter().enumerate() {
            let kind = if at == 0 { " type=\"default\"" } else { "" };
            added += &format!(
                "    <screenshot{kind}>\n      <caption>{caption}</caption>\n      <image>{address}/raw/v{version}/{path}</image>\n    </screenshot>\n"
            );
        }
        added += "  </screenshots>\n";
    }
    let releases: Vec<String> = dated(changelog)
        .map(|(version, date)| format!("    <release version=\"{version}\" date=\"{date}\" />\n"))
        .collect();
    if !releases.is_empty() {
        added += &format!("  <releases>\n{}  </releases>\n", releases.concat());
    }
    Ok(format!("{start}{added}{BEFORE}{end}"))
}

/// Version and date of the headings `## 0.2.0 (2026-12-01)`.
pub(crate) fn dated(changelog: &str) -> impl Iterator<Item = (&str, &str)> {
    changelog.lines().filter_map(|line| {
        let (version, date) = line.strip_prefix("## ")?.split_once(" (")?;
        Some((version, date.strip_suffix(')')?)).filter(|(_, date)| is_date(date))
    })
}

/// Whether it has the form of `2026-12-01`.
fn is_date(date: &str) -> bool {
    let form = |(at, c): (usize, char)| if at == 4 || at == 7 { c == '-' } else { c.is_ascii_digit() };
    date.len() == 10 && date.chars().enumerate().all(form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{Program, which};
    use std::path::Path;

    const CHANGELOG: &str =
        "## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n- a\n\n## 0.1.1 (soon)\n\n## 0.1.0 (2026-10-02)\n";

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    fn template() -> String {
        let path = root().join("src-tauri/linux/org.dissensus.window.metainfo.xml");
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn releases_are_those_that_the_changelog_dates() {
        let found: Vec<_> = dated(CHANGELOG).collect();
        assert_eq!(found, [("0.2.0", "2026-12-01"), ("0.1.0", "2026-10-02")]);
        assert_eq!(metainfo(&template(), "# Changelog\n", "0.2.0", None).unwrap(), template());
        assert!(metainfo("<component/>", CHANGELOG, "0.2.0", None).is_err());
    }

    #[test]
    fn pictures_are_in_the_repository() {
        for (path, caption) in SCREENSHOTS {
            let size = std::fs::metadata(root().join(path)).unwrap().len();
            assert!(size < 300_000, "{path}: {size} bytes");
            assert!(caption.len() <= 100 && !caption.ends_with('.'), "{caption}");
        }
    }

    #[test]
    fn data_of_a_release_is_valid() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("org.dissensus.window.metainfo.xml");
        let address = "https://forge.example.org/team/dissensus";
        let text = metainfo(&template(), CHANGELOG, "0.2.0", Some(address)).unwrap();
        let image = format!("<image>{address}/raw/v0.2.0/docs/src/images/findings.png</image>");
        assert!(text.contains(&image), "{text}");
        std::fs::write(&path, text).unwrap();
        // Where it is not installed, the step `package` is left out too.
        if which("appstreamcli").is_some() {
            Program::new("appstreamcli").args(["validate", "--no-net"]).arg(&path).run().unwrap();
        }
    }
}
