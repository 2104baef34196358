//! Node, and the window's npm packages and web build, each repeated only if its inputs have changed.

use crate::project::Project;
use crate::shell::{Program, say, which};
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The oldest Node that Vite runs on.
const OLDEST: (u32, u32) = (20, 19);

/// Checks that Node is installed and new enough.
///
/// # Errors
/// It is missing or too old; the error explains how to get it.
pub(crate) fn ensure() -> Result<()> {
    let found = which("node").and_then(|node| Program::new(node).arg("--version").output().ok());
    let version = found.as_deref().map(str::trim).unwrap_or_default();
    match version_of(version) {
        Some(have) if have >= OLDEST => {
            say(format!("{version}, all there"));
            Ok(())
        }
        Some(_) => {
            bail!("Node {version} is too old: {}.{} or later is needed\n    {}", OLDEST.0, OLDEST.1, advice())
        }
        None => bail!("Node is missing: {}.{} or later is needed\n    {}", OLDEST.0, OLDEST.1, advice()),
    }
}

fn advice() -> &'static str {
    match std::env::consts::OS {
        "macos" => "Install it with\n        brew install node",
        "windows" => "Install it with\n        winget install OpenJS.NodeJS.LTS",
        _ => {
            "Debian 12, Ubuntu 24.04 and older hold an older one. Get the current long-term release from https://nodejs.org/en/download \
             (the tar file is enough: unpack it and put its bin folder on the PATH), or with nvm:\n        nvm install --lts"
        }
    }
}

/// Major and minor of `v20.19.1`.
fn version_of(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Installs the packages of `ui/package-lock.json`, unless exactly those are installed.
///
/// # Errors
/// npm failed.
pub(crate) fn packages(project: &Project) -> Result<()> {
    let ui = project.ui();
    let lock = fs::read(ui.join("package-lock.json")).context("reading ui/package-lock.json")?;
    let stamp = Stamp::new(project, "npm-ci", &Sha256::digest(&lock));
    if stamp.holds() && ui.join("node_modules").is_dir() {
        say("unchanged");
        return Ok(());
    }
    stamp.forget();
    Program::npm().args(["ci", "--no-audit", "--no-fund"]).in_folder(&ui).run()?;
    stamp.set()
}

/// Builds the web side into `ui/dist`, unless nothing in `ui` has changed since.
///
/// # Errors
/// The build failed.
pub(crate) fn build(project: &Project) -> Result<()> {
    let ui = project.ui();
    let stamp = Stamp::new(project, "ui-build", &digest_of(&ui)?);
    if stamp.holds() && ui.join("dist/index.html").is_file() {
        say("unchanged");
        return Ok(());
    }
    stamp.forget();
    script(project, "build")?;
    stamp.set()
}

/// Runs a script of `ui/package.json`.
///
/// # Errors
/// The script failed.
pub(crate) fn script(project: &Project, name: &str) -> Result<()> {
    Program::npm().args(["run", "--silent", name]).in_folder(&project.ui()).run()
}

/// Remembers, in the target folder, the state of the sources for which a step was done.
struct Stamp {
    path: PathBuf,
    digest: String,
}

impl Stamp {
    fn new(project: &Project, name: &str, digest: &[u8]) -> Self {
        let hex = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: project.stamps().join(name), digest: hex }
    }

    fn holds(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|was| was == self.digest)
    }

    /// Called before the work, so that an interrupted one does not count as done.
    fn forget(&self) {
        // It may be missing.
        let _ = fs::remove_file(&self.path);
    }

    fn set(&self) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.path, &self.digest).with_context(|| format!("writing {}", self.path.display()))
    }
}

/// A digest of the names and contents of the sources in `folder`.
fn digest_of(folder: &Path) -> Result<Vec<u8>> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let content = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(content);
    }
    Ok(digest.finalize().to_vec())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "node_modules" || name == "dist" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_versions_as_numbers() {
        assert_eq!(version_of("v20.19.1"), Some((20, 19)));
        assert!(version_of("v20.9.0") < Some(OLDEST));
        assert!(version_of("v24.0.0") >= Some(OLDEST));
        assert_eq!(version_of("node"), None);
        assert_eq!(version_of(""), None);
    }

    #[test]
    fn digest_changes_only_with_sources() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        write("src/a.ts", "1");
        let first = digest_of(folder.path()).unwrap();
        write("dist/index.html", "made");
        write("node_modules/x/index.js", "fetched");
        assert_eq!(digest_of(folder.path()).unwrap(), first);
        write("src/a.ts", "2");
        assert_ne!(digest_of(folder.path()).unwrap(), first);
    }
}
