//! `cargo xtask release`: checks the installers and wheels of all systems, and writes their checksums, the
//! notes of the release and the manifests of package collections.

pub(crate) mod updates;

use crate::manifests::{self, About, Published, Release};
use crate::project::Project;
use crate::shell::say;
use crate::stamp::hex;
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// What a release consists of: endings of file names, and how many files there are of each. The systems are
/// those of `.github/workflows/release.yml`: an archive for each processor of Linux and one with CUDA, a disk
/// image and a wheel for both processors of Macs. Files that describe a release have a line here too.
const KINDS: [(&str, usize); 8] =
    [("deb", 2), ("rpm", 2), ("gz", 3), ("dmg", 1), ("exe", 1), ("msi", 1), ("json", 1), ("whl", 4)];

/// The variable with the tag that is released, such as `v0.2.0`.
const TAG: &str = "RELEASE_TAG";

/// The folder in which `dist` puts its files, and from which a release takes them.
pub(crate) fn folder(project: &Project) -> PathBuf {
    project.target.join("release-files")
}

/// Checks the files of a release, and writes `SHA256SUMS` next to them, and above them `release-notes.md` and
/// the folder `release-manifests`.
///
/// # Errors
/// The tag is not that of the version in `Cargo.toml`, the changelog has no dated section of it, no variable
/// has the repository's address, a file is missing, or a file cannot be written.
pub(crate) fn run(project: &Project) -> Result<()> {
    let tag = std::env::var(TAG).with_context(|| format!("{TAG} names no tag"))?;
    let version = version_of(&tag)?;
    let changelog = fs::read_to_string(project.root.join("CHANGELOG.md")).context("reading CHANGELOG.md")?;
    let address =
        manifests::address()?.with_context(|| format!("{} names no repository", manifests::ADDRESS))?;
    let sbom = folder(project).join(format!("dissensus_{version}.cdx.json"));
    fs::copy(super::sbom::path(project), &sbom).with_context(|| format!("writing {}", sbom.display()))?;
    publish(project, version, &changelog, address)
}

fn publish(project: &Project, version: &str, changelog: &str, address: String) -> Result<()> {
    let notes = notes_of(changelog, version)?;
    let folder = folder(project);
    let files = files_of(&folder)?;
    check(&files)?;
    let files = files.iter().map(|path| published(path)).collect::<Result<Vec<_>>>()?;
    let sums = files.iter().map(|file| format!("{}  {}\n", file.sha256, file.name)).collect();
    updates::write(&project.root, &folder, version, changelog, &notes, &files)?;
    let about = About::of(&project.root)?;
    let manifests = manifests::all(&Release { about, version: version.to_owned(), address, files })?;
    let place = project.target.join("release-manifests");
    if place.exists() {
        fs::remove_dir_all(&place).with_context(|| format!("removing {}", place.display()))?;
    }
    let written = [(folder.join("SHA256SUMS"), sums), (project.target.join("release-notes.md"), notes)];
    let manifests = manifests.into_iter().map(|(path, text)| (place.join(path), text));
    for (path, content) in written.into_iter().chain(manifests) {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
        say(path.display().to_string());
    }
    Ok(())
}

fn published(path: &Path) -> Result<Published> {
    let content = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(Published { name: name(path), sha256: hex(&Sha256::digest(&content)) })
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

/// The section of a version, from its dated heading to the next one.
fn notes_of(changelog: &str, version: &str) -> Result<String> {
    let heading = |line: &str| line.strip_prefix("## ").map(|words| words.split(' ').next() == Some(version));
    let mut lines = changelog.lines().skip_while(|line| heading(line) != Some(true)).skip(1);
    let section: Vec<&str> = lines.by_ref().take_while(|line| heading(line).is_none()).collect();
    let section = section.join("\n").trim().to_owned();
    let is_dated = manifests::dated(changelog).any(|(dated, _)| dated == version);
    if section.is_empty() || !is_dated {
        bail!("CHANGELOG.md has no section \"## {version} (YYYY-MM-DD)\" with entries");
    }
    Ok(section + "\n")
}

/// The files in the folder, by name, without those that an earlier call wrote.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>().context("reading the folder")?;
    let written = ["SHA256SUMS", updates::DESCRIPTION, updates::SIGNATURE];
    files.retain(|path| !written.contains(&name(path).as_str()));
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

    const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.2.0 (2026-12-01)\n\n### Added\n\n- a\n- b\n\n## 0.1.0 (2026-10-02)\n\n- first\n\n## 0.0.2\n\n- no date\n\n## 0.0.1 (2026-09-01)\n";

    #[test]
    fn notes_are_the_section_of_the_version() {
        assert_eq!(notes_of(CHANGELOG, "0.2.0").unwrap(), "### Added\n\n- a\n- b\n");
        assert_eq!(notes_of(CHANGELOG, "0.1.0").unwrap(), "- first\n");
        for missing in ["0.2", "0.0.2", "0.0.1", "1.0.0"] {
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
    /// A checkout with the files of a release, as the jobs of the workflow name them.
    fn fake_release(folder: &Path) -> Project {
        let project = Project { root: folder.join("checkout"), target: folder.join("target") };
        let real = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let conf = Path::new("src-tauri/tauri.conf.json");
        for folder in [project.root.join("src-tauri"), super::folder(&project)] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::copy(real.join(conf), project.root.join(conf)).unwrap();
        let mut names =
            vec!["dissensus-cuda_0.2.0_x86-64.tar.gz".to_owned(), "dissensus_0.2.0.cdx.json".to_owned()];
        names.extend(
            ["universal.dmg", "x64-setup.exe", "x64_en-US.msi"].map(|of| format!("Dissensus_0.2.0_{of}")),
        );
        for (debian, processor) in [("amd64", "x86_64"), ("arm64", "aarch64")] {
            names.extend(["deb", "tar.gz"].map(|of| format!("Dissensus_0.2.0_{debian}.{of}")));
            names.push(format!("Dissensus-0.2.0-1.{processor}.rpm"));
            names.push(format!("dissensus-0.2.0-cp310-abi3-manylinux_2_35_{processor}.whl"));
        }
        names.extend(
            ["macosx_10_12_universal2", "win_amd64"].map(|of| format!("dissensus-0.2.0-cp310-abi3-{of}.whl")),
        );
        for name in names {
            fs::write(super::folder(&project).join(&name), &name).unwrap();
        }
        project
    }

    #[test]
    fn release_is_written_with_sums_notes_and_manifests() {
        let folder = tempfile::tempdir().unwrap();
        let project = fake_release(folder.path());
        let address = "https://forge.example.org/team/dissensus";
        let publish = |version| super::publish(&project, version, CHANGELOG, address.to_owned());
        // The second time as well, with the list of the first.
        for _ in 0..2 {
            publish("0.2.0").unwrap();
        }
        let sums = fs::read_to_string(super::folder(&project).join("SHA256SUMS")).unwrap();
        assert_eq!(sums.lines().count(), KINDS.iter().map(|(_, number)| number).sum::<usize>());
        let image = sums.lines().find(|line| line.ends_with("_universal.dmg")).unwrap();
        let manifests = project.target.join("release-manifests");
        let cask = fs::read_to_string(manifests.join("homebrew/dissensus.rb")).unwrap();
        assert!(cask.contains(&format!("sha256 \"{}\"", &image[..64])), "{cask}");
        for path in ["flatpak/org.dissensus.window.yml", "winget/Dissensus.Dissensus.yaml"] {
            assert!(manifests.join(path).is_file(), "{path}");
        }
        assert_eq!(
            fs::read_to_string(project.target.join("release-notes.md")).unwrap(),
            "### Added\n\n- a\n- b\n"
        );

        fs::remove_dir_all(&manifests).unwrap();
        fs::remove_file(super::folder(&project).join("Dissensus_0.2.0_x64-setup.exe")).unwrap();
        assert!(publish("0.2.0").unwrap_err().to_string().contains(".exe"));
        assert!(!manifests.exists(), "manifests of a release without an installer");
    }
}
