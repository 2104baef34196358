//! Node, and the window's npm packages and web build, each repeated only if its inputs have changed.

use crate::project::Project;
use crate::shell::{Program, say, which};
use crate::stamp::{Stamp, add, digest_of};
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::fs;

/// The oldest Node that Vite runs on.
const OLDEST: (u32, u32) = (20, 19);

/// Files outside of `ui` that its tests read, as `ui/src/source.test.ts` checks.
const OUTSIDE: [&str; 4] = [
    "src-tauri/tauri.conf.json",
    "docs/src/reference/glossary.md",
    ".github/workflows/ci.yml",
    ".github/workflows/release.yml",
];

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
    let stamp = Stamp::new(&project.stamps(), "npm-ci", &Sha256::digest(&lock));
    if stamp.holds() && ui.join("node_modules").is_dir() {
        say("unchanged");
        return Ok(());
    }
    stamp.forget();
    Program::npm().args(["ci", "--no-audit", "--no-fund"]).in_folder(&ui).run()?;
    stamp.set()
}

/// Builds the web side into `ui/dist`, and the page of a packet into `ui/dist-page`, unless nothing in `ui`
/// has changed since.
///
/// # Errors
/// The build failed.
pub(crate) fn build(project: &Project) -> Result<()> {
    let ui = project.ui();
    let stamp = Stamp::new(&project.stamps(), "ui-build", &digest_of(&ui, |_| true)?);
    let built = ["dist/index.html", "dist-page/page.html"];
    if stamp.holds() && built.iter().all(|file| ui.join(file).is_file()) {
        say("unchanged");
        return Ok(());
    }
    stamp.forget();
    script(project, "build")?;
    stamp.set()
}

/// Runs a check of `ui/package.json`, unless nothing that it reads has changed since it passed within a week;
/// on a CI machine always.
///
/// # Errors
/// The check failed.
pub(crate) fn check(project: &Project, name: &str) -> Result<()> {
    let state = || -> Result<Vec<u8>> {
        let mut digest = Sha256::new();
        add(&mut digest, Program::new("node").arg("--version").output()?.as_bytes());
        add(&mut digest, &digest_of(&project.ui(), |_| true)?);
        for path in OUTSIDE {
            let path = project.root.join(path);
            add(&mut digest, &fs::read(&path).with_context(|| format!("reading {}", path.display()))?);
        }
        Ok(digest.finalize().to_vec())
    };
    let before = state()?;
    let stamp = Stamp::new(&project.stamps(), &format!("ui-{name}"), &before);
    if stamp.is_valid() && std::env::var_os("CI").is_none() {
        say("unchanged since it passed");
        return Ok(());
    }
    stamp.forget();
    script(project, name)?;
    // A file that was edited meanwhile may have been read before or after.
    if state()? == before { stamp.set() } else { Ok(()) }
}

/// Runs a script of `ui/package.json`.
///
/// # Errors
/// The script failed.
pub(crate) fn script(project: &Project, name: &str) -> Result<()> {
    Program::npm().args(["run", "--silent", name]).in_folder(&project.ui()).run()
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
}
