//! `cargo xtask release`: checks the installers and wheels of all systems, and writes their checksums and the
//! notes of the release.

use crate::project::Project;
use crate::shell::say;
use crate::stamp::hex;
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// What a release consists of: endings of file names, and how many files there are of each. The systems are
/// those of `.github/workflows/release.yml`.
const KINDS: [(&str, usize); 7] =
    [("deb", 2), ("rpm", 2), ("gz", 2), ("dmg", 2), ("exe", 1), ("msi", 1), ("whl", 5)];

/// The variable with the tag that is released, such as `v0.2.0`.
const TAG: &str = "RELEASE_TAG";

/// The folder in which `dist` puts its files, and from which a release takes them.
pub(crate) fn folder(project: &Project) -> PathBuf {
    project.target.join("release-files")
}

/// Checks the files of a release, and writes `SHA256SUMS` next to them and `release-notes.md` above them.
///
/// # Errors
/// The tag is not that of the version in `Cargo.toml`, the changelog has no section of it, a file is missing,
/// or a file cannot be written.
pub(crate) fn run(project: &Project) -> Result<()> {
    let tag = std::env::var(TAG).with_context(|| format!("{TAG} names no tag"))?;
    let version = version_of(&tag)?;
    let changelog = fs::read_to_string(project.root.join("CHANGELOG.md")).context("reading CHANGELOG.md")?;
    let notes = notes_of(&changelog, version)?;
    let folder = folder(project);
    let files = files_of(&folder)?;
    check(&files)?;
    let mut sums = String::new();
    for path in &files {
        let content = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        sums += &format!("{}  {}\n", hex(&Sha256::digest(&content)), name(path));
    }
    let written = [(folder.join("SHA256SUMS"), sums), (project.target.join("release-notes.md"), notes)];
    for (path, content) in written {
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
        say(path.display().to_string());
    }
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The version of this checkout, if the tag is that of it.
fn version_of(tag: &str) -> Result<&'static str> {
    let version = env!("CARGO_PKG_VERSION");
    if tag.strip_prefix('v') != Some(version) {
        bail!(
            "the tag is {tag}, but Cargo.toml has version {version}: tag v{version}, or change the version"
        );
    }
    Ok(version)
}

/// The section of a version: what stands between its heading and the next one.
fn notes_of(changelog: &str, version: &str) -> Result<String> {
    let heading = |line: &str| line.strip_prefix("## ").map(|words| words.split(' ').next() == Some(version));
    let mut lines = changelog.lines().skip_while(|line| heading(line) != Some(true)).skip(1);
    let section: Vec<&str> = lines.by_ref().take_while(|line| heading(line).is_none()).collect();
    let section = section.join("\n").trim().to_owned();
    if section.is_empty() {
        bail!("CHANGELOG.md has no section \"## {version}\" with entries");
    }
    Ok(section + "\n")
}

/// The files in the folder, by name. A list of checksums that was written earlier is left out.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>().context("reading the folder")?;
    files.retain(|path| name(path) != "SHA256SUMS");
    files.sort();
    Ok(files)
}

/// Fails if a system has not made its files, or there is another file among them.
fn check(files: &[PathBuf]) -> Result<()> {
    let is = |path: &Path, ending: &str| path.extension().is_some_and(|of| of == ending);
    for (ending, wanted) in KINDS {
        let found = files.iter().filter(|path| is(path, ending)).count();
        if found != wanted {
            bail!("a release has {wanted} files .{ending}, and there are {found}");
        }
    }
    match files.iter().find(|path| !KINDS.iter().any(|(ending, _)| is(path, ending))) {
        Some(other) => bail!("{} is no part of a release", other.display()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.2.0 (2026-12-01)\n\n### Added\n\n- a\n- b\n\n## 0.1.0\n\n- first\n\n## 0.0.1\n";

    #[test]
    fn notes_are_the_section_of_the_version() {
        assert_eq!(notes_of(CHANGELOG, "0.2.0").unwrap(), "### Added\n\n- a\n- b\n");
        assert_eq!(notes_of(CHANGELOG, "0.1.0").unwrap(), "- first\n");
        for missing in ["0.2", "0.0.1", "1.0.0"] {
            let error = notes_of(CHANGELOG, missing).unwrap_err().to_string();
            assert!(error.contains(missing), "{error}");
        }
    }

    #[test]
    fn tag_is_that_of_the_version() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(version_of(&format!("v{version}")).unwrap(), version);
        for tag in [version, "v9.9.9", "", "vv0.1.0"] {
            assert!(version_of(tag).is_err(), "{tag}");
        }
    }

    #[test]
    fn release_has_the_files_of_every_system() {
        let mut files: Vec<PathBuf> = KINDS
            .iter()
            .flat_map(|(ending, number)| {
                (0..*number).map(move |at| PathBuf::from(format!("d-{at}.{ending}")))
            })
            .collect();
        check(&files).unwrap();
        files.push("d.app".into());
        assert!(check(&files).unwrap_err().to_string().contains("d.app"));
        files.pop();
        files.pop();
        assert!(check(&files).unwrap_err().to_string().contains(".whl"));
    }
}
