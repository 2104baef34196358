//! Packs the window, the command, its manual and its completions into installers for this system.
//!
//! Released packages and the one that the tests install are made in the same way: only the profile differs.

mod contents;

use crate::project::Project;
use crate::setup::node;
use crate::shell::{Program, step};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variable for builds that run on other machines:
/// the binaries then look for nothing in this checkout.
const PACKED: (&str, &str) = ("DISSENSUS_PACKAGE", "1");

/// Which binaries are packed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For others: optimised, without debug symbols.
    Dist,
    /// The binaries that `cargo xtask test` built, to test the package itself.
    Debug,
}

impl Profile {
    /// The name of the folder below the target folder.
    fn folder(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Debug => "debug",
        }
    }
}

/// Packs and returns the installers that were made.
///
/// # Errors
/// A step failed, or it made no installer.
pub(crate) fn pack(project: &Project, profile: Profile, kinds: &str) -> Result<Vec<PathBuf>> {
    if profile == Profile::Dist {
        // The command holds the page of a packet.
        step("web side", || node::build(project))?;
        step("command: build", || command(project))?;
    }
    let config = step("command, manual and completions", || contents::prepare(project, profile))?;
    let folder = project.target.join(profile.folder()).join("bundle");
    if folder.exists() {
        // So that only new installers are found below.
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    step("installers", || {
        let name = if cfg!(windows) { "tauri.cmd" } else { "tauri" };
        let tauri = Program::new(project.ui().join("node_modules/.bin").join(name)).in_folder(&project.root);
        let tauri = match profile {
            // Tauri itself builds the web side and the window, following its configuration.
            Profile::Dist => tauri.arg("build"),
            Profile::Debug => tauri.args(["bundle", "--debug", "--no-binary-patching"]),
        };
        let tauri = tauri.args(["--ci", "--bundles", kinds]).arg("--config").arg(&config);
        let tauri = match (profile, device_feature()) {
            (Profile::Dist, Some(feature)) => tauri.args(["--features", feature, "--", "--profile", "dist"]),
            (Profile::Dist, None) => tauri.args(["--", "--profile", "dist"]),
            (Profile::Debug, _) => tauri,
        };
        // Secrets that a repository lacks are empty variables in a workflow, which Tauri would use.
        let empty = std::env::vars_os()
            .filter(|(name, value)| name.to_string_lossy().starts_with("APPLE_") && value.is_empty());
        let tauri = empty.fold(tauri, |tauri, (name, _)| tauri.without_env(&name));
        tauri.env(PACKED.0, PACKED.1).run()
    })?;
    let mut made = Vec::new();
    installers(&folder, &mut made)?;
    if made.is_empty() {
        bail!("Tauri ended well and left no installer in {}", folder.display());
    }
    Ok(made)
}

/// Packs the content of a Debian package as an archive that needs no installation, next to the package. The
/// same content gives the same bytes.
///
/// # Errors
/// The package cannot be unpacked, or the archive cannot be written.
pub(crate) fn portable(package: &Path) -> Result<PathBuf> {
    let archive = package.with_extension("tar.gz");
    let name = package.file_stem().context("the package has no name")?;
    let folder = package.with_extension("content");
    if folder.exists() {
        // Of an interrupted run.
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    let content = folder.join(name);
    fs::create_dir_all(&content).with_context(|| format!("making {}", content.display()))?;
    Program::new("dpkg-deb").arg("--extract").arg(package).arg(&content).run()?;
    // The start of 2026: no time of a file means anything.
    let same = ["--sort=name", "--mtime=@1767225600", "--owner=0", "--group=0", "--numeric-owner"];
    let tar =
        Program::new("tar").args(same).args(["--use-compress-program", "gzip -n -1", "--create", "--file"]);
    tar.arg(&archive).arg("--directory").arg(&folder).arg(name).run()?;
    fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    Ok(archive)
}

/// Fails if a packed binary has debug symbols, which would make a package four times as large.
///
/// # Errors
/// It has, or it cannot be read.
pub(crate) fn stripped(project: &Project) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    for name in ["dissensus-window", "dissensus"] {
        let binary = project.binary(Profile::Dist.folder(), name);
        let sections = Program::new("readelf").args(["--section-headers", "--wide"]).arg(&binary).output()?;
        if sections.contains(".debug_") {
            bail!("{} has debug symbols", binary.display());
        }
    }
    Ok(())
}

fn command(project: &Project) -> Result<()> {
    let cargo = Program::cargo().args(["build", "--profile", "dist", "--package", "dissensus-cli"]);
    let cargo = match device_feature() {
        Some(feature) => cargo.args(["--features", &format!("dissensus-cli/{feature}")]),
        None => cargo,
    };
    cargo.env(PACKED.0, PACKED.1).in_folder(&project.root).run()
}

/// The device that every machine of this system has in addition to the CPU.
fn device_feature() -> Option<&'static str> {
    cfg!(target_os = "macos").then_some("metal")
}

/// The installers in `folder`, at any depth.
fn installers(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        // On macOS an application is itself a folder.
        if ending == "app"
            || (path.is_file() && ["deb", "rpm", "dmg", "msi", "exe"].contains(&ending.as_str()))
        {
            found.push(path);
        } else if path.is_dir() {
            installers(&path, found)?;
        }
    }
    found.sort();
    Ok(())
}
