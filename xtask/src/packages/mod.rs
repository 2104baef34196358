//! Packs the window, the command, its manual and its completions into installers for this system.
//!
//! Released packages and the one that the tests install are made in the same way: only the profile differs.

mod contents;

use crate::project::Project;
use crate::setup::node;
use crate::shell::{Program, has_secrets, step};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variable for builds that run on other machines:
/// the binaries then look for nothing in this checkout.
pub(crate) const PACKED: (&str, &str) = ("DISSENSUS_PACKAGE", "1");

/// The feature of the GPU that every Mac has.
const METAL: &str = "metal";
/// The processors of Macs, and the target of programs for both.
const MACS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];
const UNIVERSAL: &str = "universal-apple-darwin";

/// Configuration for Tauri with which it does not build the web side.
const WITHOUT_WEB_SIDE: &str = r#"{"build": {"beforeBuildCommand": null}}"#;

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
    let config = step("command, manual and completions", || {
        contents::prepare(project, &built(project, profile, "dissensus"))
    })?;
    let folder = built(project, profile, "bundle");
    if folder.exists() {
        // So that only new installers are found below.
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    if profile == Profile::Dist && has_secrets() {
        // Compiled first, so that the call below compiles no code of others with the secrets at hand.
        step("window: build", || tauri(project, profile, &["--no-bundle"], &config).run())?;
    }
    step("installers", || {
        let tauri_with =
            |more: &[&str]| tauri(project, profile, &[&["--bundles", kinds], more].concat(), &config);
        let tauri = match has_secrets() {
            true => tauri_with(&["--config", WITHOUT_WEB_SIDE]).with_secrets(),
            false => tauri_with(&[]),
        };
        tauri.run()
    })?;
    let mut made = Vec::new();
    installers(&folder, &mut made)?;
    if made.is_empty() {
        bail!("Tauri ended well and left no installer in {}", folder.display());
    }
    Ok(made)
}

/// Tauri with these options; it builds the web side and the window, following its configuration.
fn tauri(project: &Project, profile: Profile, options: &[&str], config: &Path) -> Program {
    let name = if cfg!(windows) { "tauri.cmd" } else { "tauri" };
    let tauri = Program::new(project.ui().join("node_modules/.bin").join(name)).in_folder(&project.root);
    let tauri = match profile {
        Profile::Dist => tauri.arg("build"),
        Profile::Debug => tauri.args(["bundle", "--debug", "--no-binary-patching"]),
    };
    let tauri = tauri.args(["--ci", "--config"]).arg(config).args(options);
    let tauri = match is_universal(profile) {
        true => tauri.args(["--target", UNIVERSAL, "--features", METAL]),
        false => tauri,
    };
    let tauri = match profile {
        Profile::Dist => tauri.args(["--", "--profile", "dist"]),
        Profile::Debug => tauri,
    };
    tauri.env(PACKED.0, PACKED.1)
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
    archive_of(&content, &archive)?;
    fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    Ok(archive)
}

/// Packs a folder, under its name, as an archive. The same content gives the same bytes: neither times nor
/// owners of the files are in it.
///
/// # Errors
/// `tar` or `gzip` is missing, or the archive cannot be written.
pub(crate) fn archive_of(folder: &Path, archive: &Path) -> Result<()> {
    // The start of 2026: no time of a file means anything.
    let same = ["--sort=name", "--mtime=@1767225600", "--owner=0", "--group=0", "--numeric-owner"];
    let same = same.into_iter().chain(["--mode=u=rwX,go=rX", "--format=gnu"]);
    let tar =
        Program::new("tar").args(same).args(["--use-compress-program", "gzip -n -1", "--create", "--file"]);
    let (above, name) = (folder.parent(), folder.file_name());
    let (above, name) = above.zip(name).with_context(|| format!("{} has no name", folder.display()))?;
    tar.arg(archive).arg("--directory").arg(above).arg(name).run()
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

/// Builds the command; for Macs for both processors, and joins the two programs.
fn command(project: &Project) -> Result<()> {
    let cargo = || Program::cargo().args(["build", "--profile", "dist", "--package", "dissensus-cli"]);
    let build = |cargo: Program| cargo.env(PACKED.0, PACKED.1).in_folder(&project.root).run();
    if !is_universal(Profile::Dist) {
        return build(cargo());
    }
    Program::new("rustup").args(["target", "add"]).args(MACS).in_folder(&project.root).run()?;
    for target in MACS {
        let feature = format!("dissensus-cli/{METAL}");
        build(cargo().args(["--target", target, "--features", &feature]))?;
    }
    let program = built(project, Profile::Dist, "dissensus");
    let folder = program.parent().context("the target folder has no name")?;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let of_one = |target| project.target.join(target).join(Profile::Dist.folder()).join("dissensus");
    Program::new("lipo").arg("-create").args(MACS.map(of_one)).arg("-output").arg(&program).run()
}

/// Whether the programs are for both processors of Macs.
fn is_universal(profile: Profile) -> bool {
    cfg!(target_os = "macos") && profile == Profile::Dist
}

/// A program or folder that a build leaves.
fn built(project: &Project, profile: Profile, name: &str) -> PathBuf {
    if is_universal(profile) {
        return project.target.join(UNIVERSAL).join(profile.folder()).join(name);
    }
    match name {
        "bundle" => project.target.join(profile.folder()).join(name),
        program => project.binary(profile.folder(), program),
    }
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    /// A folder with files that are written in this order, at this time and with these permissions.
    fn content(folder: &Path, names: [&str; 3], at: SystemTime, mode: u32) -> Result<PathBuf> {
        let content = folder.join("Dissensus_0.2.0_amd64");
        fs::create_dir_all(content.join("usr/bin"))?;
        for name in names {
            let path = content.join("usr").join(name);
            fs::write(&path, name)?;
            let is_program = name.starts_with("bin/");
            let mode = if is_program { mode | 0o111 } else { mode };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
            fs::File::open(&path)?.set_modified(at)?;
        }
        Ok(content)
    }

    #[test]
    fn same_content_gives_the_same_archive() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let now = SystemTime::now();
        let one = content(&at("one"), ["a", "b", "bin/c"], now, 0o644).unwrap();
        let other =
            content(&at("other"), ["bin/c", "b", "a"], now - Duration::from_secs(1 << 20), 0o600).unwrap();
        let changed = content(&at("changed"), ["a", "b", "bin/d"], now, 0o644).unwrap();
        let archives = [(one, "1.gz"), (other, "2.gz"), (changed, "3.gz")].map(|(content, name)| {
            archive_of(&content, &at(name)).unwrap();
            fs::read(at(name)).unwrap()
        });
        assert!(archives[0] == archives[1], "time, order or permissions of files are in the archive");
        assert!(archives[0] != archives[2]);
        let list =
            Program::new("tar").args(["--list", "--verbose", "--file"]).arg(at("2.gz")).output().unwrap();
        let programs: Vec<&str> = list.lines().filter(|line| line.starts_with("-rwxr-xr-x")).collect();
        assert!(programs.len() == 1 && programs[0].ends_with("usr/bin/c"), "{list}");
    }
}
