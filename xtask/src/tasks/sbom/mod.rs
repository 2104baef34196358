//! The components of which the shipped programs consist, as an SBOM (CycloneDX 1.5), and their licences.
//!
//! Both are files of `dissensus-report`, which writes them into the papers for institutions. Neither holds a
//! time or a random number, so that they differ only when a component does.

mod catalogue;
mod component;
mod crates;
mod document;
mod licences;
mod npm;

use crate::project::Project;
use crate::shell::say;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;

/// The SBOM, as its file is called in the papers too.
const SBOM: &str = "sbom.cdx.json";
/// The licences of the components, with their texts.
const LICENCES: &str = "licences.txt";

/// Writes both files.
///
/// # Errors
/// A component has a licence that is not allowed, or packages cannot be read.
pub(crate) fn write(project: &Project) -> Result<()> {
    for (path, content) in files(project)? {
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
        say(path.display().to_string());
    }
    Ok(())
}

/// Compares both files with what the program consists of now.
///
/// # Errors
/// Those of [`write`], or a file differs.
pub(crate) fn check(project: &Project) -> Result<()> {
    for (path, content) in files(project)? {
        // A checkout may have other line ends.
        let written = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        if written != content {
            bail!("{} is out of date: run `cargo xtask sbom`", path.display());
        }
    }
    Ok(())
}

/// Where the SBOM is.
pub(crate) fn path(project: &Project) -> PathBuf {
    project.root.join("crates/report/src/institution").join(SBOM)
}

/// Both files with their contents.
fn files(project: &Project) -> Result<[(PathBuf, String); 2]> {
    let crates = crates::read(project)?;
    let mut all = crates.components;
    all.extend(npm::read(project)?);
    all.extend(catalogue::read(project)?);
    all.sort_by(|a, b| a.reference.cmp(&b.reference));
    let refused: Vec<String> = all.iter().filter_map(|one| licences::refusal(one).err()).collect();
    if !refused.is_empty() {
        bail!(
            "{}\nThe licences that components may have are a list in xtask/src/tasks/sbom/licences.rs.",
            refused.join("\n")
        );
    }
    Ok([
        (path(project), document::sbom(&all, &crates.roots)?),
        (path(project).with_file_name(LICENCES), licences::text(&all)?),
    ])
}
